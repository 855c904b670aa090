package sim

import (
	"strconv"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// The end of a run. The world is healed, but for one client in some runs: it stays away without a word, or the way between
// it and the server stays bad (lasting.go). Then every other client that wants to be connected must be within a bound that
// follows from the configured times, and go on being served, the messages of others included; when all have left, nothing
// may be left of them.

// Names of the properties.
const (
	propRecovers = "recovers" // every client that wants to is connected again in time
	propLeaves   = "leaves"   // nothing is left of clients that have left
	propStops    = "stops"    // a server that is told to stops
)

// end carries out the last part of a run.
func (w *world) end() {
	w.heal()
	if !w.within(w.recovery(), w.recovered) {
		w.lament()
	}
	if w.failure == nil {
		w.live()
	}
	if w.failure != nil {
		return
	}
	w.checkShares()
	w.mend()
	for _, c := range w.clients {
		if c != nil {
			c.wants = false
			c.drop("the run ends")
			c.state = clientIdle
			c.gen++
		}
	}
	w.endListening()
	if !w.within(w.departure(), w.empty) {
		for _, n := range w.nodes {
			w.checkLeft(n)
		}
	}
	if w.failure != nil {
		return
	}
	for _, n := range w.nodes {
		n.oracle.Finish()
		w.judged(n)
	}
	w.checkStops()
}

// heal ends all that is wrong.
func (w *world) heal() {
	now := w.queue.Now()
	w.note(-1, "all is healed")
	w.faults.over = true
	w.healedAt = now
	w.net.Calm()
	for _, n := range w.nodes {
		n.heal(now)
		n.restore()
		n.pardon()
	}
	left := w.drawLeftBehind()
	w.drawLasting(left)
	for _, c := range w.clients {
		switch {
		case c == nil:
		case c.index == left:
			w.noteClient(c, "stays away")
			c.wants, c.hostile = false, false
			if !c.away {
				c.power(false)
			}
		default:
			c.hurry(now)
		}
	}
}

// drawLeftBehind chooses the client that never comes back; -1: none.
func (w *world) drawLeftBehind() int {
	k := decision.Key{Kind: decision.SimFault, Actor: decision.Of(decision.World, 0), Purpose: worldLeftBehind}
	v := int(w.source.Below(k, uint64(2*len(w.clients)+1)))
	if v > len(w.clients) {
		return -1
	}
	return v - 1
}

// recovery is how long it may take until every client is connected again: the server may still believe in as many former
// connections as it takes, and must first find out; a client may have to find out too, and then to wait for its turn.
func (w *world) recovery() schedule.Time {
	o := &w.cfg.engine
	stale := schedule.Time(o.PingInterval) * schedule.Time(o.PingMax+2) * reloadFactor
	return stale + reloadFactor*schedule.Time(o.WriteDeadline) + schedule.Time(o.LameDuckDuration) + patiencePong + w.cfg.patienceOpen() +
		w.cfg.net.DialTimeout + 4*backoffMax + w.cfg.net.RetransmitMax + 10*second
}

// departure is how long it may take until nothing is left.
func (w *world) departure() schedule.Time {
	o := &w.cfg.engine
	return schedule.Time(o.PingInterval)*schedule.Time(o.PingMax+2)*reloadFactor + reloadFactor*schedule.Time(o.WriteDeadline) + 10*second + w.cfg.patience()
}

// within runs until the condition holds, at most for so long, and reports whether it does.
func (w *world) within(most schedule.Time, holds func() bool) bool {
	const step = second / 2
	for end := w.queue.Now() + most; w.failure == nil; {
		w.until(min(w.queue.Now()+step, end))
		if holds() {
			return true
		}
		if w.queue.Now() >= end {
			return false
		}
	}
	return false
}

// back reports whether the client is connected, and was answered since all was healed.
func (c *client) back() bool { return c.state == clientReady && c.pongAt > c.w.healedAt+second }

// recovered reports whether as many clients as the server takes are back.
func (w *world) recovered() bool {
	want, have := 0, 0
	for _, c := range w.clients {
		if c != nil && c.wants && !w.spoilt(c) {
			want++
			if c.back() {
				have++
			}
		}
	}
	return have >= min(want, w.places())
}

// lament names an obligation that was not met.
func (w *world) lament() {
	for _, c := range w.clients {
		if c != nil && c.wants && !c.back() && !w.spoilt(c) {
			w.fail(propRecovers, c.name()+" is not connected "+time.Duration(w.recovery()).String()+
				" after all was healed: "+clientStates[c.state]+"; its last connection ended: "+c.lost+
				"; last PONG at "+time.Duration(c.pongAt).String())
		}
	}
}

// empty reports whether nothing is left of the clients.
func (w *world) empty() bool {
	for _, n := range w.nodes {
		if n.footprint() != (engine.Footprint{}) {
			return false
		}
	}
	return w.residue() == netsim.Residue{}
}

// footprint is what the engine holds that it must not hold when nobody is connected.
func (n *node) footprint() engine.Footprint {
	if n.eng == nil {
		return engine.Footprint{}
	}
	f := n.eng.Footprint()
	f.Slots = 0
	return f
}

func (w *world) residue() netsim.Residue {
	r := w.net.Residue()
	r.Listeners = 0
	return r
}

func (w *world) checkLeft(n *node) {
	if f := n.footprint(); f != (engine.Footprint{}) {
		w.fail(propLeaves, "the engine still has connections "+strconv.Itoa(f.Connections)+", subscriptions "+
			strconv.Itoa(f.Subscriptions)+", timers "+strconv.Itoa(f.Timers)+", chunks "+strconv.Itoa(f.Chunks)+
			", jobs "+strconv.Itoa(f.Jobs)+", queries "+strconv.Itoa(f.Queries)+", replies "+strconv.Itoa(f.Replies)+
			", shadows "+strconv.Itoa(f.Shadows))
	}
	if r := w.residue(); r != (netsim.Residue{}) {
		w.fail(propLeaves, "the network still has connections "+strconv.Itoa(r.Connections)+" (dialling "+
			strconv.Itoa(r.Dialling)+", bound "+strconv.Itoa(r.Bound)+"), bytes "+strconv.Itoa(r.Bytes))
	}
}

func (w *world) checkStops() {
	for _, n := range w.nodes {
		n.stop(false)
	}
	w.ended = true
	w.until(w.queue.Now() + 5*second)
	for _, n := range w.nodes {
		if n.eng != nil {
			w.fail(propStops, "the server does not stop")
		}
	}
}
