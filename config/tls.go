package config

import "time"

// TLS is a block tls, wherever it stands. Files stay names.
type TLS struct {
	Pos Pos

	CertFile string
	KeyFile  string
	CAFile   string
	Certs    []CertPair // several certificates, chosen by the name that the client asks for

	Verify           bool
	VerifyAndMap     bool
	CheckKnownURLs   bool // verify_cert_and_check_known_urls
	Insecure         bool // dialled connections accept any certificate
	AllowNonTLS      bool // top-level allow_non_tls
	HandshakeFirst   HandshakeFirst
	FirstFallback    time.Duration // HandshakeFirst auto: how long the client may take before it gets a plain INFO
	Timeout          time.Duration
	ConnectionRate   int      // new connections per second; 0: no bound
	PinnedCerts      []string // SHA-256 of public keys, in lower-case hex
	CipherSuites     []string
	CurvePreferences []string
	AllowInsecure    bool   // allow_insecure_cipher_suites
	MinVersion       string // "1.2" or "1.3"; empty: 1.2
	CertStore        string // WindowsCurrentUser or WindowsLocalMachine
	CertMatchBy      string
	CertMatch        string
	CertMatchSkip    bool // cert_match_skip_invalid
	CACertsMatch     []string
	OCSPPeer         *OCSPPeer
}

// CertPair is a certificate and its key.
type CertPair struct {
	Pos               Pos
	CertFile, KeyFile string
}

// HandshakeFirst is when the TLS handshake comes before INFO.
type HandshakeFirst uint8

// The values of handshake_first.
const (
	FirstNever HandshakeFirst = iota
	FirstAlways
	FirstAuto // wait FirstFallback for the client, then send INFO
)

// OCSPPeer is how the revocation of peers' certificates is checked. Negative spans are those that nobody has chosen.
type OCSPPeer struct {
	Pos              Pos
	Verify           bool
	CATimeout        time.Duration
	ClockSkew        time.Duration
	WarnOnly         bool
	UnknownIsGood    bool
	AllowUnreachable bool          // allow_when_ca_unreachable
	TTLUnset         time.Duration // cache_ttl_when_next_update_unset
}

// OCSP is the block ocsp, or its short form: stapling of the server's own certificates.
type OCSP struct {
	Pos          Pos
	Mode         string // auto, always, must, never
	OverrideURLs []string
}

// OCSPCache is the block ocsp_cache.
type OCSPCache struct {
	Pos             Pos
	Type            string // none or local
	LocalStore      string // directory
	PreserveRevoked bool
	SaveInterval    time.Duration
}
