package sim

import (
	"strconv"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/model"
	"github.com/natsd/natsd/sim/oracle"
	"github.com/natsd/natsd/sim/schedule"
	"github.com/natsd/natsd/wire"
)

// client is a simulated client: a machine of its own and a deterministic state machine that speaks the protocol. Time is
// cut into slots of equal length; in each it does one thing, or nothing, as the decision for that slot says.
type client struct {
	w      *world
	index  int
	actor  decision.Actor
	host   *netsim.Host
	node   *node
	kind   clientKind
	traits traits

	state   clientState
	wants   bool // to be connected
	hostile bool // breaks the rules on purpose in what follows
	away    bool // its machine is without power
	gen     uint64

	connection
	nextDial uint64
	heads    []proxyHead             // of its connections
	believed map[uint64]*oracle.Conn // connections that the server may still believe in
	backoff  schedule.Time
	tries    uint64 // since it was last connected
	waits    uint64 // for a dial, in all

	user      string        // where there are accounts
	published []published   // by number
	barred    []uint64      // those that must reach nobody, as it stands
	wanted    []wanted      // subscriptions to be made again after a reconnect
	lost      string        // how the last connection ended
	sickUntil schedule.Time // up to when its way to the server is disturbed
}

// connection is what a client knows of its present connection.
type connection struct {
	conn  *netsim.Conn
	dial  uint64 // which of the client's connections it is
	id    oracle.ID
	told  *oracle.Conn // nil: the oracle does not know of it
	since schedule.Time
	life  uint64 // of the server's process, when it dialled

	input     parser
	out       []byte
	outAt     int           // bytes of out before it have been sent
	outFrom   int64         // bytes that were written before out
	sentAt    schedule.Time // when the network last took some of them, or first refused; 0: none wait
	vec       [1][]byte
	ledger    ledger
	trail     trail
	subs      []*subscription // not known to be over, by sid
	revoked   []revoked
	forbidden []*subscription     // that the permissions forbade when they were written, and the server may not have come to
	granted   map[string]*granted // by reply subject
	answers   []reply             // to be given
	throws    []throw             // of dice
	rush      rush                // before a reload
	expelled  bool                // its user was taken away
	shown     int                 // which credentials it has shown, where reloads change them
	sentence  wire.Err            // what it must be told before the server closes it for a reload; empty: it need not be closed
	wordsRead bool                // it was told
	proven    int                 // publishes before this one were handled when the last PONG was written
	unasked   []schedule.Time     // when CONNECTs were written that a service decides about, and was not asked about yet
	asked     int                 // how often it was asked about the connection
	inquiry   *inquiry            // the last of these
	expires   engine.WallTime     // of the JWT that it showed last; 0: never
	short     bool                // it has shown one that expires soon
	nextSid   uint64
	pings     uint64 // written

	greeted    bool // INFO was read
	cid        uint64
	maxPayload int
	headers    bool // both sides know them

	connectPing uint64 // pings written before the last of the CONNECTs that a service decides about
	connectAt   schedule.Time

	stalled      bool               // reads nothing
	tick         bool               // a read of a slow reader is scheduled
	lazy         bool               // read slowly, or not at all for a while: it may be closed for it
	mute         bool               // leaves pings unanswered
	harmed       bool               // a fault touched the connection, or the server
	garbage      bool               // sent what is not known to be right or wrong
	held         bool               // the server reads nothing from it
	heldAt       schedule.Time      // when that last changed
	heldFormerly schedule.Time      // heldAt before
	evicted      bool               // by lame duck mode
	duckTold     bool               // of lame duck mode, by an INFO
	closedFor    engine.CloseReason // by the server, whether the client knows or not
	unopened     bool               // and before the server could know whether a proxy's header comes
	readyAt      schedule.Time
	fatal        bool // sent what the server must close it for
	halfClosed   bool
	sentAll      bool // of what it wrote before it ended its sending side
	answered     bool // the server handed all its answers to the network before it closed
	closing      bool // closed its end, or is about to
	sentencedAt  schedule.Time
	weighing     int // turns without a job under way after which it is certain that the server has held it against a hash; 0: it is, or need not be
	pingAt       schedule.Time
	pongAt       schedule.Time // when the last PONG was read
}

