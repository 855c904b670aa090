package integration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/natsd/natsd/tlsconf"
)

// authority issues certificates for one test.
type authority struct {
	t      *testing.T
	dir    string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	caFile string
	serial int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "Test CA"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	a.caFile, _ = a.issue("ca", template)
	return a
}

// issue signs a certificate, the authority's own if it has none yet, and returns the files of it and of its key.
func (a *authority) issue(name string, template *x509.Certificate) (certFile, keyFile string) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ok(a.t, err)
	a.serial++
	template.SerialNumber = big.NewInt(a.serial)
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	ok(a.t, err)
	if a.cert == nil {
		a.cert, err = x509.ParseCertificate(der)
		ok(a.t, err)
		a.key = key
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	ok(a.t, err)
	certFile, keyFile = filepath.Join(a.dir, name+".pem"), filepath.Join(a.dir, name+".key")
	ok(a.t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	ok(a.t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return certFile, keyFile
}

// server issues a certificate for 127.0.0.1 and the given names.
func (a *authority) server(name string, dns ...string) (certFile, keyFile string) {
	a.t.Helper()
	return a.issue(name, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: dns, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

// client issues a certificate for a client.
func (a *authority) client(name string) tls.Certificate {
	a.t.Helper()
	uri, err := url.Parse("spiffe://example/" + name)
	ok(a.t, err)
	certFile, keyFile := a.issue(name, &x509.Certificate{
		Subject:        pkix.Name{CommonName: name, Organization: []string{"Org, Inc."}, Country: []string{"DE"}},
		EmailAddresses: []string{name + "@example.com"}, DNSNames: []string{name + ".example"}, URIs: []*url.URL{uri},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	ok(a.t, err)
	return cert
}

// settings are those of a server with a certificate of this authority.
func (a *authority) settings() tlsconf.Settings {
	a.t.Helper()
	s := tlsconf.Settings{}
	s.CertFile, s.KeyFile = a.server("server")
	return s
}

// trust is the TLS of a client that knows the authority.
func (a *authority) trust(certs ...tls.Certificate) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{RootCAs: pool, Certificates: certs, MinVersion: tls.VersionTLS12}
}
