package engine

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/natsd/natsd/engine/assert"
	"github.com/natsd/natsd/sublist"
	"github.com/natsd/natsd/wire"
)

// Engine is a NATS server without the world around it. The world tells it what happened, in turns, through the methods
// of events.go, and carries out what it asks of the Env. It is not safe for use by several goroutines.
type Engine struct {
	env  Env
	opts Options
	info wire.Info // what every connection's INFO has in common

	now  Instant // of the turn
	wall WallTime
	wake Instant // what the clock was last asked for

	rng     *rand.Rand
	secrets *rand.ChaCha8 // of what nobody may guess
	// guestName is the name under which monitoring shows clients without credentials where Options.Guests lets them in; "" until
	// it was first needed.
	guestName string

	accounts  []*account // in the order in which they came
	byAccount map[string]*account
	global    *account
	users     *directory
	system    *account
	sys       system
	self      *conn      // the server as a publisher
	posts     rota[post] // what it publishes, and the accounts on whose behalf; held where the last is under way
	speaksFor *account   // on whose behalf it publishes
	answers   intake     // to what the server asked
	asked     intake     // what it is asked

	conns   []*conn  // by slot
	gens    []uint32 // generation of each slot
	free    []uint32 // slots
	nextCID uint64
	active  int // connections that are not closing

	pool      chunkPool
	iov       [][]byte
	crowd     []*conn        // the same, because of a message to many
	touched   []*conn        // something to write or to close at the end of the turn
	run       queue[*conn]   // gate opened: input that waits to be processed
	fanouts   queue[*fanout] // messages with receivers left to serve
	awaiting  []*fanout      // messages of which it is not known yet whom they reach: connections or subscriptions follow a reload
	reaping   []*conn        // closed, with subscriptions still to be removed
	admission admission
	work      int       // messages handled and delivered this turn
	limit     int       // of work: less than TurnWork while backlog is worked off, so that something is left for who has none
	written   int       // bytes handed to the network in this part of the turn (write.go)
	flushAt   int       // bytes waiting for a receiver that are written without waiting for the end of the turn
	fed       bool      // something was received this turn
	turn      bool      // between BeginTurn and EndTurn
	traces    bool      // something is traced: all, or some connections
	epoch     uint16    // counts the operator's decisions that connections have to follow
	sweep     sweep     // the visit to those that have not
	remaking  remakings // become other users, with many subscriptions
	moves     moves     // of users to other accounts, while not all connections have followed
	recast    recast    // the visit to subscriptions, because imports have changed
	casting   casting   // of the subscription that is given shadows

	asides     int       // messages in fanouts, awaiting and searches
	suspended  int       // their bytes
	oldFanouts []*fanout // for their buffers

	unknown *sublist.Result[*subscription] // stands for those whom a message reaches of which that is not known yet
	sought  *sublist.Result[*subscription] // stands for those that take long to find

	seekers    queue[*account] // with searches; the first is the one whose turn it is
	searches   int             // in all of them
	foundSoFar int             // subscriptions, by searches that have not ended
	waits      []byte          // the subject on which the message was published that is about to wait
	granted    bool            // it is an answer that was allowed as one of so many
	unfound    hushed          // messages that nobody gets since that took too long to find out
	unwell     hushed          // answers that the server is not healthy
	boundless  bool            // matches take as long as they take

	searchesDrop int // at so many searches it is looked which are in vain

	timers timers
	own    timer // the engine's own moment: lame duck

	args wire.PubArgs // of the message being parsed
	out  outgoing     // the message being delivered
	// what many receivers share
	lines  lines
	nobody sublist.Result[*subscription] // whom a message reaches that lapsed: it is empty
	// room to build control lines in
	lineScratch, bodyScratch, mapScratch []byte

	jobs   map[JobID]job
	jobID  JobID
	checks checks
	trust  *trust // nil: no operators

	keys     keys
	inboxes  map[string]inboxTaker // questions of the server's own, by the last token of their reply subjects
	fetches  map[FetchID]*lookup
	fetchID  FetchID
	vaultOps map[VaultID]vaultTaker
	vaultID  VaultID

	queries    []pendingQuery // monitoring answers under way
	inputWaits histogram
	runWaits   histogram // of input put aside until it is its connection's turn
	slowWrites histogram // of output that the network did not take
	closed     closedRing
	complaints complaints
	tlsRate    tlsRate

	listening Port
	state     serverState
	duck      lameDuck

	start     WallTime
	startMono Instant
	totals    totals
	turns     turnTimes
	marks     [NumMarks]uint32

	tracing *tracing // of the message that is published next; nil: nobody asks
	wishes  wishes   // for lines about single connections and accounts
}

// Port is where the engine listens.
type Port struct {
	Host string
	Port int // 0: not listening
}

type serverState uint8

const (
	stateNew      serverState = iota
	stateStarting             // Listen was called
	stateReady
	stateStopping
	stateStopped
)

// totals counts since the start, over all connections that there were.
type totals struct {
	connections   uint64
	slowConsumers uint64
	stale         uint64
	stalls        uint64 // times a publisher was held back
}

