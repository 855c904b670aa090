package tlsconf

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/natsd/natsd/revocation"
)

// Config is what a listener needs of its settings. It does not change, but for the staples.
type Config struct {
	tls      *tls.Config
	notAfter time.Time
	staples  []*stapled
	pinned   []string
	peers    *revocation.Policy // nil: peers are not checked by OCSP
	files    Files
}

// Files are digests of what was read, by the names of the files.
type Files map[string][sha256.Size]byte

// read reads a file and keeps its digest.
func (f Files) read(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err == nil {
		f[name] = sha256.Sum256(text)
	}
	return text, err
}

// ErrNotPinned is why a client whose certificate is not among PinnedCerts is refused.
var ErrNotPinned = errors.New("certificate not pinned")

// Server reads what the settings of a listener name and checks it. The error has every problem found, in nats-server's
// words.
func Server(s Settings) (*Config, error) {
	var problems []error
	bad := func(err error) {
		if err != nil {
			problems = append(problems, err)
		}
	}
	bad(s.refuse())
	c := &Config{peers: s.Peers, files: Files{}, tls: &tls.Config{
		// Records are written whole: whoever sends a lot gains, and small ones are small either way.
		DynamicRecordSizingDisabled: true,
	}}
	t := c.tls
	var err error
	t.Certificates, err = s.certificates(c.files)
	bad(err)
	t.CipherSuites, err = s.cipherSuites()
	bad(err)
	for _, name := range s.CurvePreferences {
		curve, err := Curve(name)
		bad(err)
		t.CurvePreferences = append(t.CurvePreferences, curve)
	}
	t.MinVersion = tls.VersionTLS12
	if s.MinVersion != "" {
		t.MinVersion, err = Version(s.MinVersion)
		bad(err)
	}
	if s.Verify || s.VerifyAndMap {
		t.ClientAuth = tls.RequireAndVerifyClientCert
	}
	if s.CAFile != "" {
		t.ClientCAs, err = authorities(s.CAFile, c.files)
		bad(err)
	}
	bad(c.pin(s.PinnedCerts))
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	c.notAfter = t.Certificates[0].Leaf.NotAfter
	if err := c.chooseStaples(&s); err != nil {
		return nil, err
	}
	return c, nil
}

// refuse names what can't be done here.
func (s *Settings) refuse() error {
	switch {
	case s.CertStore != "" || s.CertMatch != "" || s.CertMatchBy != "" || len(s.CACertsMatch) > 0:
		return errors.New("cert_store not compatible with current operating system: natsd reads certificates from files")
	case s.CheckKnownURLs:
		return errors.New("verify_cert_and_check_known_urls not supported in this context")
	case s.Peers != nil && !s.Verify && !s.VerifyAndMap:
		return errors.New("OCSP peer verification for client connections requires TLS verify (mTLS) to be enabled")
	}
	return nil
}

// certificates reads the server's certificates.
func (s *Settings) certificates(files Files) ([]tls.Certificate, error) {
	pairs := s.Certs
	switch {
	case s.CertStore != "":
		return nil, nil // refused already
	case len(s.Certs) > 0 && s.CertFile != "":
		return nil, errors.New("error parsing tls config, cannot combine 'cert_file' option with 'certs' option")
	case s.CertFile == "" && s.KeyFile != "", len(s.Certs) == 0 && s.CertFile == "":
		return nil, errors.New("missing 'cert_file' in TLS configuration")
	case s.CertFile != "" && s.KeyFile == "":
		return nil, errors.New("missing 'key_file' in TLS configuration")
	case s.CertFile != "":
		pairs = []Pair{{s.CertFile, s.KeyFile}}
	}
	var all []tls.Certificate
	var problems []error
	for _, p := range pairs {
		if p.CertFile == "" || p.KeyFile == "" {
			problems = append(problems, errors.New("error parsing certificates config: both 'cert_file' and 'key_file' options are required"))
			continue
		}
		cert, err := loadPair(p, files)
		if err != nil {
			problems = append(problems, fmt.Errorf("error parsing X509 certificate/key pair: %w", err))
			continue
		}
		all = append(all, cert)
	}
	return all, errors.Join(problems...)
}

// loadPair reads a certificate and its key. That a key is encrypted is said, because crypto/tls only says that it can't be
// parsed.
func loadPair(p Pair, files Files) (tls.Certificate, error) {
	chain, err := files.read(p.CertFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := files.read(p.KeyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	cert, err := tls.X509KeyPair(chain, key)
	if err == nil {
		return cert, nil
	}
	if strings.Contains(string(key), "ENCRYPTED PRIVATE KEY") || strings.Contains(string(key), "Proc-Type: 4,ENCRYPTED") {
		err = fmt.Errorf("%w: %s is encrypted, and there is no setting for a passphrase", err, p.KeyFile)
	}
	return cert, err
}

func (s *Settings) cipherSuites() (ids []uint16, err error) {
	var insecure []string
	var problems []error
	for _, name := range s.CipherSuites {
		id, weak, err := CipherSuite(name)
		if err != nil {
			problems = append(problems, err)
		}
		if weak && !s.AllowInsecureCipherSuites {
			insecure = append(insecure, name)
		}
		ids = append(ids, id)
	}
	if len(insecure) > 0 {
		problems = append(problems, fmt.Errorf("insecure cipher suites configured without 'allow_insecure_cipher_suites' option set: %s",
			strings.Join(insecure, ", ")))
	}
	return ids, errors.Join(problems...)
}

func authorities(file string, files Files) (*x509.CertPool, error) {
	text, err := files.read(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("failed to parse root ca certificate")
	}
	return pool, nil
}

// pin has handshakes fail with certificates that are not among the pinned ones. A resumed session is checked too.
func (c *Config) pin(texts []string) error {
	var problems []error
	pins := map[string]bool{}
	for _, text := range texts {
		pin, err := Pin(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("error parsing tls config, %w", err))
		}
		pins[pin] = true
	}
	c.pinned = slices.Sorted(maps.Keys(pins))
	if len(pins) > 0 {
		c.tls.VerifyConnection = func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 || !pins[SPKI(state.PeerCertificates[0])] {
				return ErrNotPinned
			}
			return nil
		}
	}
	return errors.Join(problems...)
}

// SPKI is the name of a certificate's key: the SHA-256 of its SubjectPublicKeyInfo, in lower case hex.
func SPKI(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

// Pinned are the only certificates that clients may show, as SPKI names them, in order; empty: any.
func (c *Config) Pinned() []string { return c.pinned }

// NotAfter is when the first certificate expires.
func (c *Config) NotAfter() time.Time { return c.notAfter }

// Files are those that were read: certificates, keys and authorities.
func (c *Config) Files() Files { return c.files }
