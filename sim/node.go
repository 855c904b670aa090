package sim

import (
	"math/rand/v2"
	"strconv"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/oracle"
	"github.com/natsd/natsd/sim/schedule"
)

// node is a simulated server: a machine with clocks, and on it a process with an engine, or none.
//
// The process takes turns. What happens between two turns waits in ready, as in a kernel; a turn takes simulated time,
// more on a slow node, and the next one begins when it is over.
type node struct {
	w        *world
	index    int
	actor    decision.Actor
	host     *netsim.Host
	clock    clock
	oracle   *oracle.Oracle
	departed departed

	eng    *engine.Engine // nil: no process
	life   uint64         // counts the processes
	rng    *rand.Rand     // the process's entropy
	addr   string         // where it listens; empty: nowhere
	paused int            // reasons for which the process stands still
	slow   int64          // how many times longer than usual everything takes
	off    bool           // no power
	downAt schedule.Time  // when the last process ended, or was told to; -1: none has

	ready       []ready           // what the next turns are told, in order
	infos       []engine.ConnInfo // of those that were not accepted yet
	backlog     []ready           // of these, whom the engine does not want yet, as in the system's queue
	conns       []nodeConn        // by slot
	newest      nodeConn          // being accepted: it has no slot yet
	active      int               // connections that the engine has not given up
	turnDue     bool
	turnNow     bool // inside a turn: effects are those of this turn
	busy        schedule.Time
	cost        int64 // of the turn so far, ns
	wakeAt      engine.Instant
	wakeDue     schedule.Time // when the clock looks whether to wake
	timerDue    bool          // TimerDue waits in ready
	jobs        map[engine.JobID]func()
	working     int            // jobs whose end the engine was not told of
	weighing    bool           // some client may be held against a hash: see weighed
	stopping    bool           // told to stop or in lame duck mode
	duckSince   engine.Instant // when lame duck mode began; 0: it did not
	duckAt      schedule.Time
	duckUp      bool           // it was listening then
	nextOptions engine.Options // of the reload that is under way
	reloaded    bool           // the process was told new options
	version     int            // of the configuration of accounts that is in force
	termsAt     schedule.Time  // when a reload last changed terms
	loweredAt   engine.Instant // when one last lowered max_pending
	demandAt    schedule.Time  // when a reload last changed whether clients must say a user
	nextVersion int            // of the reload that is under way
	hasty       bool           // it does not wait until connections have followed the one before
	again       schedule.Time  // after which another reload follows it; 0: none does
	afterwards  uint64         // to which configuration: how many behind that one

	turns     uint64
	total     uint64 // connections accepted by the process
	asked     map[engine.QueryID]asked
	nextQuery engine.QueryID
	waiting   int           // questions without answer
	oldest    schedule.Time // the oldest of them is not older
	seenIn    uint64        // messages received, as it said last
	seenOut   uint64        // the same of messages delivered

	sickUntil   schedule.Time // up to when something is, or may still be, wrong with the node
	listener    listener
	service     service
	lapses      lapses
	shelf       shelf
	words       [archiveAccounts + 1][]word // about accounts whose JWTs are kept, and the one that may have only so much
	registrar   registrar
	probes      [numProbes]probe
	members     [numMembers]member
	memberActed uint64 // times that members of any process did something
	askers      [numAskers]asker
	askedMuch   uint64 // times that the greedy one of any process asked
	granters    [numGranters]granter
	grants      grants
	grantActed  uint64  // times that granters of any process did something
	regranted   uint64  // reloads that might have changed what may be answered
	allowance   allowed // of answers, in force
	lending     lending // between accounts that share by an activation token
	watch       slowWatch
	turnWatch   turnWatch
	crowds      crowdWatch
	lastPause   engine.Instant // when somebody was last held back
}

// propFair: in every turn something is taken of what waits outside, however much the engine has left over from earlier
// turns. Otherwise a backlog would keep out everybody else.
const propFair = "fair"

// ready is something that the next turn is told.
type ready struct {
	conn *netsim.Conn
	n    uint64
	kind readyKind
}

type readyKind uint8

const (
	readyStart readyKind = iota
	readyUp
	readyFailed
	readyAccept
	readyRead
	readyWrite
	readyClosed
	readyTimer
	readyJob
	readyStop
	readyDuck
	readyQuery
	readyListener
	readyService
	readyLend
	readyShelf
	readyArchive
	readyMembers
	readyAskers
	readyGranters
)

