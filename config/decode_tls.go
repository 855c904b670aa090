package config

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/conf/schema"
)

// tlsBlock reads a block tls.
func tlsBlock[T any](field func(*T) **TLS) schema.Reader[T] {
	read := block(field, "tls", tlsKeys, func(t *TLS) *Pos { return &t.Pos })
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		read(d, v, to)
		t := *field(to)
		switch {
		case t == nil:
		case len(t.Certs) > 0 && (t.CertFile != "" || t.KeyFile != ""):
			d.Report.Errorf(t.Pos, "certs and cert_file or key_file can't both be set")
		case t.CertStore == "" && (t.CertFile == "") != (t.KeyFile == ""):
			d.Report.Errorf(t.Pos, "cert_file and key_file belong together")
		}
	}
}

func tlsKeys() keys[TLS] {
	type t = TLS
	return keys[t]{
		schema.On("cert_file", schema.Text(func(t *t) *string { return &t.CertFile })),
		schema.On("key_file", schema.Text(func(t *t) *string { return &t.KeyFile })),
		schema.On("ca_file", schema.Text(func(t *t) *string { return &t.CAFile })),
		schema.On("certs", schema.Blocks(func(t *t, at Pos) *CertPair {
			t.Certs = append(t.Certs, CertPair{Pos: at})
			return &t.Certs[len(t.Certs)-1]
		}, "certs", func() keys[CertPair] {
			return keys[CertPair]{
				schema.On("cert_file", schema.Text(func(c *CertPair) *string { return &c.CertFile })),
				schema.On("key_file", schema.Text(func(c *CertPair) *string { return &c.KeyFile })),
			}
		}), "certificates"),
		schema.On("verify", schema.Switch(func(t *t) *bool { return &t.Verify })),
		schema.On("verify_and_map", schema.Switch(func(t *t) *bool { return &t.VerifyAndMap })),
		schema.On("verify_cert_and_check_known_urls", schema.Switch(func(t *t) *bool { return &t.CheckKnownURLs })),
		schema.On("insecure", schema.Switch(func(t *t) *bool { return &t.Insecure })),
		schema.On("timeout", schema.Seconds(func(t *t) *time.Duration { return &t.Timeout })),
		schema.On("connection_rate_limit", count(func(t *t) *int { return &t.ConnectionRate })),
		schema.On("pinned_certs", pinned),
		schema.On("cipher_suites", named(func(t *t) *[]string { return &t.CipherSuites }, "cipher suite", cipherSuites())),
		schema.On("curve_preferences", named(func(t *t) *[]string { return &t.CurvePreferences }, "curve",
			[]string{"X25519", "CurveP256", "CurveP384", "CurveP521", "X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"})),
		schema.On("allow_insecure_cipher_suites", schema.Switch(func(t *t) *bool { return &t.AllowInsecure })),
		schema.On("min_version", schema.OneOf(func(t *t) *string { return &t.MinVersion }, "1.2", "1.3")),
		schema.On("handshake_first", handshakeFirst, "first", "immediate"),
		schema.On("cert_store", schema.Text(func(t *t) *string { return &t.CertStore })),
		schema.On("cert_match_by", schema.OneOf(func(t *t) *string { return &t.CertMatchBy }, "issuer", "subject", "thumbprint")),
		schema.On("cert_match", schema.Text(func(t *t) *string { return &t.CertMatch })),
		schema.On("cert_match_skip_invalid", schema.Switch(func(t *t) *bool { return &t.CertMatchSkip })),
		schema.On("ca_certs_match", schema.List(func(t *t) *[]string { return &t.CACertsMatch })),
		schema.On("ocsp_peer", ocspPeer()),
	}
}

// cipherSuites are the names that Go knows; the insecure ones among them need allow_insecure_cipher_suites.
func cipherSuites() []string {
	return []string{
		"TLS_AES_128_GCM_SHA256",
		"TLS_AES_256_GCM_SHA384",
		"TLS_CHACHA20_POLY1305_SHA256",
		"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
		"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
		"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
		"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
		"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
		"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
		"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
		"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
		"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
		"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
		"TLS_RSA_WITH_RC4_128_SHA",
		"TLS_RSA_WITH_3DES_EDE_CBC_SHA",
		"TLS_RSA_WITH_AES_128_CBC_SHA",
		"TLS_RSA_WITH_AES_256_CBC_SHA",
		"TLS_RSA_WITH_AES_128_CBC_SHA256",
		"TLS_RSA_WITH_AES_128_GCM_SHA256",
		"TLS_RSA_WITH_AES_256_GCM_SHA384",
		"TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
		"TLS_ECDHE_RSA_WITH_RC4_128_SHA",
		"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
		"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
		"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
	}
}

// named reads an array of known names.
func named[T any](field func(*T) *[]string, what string, known []string) schema.Reader[T] {
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		if v.Kind != conf.Array {
			d.Wrong(v, "an array of strings")
			return
		}
		if len(v.Array) == 0 {
			d.Report.ValueErrorf(v, "a list of the kind %q can't be empty", what)
		}
		for _, s := range d.Strings(v) {
			if !slices.Contains(known, s.Text) {
				d.Report.ValueErrorf(&s, "unknown %s %q: there are %s", what, s.Text, strings.Join(known, ", "))
				continue
			}
			*field(to) = append(*field(to), s.Text)
		}
	}
}

