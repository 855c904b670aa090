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

// Server reads what the settings of a listener name and checks it. The error consists of Faults.
func Server(s Settings) (*Config, error) {
	var all faults
	all.add("", s.refuse())
	c := &Config{peers: s.Peers, files: Files{}, tls: &tls.Config{
		// Records are written whole: whoever sends a lot gains, and small ones are small either way.
		DynamicRecordSizingDisabled: true,
	}}
	t := c.tls
	var err error
	t.Certificates = s.certificates(c.files, &all)
	t.CipherSuites, err = s.cipherSuites()
	all.add("cipher_suites", err)
	for _, name := range s.CurvePreferences {
		curve, err := Curve(name)
		all.add("curve_preferences", err)
		t.CurvePreferences = append(t.CurvePreferences, curve)
	}
	t.MinVersion = tls.VersionTLS12
	if s.MinVersion != "" {
		t.MinVersion, err = Version(s.MinVersion)
		all.add("min_version", err)
	}
	if s.Verify || s.VerifyAndMap {
		t.ClientAuth = tls.RequireAndVerifyClientCert
	}
	if s.CAFile != "" {
		if t.ClientCAs, err = authorities(s.CAFile, c.files); err != nil {
			all = append(all, &Fault{Key: "ca_file", File: true, Err: err})
		}
	}
	all.add("pinned_certs", c.pin(s.PinnedCerts))
	if len(all) == 0 {
		c.notAfter = t.Certificates[0].Leaf.NotAfter
		all.add("", c.chooseStaples(&s))
	}
	if len(all) > 0 {
		return nil, all
	}
	return c, nil
}

const ofStores = " is for a cert_store, as Windows has them: natsd reads certificates from files"

// refuse names what can't be done here.
func (s *Settings) refuse() error {
	switch {
	case s.CertStore != "":
		return errors.New("cert_store not compatible with current operating system: natsd reads certificates from files")
	case s.CertMatch != "":
		return errors.New("cert_match" + ofStores)
	case s.CertMatchBy != "":
		return errors.New("cert_match_by" + ofStores)
	case len(s.CACertsMatch) > 0:
		return errors.New("ca_certs_match" + ofStores)
	case s.CheckKnownURLs:
		return errors.New("verify_cert_and_check_known_urls not supported in this context")
	case s.Peers != nil && !s.Verify && !s.VerifyAndMap:
		return errors.New("OCSP peer verification for client connections requires TLS verify (mTLS) to be enabled")
	}
	return nil
}

// certificates reads the server's certificates.
func (s *Settings) certificates(files Files, all *faults) (certs []tls.Certificate) {
	switch {
	case s.CertStore != "":
		return nil // refused already
	case len(s.Certs) > 0 && s.CertFile != "":
		all.add("cert_file", errors.New("error parsing tls config, cannot combine 'cert_file' option with 'certs' option"))
	case s.CertFile == "" && s.KeyFile != "", len(s.Certs) == 0 && s.CertFile == "":
		all.add("key_file", errors.New("missing 'cert_file' in TLS configuration"))
	case s.CertFile != "" && s.KeyFile == "":
		all.add("cert_file", errors.New("missing 'key_file' in TLS configuration"))
	case s.CertFile != "":
		cert, wrong := loadPair(Pair{s.CertFile, s.KeyFile}, files)
		*all = append(*all, wrong...)
		return []tls.Certificate{cert}
	default:
		for i, p := range s.Certs {
			cert, wrong := loadPair(p, files)
			for _, f := range wrong {
				f.Pair, f.Key = i, "certs"
			}
			*all = append(*all, wrong...)
			certs = append(certs, cert)
		}
	}
	return certs
}

// loadPair reads a certificate and its key. That a key is encrypted is said, because crypto/tls only says that it can't be
// parsed.
func loadPair(p Pair, files Files) (cert tls.Certificate, wrong faults) {
	if p.CertFile == "" || p.KeyFile == "" {
		wrong.add("certs", errors.New("error parsing certificates config: both 'cert_file' and 'key_file' options are required"))
		return cert, wrong
	}
	bad := func(key string, err error) {
		if err != nil {
			wrong = append(wrong, &Fault{Key: key, File: true, Err: fmt.Errorf("error parsing X509 certificate/key pair: %w", err)})
		}
	}
	chain, err := files.read(p.CertFile)
	bad("cert_file", err)
	key, err := files.read(p.KeyFile)
	bad("key_file", err)
	if len(wrong) > 0 {
		return cert, wrong
	}
	if cert, err = tls.X509KeyPair(chain, key); err == nil {
		return cert, nil
	}
	if strings.Contains(string(key), "ENCRYPTED PRIVATE KEY") || strings.Contains(string(key), "Proc-Type: 4,ENCRYPTED") {
		err = fmt.Errorf("%w: %s is encrypted, and there is no setting for a passphrase", err, p.KeyFile)
	}
	bad("cert_file", err)
	return cert, wrong
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
