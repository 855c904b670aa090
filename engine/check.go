package engine

import "github.com/natsd/natsd/engine/assert"

// Check panics if an invariant of the engine is broken. It looks at everything: call it in simulations and tests.
func (e *Engine) Check() {
	live, closing, subs := 0, 0, 0
	for slot, c := range e.conns {
		if c == nil {
			continue
		}
		live++
		assert.Thatf(int(c.id.Slot()) == slot, "connection %d sits in slot %d", c.id.Slot(), slot)
		assert.Thatf(!c.gone, "cid %d is gone but has a slot", c.cid)
		assert.Thatf(!c.touched, "cid %d was left touched", c.cid)
		e.checkConn(c)
		if c.gate&gateClosed != 0 {
			closing++
			assert.Thatf(c.timer.pos > 0, "cid %d is closing without a timer", c.cid)
		} else {
			subs += len(c.subs)
		}
	}
	for _, c := range e.reaping {
		subs += len(c.subs)
	}
	assert.Thatf(live+len(e.free) == len(e.conns), "slots: %d used, %d free, %d in all", live, len(e.free), len(e.conns))
	assert.Thatf(e.active == live-closing, "active is %d, counted %d", e.active, live-closing)
	assert.Thatf(subs == e.account.subs.Count(), "%d subscriptions with connections, %d in the list", subs, e.account.subs.Count())
	for i, t := range e.timers.heap {
		assert.Thatf(t.pos == i+1, "timer at %d believes to be at %d", i+1, t.pos)
		assert.Thatf(i == 0 || !t.before(e.timers.heap[(i-1)/2]), "timer at %d is before its parent", i+1)
	}
}

func (e *Engine) checkConn(c *conn) {
	n := len(c.out.open)
	assert.Thatf(n == 0 || c.out.ck.refs > 0, "cid %d fills a released chunk", c.cid)
	for i := c.out.head; i < len(c.out.segs); i++ {
		s := c.out.segs[i]
		n += len(s.b)
		assert.Thatf(len(s.b) > 0, "cid %d waits to write nothing", c.cid)
		assert.Thatf(s.ck.refs > 0, "cid %d waits to write a released chunk", c.cid)
	}
	assert.Thatf(n == c.out.pending, "cid %d: %d bytes wait, counted %d", c.cid, c.out.pending, n)
	assert.Thatf(n <= e.opts.MaxPending, "cid %d: %d bytes wait, max_pending is %d", c.cid, n, e.opts.MaxPending)
	assert.Thatf(n == 0 || c.blocked, "cid %d: %d bytes wait that the network would take", c.cid, n)
	assert.Thatf(!c.blocked || c.timer.pos > 0, "cid %d is blocked without a timer", c.cid)
	assert.Thatf(c.gate&gateStall == 0 || c.stalls > 0, "cid %d is held back by nobody", c.cid)
	assert.Thatf(len(c.stalled) == 0 || c.stallEnd > 0 && c.stallEnd <= e.now+Instant(e.opts.StallMax),
		"cid %d holds back %d publishers without an end", c.cid, len(c.stalled))
	assert.Thatf(len(c.stash) == 0 || c.gate != 0 || c.queued, "cid %d has input that nobody will process", c.cid)
	assert.Thatf(!c.paused || c.gate != 0 || c.queued, "cid %d is paused for no reason", c.cid)
	assert.Thatf(c.gate != gateTurn || c.queued, "cid %d waits for a turn that is not coming", c.cid)
	for i, s := range c.subs {
		assert.Thatf(s.index == i && s.conn == c && !s.dead, "cid %d: subscription %q is out of place", c.cid, s.sid())
		assert.Thatf(s.max == 0 || s.delivered < s.max, "cid %d: subscription %q outlived its max", c.cid, s.sid())
	}
}

// Footprint is what an engine holds. With no connections, everything but Slots is zero.
type Footprint struct {
	Connections, Subscriptions, Timers, Chunks, Jobs, Queries, Fanouts, Slots int
}

// Footprint counts what the engine holds, for leak checks.
func (e *Engine) Footprint() Footprint {
	return Footprint{
		Connections: len(e.conns) - len(e.free), Subscriptions: e.account.subs.Count(), Timers: e.timers.len(),
		Chunks: e.pool.live, Jobs: len(e.jobs), Queries: len(e.queries), Fanouts: len(e.fanouts), Slots: len(e.conns),
	}
}