// What the events of a node are; the life of the process stands above, so that those of an earlier one are known.
const (
	nodeTurn uint64 = iota
	nodeWake
	nodeJob
	nodeBoot
	nodeService
	nodeReload
	nodeLend
	nodeReloadRead
	nodeRevoke
	nodeShelf
	nodeArchive
	nodeMembers
	nodeAskers
	nodeGranters
	nodeOpBits   = 4
	nodeLifeBits = 21
)

// What a turn costs, ns: a little for itself and for each event, and each byte.
const (
	turnCost  = 2000
	eventCost = 500
)

func newNode(w *world, index int) *node {
	n := &node{
		w: w, index: index, actor: decision.Of(decision.Node, uint64(index)),
		clock: newClock(), slow: w.cfg.slow, downAt: -1, oracle: oracle.New(),
		allowance: allowances[0],
	}
	if t := w.cfg.tenants; t != nil {
		n.oracle.Govern(t.versions[0])
		n.oracle.SetClock(n)
	}
	n.forgetWords()
	n.host = w.net.AddHost(index, n)
	return n
}

// Fire runs one of the node's events.
func (n *node) Fire(now schedule.Time, arg uint64) {
	op, life, rest := arg&(1<<nodeOpBits-1), arg>>nodeOpBits&(1<<nodeLifeBits-1), arg>>(nodeOpBits+nodeLifeBits)
	if life != n.life {
		return
	}
	switch op {
	case nodeTurn:
		n.turnDue = false
		n.turn(now)
	case nodeWake:
		n.woken(now)
	case nodeJob:
		n.jobEnds(engine.JobID(rest))
	case nodeBoot:
		n.boot(now)
	case nodeService:
		n.tell(ready{kind: readyService, n: rest})
	case nodeLend:
		n.tell(ready{kind: readyLend, n: rest})
	case nodeShelf:
		n.shelfEnds(engine.VaultID(rest))
	case nodeArchive:
		n.tell(ready{kind: readyArchive, n: rest})
	case nodeMembers:
		n.tell(ready{kind: readyMembers, n: rest})
	case nodeAskers:
		n.tell(ready{kind: readyAskers, n: rest})
	case nodeGranters:
		n.tell(ready{kind: readyGranters, n: rest})
	case nodeRevoke:
		n.revokeAgain()
	case nodeReload:
		n.reloadNow(rest)
	case nodeReloadRead:
		n.reloadRead(rest == 1)
	}
}

func (n *node) after(op, rest uint64, d schedule.Time) {
	n.w.queue.After(d, n, op|n.life<<nodeOpBits|rest<<(nodeOpBits+nodeLifeBits))
}

// boot starts a process.
func (n *node) boot(now schedule.Time) {
	if n.eng != nil || n.off || n.w.ended {
		return
	}
	n.life++
	n.rng = rand.New(rand.NewPCG(n.noise(0), n.noise(1)))
	n.wakeAt, n.wakeDue, n.timerDue = engine.Never, farAway, false
	n.jobs, n.working = make(map[engine.JobID]func()), 0
	n.asked, n.waiting, n.total = make(map[engine.QueryID]asked), 0, 0
	n.seenIn, n.seenOut = 0, 0
	n.busy, n.turnDue, n.paused, n.stopping = now, false, 0, false
	n.duckSince, n.duckAt, n.duckUp, n.reloaded = 0, 0, false, false
	n.turnWatch, n.crowds = turnWatch{}, crowdWatch{}
	n.w.note(n.index, "process starts")
	if n.w.faults.over {
		n.restore()
	}
	o := n.w.cfg.options(n.version)
	n.bringLimits(&o)
	n.bringGrants(&o)
	n.eng = engine.New(o, engine.Env{Clock: n, Network: n, Jobs: n, Rand: n, Log: n, Monitor: n, Vault: n})
	n.tell(ready{kind: readyStart})
}

// noise is the seed of a process's entropy: it differs between nodes, processes and runs, and is the same in a replay.
func (n *node) noise(which uint64) uint64 {
	return decision.Noise(decision.Key{Actor: n.actor, Purpose: uint32(n.w.cfg.entropy), N: n.life<<1 | which})
}

// die ends the process without a word: its kernel closes what it had.
func (n *node) die(now schedule.Time) {
	if n.eng == nil {
		return
	}
	n.harvest()
	n.crashShelf()
	n.eng = nil
	n.life++
	n.addr = ""
	n.ready, n.infos, n.backlog = n.ready[:0], n.infos[:0], n.backlog[:0]
	clear(n.conns)
	n.conns, n.active = n.conns[:0], 0
	n.listener, n.service, n.lapses, n.lending = listener{}, service{}, lapses{at: now}, lending{at: now}
	n.registrar, n.probes, n.members = registrar{}, [numProbes]probe{}, [numMembers]member{}
	n.askers, n.granters = [numAskers]asker{}, [numGranters]granter{}
	n.watch.reset()
	n.downAt = now
	n.departed = nil
	n.oracle.Crash()
}