func pinned(d *schema.Decoder, v *conf.Value, t *TLS) {
	if v.Kind != conf.Array {
		d.Wrong(v, "an array of strings")
		return
	}
	for _, s := range d.Strings(v) {
		const bytes = 32
		if sum, err := hex.DecodeString(s.Text); err != nil || len(sum) != bytes {
			d.Report.ValueErrorf(&s, "%q is not the SHA-256 of a public key: 64 hexadecimal digits", s.Text)
			continue
		}
		t.PinnedCerts = append(t.PinnedCerts, strings.ToLower(s.Text))
	}
}

// handshakeFirst reads true, false, auto, or a duration for which auto waits.
func handshakeFirst(d *schema.Decoder, v *conf.Value, t *TLS) {
	const fallback = 50 * time.Millisecond
	switch {
	case v.Kind == conf.Bool && v.Bool:
		t.HandshakeFirst = FirstAlways
	case v.Kind == conf.Bool:
		t.HandshakeFirst = FirstNever
	case v.Kind == conf.String && strings.EqualFold(v.Text, "auto"):
		t.HandshakeFirst, t.FirstFallback = FirstAuto, fallback
	default:
		span, err := time.ParseDuration(v.Text)
		if v.Kind != conf.String || err != nil {
			d.Wrong(v, `true, false, auto, or a duration such as "300ms"`)
			return
		}
		t.HandshakeFirst, t.FirstFallback = FirstAuto, span
	}
}

// switched reads a block, or true or false in its place. begin makes what a block changes, and on takes the short form.
func switched[T, U any](field func(*T) **U, where string, keys func() keys[U], begin func(Pos) *U, on func(*U, bool)) schema.Reader[T] {
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		b := begin(v.Pos)
		*field(to) = b
		if v.Kind == conf.Bool {
			on(b, v.Bool)
			return
		}
		if m := d.Map(v); m != nil {
			schema.Read(d, m, where, keys(), b)
		}
	}
}

func ocspPeer() schema.Reader[TLS] {
	return switched(func(t *TLS) **OCSPPeer { return &t.OCSPPeer }, "ocsp_peer", ocspPeerKeys,
		func(at Pos) *OCSPPeer { return &OCSPPeer{Pos: at, CATimeout: -1, ClockSkew: -1, TTLUnset: -1} },
		func(o *OCSPPeer, on bool) { o.Verify = on })
}

func ocspPeerKeys() keys[OCSPPeer] {
	type o = OCSPPeer
	return keys[o]{
		schema.On("verify", schema.Switch(func(o *o) *bool { return &o.Verify })),
		schema.On("ca_timeout", schema.Seconds(func(o *o) *time.Duration { return &o.CATimeout })),
		schema.On("allowed_clockskew", schema.Seconds(func(o *o) *time.Duration { return &o.ClockSkew })),
		schema.On("warn_only", schema.Switch(func(o *o) *bool { return &o.WarnOnly })),
		schema.On("unknown_is_good", schema.Switch(func(o *o) *bool { return &o.UnknownIsGood })),
		schema.On("allow_when_ca_unreachable", schema.Switch(func(o *o) *bool { return &o.AllowUnreachable })),
		schema.On("cache_ttl_when_next_update_unset", schema.Seconds(func(o *o) *time.Duration { return &o.TTLUnset })),
	}
}

func ocsp() schema.Reader[Config] {
	return switched(func(c *Config) **OCSP { return &c.OCSP }, "ocsp", ocspKeys,
		func(at Pos) *OCSP { return &OCSP{Pos: at, Mode: "auto"} },
		func(o *OCSP, on bool) {
			if !on {
				o.Mode = "never"
			}
		})
}

func ocspKeys() keys[OCSP] {
	type o = OCSP
	return keys[o]{
		schema.On("mode", schema.OneOf(func(o *o) *string { return &o.Mode }, "auto", "always", "must", "never")),
		schema.On("urls", schema.List(func(o *o) *[]string { return &o.OverrideURLs }), "url"),
	}
}

func ocspCache() schema.Reader[Config] {
	return switched(func(c *Config) **OCSPCache { return &c.OCSPCache }, "ocsp_cache", ocspCacheKeys,
		func(at Pos) *OCSPCache { return &OCSPCache{Pos: at, Type: "local"} },
		func(o *OCSPCache, on bool) {
			if !on {
				o.Type = "none"
			}
		})
}

func ocspCacheKeys() keys[OCSPCache] {
	type o = OCSPCache
	return keys[o]{
		schema.On("type", schema.OneOf(func(o *o) *string { return &o.Type }, "none", "local")),
		schema.On("local_store", schema.Text(func(o *o) *string { return &o.LocalStore })),
		schema.On("preserve_revoked", schema.Switch(func(o *o) *bool { return &o.PreserveRevoked })),
		schema.On("save_interval", schema.Seconds(func(o *o) *time.Duration { return &o.SaveInterval })),
	}
}
