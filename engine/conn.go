package engine

import (
	"strconv"

	"github.com/natsd/natsd/permission"
	"github.com/natsd/natsd/proxyproto"
	"github.com/natsd/natsd/wire"
)

// CloseReason is why a connection ended, in nats-server's words.
type CloseReason string

// The reasons.
const (
	ReasonClientClosed CloseReason = "Client Closed"
	ReasonAuthTimeout  CloseReason = "Authentication Timeout"
	ReasonAuthFailed   CloseReason = "Authentication Failure"
	ReasonNoProxy      CloseReason = "Proxy Required"
	ReasonProxy        CloseReason = "Proxy Not Trusted"
	ReasonSlowPending  CloseReason = "Slow Consumer (Pending Bytes)"
	ReasonSlowDeadline CloseReason = "Slow Consumer (Write Deadline)"
	ReasonReadError    CloseReason = "Read Error"
	ReasonParseError   CloseReason = "Parse Error" // the client's own -ERR
	ReasonStale        CloseReason = "Stale Connection"
	ReasonProtocol     CloseReason = "Protocol Violation"
	ReasonBadVersion   CloseReason = "Bad Client Protocol Version"
	ReasonNoHeaders    CloseReason = "No Responders Requires Headers"
	ReasonMaxPayload   CloseReason = "Maximum Message Payload Exceeded"
	ReasonMaxLine      CloseReason = "Maximum Control Line Exceeded"
	ReasonMaxConns     CloseReason = "Maximum Connections Exceeded"
	ReasonShutdown     CloseReason = "Server Shutdown"
	ReasonLameDuck     CloseReason = "Lame Duck Mode"
	ReasonKicked       CloseReason = "Kicked"
	ReasonTLSHandshake CloseReason = "TLS Handshake Failure"
	ReasonAuthExpired  CloseReason = "Authentication Expired"
	ReasonAuthRevoked  CloseReason = "Credentials Revoked"
	ReasonAccountConns CloseReason = "Maximum Account Connections Exceeded"
	ReasonMaxSubs      CloseReason = "Maximum Subscriptions Exceeded"
)

// conn is one client connection. An idle one holds no buffer: only this struct, its subscriptions and its options.
type conn struct {
	// what a delivery needs, close together
	gate    gate
	echo    bool
	headers bool
	blocked bool   // the network took a part only: Writable will follow
	touched bool   // in Engine.touched: has something to write or to close at the end of the turn
	epoch   uint16 // which of the operator's decisions it has followed: see sweep.go
	out     outQueue
	stats   traffic

	lastActive Instant // when it last did or got something but pings and their answers, as monitoring shows it
	acc        *account

	id  ConnID
	cid uint64

	authed    bool // may do more than CONNECT
	joined    bool // is in its account's books
	connected bool // a CONNECT was accepted
	told      bool // announced, as who it is
	verbose   bool
	pedantic  bool
	noResp    bool
	greeted   bool // the first PONG after CONNECT was sent, and INFO behind it if the client wanted that

	paused  bool // PauseReading is in force
	queued  bool // in Engine.run
	sawEOF  bool // the peer ended its sending side
	fin     bool // CloseWrite was called
	opening openingState
	gone    bool // given up: the slot is free, the pointer may linger in lists
	again   bool // the message that is read next was read before, and the log was told
	granted bool // it was read before, and allowed as one of so many answers

	user     *user              // nil: nobody was asked for
	grants   *permission.Grants // what it may answer; nil: it has no such permissions
	requests *requests          // that went on to other accounts; nil: none did

	// input
	partial []byte     // the beginning of a control line that is not complete
	msg     *gathering // a message whose payload is not complete
	stash   []byte     // received while the gate was shut, not yet processed
	held    *chunk     // holds stash; nil: there is none

	memo *memo // of the last subject published; nil: none

	turnedAway *turnedAway // by an account that it would have been in; nil: no account has

	memberPrev, memberNext *conn // of its account
	memberNo               uint64
	subsMax, payloadMax    int

	queuedAt   Instant  // when it was queued
	stuckAt    Instant  // when the network first did not take all of what waits; 0: it does
	progress   Instant  // when the network last took something of what waits, or refused it first; 0: nothing waits
	stalled    []ConnID // publishers held back because of this receiver; one may be there twice
	stallCount uint64   // how often it was held back
	stalls     int      // how often this publisher is in a stalled list
	stallEnd   Instant  // when those in stalled are let go; 0: none
	stallUsed  bool     // they were, in vain: not again before the queue has drained

	subs     []*subscription
	bySid    map[string]*subscription // only when there are many
	followed uint16                   // the epoch it was last visited for; epoch is behind while remaking
	remaking *remaking                // it has become another user, and they follow; nil: they have

	nonce       string             // to be signed; empty: nobody has a key
	signature   *signature         // of its nonce, being verified
	proxy       string             // the key of the trusted proxy that has signed its nonce; empty: it came directly
	proxyHeader *proxyproto.Reader // nil: none is awaited
	login       *login             // with a JWT, or by a service that decides; under way
	check       *passwordCheck     // of its password
	complaints  int                // lines about its errors in the log, until complaintsEnd

	timer         timer
	lastIn        Instant // of the last thing it did; answers to pings don't count
	pingAt        Instant // when the next ping is due
	pingSent      Instant // when the ping that waits for its answer was sent; 0: none
	pingsOut      int
	rtt           Instant // nanoseconds; 0: unknown
	hello         Instant // from accept to CONNECT, which takes at least a round trip; 0: it has not come
	authEnd       Instant
	complaintsEnd Instant
	openingEnd    Instant // when a proxy's header, or a handshake, begun or not, is given up; 0: never
	helloEnd      Instant // when INFO is sent in plaintext, handshake or not; 0: not by time
	tlsFirst      bool    // the handshake came before INFO
	repin         bool    // it began before the pinned certificates changed
	tlsInfo       *TLSInfo
	lingerEnd     Instant // when a closing connection is given up

	start     WallTime
	startMono Instant
	ip        string
	port      int
	connect   wire.Connect

	wish wish // that somebody made about this connection alone
}

