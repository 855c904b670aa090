package linearizability

import (
	"fmt"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// world is one server and a few clients that subscribe to two subjects at a time, leave again, and probe. All of it
// follows from a seed: how bad the network is, what happens to the server, and what each client does.
type world struct {
	t       *testing.T
	seed    uint64
	queue   schedule.Queue
	source  *decision.Source
	net     *netsim.Net
	srv     *server
	clients []*client
	hist    *Interest
	conns   map[uint64]Conn // by the connection's key, both sides
	options engine.Options
	seen    seen

	slot     schedule.Time // of clients
	patience schedule.Time
	turnMax  schedule.Time
	readMax  int64
	doings   [numDoings]uint32
	harms    [numHarms]uint32
	harm     uint64        // slots of harm so far
	last     schedule.Time // when the world begins to end
	notes    []porcupine.Annotation
}

// seen counts what makes histories worth checking.
type seen struct {
	probes, deliveries, nobody, pongs      int
	givenUp, ends, breaks, restarts        int
	operations, lost, partitions, overlaps int
	cuts                                   int
	steps, stepsMax                        int
}

func (a *seen) add(b seen) {
	a.probes += b.probes
	a.deliveries += b.deliveries
	a.nobody += b.nobody
	a.pongs += b.pongs
	a.givenUp += b.givenUp
	a.ends += b.ends
	a.breaks += b.breaks
	a.restarts += b.restarts
	a.operations += b.operations
	a.lost += b.lost
	a.partitions += b.partitions
	a.overlaps += b.overlaps
	a.cuts += b.cuts
	a.steps += b.steps
	a.stepsMax = max(a.stepsMax, b.stepsMax)
}

// What numbers are chosen for; each has occurrences of its own.
const (
	purposeConfig uint32 = iota
	purposePhase
	purposeTurn
	purposeFault
	purposeAct
	purposeSubject
	purposeQueue
	purposePattern
	purposeFence
	purposeDeaf
	purposeEcho
)

const (
	second      = schedule.Time(time.Second)
	millisecond = schedule.Time(time.Millisecond)
	harmSlot    = second / 4
	operations  = 90 // of a partition, at most
	budget      = 500_000
)

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, seed: seed, source: decision.FromSeed(seed), hist: NewInterest(operations), conns: make(map[uint64]Conn)}
	n := uint64(0)
	pick := func(of ...int64) int64 {
		n++
		return of[w.number(purposeConfig, n, 0, int64(len(of)-1))]
	}
	cfg := netsim.Config{
		Link:       netsim.LinkProps{Latency: schedule.Time(pick(0, 100e3, 2e6, 20e6)), Jitter: schedule.Time(pick(0, 1e6, 30e6))},
		SendBuffer: int(pick(0, 64, 700)), RecvBuffer: int(pick(0, 64, 700)),
		CutPerMillion: uint32(pick(0, 300_000)), CutMax: 9,
		StallPerMillion: uint32(pick(0, 0, 60_000)), StallMin: 10 * millisecond, StallMax: second,
		ResetPerMillion:    uint32(pick(0, 0, 40_000)),
		HalfOpenPerMillion: uint32(pick(0, 0, 20_000)), HalfOpenMax: 2 * second,
		RefusePerMillion: uint32(pick(0, 100_000)),
		RetransmitMax:    200 * millisecond, DialTimeout: second, UserTimeout: 3 * second,
		HardClose: pick(0, 1) == 1,
	}
	w.net = netsim.New(&w.queue, w.source, cfg)
	w.options = engine.Options{
		Check: true, PingInterval: time.Second, PingMax: 1, WriteDeadline: time.Second, MatchCache: int(pick(1, 4, 0)),
		MaxPending: int(pick(2000, 0)),
	}
	w.slot = schedule.Time(pick(15e6, 40e6))
	w.patience = schedule.Time(pick(300e6, 2e9))
	w.turnMax = schedule.Time(pick(2000, 1e6, 30e6))
	w.readMax = pick(7, 64, 4096)
	w.doings = [numDoings]uint32{
		doNothing: 10, doSubscribe: uint32(pick(6, 12)), doQueue: uint32(pick(0, 6, 12)), doWildcard: uint32(pick(0, 4)),
		doUnsubscribe: uint32(pick(8, 16, 30)), doProbe: uint32(pick(12, 25)),
		doClose: uint32(pick(0, 2)), doAbort: uint32(pick(0, 1)), doDeaf: uint32(pick(0, 2)),
	}
	w.harms = [numHarms]uint32{
		harmNone: 10, harmPause: uint32(pick(0, 4)), harmCrash: uint32(pick(0, 2)), harmPower: uint32(pick(0, 1)),
		harmSuspend: uint32(pick(0, 0, 1)),
	}
	w.srv = newServer(w)
	for i := range pick(3, 4, 5) {
		w.clients = append(w.clients, newClient(w, int(i)+1))
	}
	return w
}

// run lets things go wrong for some time, and then for some time not.
func (w *world) run(span schedule.Time) {
	w.last = span
	w.srv.boot()
	w.queue.After(harmSlot, w, 0)
	w.until(span)
	w.net.Calm()
	w.until(span + 3*second)
}

func (w *world) until(t schedule.Time) {
	for w.queue.Step(t) {
	}
	w.queue.Advance(t)
}

// Fire is a slot in which something may happen to the server.
func (w *world) Fire(schedule.Time, uint64) {
	w.queue.After(harmSlot, w, 0)
	if w.ending() {
		w.harms = [numHarms]uint32{harmNone: 1}
	}
	w.harm++
	w.srv.strike(w.harm)
}

func (w *world) ending() bool { return w.queue.Now() >= w.last }

func (w *world) now() Time { return Time(w.queue.Now()) }

// subjects are those of the moment: they change, so that each is a history of bounded length.
func (w *world) subjects(now schedule.Time) [2]string {
	n := min(now, w.last) / (w.slot * 30)
	return [2]string{fmt.Sprintf("e%d.x.a", n), fmt.Sprintf("e%d.x.b", n)}
}

func (w *world) number(purpose uint32, n uint64, lo, hi int64) int64 {
	k := decision.Key{Kind: decision.SimDetail, Purpose: purpose, Actor: decision.Of(decision.World, 0), N: n}
	return w.source.Range(k, lo, hi)
}

func (w *world) pick(purpose uint32, n uint64, weights []uint32) int {
	k := decision.Key{Kind: decision.SimOperation, Purpose: purpose, Actor: decision.Of(decision.World, 0), N: n}
	return w.source.Pick(k, weights)
}

func (w *world) fatalf(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("seed %d: %s", w.seed, fmt.Sprintf(format, args...))
}

// note puts something that happened into the pictures.
func (w *world) note(what string) {
	w.notes = append(w.notes, porcupine.Annotation{Tag: "server", Start: int64(w.now()), Description: what})
}

// connected is told when a client has sent its CONNECT.
func (w *world) connected(c *client) Conn {
	conn := w.hist.Connect(w.now(), c.index, c.echo)
	w.conns[c.conn.Key()>>1] = conn
	return conn
}

// gaveUp is told when the server has given up a connection.
func (w *world) gaveUp(c *netsim.Conn) {
	if conn := w.conns[c.Key()>>1]; conn != 0 {
		w.hist.End(w.now(), conn)
	}
}
