package tlsconf

import "github.com/natsd/natsd/revocation"

// Settings are a tls block. Files are names, relative to the working directory.
type Settings struct {
	CertFile, KeyFile string
	// CAFile has the authorities whose certificates of peers are trusted; empty: the system's.
	CAFile string
	// Certs are certificates of which the client's server name (SNI) chooses; not together with CertFile.
	Certs []Pair
	// Verify demands a certificate of clients; so does VerifyAndMap, which also makes it their credentials.
	Verify, VerifyAndMap bool
	// CheckKnownURLs is for servers among themselves: a listener for clients refuses it.
	CheckKnownURLs bool
	// CipherSuites are names as in crypto/tls; empty: its own choice. TLS 1.3 has its own, which can't be chosen.
	CipherSuites []string
	// AllowInsecureCipherSuites lets CipherSuites name those that crypto/tls holds for insecure.
	AllowInsecureCipherSuites bool
	// CurvePreferences are names of key exchanges as in crypto/tls; empty: its own choice.
	CurvePreferences []string
	// MinVersion is "1.2" or "1.3"; empty: 1.2.
	MinVersion string
	// PinnedCerts are the only certificates accepted of clients: SHA-256 of their public keys (SubjectPublicKeyInfo, DER) in
	// hex. Empty: any.
	PinnedCerts []string
	// CertStore, CertMatch, CertMatchBy and CACertsMatch are for Windows' certificate stores, which natsd can't read.
	CertStore, CertMatch, CertMatchBy string
	CACertsMatch                      []string

	// OCSP says which certificates are stapled.
	OCSP OCSP
	// Peers is how clients' certificates are checked by OCSP; nil: they are not.
	Peers *revocation.Policy
}

// Pair is a certificate and its key.
type Pair struct{ CertFile, KeyFile string }
