package engine

import "math"

// How much a turn hands to the network: writeLimit bytes at its end to either list of connections, and as many before, while
// messages are still delivered, to those for whom much waits. Each may be exceeded by the last Send. More is written early of
// a message that is larger, and where one has no room else: that counts as work like the message itself, so that TurnWork
// bounds all that a turn writes.

// writeLimit is how many bytes are handed to the network in each part of a turn, about: 4 MiB, some 1 or 2 ms, for the default
// TurnWork. Deliveries are charged so that a turn does not make more than that: what is written keeps up.
func (e *Engine) writeLimit() int {
	return bytesPerWork * min(e.opts.TurnWork, math.MaxInt/bytesPerWork)
}

// sendLimit is how many bytes one Send is given, and how many wait for a receiver before it is written to early.
func (e *Engine) sendLimit() int { return min(sendMax, max(sendMin, e.writeLimit())) }

// earlyLimit is writeLimit for what is written early upon a message of so many bytes. Messages are not parted: one that is larger
// than what a turn writes must be written all the same, or what waits would grow from turn to turn.
func (e *Engine) earlyLimit(size int) int {
	limit := e.writeLimit()
	if size > limit {
		limit = max(limit, e.written+size)
	}
	return limit
}

// room makes sure that n more bytes may wait for c, closing it as a slow consumer where they may not.
func (e *Engine) room(c *conn, n int) bool {
	if c.out.pending+n <= e.opts.MaxPending || e.drainTo(c, e.opts.MaxPending-n) {
		return true
	}
	e.mark(MarkSlowPending)
	e.slowConsumer(c, ReasonSlowPending)
	return false
}

// drainTo writes to c, before the end of the turn, until no more than most bytes wait for it: who takes what it is offered is
// no slow consumer, however much a turn brings. It reports false if the network takes too little.
func (e *Engine) drainTo(c *conn, most int) bool {
	if c.blocked || c.out.pending == 0 || most < 0 {
		return false
	}
	e.mark(MarkEarlyFlush)
	e.flush(c)
	for c.out.pending > most && !c.blocked {
		e.mark(MarkRoomMade)
		e.work += 1 + e.send(c, min(sendMax, max(sendMin, c.out.pending-most)))/bytesPerWork
	}
	e.relieve(c)
	return c.out.pending <= most
}

// flush hands to the network what waits for c, as far as this part of the turn goes.
func (e *Engine) flush(c *conn) { e.flushUpTo(c, e.writeLimit()) }

// flushUpTo is flush until the network was given limit bytes in this part of the turn.
func (e *Engine) flushUpTo(c *conn, limit int) {
	for c.out.pending > 0 && !c.blocked && e.written < limit {
		e.send(c, sendMax)
	}
	e.relieve(c)
}

// send hands a part of what waits to the network, at most so many bytes. What it does not take waits for Writable.
func (e *Engine) send(c *conn, most int) (taken int) {
	iov := c.out.vectors(e.iov[:0], iovMax, min(most, e.sendLimit()))
	offered := 0
	for _, b := range iov {
		offered += len(b)
	}
	n := e.env.Network.Send(c.id, iov)
	clear(iov)
	e.iov = iov[:0]
	c.out.written(&e.pool, n)
	e.written += n
	if c.out.pending == 0 {
		if c.stuckAt > 0 {
			e.slowWrites.observe(int64(e.now - c.stuckAt))
			c.stuckAt = 0
		}
		c.progress = 0 // it owes nothing: what waits next has its own time
	} else if n > 0 || c.progress == 0 {
		c.progress = e.now
	}
	if n < offered {
		e.mark(MarkPartialWrite)
		c.blocked = true
		if c.stuckAt == 0 {
			c.stuckAt = e.now
		}
		e.arm(c)
	}
	return n
}

// relieve lets go whom the connection holds back, if it has taken enough.
func (e *Engine) relieve(c *conn) {
	if len(c.stalled) > 0 || c.stallUsed {
		e.drained(c)
	}
}
