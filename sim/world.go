package sim

import (
	"fmt"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/engine/assert"
	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// serverPort is where the server listens.
const serverPort = 4222

// world is one run.
type world struct {
	queue   schedule.Queue
	source  *decision.Source
	trace   trace
	net     *netsim.Net
	cfg     config
	nodes   []*node
	clients []*client // by index; nil: not there
	faults  faults
	verbose func(string)

	garbage   bool     // somebody may publish what no one knows
	litterers []string // users that do, where there are accounts
	largest   int      // bytes of the largest message so far
	crowded   int      // times that a message to a crowd was written to one of them alone
	healedAt  schedule.Time
	ended     bool // servers that stop stay so
	heardAll  bool // nobody listens in the system account any more
	lasting   lasting
	scratch   []byte
	block     []byte // of headers, to compare with
	volume    volume
	threw     int      // dice
	thrown    [5]int64 // and how they came out: see throw.way

	engineEvents, struck, messages, deliveries uint64
	marks                                      [engine.NumMarks]uint32
	failure                                    *Failure
}

// The names of the failures that are no property's.
const (
	propInvariant = "invariant" // an assertion of the engine failed
	propPanic     = "panic"
	propLivelock  = "livelock" // time stands still
)

func newWorld(o Options, source *decision.Source) *world {
	w := &world{source: source, verbose: o.Verbose, scratch: make([]byte, 64<<10)}
	w.trace = trace{hash: traceSeed, observe: o.Observe, queue: &w.queue}
	w.cfg = drawConfig(source)
	w.net = netsim.New(&w.queue, source, w.cfg.net)
	w.nodes = []*node{newNode(w, 0)}
	w.faults.w = w
	w.populate()
	return w
}

// play carries out the whole run.
func (w *world) play(span schedule.Time) {
	w.describe()
	for _, n := range w.nodes {
		n.clock.drift(0, w.cfg.driftPPM)
		n.boot(0)
	}
	for _, c := range w.clients {
		if c != nil {
			c.start()
		}
	}
	w.queue.After(second/2, &w.faults, faultsSecond)
	w.until(span)
	if w.failure == nil {
		w.end()
	}
	for _, n := range w.nodes {
		if n.eng != nil {
			n.harvest()
		}
	}
}

// until runs what happens up to t.
func (w *world) until(t schedule.Time) {
	const often = 1 << 20
	last, at := w.queue.Fired(), w.queue.Now()
	for w.failure == nil && w.queue.Step(t) {
		if w.queue.Fired()-last >= often {
			if w.queue.Now() == at {
				w.fail(propLivelock, "a million events happened at the same moment")
			}
			last, at = w.queue.Fired(), w.queue.Now()
		}
	}
	if w.failure == nil {
		w.queue.Advance(t)
	}
}

// fail ends the run: the first failure counts.
func (w *world) fail(property, what string) {
	if w.failure == nil {
		w.failure = &Failure{Property: property, What: what}
		w.note(-1, "FAIL "+property+": "+what)
	}
}

// caught makes a panic a failure.
func (w *world) caught(v any) {
	if f, ok := v.(assert.Failure); ok {
		w.fail(propInvariant, string(f))
		return
	}
	w.fail(propPanic, fmt.Sprint(v))
}

// judged takes over what the node's oracle found.
func (w *world) judged(n *node) {
	if f, bad := n.oracle.Failure(); bad {
		w.fail(f.Property, f.What)
	}
}

// exited is told when a server has stopped on its own.
func (w *world) exited(n *node) {
	n.sick(w.queue.Now())
	if !w.ended {
		n.after(nodeBoot, 0, second/4)
	}
}

// netTrouble reports whether the network did something to the client's connection, or to its way to the server.
func (w *world) netTrouble(c *client) bool {
	return w.queue.Now() < c.sickUntil || c.conn != nil && c.conn.Harm() != 0
}

func (w *world) note(node int, text string) {
	w.trace.note(node, text)
	if w.verbose != nil {
		who := "world"
		if node >= 0 {
			who = fmt.Sprintf("server %d", node)
		}
		w.verbose(fmt.Sprintf("%14s  %s: %s", time.Duration(w.queue.Now()), who, text))
	}
}

func (w *world) noteClient(c *client, text string) {
	if w.verbose != nil || w.trace.observe != nil {
		w.note(-1, c.name()+": "+text)
	}
}

// describe tells the configuration.
func (w *world) describe() {
	if w.verbose == nil {
		return
	}
	o, n := &w.cfg.engine, &w.cfg.net
	w.note(-1, fmt.Sprintf("max_pending %d, max_payload %d, max_control_line %d, cache %d, stall %d for %s, write_deadline %s, "+
		"ping %s × %d, auth %d within %s, max_connections %d, max_subscriptions %d, budget %d",
		o.MaxPending, o.MaxPayload, o.MaxControlLine, o.MatchCache, o.StallBytes, o.StallMax, o.WriteDeadline,
		o.PingInterval, o.PingMax, w.cfg.auth, o.AuthTimeout, o.MaxConnections, o.MaxSubscriptions, w.cfg.budget))
	w.note(-1, fmt.Sprintf("latency %s + %s, bandwidth %d, buffers %d and %d, cuts %d within %d, drift %d ppm, faults %v, net faults %d %d %d %d %d",
		time.Duration(n.Link.Latency), time.Duration(n.Link.Jitter), n.Link.Bandwidth, n.SendBuffer, n.RecvBuffer,
		n.CutPerMillion, n.CutMax, w.cfg.driftPPM, w.cfg.faults, n.StallPerMillion, n.ResetPerMillion, n.HalfOpenPerMillion,
		n.RefusePerMillion, n.DialHangPerMillion))
	for _, c := range w.clients {
		if c != nil {
			w.note(-1, fmt.Sprintf("%s: %s %+v", c.name(), kindNames[c.kind], c.traits))
		}
	}
}

// volume remembers how many bytes were published in the last seconds.
type volume struct {
	second [16]uint64
	at     schedule.Time // the second being counted
}

func (v *volume) add(now schedule.Time, bytes int) {
	v.turn(now)
	v.second[v.at%schedule.Time(len(v.second))] += uint64(bytes)
}

func (v *volume) turn(now schedule.Time) {
	for s := now / second; v.at < s; {
		v.at++
		v.second[v.at%schedule.Time(len(v.second))] = 0
	}
}

func (v *volume) recent(now schedule.Time) uint64 {
	v.turn(now)
	var sum uint64
	for _, b := range v.second {
		sum += b
	}
	return sum
}
