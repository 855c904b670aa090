package engine

// gate says why a connection's input is not being processed. Zero: it is. Meanwhile the connection is not read from
// either, and what had been received before that took effect, at most what a host reads at once, waits in conn.stash.
type gate uint8

const (
	gateClosed  gate = 1 << iota // closing: input is discarded
	gateStall                    // a receiver that this publisher fills is full
	gateAuth                     // a job checks its password
	gateFanout                   // its last message has more receivers than a turn serves
	gateOpening                  // TLS is required and not up, or a proxy's header may come first
	gateTurn                     // its share of the turn is used up, or the turn
	gateRemake                   // it has become another user, and its subscriptions follow
	gateSearch                   // its own subscription is looked for, which is to get a 503
)

// A turn's work is divided into at least minShares shares, more when many wait, and maxShares at most. A connection that has
// used one up goes on when all the others that wait have had theirs, still in the same turn if it can. So all get round in
// about a turn: however much some want to be done, those who want little don't wait long.
const (
	minShares = 8 // a share is enough for what one read brings of small messages that nobody gets
	maxShares = 256
)

// share is the work after which a connection lets others go on.
func (e *Engine) share() int {
	return max(e.opts.TurnWork/min(minShares+e.run.len(), maxShares), 1)
}

// keep puts aside what can't be processed now. held is the chunk that data is the end of, if it was put aside before.
func (e *Engine) keep(c *conn, data []byte, held *chunk) {
	if c.gate&gateClosed != 0 {
		return
	}
	e.mark(MarkStallStash)
	if held != nil {
		held.refs++
		c.stash, c.held = data, held
	} else {
		e.stash(c, data)
	}
	e.pause(c)
}

// stash appends to what is put aside.
func (e *Engine) stash(c *conn, data []byte) {
	n := len(c.stash)
	if cap(c.stash)-n < len(data) {
		ck := e.pool.get(n + len(data))
		copy(ck.data, c.stash)
		e.unstash(c)
		c.stash, c.held = ck.data[:n], ck
	}
	c.stash = append(c.stash, data...)
}

// unstash forgets what is put aside.
func (e *Engine) unstash(c *conn) {
	if c.held != nil {
		e.pool.release(c.held)
	}
	c.stash, c.held = nil, nil
}

// pause stops reading until resume. A closing connection is read from: its peer's end of the stream is waited for.
func (e *Engine) pause(c *conn) {
	if !c.paused && c.gate&gateClosed == 0 {
		c.paused = true
		e.env.Network.PauseReading(c.id)
	}
}

// yield has the connection go on when it is its turn again, because the turn is full or others wait.
func (e *Engine) yield(c *conn) {
	c.gate |= gateTurn
	e.enqueue(c)
}

func (e *Engine) enqueue(c *conn) {
	if !c.queued {
		c.queued, c.queuedAt = true, e.now
		e.run.push(c)
	}
}

// open removes a reason for which input waits; it goes on, in this turn or the next, when none is left.
func (e *Engine) open(c *conn, g gate) {
	if c.gate&g == 0 {
		return
	}
	c.gate &^= g
	if c.gate == 0 {
		e.enqueue(c)
	}
}

// resume processes the input that waited for its gate to open, a share of each connection at a time, until the turn's work
// reaches the limit.
func (e *Engine) resume() {
	for !e.run.empty() {
		c := e.run.pop()
		c.queued = false
		e.admission.served(e.run.len())
		e.runWaits.observe(int64(e.now - c.queuedAt))
		e.goOn(c)
		if e.work >= e.limit {
			return
		}
	}
}

// goOn processes what waited for one connection's gate.
func (e *Engine) goOn(c *conn) {
	c.gate &^= gateTurn
	if c.gate != 0 {
		return // closed, or shut again: whoever opens it enqueues
	}
	if c.epoch != e.epoch {
		if e.visitFirst(c); c.gate != 0 {
			return
		}
	}
	if len(c.stash) > 0 {
		held, ck := c.stash, c.held
		c.stash, c.held = nil, nil
		e.input(c, held, ck)
		e.pool.release(ck)
		if c.gate != 0 {
			return
		}
	}
	if c.sawEOF {
		e.closeConn(c, ReasonClientClosed, "")
		return
	}
	if c.paused {
		c.paused = false
		e.env.Network.ResumeReading(c.id)
	}
}
