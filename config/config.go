package config

import "time"

// Config is all that a configuration file says. Zero fields were not said: the engine has the defaults.
type Config struct {
	Digest string // fingerprint of the file, as nats-server prints it
	// Empty says that the file, which may be about to be written, has nothing in it.
	Empty bool

	Host            string
	Port            int // -1: any free one
	ClientAdvertise string
	ServerName      string
	Tags            []string // server_tags
	Metadata        []Pair   // server_metadata

	MaxConnections   int // below zero: no limit, as for the other limits
	MaxSubscriptions int
	MaxSubTokens     int
	MaxPayload       int // bytes
	MaxControlLine   int // bytes
	MaxPending       int // bytes
	MaxClosedClients int
	PingInterval     time.Duration
	PingMax          int
	WriteDeadline    time.Duration
	WriteTimeout     string // default, close or retry
	LameDuckDuration time.Duration
	LameDuckGrace    time.Duration

	NoHeaders            bool
	NoSublistCache       bool
	NoFastProducerStall  bool
	AllowNonTLS          bool
	ProxyProtocol        bool
	ConnectErrorReports  int
	ReconnectErrorReport int
	FeatureFlags         []Flag

	Log Log

	MonitorHost  string
	MonitorPort  int // -1: any free one
	MonitorsHost string
	MonitorsPort int // HTTPS
	BasePath     string
	ProfPort     int
	ProfRate     int

	PIDFile  string
	PortsDir string

	TLS           *TLS
	Authorization *Authorization
	Accounts      []Account
	NoAuthUser    Located // the user that clients without credentials are
	NoSystem      bool    // no system account
	Mappings      []Mapping
	Operators     Operators
	Proxies       []Located // public keys of trusted proxies
	OCSP          *OCSP
	OCSPCache     *OCSPCache

	Cluster   *Cluster
	Gateway   *Gateway
	LeafNodes *LeafNodes
	WebSocket *WebSocket
	MQTT      *MQTT
	JetStream *JetStream
	// DefaultJSDomain is the JetStream domain that an account uses when it names none.
	DefaultJSDomain []Pair

	places map[string]Pos
}

// Log is where the log goes and what is in it.
type Log struct {
	File         string
	SizeLimit    int64 // bytes; the file is rotated then
	MaxFiles     int
	Syslog       bool
	RemoteSyslog string
	NoTime       bool // logtime: false
	UTC          bool
	Debug        bool
	Trace        bool
	TraceVerbose bool
	TraceHeaders bool
	MaxTracedLen int // bytes
}

// Pair is a name and a text.
type Pair struct {
	Pos         Pos
	Name, Value string
}

// Flag is a name and a truth.
type Flag struct {
	Pos  Pos
	Name string
	On   bool
}

// Where returns where a key stands: "port", "cluster.tls.ca_file"; false if the configuration does not have it.
func (c *Config) Where(key string) (Pos, bool) {
	p, ok := c.places[key]
	return p, ok
}
