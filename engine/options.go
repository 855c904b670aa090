package engine

import (
	"math"
	"time"

	"github.com/natsd/natsd/config"
)

// NatsVersion is the nats-server version that natsd is compatible with; clients read it in INFO and switch features on it.
const NatsVersion = "2.15.2"

// Options configure an engine. The zero value of a field means its default where one is named. A limit below zero means
// none, but for MaxConnections, a time below zero never.
type Options struct {
	ServerName string // default: the server id
	Host       string // address to listen on; default 0.0.0.0
	Port       int    // 0: 4222; -1: any free port
	// ClientAdvertise is the "host:port" or "host" told to clients in INFO instead of Host and Port.
	ClientAdvertise string

	NatsdVersion string // natsd's own version
	GoVersion    string
	GitCommit    string

	MaxConnections   int           // default 65536; below zero: nobody may come in
	MaxSubscriptions int           // per connection; 0: no limit
	MaxClosed        int           // closed connections that are remembered; default 10000; below zero: none
	MaxSubTokens     int           // tokens of a subscription's subject; 0: no limit
	MaxPayload       int           // bytes of headers and payload; default 1 MiB
	MaxControlLine   int           // bytes of a control line's arguments; default 4096
	MaxPending       int           // bytes that wait for one connection; default 64 MiB
	WriteDeadline    time.Duration // how long a peer may take nothing of what waits for it; default 10 s
	PingInterval     time.Duration // default 2 min
	PingMax          int           // unanswered pings; default 2
	AuthTimeout      time.Duration // from accept to a valid CONNECT where credentials are required; default 2 s, with TLS 1 s more than its Timeout
	LameDuckDuration time.Duration // over how long clients are evicted; default 2 min
	LameDuckGrace    time.Duration // before the first is; default 10 s
	NoHeaders        bool          // refuse message headers

	// Accounts are those of the configuration; $G and the system account $SYS are there without being named. CheckAccounts
	// finds what is wrong with them: it must be nothing.
	Accounts      []config.Account
	SystemAccount config.Located // the name of the system account; default $SYS, which is not there where there is another
	Tags          []string       // what the server tells of itself to those who ask
	Metadata      map[string]string

	Users              []config.User       // of the global account
	DefaultPermissions *config.Permissions // of those among Users that name none
	NoAuthUser         config.Located      // the name of the user that clients without credentials are
	// Guests lets clients without credentials into the global account though others must prove who they are. It has no effect
	// where User, Pass or Token is set.
	Guests bool

	User, Pass string // Pass may be a bcrypt hash ("$2a$…")
	Token      string // may be a bcrypt hash
	Checks     int    // passwords compared with bcrypt hashes at a time; default 2

	// Operators say whose JWTs describe accounts and users, which replace Accounts and Users then; nil, or without operators and
	// trusted keys: nobody's. CheckOperators finds what is wrong with them.
	Operators *config.Operators
	// Callout has a service decide who clients are; nil: none does. In operator mode the JWTs of accounts say that.
	Callout *config.AuthCallout
	// Proxies are public keys of proxies whose signature of the nonce is trusted; ProxyRequired refuses who comes without.
	Proxies       []config.Located
	ProxyRequired bool

	TLS TLSOptions // of client connections
	// ProxyProtocol has new connections begin with a header of the PROXY protocol, if they come by a proxy: it says whose they are.
	// Who may reach the port directly may claim any address by it.
	ProxyProtocol bool

	// TurnWork is how many messages are parsed or delivered in a turn, about; default 16384, some 1 ms.
	TurnWork int
	// MatchWork is how much of that a match may take at once: it is carried out over several turns if it takes more. Default: a
	// sixteenth of TurnWork, 64 at least.
	MatchWork  int
	MatchCache int // subjects whose matching subscriptions are remembered; default 4096; below zero: none
	// MaxCalls is how many requests to the server itself wait; further ones find no responder; default 10,000. As many answers
	// to what the server asked wait besides. Where they do, an account may have what it would have if all were divided among those who
	// ask, and one at least.
	MaxCalls int

	// StallMax is how long publishers that fill one receiver are held back at a time; default 100 ms.
	StallMax time.Duration
	// StallBytes is how much may wait for a receiver that takes nothing before its publishers are held back; default an
	// eighth of MaxPending, of 64 MiB where that is more. Below zero they never are.
	StallBytes int

	Trace        bool // log every protocol line and what messages hold
	TraceVerbose bool // with Trace: log what the server itself publishes too
	TraceHeaders bool // with Trace: log the headers of messages only
	MaxTraced    int  // bytes of a message that a trace shows; 0 or less: all
	Debug        bool // log what happens to connections

	// Check runs the engine's invariants after every turn. On in simulations and tests.
	Check bool
}

// firstPing is when a connection that has shown no traffic is first pinged, for its round-trip time.
const firstPing = 2 * time.Second

const defaultMaxPending = 64 << 20

// Complete returns the options as an engine takes them: with defaults in the place of zeros, and math.MaxInt for most limits
// below zero.
func (o Options) Complete() Options {
	o.setDefaults()
	return o
}

func (o *Options) setDefaults() {
	def := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	limit := func(p *int, v int) {
		if def(p, v); *p < 0 {
			*p = math.MaxInt
		}
	}
	defD := func(p *time.Duration, v time.Duration) {
		if *p == 0 {
			*p = v
		}
	}
	if o.Host == "" {
		o.Host = "0.0.0.0"
	}
	def(&o.Port, 4222)
	def(&o.MaxConnections, 64<<10)
	def(&o.MaxPayload, 1<<20)
	limit(&o.MaxControlLine, 4096)
	limit(&o.MaxPending, defaultMaxPending)
	limit(&o.PingMax, 2)
	limit(&o.StallBytes, min(o.MaxPending, defaultMaxPending)/8)
	def(&o.MatchCache, 4096)
	limit(&o.MaxCalls, 10_000)
	def(&o.MaxClosed, closedMax)
	limit(&o.Checks, 2)
	if o.TurnWork <= 0 {
		o.TurnWork = 16384
	}
	if o.MatchWork <= 0 {
		o.MatchWork = max(o.TurnWork/16, 64)
	}
	defD(&o.WriteDeadline, 10*time.Second)
	defD(&o.PingInterval, 2*time.Minute)
	defD(&o.LameDuckDuration, 2*time.Minute)
	defD(&o.LameDuckGrace, 10*time.Second)
	defD(&o.TLS.Timeout, defaultTLSTimeout)
	if o.TLS.On {
		defD(&o.AuthTimeout, o.TLS.Timeout+time.Second)
	}
	defD(&o.AuthTimeout, 2*time.Second)
	defD(&o.StallMax, 100*time.Millisecond)
}

// later is the instant d after now: Never for a negative d, or for one beyond all time.
func later(now Instant, d time.Duration) Instant {
	if at := now + Instant(d); d >= 0 && at >= now {
		return at
	}
	return Never
}