// clientState is how far a client is.
type clientState uint8

const (
	clientIdle     clientState = iota // not connected, and nothing under way
	clientWaiting                     // will dial
	clientDialling                    // has dialled
	clientGreeting                    // waits for INFO
	clientOpening                     // has sent CONNECT and PING
	clientReady                       // has read the PONG
)

var clientStates = [...]string{"idle", "waiting to dial", "dialling", "waiting for INFO", "waiting for the first PONG", "connected"}

// What the events of a client are; above stands a count that tells outdated ones, or the slot.
const (
	clientSlot uint64 = iota
	clientDial
	clientPatience
	clientTick
	clientUnstall
	clientPower
	clientCloseBy
	clientAnswer
	clientRush
	clientLeave
	clientOpBits = 4
)

// Times of all clients.
const (
	second        = schedule.Time(1_000_000_000)
	millisecond   = second / 1000
	backoffMin    = 20 * millisecond
	backoffMax    = 2 * second
	patienceOpen  = 5 * second  // from dialling to the first PONG
	patiencePong  = 15 * second // for any other
	patienceClose = 10 * second // for the end after an offence
	readTick      = 100 * millisecond
	outMax        = 256 << 10 // bytes that wait to be sent: more is only produced when they have left
	clientHosts   = 16        // index of the first client's machine
	serverAddress = "10.0.0.1:4222"
)

func newClient(w *world, index int, kind clientKind) *client {
	c := &client{
		w: w, index: index, actor: decision.Of(decision.Client, uint64(index)), node: w.nodes[0], kind: kind,
		believed: make(map[uint64]*oracle.Conn), wants: true, hostile: true,
		published: make([]published, 1), // numbers begin at 1
	}
	c.host = w.net.AddHost(clientHosts+index, c)
	c.traits = w.drawTraits(c)
	if users := w.users(); len(users) > 0 {
		if c.user = users[c.traits.user]; c.traits.nobody {
			c.user = model.Nobody
		}
	}
	return c
}

func (c *client) name() string { return "client " + strconv.Itoa(c.index) }

// start begins the client's life at a moment of its own within its first slot.
func (c *client) start() {
	phase := schedule.Time(c.trait(traitPhase, uint64(c.traits.period)))
	c.w.queue.After(phase, c, clientSlot)
	c.state = clientWaiting
	c.later(clientDial, phase)
}

// later schedules an event that is void once c.gen has moved on.
func (c *client) later(op uint64, d schedule.Time) { c.w.queue.After(d, c, op|c.gen<<clientOpBits) }

// Fire runs one of the client's events.
func (c *client) Fire(now schedule.Time, arg uint64) {
	op, rest := arg&(1<<clientOpBits-1), arg>>clientOpBits
	if op == clientSlot {
		c.w.queue.After(c.traits.period, c, clientSlot|(rest+1)<<clientOpBits)
		c.slot(now, rest)
		return
	}
	if op == clientPower {
		c.power(true)
		return
	}
	if rest != c.gen {
		return
	}
	switch op {
	case clientDial:
		c.connect(now)
	case clientPatience:
		// Who must be turned away waits longer, for that: whoever lets it in says nothing either.
		if c.state > clientIdle && c.state < clientReady && !c.mute && !c.fatal {
			c.undecided()
			c.giveUp(c.since, "no answer to its CONNECT")
		}
	case clientCloseBy:
		c.overdue()
	case clientAnswer:
		c.answerNow()
	case clientRush:
		c.rushOn()
	case clientLeave:
		c.leave()
	case clientTick:
		c.tick = false
		c.readSlowly()
	case clientUnstall:
		c.unstall()
	}
}

