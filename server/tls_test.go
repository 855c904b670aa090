package server

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/revocation"
	"github.com/natsd/natsd/tlsconf"
)

func TestTLSBlockIsTaken(t *testing.T) {
	var s tlsSettings
	var o engine.TLSOptions
	s.take(&config.TLS{
		Certs: []config.CertPair{{CertFile: "c", KeyFile: "k"}}, CAFile: "a", Verify: true, AllowNonTLS: true,
		HandshakeFirst: config.FirstAuto, FirstFallback: time.Second, Timeout: time.Minute, ConnectionRate: 7,
		MinVersion: "1.3", AllowInsecure: true, PinnedCerts: []string{"p"},
	}, &o)
	want := tlsconf.Settings{
		Certs: []tlsconf.Pair{{CertFile: "c", KeyFile: "k"}}, CAFile: "a", Verify: true,
		MinVersion: "1.3", AllowInsecureCipherSuites: true, PinnedCerts: []string{"p"},
	}
	if !s.on || !reflect.DeepEqual(s.settings, want) {
		t.Errorf("settings %+v", s)
	}
	if !reflect.DeepEqual(o, engine.TLSOptions{AllowPlain: true, First: true, FirstWait: time.Second, Timeout: time.Minute, ConnectionRate: 7}) {
		t.Errorf("options %+v", o)
	}
}

func TestTLSFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--tls --tlscert a":                     "missing 'key_file'",
		"--tlscert a --tlskey b":                "error parsing X509 certificate/key pair: open a:", // a certificate turns TLS on
		"--tlskey a":                            "missing 'cert_file'",
		"--tlscacert a":                         "missing 'cert_file'",
		"--tls=false --tlscert a -ms 1":         "HTTPS monitoring needs a certificate",
		"--tls=maybe":                           "invalid",
		"--tlsverify --tlscert a --tlskey nope": "error parsing X509 certificate/key pair: open a:",
	} {
		if _, err := parseFlags(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// --tls=false wins over the file.
func TestTLSCanBeTurnedOff(t *testing.T) {
	file := written(t, "tls { cert_file: nope, key_file: nope, verify: true, handshake_first: true }")
	s, err := parseFlags([]string{"-c", file, "--tls=false"})
	if err != nil || !reflect.DeepEqual(s.engine.TLS, engine.TLSOptions{}) || s.tls.config != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestHelpOfTLS(t *testing.T) {
	text := helpTLS()
	for _, name := range []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\n", "TLS_RSA_WITH_RC4_128_SHA\n", "X25519MLKEM768\n"} {
		if !strings.Contains(text, "    "+name) {
			t.Errorf("no %s in\n%s", name, text)
		}
	}
	_, block, _ := strings.Cut(text, "\n\n")
	block, _, _ = strings.Cut(block, "\n\n")
	file := written(t, block)
	const pair = "error parsing X509 certificate/key pair: "
	want := "the configuration can't be used:\n" + file + ":2:9: " + pair + "open server.pem: no such file or directory\n" +
		file + ":3:9: " + pair + "open server-key.pem: no such file or directory\n" + file + ":4:9: open ca.pem: no such file or directory"
	if _, err := parseFlags([]string{"-t", "-c", file}); err == nil || err.Error() != want {
		t.Errorf("the example is wrong: %v", err)
	}
	for _, args := range [][]string{{"--help_tls"}, {"help"}, {"-D", "version"}, {"-c", "nope", "help", "more"}} {
		if s, err := parseFlags(args); err != nil || !s.shows() {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// Files with JWTs that are not there are named, and not taken for JWTs.
func TestFilesOfJWTsThatAreMissing(t *testing.T) {
	_, err := parseFlags([]string{"-t", "-c", written(t, "operator: /nope/op.jwt\nresolver: MEMORY\ndefault_sentinel: /nope/user.jwt")})
	for _, want := range []string{
		":1:11: operator: neither a JWT nor a file with one: open /nope/op.jwt: no such file",
		":3:19: default_sentinel: neither a JWT nor a file with one: open /nope/user.jwt: no such file",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// Spans that are nobody's choice are nats-server's defaults; zero is a choice, but of the timeout.
func TestOCSPBlocksAreTaken(t *testing.T) {
	for _, c := range []struct {
		block config.OCSPPeer
		want  *revocation.Policy
	}{
		{config.OCSPPeer{WarnOnly: true}, nil},
		{config.OCSPPeer{Verify: true, CATimeout: -1, ClockSkew: -1, TTLUnset: -1},
			&revocation.Policy{Timeout: 2 * time.Second, Skew: 30 * time.Second, TTL: time.Hour}},
		{config.OCSPPeer{Verify: true}, &revocation.Policy{Timeout: 2 * time.Second}},
		{config.OCSPPeer{Verify: true, CATimeout: 1, ClockSkew: 2, TTLUnset: 3, WarnOnly: true, UnknownIsGood: true, AllowUnreachable: true},
			&revocation.Policy{Timeout: 1, Skew: 2, TTL: 3, WarnOnly: true, UnknownIsGood: true, AllowUnreachable: true}},
	} {
		var s tlsSettings
		s.take(&config.TLS{OCSPPeer: &c.block}, &engine.TLSOptions{})
		if !reflect.DeepEqual(s.settings.Peers, c.want) {
			t.Errorf("%+v: %+v", c.block, s.settings.Peers)
		}
	}
	var s tlsSettings
	s.takeOCSPCache(&config.OCSPCache{Type: "local", LocalStore: "d", PreserveRevoked: true, SaveInterval: time.Minute})
	if want := (revocation.CacheOptions{Dir: "d", PreserveRevoked: true, SaveEvery: time.Minute}); s.noPeerCache || s.peerCache != want {
		t.Errorf("cache %+v", s)
	}
	if s.takeOCSPCache(&config.OCSPCache{Type: "none"}); !s.noPeerCache {
		t.Error("there is a cache")
	}
}
