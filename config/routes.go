package config

import "time"

// Cluster is the block cluster: routes between the servers of one cluster.
type Cluster struct {
	Pos            Pos
	Name           string
	Host           string
	Port           int
	Advertise      string
	NoAdvertise    bool
	Routes         []Located // URLs
	Authorization  *Authorization
	Permissions    *Permissions // Publish is import, Subscribe is export
	TLS            *TLS
	ConnectRetries int
	ConnectBackoff bool
	PoolSize       int
	Accounts       []string // with a route of their own
	Compression    Compression
	PingInterval   time.Duration
	PingMax        int
	WriteDeadline  time.Duration
	WriteTimeout   string
}

// Compression is how traffic between servers is compressed.
type Compression struct {
	Mode       string          // as written; empty: nothing was said
	Thresholds []time.Duration // of round trips, for s2_auto
}

// Gateway is the block gateway: connections between clusters.
type Gateway struct {
	Pos            Pos
	Name           string
	Host           string
	Port           int
	Advertise      string
	Authorization  *Authorization
	TLS            *TLS
	ConnectRetries int
	ConnectBackoff bool
	RejectUnknown  bool
	Remotes        []RemoteGateway
	WriteDeadline  time.Duration
	WriteTimeout   string
}

// RemoteGateway is an entry of gateways.
type RemoteGateway struct {
	Pos  Pos
	Name string
	URLs []Located
	TLS  *TLS
}

// LeafNodes is the block leafnodes.
type LeafNodes struct {
	Pos           Pos
	Host          string
	Port          int
	Advertise     string
	NoAdvertise   bool
	Authorization *Authorization
	TLS           *TLS
	MinVersion    string
	Reconnect     time.Duration
	DialTimeout   time.Duration
	Compression   Compression
	Isolate       bool
	Remotes       []RemoteLeaf
	WriteDeadline time.Duration
	WriteTimeout  string
}

// RemoteLeaf is an entry of remotes: a server to connect to as a leaf.
type RemoteLeaf struct {
	Pos              Pos
	URLs             []Located
	Account          string // the local account
	Credentials      string // file
	NKey             string // seed
	TLS              *TLS
	Hub              bool
	Disabled         bool
	NoRandomize      bool
	IgnoreDiscovered bool
	DenyImports      []Subject
	DenyExports      []Subject
	Compression      Compression
	WSCompression    bool
	WSNoMasking      bool
	Isolate          bool
	RequestIsolation bool
	DialTimeout      time.Duration
	FirstInfoTimeout time.Duration
	Migrate          *Migrate
	Proxy            *LeafProxy
}

// Migrate is jetstream_cluster_migrate: leaders move away from a server whose leaf connection is lost.
type Migrate struct {
	Pos   Pos
	Delay time.Duration
}

// LeafProxy is an HTTP proxy on the way to the hub.
type LeafProxy struct {
	Pos                Pos
	URL                string
	Username, Password string
	Timeout            time.Duration
	TLS                *TLS
}
