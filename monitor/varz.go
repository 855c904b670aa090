package monitor

import (
	"encoding/json"
	"time"
)

// VarzOptions ask for the server at a glance.
type VarzOptions struct{}

func (VarzOptions) question() {}

// Varz is the answer. The fields are nats-server's, but for those of natsd that are named so.
type Varz struct {
	ID               string        `json:"server_id"`
	Name             string        `json:"server_name"`
	Version          string        `json:"version"`
	Natsd            string        `json:"natsd"` // natsd's: its own version
	Proto            int           `json:"proto"`
	GitCommit        string        `json:"git_commit,omitempty"`
	GoVersion        string        `json:"go"`
	Host             string        `json:"host"`
	Port             int           `json:"port"`
	AuthRequired     bool          `json:"auth_required,omitempty"`
	TLSRequired      bool          `json:"tls_required,omitempty"`
	TLSVerify        bool          `json:"tls_verify,omitempty"`
	OCSPPeerVerify   bool          `json:"tls_ocsp_peer_verify,omitempty"`
	ConnectURLs      []string      `json:"connect_urls,omitempty"`
	MaxConnections   int           `json:"max_connections"`
	MaxSubscriptions int           `json:"max_subscriptions,omitempty"`
	PingInterval     time.Duration `json:"ping_interval"`
	PingMax          int           `json:"ping_max"`
	Listeners
	AuthTimeout    json.Number   `json:"auth_timeout"` // seconds
	MaxControlLine int           `json:"max_control_line"`
	MaxPayload     int           `json:"max_payload"`
	MaxPending     int           `json:"max_pending"`
	Cluster        struct{}      `json:"cluster"`
	Gateway        struct{}      `json:"gateway"`
	Leaf           struct{}      `json:"leaf"`
	MQTT           struct{}      `json:"mqtt"`
	WebSocket      struct{}      `json:"websocket"`
	JetStream      struct{}      `json:"jetstream"`
	TLSTimeout     json.Number   `json:"tls_timeout"` // seconds
	WriteDeadline  time.Duration `json:"write_deadline"`
	Start          time.Time     `json:"start"`
	Now            time.Time     `json:"now"`
	Uptime         string        `json:"uptime"`
	Usage
	Connections      int               `json:"connections"`
	TotalConnections uint64            `json:"total_connections"`
	Routes           int               `json:"routes"`
	Remotes          int               `json:"remotes"`
	LeafNodes        int               `json:"leafnodes"`
	InMsgs           uint64            `json:"in_msgs"`
	InBytes          uint64            `json:"in_bytes"`
	InClientMsgs     uint64            `json:"in_client_msgs"`
	InClientBytes    uint64            `json:"in_client_bytes"`
	OutMsgs          uint64            `json:"out_msgs"`
	OutBytes         uint64            `json:"out_bytes"`
	OutClientMsgs    uint64            `json:"out_client_msgs"`
	OutClientBytes   uint64            `json:"out_client_bytes"`
	SlowConsumers    uint64            `json:"slow_consumers"`
	StaleConnections uint64            `json:"stale_connections"`
	StalledClients   uint64            `json:"stalled_clients"` // times that a publisher was held back
	Subscriptions    int               `json:"subscriptions"`
	HTTPRequests     map[string]uint64 `json:"http_req_stats"`
	Loaded           time.Time         `json:"config_load_time"`
	Digest           string            `json:"config_digest"`
	Tags             []string          `json:"tags,omitempty"`
	Metadata         map[string]string `json:"metadata,omitempty"`
	FeatureFlags     map[string]bool   `json:"feature_flags,omitempty"`
	OperatorJWTs     []string          `json:"trusted_operators_jwt,omitempty"`
	OperatorClaims   []json.RawMessage `json:"trusted_operators_claim,omitempty"` // what those say
	SystemAccount    string            `json:"system_account"`
	Proxies          *Proxies          `json:"proxies,omitempty"` // nil: none is configured
	OCSPCache        *OCSPCache        `json:"ocsp_peer_cache,omitempty"`
	Slow             ByKind            `json:"slow_consumer_stats"`
	Stale            ByKind            `json:"stale_connection_stats"`
	DiskWaits        DiskWaits         `json:"disk_io_wait_stats"`
	CertNotAfter     *time.Time        `json:"tls_cert_not_after,omitempty"`
	LameDuck         bool              `json:"lame_duck_mode,omitempty"` // natsd's
	LongestTurn      int64             `json:"longest_turn_ns"`          // natsd's: since the start
	MostTurnCPU      int64             `json:"most_turn_cpu_ns"`         // natsd's: since the start, of one turn, at most
	Turns            uint64            `json:"turns"`                    // natsd's
	TurnTime         int64             `json:"turn_time_ns"`             // natsd's: of all turns together
}

// Body implements Answer.
func (v *Varz) Body() (any, error) { return v, nil }

// Listeners are the addresses of monitoring itself.
type Listeners struct {
	HTTPHost  string `json:"http_host"`
	HTTPPort  int    `json:"http_port"`
	BasePath  string `json:"http_base_path"`
	HTTPSPort int    `json:"https_port"`
}

// Usage is what the process uses.
type Usage struct {
	Mem      int64       `json:"mem"` // bytes resident
	Cores    int         `json:"cores"`
	MaxProcs int         `json:"gomaxprocs"`
	MemLimit int64       `json:"gomemlimit,omitempty"` // bytes that Go's runtime tries to keep to; 0: as many as there are
	CPU      json.Number `json:"cpu"`                  // percent of one core, since it was asked for before
}

// Proxies are those that may say who has come through them.
type Proxies struct {
	Trusted []TrustedProxy `json:"trusted"`
}

// TrustedProxy is one of them, by its public key.
type TrustedProxy struct {
	Key string `json:"key"`
}

// OCSPCache is how the answers are used that are remembered of clients' certificates. Nothing that is zero is shown.
type OCSPCache struct {
	Type      string `json:"cache_type"`
	Hits      int64  `json:"cache_hits,omitempty"`
	Misses    int64  `json:"cache_misses,omitempty"`
	Responses int64  `json:"cached_responses,omitempty"`
	Revoked   int64  `json:"cached_revoked_responses,omitempty"`
	Good      int64  `json:"cached_good_responses,omitempty"`
	Unknown   int64  `json:"cached_unknown_responses,omitempty"`
}

// Process is what only the world around an engine knows.
type Process struct {
	Listeners
	Usage
	Requests map[string]uint64 // to the pages of monitoring, by path; its own copy
	Digest   string            // of the configuration file
	Loaded   int64             // when that was read, nanoseconds since the Unix epoch; 0: at the start
	OCSP     *OCSPCache        // nil: there is none
}

// ByKind counts by the kind of connection.
type ByKind struct {
	Clients  uint64 `json:"clients"`
	Routes   uint64 `json:"routes"`
	Gateways uint64 `json:"gateways"`
	Leafs    uint64 `json:"leafs"`
}

// DiskWaits says who waited for a place among those who use the disk. In natsd nobody does.
type DiskWaits struct {
	Waiters uint64 `json:"waiters"`
	Waits   uint64 `json:"waits"`
	Time    int64  `json:"wait_time"`     // nanoseconds
	Longest int64  `json:"max_wait_time"` // nanoseconds
}
