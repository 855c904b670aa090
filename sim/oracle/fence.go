package oracle

// Ping tells that a PING is written.
func (o *Oracle) Ping(c *Conn) {
	o.step()
	*c.pings.push() = o.now
}

// Pong tells that a PONG was read.
func (o *Oracle) Pong(c *Conn) {
	o.step()
	if c.ended != 0 {
		return
	}
	if c.pings.len() == 0 {
		o.fail(Invented, "%v got a PONG without a PING", c.id)
		return
	}
	ping := *c.pings.at(0)
	c.pings.pop()
	o.prove(c, ping)
	kept := c.owed[:0]
	for _, p := range c.owed {
		o.judgeDues(p, ping)
		if p.head < len(p.dues) {
			kept = append(kept, p)
		} else {
			p.isOwed = false
		}
	}
	clear(c.owed[len(kept):])
	c.owed = kept
	o.judge503(c, ping)
	c.fenced = ping
	o.endLimited(c)
}

// judge503 fails if a 503 is missing that must have come before the pong.
func (o *Oracle) judge503(c *Conn, ping position) {
	kept := o.wanting[:0]
	for _, w := range o.wanting {
		if w.conn != c {
			kept = append(kept, w)
			continue
		}
		r := c.records.find(w.n)
		switch {
		case r == nil || !r.want503 || r.got503:
		case r.written < ping:
			o.fail(Responders, "%v request %d on %q got no 503, and nobody was there to get it", c.id, r.n, r.subject)
		default:
			kept = append(kept, w)
		}
	}
	o.wanting = kept
}

// drop503 forgets what c would have been answered.
func (o *Oracle) drop503(c *Conn) {
	kept := o.wanting[:0]
	for _, w := range o.wanting {
		if w.conn != c {
			kept = append(kept, w)
		}
	}
	o.wanting = kept
}

// endLimited takes out the subscriptions that turn out to be over now that their UNSUBs are fenced.
func (o *Oracle) endLimited(c *Conn) {
	for i := len(c.indexed) - 1; i >= 0; i-- {
		s := c.indexed[i]
		for len(s.limits) > 1 && s.limits[1].written < c.fenced {
			s.limits = s.limits[1:]
		}
		if s.leastMax != 0 && s.finished() {
			o.unindex(s)
		}
	}
}

// sweep forgets the publishes of which nothing more can come, and the connections that have none left.
func (o *Oracle) sweep() {
	horizon := o.now
	for _, c := range o.listening {
		horizon = min(horizon, c.fenced)
	}
	for i := len(o.conns) - 1; i >= 0; i-- {
		c := o.conns[i]
		for c.records.len() > 0 {
			r := c.records.at(0)
			if by := c.doneBy(r); by == 0 || max(by, r.written) >= horizon {
				break
			}
			o.settle(c, r)
			c.records.forget()
			o.stats.Held--
		}
		if c.ended != 0 {
			o.retireIfDone(c)
		}
	}
}

// retireIfDone forgets a connection that can matter no more.
func (o *Oracle) retireIfDone(c *Conn) {
	if c.lists < 0 || c.gone == 0 || c.records.len() > 0 {
		return
	}
	for len(c.to) > 0 {
		p := c.to[len(c.to)-1]
		p.forgetOwed()
		p.unlink()
	}
	delete(o.byID, c.id)
	last := len(o.conns) - 1
	moved := o.conns[last]
	o.conns[c.lists] = moved
	moved.lists = c.lists
	o.conns[last] = nil
	o.conns = o.conns[:last]
	c.lists = -1
}

// forgetOwed takes the pair out of what its receiver is owed.
func (p *pair) forgetOwed() {
	if !p.isOwed {
		return
	}
	for i, q := range p.to.owed {
		if q == p {
			p.to.owed = append(p.to.owed[:i], p.to.owed[i+1:]...)
			break
		}
	}
	p.isOwed = false
}