// harvest keeps what the ending process counted.
func (n *node) harvest() {
	for i, c := range n.eng.Marks() {
		n.w.marks[i] += c
	}
}

// tell queues something for the next turn.
func (n *node) tell(r ready) {
	if n.eng == nil {
		return
	}
	n.ready = append(n.ready, r)
	n.poke()
}

// poke makes sure that a turn comes if there is something to tell.
func (n *node) poke() {
	if n.eng == nil || n.turnDue || n.paused > 0 || len(n.ready)+len(n.backlog) == 0 {
		return
	}
	n.turnDue = true
	n.after(nodeTurn, 0, max(n.busy-n.w.queue.Now(), 0))
}

// turn tells the engine what is ready, as much as it takes.
func (n *node) turn(now schedule.Time) {
	if n.paused > 0 || n.eng == nil {
		return
	}
	t := &n.w.trace
	n.turnNow = true
	n.cost = turnCost
	t.event(n.index, EventTurn, 0, int64(now))
	n.w.engineEvents++
	n.turns++
	n.eng.BeginTurn()
	n.admit()
	count, done := len(n.ready), 0
	for done < count && !n.eng.TurnFull() {
		r := n.ready[done]
		n.ready[done] = ready{}
		done++
		n.hand(r)
	}
	if count > 0 && done == 0 {
		n.w.fail(propFair, "a turn of server "+strconv.Itoa(n.index)+" took none of the "+strconv.Itoa(count)+" things that waited for it")
	}
	n.ready = n.ready[:copy(n.ready, n.ready[done:])]
	n.endTurn()
	n.tellDeparted()
	n.weighed()
	n.turnNow = false
	n.busy = now + schedule.Time(n.cost*n.slow)
	if n.eng.Stopped() {
		n.exit(now)
		return
	}
	n.poke()
}

// exit is the end of a process that stopped on its own.
func (n *node) exit(now schedule.Time) {
	n.w.note(n.index, "process exits")
	n.die(now)
	n.host.Kill()
	n.w.exited(n)
}

// hand tells the engine one thing.
func (n *node) hand(r ready) {
	n.w.engineEvents++
	n.cost += eventCost
	t := &n.w.trace
	switch r.kind {
	case readyStart:
		t.event(n.index, EventStart, 0, 0)
		n.eng.Start()
	case readyUp:
		t.event(n.index, EventListenerUp, 0, int64(r.n))
		n.eng.ListenerUp(engine.ListenerID(r.n>>16), int(r.n&0xffff))
		n.comeToListen()
		n.comeToLend()
		n.comeToArchive()
		n.comeToAllot()
		n.comeToAsk()
		n.comeToGrant()
		n.serviceDoes(serviceComes)
	case readyFailed:
		t.event(n.index, EventListenerFailed, 0, int64(r.n))
		n.eng.ListenerFailed(engine.ListenerID(r.n), "address already in use")
	case readyAccept:
		n.admit(r)
	case readyRead:
		n.read(r.conn)
	case readyWrite:
		if id := r.conn.ID(); n.host.Conn(id) == r.conn {
			t.event(n.index, EventWritable, id, 0)
			if nc := n.slot(id); nc != nil {
				nc.mixed = true
			}
			n.eng.Writable(id)
		}
	case readyClosed:
		n.closed(r.conn)
	case readyTimer:
		n.timerDue = false
		t.event(n.index, EventTimerDue, 0, 0)
		n.eng.TimerDue()
	case readyJob:
		t.event(n.index, EventJobDone, 0, int64(r.n))
		n.working--
		n.eng.JobDone(engine.JobID(r.n))
	case readyListener:
		n.listenerDoes(r.n)
	case readyService:
		n.serviceDoes(r.n)
	case readyLend:
		n.lendDoes(r.n)
	case readyShelf:
		n.shelfDone(engine.VaultID(r.n))
	case readyArchive:
		n.archiveDoes(r.n)
	case readyMembers:
		n.membersDo(r.n)
	case readyAskers:
		n.askersDo(r.n)
	case readyGranters:
		n.grantersDo(r.n)
	case readyStop:
		t.event(n.index, EventStop, 0, 0)
		n.eng.Stop()
	case readyDuck:
		t.event(n.index, EventLameDuck, 0, 0)
		n.ducked()
		n.eng.LameDuck()
	case readyQuery:
		n.query(question(r.n))
	}
}