// traffic counts messages and bytes, headers and payload, from the server's point of view.
type traffic struct {
	outMsgs, outBytes, inMsgs, inBytes uint64
}

func (t *traffic) add(o *traffic) {
	t.outMsgs += o.outMsgs
	t.outBytes += o.outBytes
	t.inMsgs += o.inMsgs
	t.inBytes += o.inBytes
}

// address is where the client is, or seems to be.
func (c *conn) address() string { return c.ip + ":" + strconv.Itoa(c.port) }

// subject names the connection in the log, as nats-server does: its address and number, then what the client is and who,
// where it said so.
func (c *conn) subject() string {
	name := c.address() + " - cid:" + strconv.FormatUint(c.cid, 10)
	if !c.connected {
		return name
	}
	o := &c.connect
	version := o.Version
	if version != "" {
		version = "v" + version
	}
	var client string
	for _, part := range [...]string{version, o.Lang, o.Name} {
		if client != "" && part != "" {
			client += ":"
		}
		client += part
	}
	if client != "" {
		name += " - " + quoted(client)
	}
	if who := c.credential(); who != "" {
		name += " - " + quoted(c.acc.described()+"/"+who)
	}
	return name
}

// credential is how the log names by what a connection is in; empty: by nothing.
func (c *conn) credential() string {
	switch u := c.user; {
	case u != nil && u.nkey:
		return "nkey:" + u.name
	case u != nil && u.jwt != nil && !u.answered:
		return "jwt:" + u.name
	case u != nil && u.name != "":
		return "user:" + u.name
	case c.connect.User != "":
		return "user:" + c.connect.User
	case u != nil && c.connect.Token != "":
		return "token"
	}
	return ""
}

// manySubs is from where on a connection's subscriptions are found by a map; below it a scan is as fast and smaller.
const manySubs = 12

// sub finds the subscription with that sid, nil if there is none.
func (c *conn) sub(sid []byte) *subscription {
	if c.bySid != nil {
		return c.bySid[string(sid)]
	}
	for _, s := range c.subs {
		if s.hasSID(sid) {
			return s
		}
	}
	return nil
}

// addSub adds a subscription whose sid is not in use.
func (c *conn) addSub(s *subscription) {
	s.index = int32(len(c.subs))
	c.subs = append(c.subs, s)
	if c.bySid != nil {
		c.bySid[s.sid()] = s
		return
	}
	if len(c.subs) > manySubs {
		c.bySid = make(map[string]*subscription, 2*manySubs)
		for _, s := range c.subs {
			c.bySid[s.sid()] = s
		}
	}
}

// swapSubs has two subscriptions change places.
func (c *conn) swapSubs(i, j int) {
	c.subs[i], c.subs[j] = c.subs[j], c.subs[i]
	c.subs[i].index, c.subs[j].index = int32(i), int32(j)
}

// renewSub puts another subscription in the place of one, the same but for what a match made earlier knows: to that it has
// ended.
func (c *conn) renewSub(s *subscription) *subscription {
	n := *s
	s.flags |= subDead
	c.subs[s.index] = &n
	if c.bySid != nil {
		c.bySid[n.sid()] = &n
	}
	return &n
}

// dropSub takes out a subscription; another one may take its place in subs.
func (c *conn) dropSub(s *subscription) {
	if r := c.remaking; r != nil && int(s.index) < r.left {
		r.left-- // those that are left stay the first
		c.swapSubs(int(s.index), r.left)
	}
	last := len(c.subs) - 1
	moved := c.subs[last]
	c.subs[s.index] = moved
	moved.index = s.index
	c.subs[last] = nil
	c.subs = c.subs[:last]
	if c.bySid != nil {
		delete(c.bySid, s.sid())
		if last == 0 {
			c.bySid = nil
		}
	}
	if last == 0 {
		c.subs = nil
	}
}
