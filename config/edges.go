package config

import "time"

// WebSocket is the block websocket.
type WebSocket struct {
	Pos              Pos
	Host             string
	Port             int
	Advertise        string
	NoAuthUser       string
	Authorization    *Authorization
	TLS              *TLS
	NoTLS            bool
	SameOrigin       bool
	AllowedOrigins   []string
	Compression      bool
	HandshakeTimeout time.Duration
	PingInterval     time.Duration
	JWTCookie        string
	UserCookie       string
	PassCookie       string
	TokenCookie      string
	Headers          []Pair
}

// MQTT is the block mqtt.
type MQTT struct {
	Pos                       Pos
	Host                      string
	Port                      int
	NoAuthUser                string
	Authorization             *Authorization
	TLS                       *TLS
	AckWait                   time.Duration
	MaxAckPending             int
	JSDomain                  string
	JSAPITimeout              time.Duration
	StreamReplicas            int
	ConsumerMemoryStorage     bool
	ConsumerInactiveThreshold time.Duration
	RejectQoS2Publish         bool
	DowngradeQoS2Subscribe    bool
}

// JetStream is the block jetstream, or its short forms.
type JetStream struct {
	Pos             Pos
	Enabled         bool
	StoreDir        string
	MaxMemory       int64 // bytes
	MaxStore        int64 // bytes
	Domain          string
	Key             string
	PrevKey         string
	Cipher          string // aes or chacha
	ExtensionHint   string
	UniqueTag       string
	Sync            time.Duration
	SyncAlways      bool
	Strict          *bool
	MaxCatchup      int64 // bytes
	MaxBufferedSize int64 // bytes
	MaxBufferedMsgs int
	RequestQueue    int
	InfoQueue       int
	MetaCompact     int
	MetaCompactSize int64
	MetaCompactSync bool
	MaxConcurrentIO int
	Limits          JetStreamLimits
	TPM             *TPM
}

// JetStreamLimits are the limits of the whole server.
type JetStreamLimits struct {
	MaxAckPending       int
	MaxHAAssets         int
	MaxRequestBatch     int
	DefaultMaxConsumers int
	DuplicateWindow     time.Duration
	BatchMaxMsgs        int
	BatchTimeout        time.Duration
	BatchInflightStream int
	BatchInflightTotal  int
}

// TPM has the key of the store in a trusted platform module.
type TPM struct {
	Pos         Pos
	KeysFile    string
	Password    string // encryption_password
	SRKPassword string
	PCR         int
	Cipher      string
}
