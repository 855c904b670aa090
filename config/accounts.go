package config

import (
	"strings"
	"time"

	"github.com/natsd/natsd/conf"
)

// Pos is a place in a configuration file; the zero Pos is nowhere, as of what flags say.
type Pos = conf.Pos

// Account is one entry of accounts.
type Account struct {
	Pos  Pos
	Name string
	NKey string // public key of the account; names it in activation tokens

	Users    []User // those with a name and those with an nkey, as they are listed
	Exports  []Export
	Imports  []Import
	Mappings []Mapping
	Limits   Limits

	// DefaultPermissions are those of users that name none; nil: no restriction.
	DefaultPermissions *Permissions
	MsgTrace           *MsgTrace
	JetStream          *AccountJetStream // nil: off
}

// IsBcrypt reports whether a password, or a token, of the configuration is a bcrypt hash: it begins as those do, "$2a$11$". One
// that is not is meant as it is.
func IsBcrypt(password string) bool {
	p := password
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	return len(p) >= 7 && p[:2] == "$2" && strings.IndexByte("abxy", p[2]) >= 0 && p[3] == '$' && digit(p[4]) && digit(p[5]) && p[6] == '$'
}

// User is one entry of users, in an account or in authorization. Exactly one of Name and NKey is set, unless auth_callout or
// a certificate names the user.
type User struct {
	Pos      Pos
	Name     string
	Password string // may be a bcrypt hash; empty: none is asked for
	NKey     string // public user key
	// Account is the name that leafnodes.authorization gives; elsewhere the account is the one around the user.
	Account string
	// Permissions are nil where none are said; DefaultPermissions of the block apply then.
	Permissions *Permissions
	// ConnectionTypes are those that the user may connect with, upper case: STANDARD, WEBSOCKET, LEAFNODE, LEAFNODE_WS, MQTT,
	// MQTT_WS, IN_PROCESS. None: any.
	ConnectionTypes []string
	ProxyRequired   bool // only through a trusted proxy
}

// Permissions say what a user may publish and subscribe to. A nil list is "nothing was said", an empty one allows nothing.
type Permissions struct {
	Pos       Pos
	Publish   *SubjectPermission // nil: no restriction
	Subscribe *SubjectPermission
	// AllowResponses is nil where responses aren't allowed beyond Publish.
	AllowResponses *ResponsePermission
}

// SubjectPermission is an allow and a deny list. Deny wins.
type SubjectPermission struct {
	Pos   Pos
	Allow []Subject
	Deny  []Subject
}

// Subject is a subject or pattern where it stands. Queue is the queue group, or a pattern of them, of "subject queue" in
// permissions to subscribe.
type Subject struct {
	Pos   Pos
	Text  string
	Queue string
}

// ResponsePermission allows answers to the reply subjects of what was received.
type ResponsePermission struct {
	Pos     Pos
	Max     int           // messages for one reply subject; below zero: no bound; 0: the default, 1
	Expires time.Duration // how long after the request; below zero: no bound; 0: the default, 2 min
}

// Authorization is the block authorization, at the top or in cluster, gateway, leafnodes, websocket and mqtt; each of these
// takes only some of the keys.
type Authorization struct {
	Pos      Pos
	User     string
	Password string
	Token    string
	NKey     string // leafnodes: the one user is this public key
	Account  string // leafnodes: the account of the one user
	Users    []User
	Timeout  time.Duration
	// DefaultPermissions are those of users that name none.
	DefaultPermissions *Permissions
	// Permissions are those of routes (cluster).
	Permissions   *RoutePermissions
	Callout       *AuthCallout
	ProxyRequired bool
}

// RoutePermissions say what crosses a route.
type RoutePermissions struct {
	Pos    Pos
	Import *SubjectPermission
	Export *SubjectPermission
}

// AuthCallout is the block auth_callout: a service decides who may connect.
type AuthCallout struct {
	Pos             Pos
	Issuer          string // public account key that signs the answers
	Account         string // where the service is; default: the global account
	Users           []string
	XKey            string   // public curve key; requests are encrypted to it
	AllowedAccounts []string // accounts about whose configured users the service is asked too; none: all
}

// ExportKind tells streams from services.
type ExportKind uint8

// The kinds of exports and imports.
const (
	Stream ExportKind = iota + 1
	Service
)

// ResponseType is how many messages answer a request.
type ResponseType uint8

// The response types of services.
const (
	Singleton ResponseType = iota
	Streamed
	Chunked
)

// Export is one entry of exports.
type Export struct {
	Pos      Pos
	Kind     ExportKind
	Subject  string
	Public   bool     // no accounts were listed: anybody may import
	Accounts []string // who may import; empty and not Public: those with an activation token
	// ResponseType, ResponseThreshold, Latency and AllowTrace are of services.
	ResponseType      ResponseType
	ResponseThreshold time.Duration
	Latency           *Latency
	// TokenPosition is the 1-based token of Subject that must be the importing account's public key; 0: none.
	TokenPosition int
	AllowTrace    bool
}

// Latency asks for measurements of a service's answers.
type Latency struct {
	Pos      Pos
	Sampling int // percent of requests; 0: those whose headers ask for it
	Subject  string
}

// Import is one entry of imports.
type Import struct {
	Pos     Pos
	Kind    ExportKind
	Account string
	Subject string
	To      string // the subject in this account; empty: the same
	Prefix  string // streams: what is put before the subject
	Share   bool   // services: the service is told who asks
	// Activated are the exported subjects that a token which is in force lets this account import, where only some may.
	// No configuration file says it: it comes from JWTs.
	Activated []string
	// AllowTrace lets message traces cross into this account (streams).
	AllowTrace bool
}

// Mapping is one entry of mappings: messages to Subject go to one of the destinations.
type Mapping struct {
	Pos          Pos
	Subject      string
	Destinations []Destination
}

// Destination is where a part of the messages of a mapping goes.
type Destination struct {
	Pos     Pos
	Subject string // with $1, {{wildcard(1)}}, {{partition(3,1)}}, …
	Weight  int    // percent; 100 where none is said
	Cluster string // only in this cluster; empty: in every one
}

// Limits are an account's. Unset ones are nil in the file's words: no limit.
type Limits struct {
	Pos              Pos
	MaxConnections   Limit
	MaxSubscriptions Limit
	MaxPayload       Limit // bytes
	MaxLeafNodes     Limit
}

// Limit is a bound; Set tells "none was said" from 0. Below zero is no bound.
type Limit struct {
	Set bool
	N   int64
}

// MsgTrace is where traces of messages with a traceparent header go.
type MsgTrace struct {
	Pos      Pos
	Dest     string
	Sampling int // percent; 100 where none is said
}

// AccountJetStream is the block jetstream of an account; bare "enabled" leaves all limits unset.
type AccountJetStream struct {
	Pos              Pos
	MaxMemory        Limit // bytes
	MaxStore         Limit // bytes
	MaxStreams       Limit
	MaxConsumers     Limit
	MaxBytesRequired bool  // streams must set max_bytes
	MemoryMaxStream  Limit // bytes a memory stream may ask for
	DiskMaxStream    Limit // bytes a file stream may ask for
	MaxAckPending    Limit
	ClusterTraffic   string // "", "system" or "owner"
}