// Work done in one turn is bounded: what is left goes on in the next.
const (
	reapPerTurn = 600      // subscriptions of closed connections removed in a turn; fewer where that takes longer
	timersTurn  = 2000     // timers handled in a turn
	settleTurn  = 128      // connections written to in a turn: some 1 ms
	manyMin     = 4        // receivers of a message from which on they share its line
	crowdMin    = 64       // receivers of a message from which on they are written to after others
	muchWaits   = 64 << 10 // bytes with which a connection that has become writable again is written to after others
	iovMax      = 256
	sendMax     = 256 << 10 // bytes that one Send is given; fewer where a turn may write less
	sendMin     = 16 << 10  // but not fewer than these
	// bytesPerWork: so many bytes delivered count as another message, for what writing them costs.
	bytesPerWork = 256
	shareMin     = 8 << 10 // bytes of a payload from which on receivers share it instead of copying
)

// clientListener is the one listener there is so far.
const clientListener ListenerID = 1

// New makes an engine. Nothing is asked of the world before Start.
func New(o Options, env Env) *Engine {
	assert.That(env.Clock != nil && env.Network != nil && env.Jobs != nil && env.Rand != nil && env.Log != nil,
		"engine.New: every field of Env but TLS, Monitor and Disk is required")
	assert.That(env.TLS != nil || !o.TLS.On, "engine.New: TLS is on and Env.TLS is missing")
	o.setDefaults()
	e := &Engine{env: env, opts: o, wake: Never, jobs: make(map[JobID]job), byAccount: make(map[string]*account)}
	e.rng = rand.New(rand.NewPCG(env.Rand.Uint64(), env.Rand.Uint64()))
	e.unknown, e.sought = &sublist.Result[*subscription]{}, &sublist.Result[*subscription]{}
	e.global = e.newAccount(globalAccount)
	e.seedSecrets()
	operators, problems := readOperators(&o)
	assert.Thatf(len(problems) == 0, "operators that were not checked: %v", problems)
	o.chooseSystem(operators)
	e.opts.SystemAccount = o.SystemAccount
	e.inboxes, e.fetches = make(map[string]inboxTaker), make(map[FetchID]*lookup)
	e.vaultOps = make(map[VaultID]vaultTaker)
	e.now, e.wall = env.Clock.Now()
	if e.system = e.global; systemName(o.SystemAccount) != globalAccount {
		e.system = e.newAccount(systemName(o.SystemAccount))
	}
	e.noteTraces()
	e.initInternal()
	if o.operatorMode() {
		e.initTrust(operators)
	}
	if e.trust == nil {
		e.setAccounts(draftRules(o.Accounts, o.SystemAccount))
	}
	users, _ := draftUsers(&o)
	e.setUsers(users)
	e.start, e.startMono = e.wall, e.now
	e.makeInfo()
	e.closed.most = o.MaxClosed
	e.initChecks()
	e.initSystem()
	return e
}

// seedSecrets prepares what nobody may guess.
func (e *Engine) seedSecrets() {
	var seed [32]byte
	for i := 0; i < len(seed); i += 8 {
		binary.LittleEndian.PutUint64(seed[i:], e.env.Rand.Uint64())
	}
	e.secrets = rand.NewChaCha8(seed)
	e.global.replyToken = string(e.appendID(nil, replyTokenLen))
}

func (e *Engine) lookup(id ConnID) *conn {
	slot := id.Slot()
	if int(slot) >= len(e.conns) {
		return nil
	}
	if c := e.conns[slot]; c != nil && c.id == id {
		return c
	}
	return nil
}

// newConn takes a slot for a connection that was accepted.
func (e *Engine) newConn(info ConnInfo) *conn {
	var slot uint32
	if n := len(e.free); n > 0 {
		slot = e.free[n-1]
		e.free = e.free[:n-1]
	} else {
		slot = uint32(len(e.conns))
		e.conns = append(e.conns, nil)
		e.gens = append(e.gens, 0)
	}
	if e.gens[slot]++; e.gens[slot] > math.MaxInt32 {
		e.gens[slot] = 1
	}
	e.nextCID++
	c := &conn{
		id:  ConnID(uint64(e.gens[slot])<<32 | uint64(slot)),
		cid: e.nextCID, acc: e.global, epoch: e.epoch, followed: e.epoch,
		ip: info.IP, port: info.Port,
		start: e.wall, startMono: e.now, lastIn: e.now, lastActive: e.now,
		connect: wire.DefaultConnect(),
	}
	c.timer.c = c
	e.conns[slot] = c
	e.bound(c)
	return c
}

// forget frees the connection's slot. Its subscriptions may still have to be reaped.
func (e *Engine) forget(c *conn) {
	c.gone = true
	e.endWish(c)
	c.out.drop(&e.pool)
	if c.msg != nil {
		e.pool.release(c.msg.ck)
		c.msg = nil
	}
	e.unstash(c)
	c.partial, c.memo = nil, nil
	e.timers.remove(&c.timer)
	slot := c.id.Slot()
	e.conns[slot] = nil
	e.free = append(e.free, slot)
}

func (e *Engine) touch(c *conn) {
	if !c.touched {
		c.touched = true
		e.touched = append(e.touched, c)
	}
}

// touchFor is touch for a receiver of a message.
func (e *Engine) touchFor(c *conn, m *outgoing) {
	if !m.crowd {
		e.touch(c)
		return
	}
	c.touched = true
	e.crowd = append(e.crowd, c)
}

// waiting is the ith connection that has something to write.
func (e *Engine) waiting(i int) *conn {
	if i < len(e.touched) {
		return e.touched[i]
	}
	return e.crowd[i-len(e.touched)]
}
