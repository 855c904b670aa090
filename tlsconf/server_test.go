package tlsconf

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/revocation"
)

// files are a certificate that signs itself, its key, and others that are no good.
type files struct{ cert, key, otherKey, garbage, encrypted string }

func makeFiles(t *testing.T) files {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	newKey := func() (*ecdsa.PrivateKey, []byte) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return key, der
	}
	key, keyDER := newKey()
	_, otherDER := newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "self"}, DNSNames: []string{"self"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	f := files{
		cert: write("cert.pem", "CERTIFICATE", der), key: write("key.pem", "PRIVATE KEY", keyDER),
		otherKey: write("other.pem", "PRIVATE KEY", otherDER), encrypted: write("encrypted.pem", "ENCRYPTED PRIVATE KEY", keyDER[1:]),
		garbage: filepath.Join(dir, "garbage.pem"),
	}
	if err := os.WriteFile(f.garbage, []byte("garbage\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

// What nats-server 2.15 says of the same settings.
func TestServerRefuses(t *testing.T) {
	f := makeFiles(t)
	for name, c := range map[string]struct {
		change func(*Settings)
		want   string
	}{
		"no certificate": {func(s *Settings) { s.CertFile, s.KeyFile = "", "" }, "missing 'cert_file' in TLS configuration"},
		"key alone":      {func(s *Settings) { s.CertFile = "" }, "missing 'cert_file' in TLS configuration"},
		"no key":         {func(s *Settings) { s.KeyFile = "" }, "missing 'key_file' in TLS configuration"},
		"no file": {func(s *Settings) { s.CertFile = "nope.pem" },
			"error parsing X509 certificate/key pair: open nope.pem: no such file or directory"},
		"garbage": {func(s *Settings) { s.CertFile = f.garbage },
			"error parsing X509 certificate/key pair: tls: failed to find any PEM data in certificate input"},
		"garbage key": {func(s *Settings) { s.KeyFile = f.garbage },
			"error parsing X509 certificate/key pair: tls: failed to find any PEM data in key input"},
		"another's key": {func(s *Settings) { s.KeyFile = f.otherKey },
			"error parsing X509 certificate/key pair: tls: private key does not match public key"},
		"encrypted": {func(s *Settings) { s.KeyFile = f.encrypted }, "is encrypted, and there is no setting for a passphrase"},
		"both": {func(s *Settings) { s.Certs = []Pair{{f.cert, f.key}} },
			"error parsing tls config, cannot combine 'cert_file' option with 'certs' option"},
		"half a pair": {func(s *Settings) { s.CertFile, s.KeyFile, s.Certs = "", "", []Pair{{f.cert, ""}} },
			"error parsing certificates config: both 'cert_file' and 'key_file' options are required"},
		"no authorities": {func(s *Settings) { s.CAFile = f.garbage }, "failed to parse root ca certificate"},
		"no cipher":      {func(s *Settings) { s.CipherSuites = []string{"X"} }, "unrecognized cipher X"},
		"cipher in lower case": {func(s *Settings) { s.CipherSuites = []string{"tls_aes_128_gcm_sha256"} },
			"unrecognized cipher tls_aes_128_gcm_sha256"},
		"insecure ciphers": {func(s *Settings) {
			s.CipherSuites = []string{"TLS_RSA_WITH_RC4_128_SHA", "TLS_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_128_CBC_SHA256"}
		}, "insecure cipher suites configured without 'allow_insecure_cipher_suites' option set: " +
			"TLS_RSA_WITH_RC4_128_SHA, TLS_RSA_WITH_AES_128_CBC_SHA256"},
		"no curve":        {func(s *Settings) { s.CurvePreferences = []string{"P256"} }, "unrecognized curve preference P256"},
		"old version":     {func(s *Settings) { s.MinVersion = "1.1" }, "unsupported TLS version: TLS 1.1"},
		"unknown version": {func(s *Settings) { s.MinVersion = "1.4" }, "unknown version: 1.4"},
		"no pin": {func(s *Settings) { s.PinnedCerts = []string{"xx"} },
			"'pinned_certs' key xx does not look like hex-encoded sha256 of DER encoded SubjectPublicKeyInfo"},
		"a store":                   {func(s *Settings) { s.CertStore = "WindowsLocalMachine" }, "cert_store not compatible with current operating system"},
		"a certificate in no store": {func(s *Settings) { s.CertMatch = "x" }, "cert_match is for a cert_store"},
		"a way to match":            {func(s *Settings) { s.CertMatchBy = "subject" }, "cert_match_by is for a cert_store"},
		"authorities in no store":   {func(s *Settings) { s.CACertsMatch = []string{"x"} }, "ca_certs_match is for a cert_store"},
		"peers checked, no certificates": {func(s *Settings) { s.Peers = &revocation.Policy{} },
			"OCSP peer verification for client connections requires TLS verify (mTLS) to be enabled"},
		"known URLs": {func(s *Settings) { s.CheckKnownURLs = true }, "verify_cert_and_check_known_urls not supported in this context"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Settings{CertFile: f.cert, KeyFile: f.key}
			c.change(&s)
			_, err := Server(s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestServerReportsEverything(t *testing.T) {
	_, err := Server(Settings{CertFile: "a", CipherSuites: []string{"X"}, CurvePreferences: []string{"Y"}, MinVersion: "Z", PinnedCerts: []string{"P"}})
	for _, want := range []string{"key_file", "cipher X", "preference Y", "version: Z", "key P"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s in: %v", want, err)
		}
	}
}

func TestServerAccepts(t *testing.T) {
	f := makeFiles(t)
	pin := strings.Repeat("AB", 32)
	c, err := Server(Settings{
		Certs: []Pair{{f.cert, f.key}, {f.cert, f.key}}, CAFile: f.cert, VerifyAndMap: true, MinVersion: "1.3",
		CipherSuites: []string{"TLS_RSA_WITH_RC4_128_SHA"}, AllowInsecureCipherSuites: true,
		CurvePreferences: []string{"X25519MLKEM768", "CurveP256"}, PinnedCerts: []string{pin},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.tls; len(got.Certificates) != 2 || got.ClientAuth != tls.RequireAndVerifyClientCert || got.MinVersion != tls.VersionTLS13 ||
		len(got.CipherSuites) != 1 || len(got.CurvePreferences) != 2 || got.ClientCAs == nil || got.VerifyConnection == nil {
		t.Errorf("%+v", got)
	}
	if c.NotAfter().Before(time.Now()) {
		t.Errorf("it expires %v", c.NotAfter())
	}
}

// A handshake uses the Config that counts when it begins.
func TestLiveFollows(t *testing.T) {
	one, two := makeFiles(t), makeFiles(t)
	first, err := Server(Settings{CertFile: one.cert, KeyFile: one.key, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Server(Settings{CertFile: two.cert, KeyFile: two.key})
	if err != nil {
		t.Fatal(err)
	}
	live := NewLive(first)
	clients, monitoring := live.Clients(), live.Monitoring()
	if shown(t, monitoring) != leaf(first) {
		t.Error("monitoring shows another certificate")
	}
	live.Replace(second)
	if live.Config() != second || shown(t, clients) != leaf(second) || shown(t, monitoring) != leaf(second) {
		t.Error("the old certificate is shown")
	}
}

func leaf(c *Config) string { return SPKI(c.tls.Certificates[0].Leaf) }

// shown is the key of the certificate that a server shows a client without one.
func shown(t *testing.T, server *tls.Config) string {
	t.Helper()
	here, there := net.Pipe()
	defer here.Close()
	done := make(chan error, 1)
	go func() { done <- tls.Server(there, server).Handshake() }()
	c := tls.Client(here, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	go c.Read(make([]byte, 1)) // a ticket may come
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return SPKI(c.ConnectionState().PeerCertificates[0])
}

// Each thing that is wrong is told by itself, with the key that says so.
func TestFaults(t *testing.T) {
	_, err := Server(Settings{
		Certs: []Pair{{"a", "b"}, {CertFile: "c"}}, CAFile: "d", MinVersion: "1.1", CipherSuites: []string{"x", "y"}, PinnedCerts: []string{"z"},
	})
	var got []string
	for _, f := range Faults(fmt.Errorf("tls: %w", err)) {
		got = append(got, fmt.Sprintf("%s %d %v", f.Key, f.Pair, f.File))
		if f.Error() == "" || !errors.Is(err, f.Err) || strings.Contains(f.Error(), "\n") {
			t.Errorf("%q in %v", f.Error(), err)
		}
	}
	want := []string{
		"certs 0 true", "certs 0 true", "certs 1 false", "cipher_suites 0 false", "cipher_suites 0 false", "min_version 0 false",
		"ca_file 0 true", "pinned_certs 0 false",
	}
	if !slices.Equal(got, want) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %q\nwant %q: %v", got, want, err)
	}
	if all := Faults(fs.ErrNotExist); all != nil {
		t.Errorf("faults of another error: %v", all)
	}
}
