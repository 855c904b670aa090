package engine

// gate says why a connection's input is not being processed. Zero: it is. Meanwhile the connection is not read from
// either, and what had been received before that took effect, at most what a host reads at once, waits in conn.stash.
type gate uint8

const (
	gateClosed gate = 1 << iota // closing: input is discarded
	gateStall                   // a receiver that this publisher fills is full
	gateAuth                    // a job checks its password
	gateFanout                  // its last message has more receivers than a turn serves
	gateTLS                     // TLS is required and not up
	gateTurn                    // the turn's work is used up; goes on in the next
)

// keep puts aside what can't be processed now.
func (e *Engine) keep(c *conn, data []byte) {
	if c.gate&gateClosed != 0 {
		return
	}
	e.mark(MarkStallStash)
	c.stash = append(c.stash, data...)
	e.pause(c)
}

// pause stops reading until resume. A closing connection is read from: its peer's end of the stream is waited for.
func (e *Engine) pause(c *conn) {
	if !c.paused && c.gate&gateClosed == 0 {
		c.paused = true
		e.env.Network.PauseReading(c.id)
	}
}

// yield has the connection go on in the next turn, because this one is full.
func (e *Engine) yield(c *conn) {
	c.gate |= gateTurn
	e.enqueue(c)
}

func (e *Engine) enqueue(c *conn) {
	if !c.queued {
		c.queued = true
		e.run = append(e.run, c)
	}
}

// open removes a reason for which input waits; it goes on in the next turn when none is left.
func (e *Engine) open(c *conn, g gate) {
	if c.gate&g == 0 {
		return
	}
	c.gate &^= g
	if c.gate == 0 {
		e.enqueue(c)
	}
}

// resume processes the input that waited for its gate to open, until the turn is full. Those it does not reach are the
// first in the next turn.
func (e *Engine) resume() {
	e.running, e.run = e.run, e.running[:0]
	for i, c := range e.running {
		if i > 0 && e.work >= e.limit { // one at least: messages under way may have taken more than their share
			e.run = append(e.run, e.running[i:]...) // still queued
			clear(e.running[i:])
			return
		}
		e.running[i] = nil
		c.queued = false
		e.goOn(c)
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
		held := c.stash
		c.stash = nil
		e.input(c, held)
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