// connect dials the server.
func (c *client) connect(now schedule.Time) {
	if c.state != clientWaiting || c.away {
		return
	}
	c.gen++
	c.state = clientDialling
	c.connection = connection{
		dial: c.nextDial, id: oracle.IDOf(uint32(c.index), uint32(c.nextDial)), since: now, pingAt: now, life: c.node.life,
		out: c.out[:0], input: parser{rest: c.input.rest[:0]}, ledger: ledger{items: c.ledger.items[:0]},
		trail: c.trail[:0], subs: c.subs[:0], throws: c.throws[:0],
		lazy: c.traits.pace > 0, mute: c.traits.mute, harmed: c.node.hindered() || now < c.sickUntil,
	}
	c.heads = append(c.heads, c.w.drawHead(c))
	c.nextDial++
	c.conn = c.host.Dial(serverAddress)
	c.later(clientPatience, c.w.cfg.patienceOpen())
}

// drop is the end of the connection for the client, whoever ended it.
func (c *client) drop(why string) {
	if c.state <= clientWaiting {
		return
	}
	c.gen++
	c.lost = why
	c.conn.Close()
	if c.told != nil {
		c.node.oracle.End(c.told)
	}
	if c.state >= clientOpening {
		c.remember()
	}
	c.count()
	c.state = clientIdle
	c.closing = true
	c.again()
}

// remember notes the subscriptions that are to be made again.
func (c *client) remember() {
	c.wanted = c.wanted[:0]
	for _, s := range c.subs {
		if !s.ending && !s.standing {
			c.wanted = append(c.wanted, wanted{s.pattern, s.queue, s.responds})
		}
	}
	c.subs = c.subs[:0]
}

// again plans the next dial, if the client wants to be connected.
func (c *client) again() {
	if !c.wants || c.away || c.state != clientIdle {
		return
	}
	c.tries++
	wait := min(backoffMin<<min(c.tries, 10), backoffMax) + c.backoff
	c.backoff = 0
	k := decision.Key{Kind: decision.SimBackoff, Actor: c.actor, N: c.waits}
	c.waits++
	wait += wait / 4096 * schedule.Time(c.w.source.Below(k, 1024))
	c.state = clientWaiting
	c.later(clientDial, wait)
}

// giveUp closes a connection that has not answered since that moment.
func (c *client) giveUp(since schedule.Time, why string) {
	c.silence(since, why)
	c.w.noteClient(c, "gives up: "+why)
	c.drop(why)
}

// Connected implements netsim.Sink.
func (c *client) Connected(conn *netsim.Conn) {
	if conn == c.conn && c.state == clientDialling {
		c.state = clientGreeting
		c.sendHead()
	}
}

// DialFailed implements netsim.Sink.
func (c *client) DialFailed(conn *netsim.Conn, err error) {
	if conn == c.conn && c.state == clientDialling {
		c.drop("dial: " + err.Error())
	}
}

// Closed implements netsim.Sink.
func (c *client) Closed(conn *netsim.Conn, err error) {
	if conn == c.conn && c.state > clientDialling {
		c.ended(err.Error())
	}
}

// ended is told when the server, or the network, has ended the connection.
func (c *client) ended(how string) {
	c.w.noteClient(c, "connection ended: "+how)
	c.drop(how)
}

// Writable implements netsim.Sink.
func (c *client) Writable(conn *netsim.Conn) {
	if conn == c.conn && c.state > clientDialling {
		c.flush()
	}
}

// flush hands the network what waits.
func (c *client) flush() {
	if c.outAt < len(c.out) {
		c.vec[0] = c.out[c.outAt:]
		n := c.conn.Send(c.vec[:])
		if n > 0 || c.sentAt == 0 {
			c.sentAt = c.w.queue.Now()
		}
		c.outAt += n
	}
	if c.outAt == len(c.out) {
		c.outFrom += int64(len(c.out))
		c.out, c.outAt, c.sentAt = c.out[:0], 0, 0
	}
}

// A client listens nowhere.

// Accepted implements netsim.Sink.
func (c *client) Accepted(*netsim.Conn, engine.ListenerID, engine.ConnInfo) {}

// ListenerUp implements netsim.Sink.
func (c *client) ListenerUp(engine.ListenerID, string, int) {}

// ListenerFailed implements netsim.Sink.
func (c *client) ListenerFailed(engine.ListenerID, error) {}

// goneAtServer is told when the server has given up one of the client's connections.
func (c *client) goneAtServer(n *node, dial uint64) {
	if o := c.believed[dial]; o != nil {
		delete(c.believed, dial)
		n.left(o)
	}
}
