package engine

import "github.com/natsd/natsd/engine/assert"

// Check panics if an invariant of the engine is broken. It looks at everything: call it in simulations and tests.
func (e *Engine) Check() {
	live, closing, subs, leaving, filtered, touched, held, joined := 0, 0, 0, 0, 0, 0, 0, 0
	for slot, c := range e.conns {
		if c == nil {
			continue
		}
		live++
		c.must(int(c.id.Slot()) == slot, "sits in slot %d", slot)
		c.must(!c.gone, "is gone but has a slot")
		if c.touched {
			touched++
		}
		held -= c.stalls
		for _, p := range c.stalled {
			if e.lookup(p) != nil {
				held++
			}
		}
		e.checkConn(c)
		if c.gate&gateClosed != 0 {
			closing++
			c.must(c.timer.pos > 0, "is closing without a timer")
		} else {
			subs += len(c.subs)
			filtered += c.filtered()
			if c.joined {
				joined++
			}
		}
	}
	for _, a := range e.accounts {
		joined -= a.conns
		filtered -= a.filtered
		leaving -= a.leaving
	}
	assert.Thatf(joined == 0, "accounts count %d connections less than there are", joined)
	assert.Thatf(held == 0, "receivers hold back %d publishers more than know of it", held)
	for i := range len(e.touched) + len(e.crowd) {
		c := e.waiting(i)
		c.must(c.touched, "is to be written to and doesn't know")
		if c.gone {
			touched++
		}
	}
	waiting := len(e.touched) + len(e.crowd)
	assert.Thatf(touched == waiting, "%d connections are to be written to, %d believe so", waiting, touched)
	e.checkChecks()
	for _, c := range e.reaping {
		leaving += len(c.subs)
		filtered += c.filtered()
	}
	assert.Thatf(live+len(e.free) == len(e.conns), "slots: %d used, %d free, %d in all", live, len(e.free), len(e.conns))
	assert.Thatf(e.active == live-closing, "active is %d, counted %d", e.active, live-closing)
	assert.Thatf(filtered == 0, "accounts count %d subscriptions that may not get all less than there are", filtered)
	assert.Thatf(leaving == 0, "accounts count %d subscriptions of closed connections less than there are", leaving)
	listed := e.subscriptions()
	assert.Thatf(subs == listed, "%d subscriptions with connections, %d in the lists", subs, listed)
	waits := !e.run.empty() || !e.fanouts.empty() || e.searches > 0 || len(e.touched) > 0 || len(e.crowd) > 0 || len(e.reaping) > 0 || len(e.queries) > 0 || e.sweep.on || e.recast.on || len(e.checks.decided) > 0 || e.internalDue()
	assert.That(!waits || e.wake <= e.now || e.turn, "work is left for a turn that was not asked for")
	assert.That(len(e.awaiting) == 0 || e.recast.on || e.moves.on, "messages wait for nothing")
	e.checkAsides()
	for i, t := range e.timers.heap {
		if t.pos != i+1 || i > 0 && t.before(e.timers.heap[(i-1)/2]) {
			assert.Thatf(false, "timer at %d believes to be at %d, or is before its parent", i+1, t.pos)
		}
	}
}

// checkAsides looks at the messages that are being delivered over several turns.
func (e *Engine) checkAsides() {
	n := e.fanouts.len() + len(e.awaiting)
	for _, x := range e.allSearches() {
		if x.msg != nil {
			n++
		}
	}
	assert.Thatf(e.asides == n, "%d messages are being delivered, counted %d", n, e.asides)
}

// must is assert.Thatf about the connection. It takes numbers only, so that nothing is allocated while all is well.
func (c *conn) must(ok bool, what string, args ...int) {
	if ok {
		return
	}
	all := []any{c.cid}
	for _, a := range args {
		all = append(all, a)
	}
	assert.Thatf(false, "cid %d: "+what, all...)
}

// mayGoOn panics if a connection goes on although it has had its share since before.
func (e *Engine) mayGoOn(before, share int) {
	assert.Thatf(e.work-before < share, "a connection goes on after work of %d, its share is %d", e.work-before, share)
}

