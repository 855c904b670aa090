package engine

import "github.com/natsd/natsd/wire"

// What an operator decides (a reload, lame duck mode, a stop) is in force from one moment on, for everybody. To tell every
// connection and to draw the consequences for it takes longer than a turn may: a sweep visits them, some in each turn.
// Who is to do or to get something before its turn has come is visited first: nobody acts under what was in force before.
// conn.epoch says what a connection has been visited for.

// sweep is a visit to all connections.
type sweep struct {
	on    bool
	slot  int    // the next to visit
	since uint16 // the epoch before the first decision that some connection may not have followed yet

	// what was decided since
	credentials bool // they have changed
	info        bool // so has what INFO says
	charters    bool // so has an account's JWT
	members     bool // an account has too many connections
	pins        bool // other certificates are pinned

	unpinned int // connections that were closed for that
}

const (
	// sweepPerTurn is how many connections are visited in a turn.
	sweepPerTurn = 128
	// sweepLook is for how many slots looked at in vain one connection less is visited.
	sweepLook = 16
	// sweepSub is what one of the subscriptions costs that first have to follow something earlier, in the same measure.
	sweepSub = sweepPerTurn * sweepLook / remakePerTurn
)

// startSweep has every connection visited, from the first on if that is under way. What has changed must be noted in
// e.sweep before or after, in this turn.
func (e *Engine) startSweep() {
	s := &e.sweep
	if s.on && e.epoch+1 == s.since {
		for s.on { // after 65535 decisions before any was carried through, numbers begin to repeat
			e.stepSweep()
		}
	}
	if !s.on {
		s.since = e.epoch
	}
	e.epoch++
	s.on, s.slot = true, 0
}

// stepSweep visits the next connections.
func (e *Engine) stepSweep() {
	s := &e.sweep
	for left := e.slice(sweepPerTurn) * sweepLook; s.slot < len(e.conns); s.slot++ {
		if left <= 0 {
			e.mark(MarkSweepSliced)
			return
		}
		left--
		c := e.conns[s.slot]
		if c == nil || c.epoch == e.epoch {
			continue
		}
		if c.followed != e.epoch && e.state < stateStopping && !e.remakeSome(c, sweepSub, &left) {
			e.mark(MarkSweepSliced)
			return
		}
		left -= sweepLook - 1
		if s.credentials || s.charters {
			left -= min(len(c.subs), remakeAtOnce) // they may follow at once
		}
		e.visit(c)
	}
	e.tellUnpinned(s.unpinned)
	e.sweep = sweep{}
}

// visitFirst is called where c.epoch is not e.epoch and c is to do something, or to get a message. c may be closed, or
// gone, afterwards.
func (e *Engine) visitFirst(c *conn) {
	e.mark(MarkSweepFirst)
	e.visit(c)
}

// visit has one connection follow what was decided.
func (e *Engine) visit(c *conn) {
	if r := c.remaking; r != nil {
		if c.followed == e.epoch {
			return // but for its subscriptions it has
		}
		if e.state < stateStopping { // else they go from where they are
			e.remakeAll(c)
		}
	}
	c.epoch, c.followed = e.epoch, e.epoch
	if c.out.pending > e.opts.MaxPending {
		e.slowConsumer(c, ReasonSlowPending)
		if !c.gone {
			e.abandon(c) // closing already
		}
		return
	}
	if e.state >= stateStopping {
		e.closeConn(c, ReasonShutdown, "")
		if !c.gone {
			e.endLinger(c) // it may have been closing, with more time
		}
		return
	}
	if c.gate&gateClosed != 0 {
		return
	}
	if e.sweep.pins && e.unpinned(c) {
		return
	}
	if e.sweep.credentials && e.distrusted(c) {
		return
	}
	if e.sweep.members && c.surplus() {
		e.tooMany(c, c.acc)
		return
	}
	if e.sweep.charters {
		if e.rejudge(c); c.gate&gateClosed != 0 {
			return
		}
	}
	e.bound(c)
	if e.sweep.credentials {
		outer := e.moves.visiting // of one visit comes another where events find listeners
		e.moves.visiting = true
		e.reauthenticate(c)
		e.moves.visiting = outer
	}
	if e.sweep.info && c.greeted && c.connect.Protocol >= 1 {
		e.sendInfo(c, func(*wire.Info) {})
	}
	if c.stallEnd > 0 {
		c.stallEnd = min(c.stallEnd, later(e.now, e.opts.StallMax))
	}
	if c.gate&gateClosed == 0 {
		c.pingAt = min(c.pingAt, later(e.now, e.opts.PingInterval))
		e.arm(c)
	}
}
