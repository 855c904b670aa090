package engine

import "github.com/natsd/natsd/wire"

// arm sets the connection's one timer to the earliest moment that concerns it.
func (e *Engine) arm(c *conn) {
	if c.gone {
		return
	}
	at := Never
	sooner := func(t Instant) {
		if t > 0 && t < at {
			at = t
		}
	}
	if c.gate&gateClosed != 0 {
		sooner(e.givenUp(c))
	} else {
		sooner(c.authEnd)
		if u := c.user; u != nil && u.expires > 0 {
			sooner(e.moment(u.expires))
		}
		sooner(c.openingEnd)
		sooner(c.helloEnd)
		sooner(c.pingAt)
		sooner(c.stallEnd)
		if c.blocked {
			sooner(later(c.progress, e.opts.WriteDeadline))
		}
	}
	e.timers.set(&c.timer, at)
}

// connTimer handles whatever is due for the connection.
func (e *Engine) connTimer(c *conn) {
	if c.epoch != e.epoch {
		if e.visitFirst(c); c.gone {
			return
		}
	}
	if c.gate&gateClosed != 0 {
		if e.now >= e.givenUp(c) {
			e.mark(MarkLingerTimeout)
			e.abandon(c)
			return
		}
		e.arm(c)
		return
	}
	if c.opening != 0 && !e.openingTimer(c) {
		return
	}
	if u := c.user; u != nil && u.expires > 0 && e.wall >= u.expires {
		e.expel(c, wire.ErrUserExpired, ReasonAuthExpired)
		return
	}
	if c.authEnd > 0 && e.now >= c.authEnd && c.login != nil {
		e.loginTimeout(c)
		return
	}
	if c.authEnd > 0 && e.now >= c.authEnd {
		c.authEnd = 0
		if p := c.check; p == nil || p.same != nil && !p.same.running { // what takes long once it has begun is not the client's fault
			e.mark(MarkAuthTimeout)
			e.closeSilent(c, ReasonAuthTimeout, wire.ErrAuthTimeout, string(wire.ErrAuthTimeout))
			return
		}
	}
	if c.stallEnd > 0 && e.now >= c.stallEnd {
		e.stallTimeout(c)
	}
	if c.blocked && e.now >= later(c.progress, e.opts.WriteDeadline) {
		e.mark(MarkSlowDeadline)
		e.slowConsumer(c, ReasonSlowDeadline)
		return
	}
	if e.now >= c.pingAt && !e.pingDue(c) {
		return
	}
	e.arm(c)
}

// givenUp is when a closing connection is closed whatever waits for it.
func (e *Engine) givenUp(c *conn) Instant {
	if c.blocked && c.sawEOF {
		return min(c.lingerEnd, later(c.progress, e.opts.WriteDeadline))
	}
	return c.lingerEnd
}

// pingDue pings a silent peer, and closes one that has left too many pings unanswered; it returns false then.
func (e *Engine) pingDue(c *conn) bool {
	every := e.opts.PingInterval
	if c.gate != 0 {
		c.pingAt = later(e.now, every) // held back by the server itself: its silence says nothing
		return true
	}
	idleAt := later(c.lastIn, every)
	if c.memo != nil && (idleAt <= e.now || !c.memo.result.Valid()) {
		c.memo = nil // it would keep subscriptions alive that have ended
	}
	c.out.trim()
	first := c.connected && c.rtt == 0 && c.pingsOut == 0 // for the round-trip time
	if !first && e.now < idleAt {
		e.mark(MarkPingSuppressed)
		c.pingsOut = 0
		c.pingAt = idleAt
		return true
	}
	if c.pingsOut >= e.opts.PingMax {
		e.mark(MarkStale)
		e.totals.stale++
		e.closeSilent(c, ReasonStale, wire.ErrStaleConnection, "Stale Client Connection - Closing")
		return false
	}
	c.pingAt = later(e.now, every)
	if !c.authed {
		return true
	}
	c.pingsOut++
	c.pingSent = max(e.now, 1)
	e.sendString(c, "PING\r\n")
	return !c.gone
}