func (e *Engine) checkConn(c *conn) {
	n := len(c.out.open)
	c.must(n == 0 || c.out.ck.refs > 0, "fills a released chunk")
	for _, s := range c.out.segs[c.out.head:] {
		n += len(s.b)
		c.must(len(s.b) > 0, "waits to write nothing")
		c.must(s.ck.refs > 0, "waits to write a released chunk")
	}
	c.must(c.out.lineEnd == 0 || n > 0 && int(c.out.lineEnd) <= len(c.out.ck.data), "shares lines that end at %d", int(c.out.lineEnd))
	c.must(n == c.out.pending, "%d bytes wait, counted %d", c.out.pending, n)
	follows := c.epoch == e.epoch // limits that a reload has changed don't hold before
	c.must(follows || e.sweep.on || c.remaking != nil && c.followed == e.epoch, "is forgotten by the sweep")
	c.must((c.remaking == nil) == (c.gate&gateRemake == 0), "waits for subscriptions to follow, or does not")
	c.must(n <= e.opts.MaxPending || !follows, "%d bytes wait, max_pending is %d", n, e.opts.MaxPending)
	c.must(n == 0 || c.blocked || c.touched, "%d bytes wait that the network would take", n)
	c.must(!c.blocked || c.timer.pos > 0 || e.opts.WriteDeadline < 0 || !follows, "is blocked without a timer")
	c.must(c.gate&gateStall == 0 || c.stalls > 0, "is held back by nobody")
	c.must(len(c.stalled) == 0 || c.stallEnd > 0 && (c.stallEnd <= later(e.now, e.opts.StallMax) || !follows),
		"holds back %d publishers without an end", len(c.stalled))
	c.must(len(c.stash) == 0 || c.gate != 0 || c.queued, "has input that nobody will process")
	c.must(c.proxyAwaited() == (c.proxyHeader != nil) || c.gate&gateClosed != 0, "awaits a proxy's header and nothing to take it, or the other way round")
	c.must((len(c.stash) == 0) == (c.held == nil), "holds a chunk for %d bytes put aside", len(c.stash))
	c.must(c.held == nil || c.held.refs > 0, "put input aside in a released chunk")
	c.must(!c.paused || c.gate != 0 || c.queued, "is paused for no reason")
	c.must(c.gate != gateTurn || c.queued, "waits for a turn that is not coming")
	for i, s := range c.subs {
		c.must(int(s.index) == i && s.conn == c && !s.dead(), "subscription %d is out of place", i)
		c.must(s.max == 0 || s.delivered < s.max, "subscription %d outlived its max", i)
		c.must(s.flags&subFiltered == 0 || c.home(s).filtered > 0, "subscription %d is not counted as one that may not get all", i)
		if s.flags&subShadowed != 0 && !e.recast.on && c.gate&gateClosed == 0 {
			for _, sh := range s.also.shadows {
				c.must(!sh.cut(), "subscription %d has a shadow by which nothing comes", i)
			}
		}
	}
}

// filtered counts a connection's subscriptions, with their shadows, that may not get all that they match.
func (c *conn) filtered() (n int) {
	for _, s := range c.subs {
		if s.flags&subFiltered != 0 {
			n++
			if s.also != nil {
				n += len(s.also.shadows)
			}
		}
	}
	return n
}

// checkChecks looks at the password checks.
func (e *Engine) checkChecks() {
	q := &e.checks
	waiting, wish, served := 0, 0, 0
	for _, c := range e.conns {
		if c == nil || c.check == nil {
			continue
		}
		p := c.check
		c.must(p.conn == c && c.gate&gateAuth != 0 && c.gate&gateClosed == 0, "has a password check to no purpose")
		if p.same == nil {
			served++
			continue
		}
		wish++
		c.must(p.same.wanted[p.nth] == p && q.same[p.key] == p.same, "waits for a comparison that does not know")
		if s := p.source; s != nil {
			waiting++
			c.must(s.waiting[p.class][p.place] == p && q.sources[s.address] == s, "waits for a turn in vain")
		} else {
			c.must(p.same.running, "waits for a comparison that nobody makes")
		}
	}
	assert.Thatf(waiting == q.waiting, "%d password checks wait for their turn, counted %d", q.waiting, waiting)
	assert.Thatf(served <= len(q.decided), "%d connections wait for an outcome, %d are to be told", served, len(q.decided))
	assert.Thatf(waiting == 0 || len(e.jobs) >= e.opts.Checks, "%d passwords wait although nothing is compared", waiting)
	assert.Thatf(len(q.same) <= wish+len(e.jobs), "%d comparisons, %d connections want one", len(q.same), wish)
}

// Footprint is what an engine holds. With no connections, everything but Slots is zero.
type Footprint struct {
	Connections, Subscriptions, Timers, Chunks, Jobs, Queries, Fanouts, Slots int

	Replies int // reply subjects that stand for requests from other accounts
	Shadows int // subscriptions that stand in other accounts for those of connections
	Inboxes int // questions of the server's own that wait for answers
	Posts   int // messages of the server's own that wait to be published
	Calls   int // messages to the server that wait to be handled, or answered
}

// Footprint counts what the engine holds, for leak checks.
func (e *Engine) Footprint() Footprint {
	replies, shadows, subs := 0, 0, 0
	for _, a := range e.accounts {
		subs += a.subs.Count() - a.internal
		replies += len(a.replies)
		shadows += a.internal - a.standing - len(a.def.services)
	}
	return Footprint{
		Replies: replies, Shadows: shadows, Inboxes: len(e.inboxes), Posts: e.posts.n, Calls: e.asked.calls.n + e.answers.calls.n + e.sys.waiting.n,
		Connections: len(e.conns) - len(e.free), Subscriptions: subs, Timers: e.timers.len(),
		Chunks: e.pool.live, Jobs: len(e.jobs) + e.checks.waiting + len(e.checks.decided), Queries: len(e.queries), Fanouts: e.fanouts.len() + len(e.awaiting) + e.searches, Slots: len(e.conns),
	}
}
