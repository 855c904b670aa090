package oracle

// Subscribe tells that a SUB is written. queue is empty for a plain subscription.
func (o *Oracle) Subscribe(c *Conn, sid uint64, pattern, queue string) {
	o.step()
	if c.ended != 0 {
		return
	}
	if old := c.subs[sid]; old != nil && !old.finished() {
		if old.unsub != 0 || old.leastMax != 0 || old.doubtful && o.eras == nil {
			panic("oracle: a sid is used again while its subscription may or may not be over")
		}
		return // the server ignores it
	}
	s := &sub{conn: c, sid: sid, pattern: pattern, written: o.now, in: &o.index}
	c.subs[sid] = s
	if c.listens < 0 {
		c.listens = len(o.listening)
		o.listening = append(o.listening, c)
		c.fenced = max(c.fenced, o.now-1) // nothing could come before
	}
	if c.gone != 0 {
		return
	}
	if queue != "" {
		s.group = o.groupOf(queue)
		c.join(s.group)
	}
	if o.eras != nil {
		o.governSub(c, s)
		return
	}
	o.enlist(s, &o.index)
	o.interestAppears(s)
}

func (c *Conn) join(g *group) {
	for _, other := range c.groups {
		if other == g {
			return
		}
	}
	c.groups = append(c.groups, g)
}

// Doubt tells that the server may have refused the SUB: nothing is required of the subscription any more.
func (o *Oracle) Doubt(c *Conn, sid uint64) {
	o.step()
	if s := c.subs[sid]; s != nil {
		s.doubtful = true
		if s.group != nil {
			s.group.disturbed(o.now)
		}
	}
}

// unknownSID stands for all subscriptions of a connection of which nobody knows what it says.
const unknownSID = 1 << 60

// Forsake tells that nobody knows what the connection says from here on: it may subscribe to anything.
func (o *Oracle) Forsake(c *Conn) {
	o.forsaken = true
	o.Subscribe(c, unknownSID, ">", "")
	o.Doubt(c, unknownSID)
	o.End(c)
}

// Unsubscribe tells that an UNSUB is written; most 0: without a number.
func (o *Oracle) Unsubscribe(c *Conn, sid, most uint64) {
	o.step()
	s := c.subs[sid]
	if s == nil || c.ended != 0 || s.unsub != 0 {
		return
	}
	if s.group != nil {
		s.group.changed()
	}
	if most > 0 {
		s.limits = append(s.limits, limit{written: o.now, max: most})
		if s.leastMax == 0 {
			s.firstMax, s.leastMax = o.now, most
		}
		s.leastMax = min(s.leastMax, most)
		return
	}
	s.unsub = o.now
	c.ending = append(c.ending, s)
}

// Publish tells that a PUB or HPUB is written. n is greater than that of the connection's publish before. Requests that
// wait for their answers at the same time have different replies.
func (o *Oracle) Publish(c *Conn, n uint64, subj, reply string) {
	o.PublishAs(c, n, subj, reply, ByLists)
}

// PublishAs is Publish for a connection that may have been granted more, or less, than the lists of its user say.
func (o *Oracle) PublishAs(c *Conn, n uint64, subj, reply string, grant Grant) {
	o.step()
	if c.ended != 0 {
		return
	}
	if n <= c.lastN {
		panic("oracle: the numbers of a connection's publishes must rise")
	}
	c.lastN = n
	o.stats.Published++
	o.stats.Held++
	o.stats.HeldMost = max(o.stats.HeldMost, o.stats.Held)
	r := c.records.add(n, o.now)
	r.subject, r.reply = subj, reply
	if c.gone != 0 {
		return
	}
	if o.eras != nil {
		o.govern(c, r, grant)
		return
	}
	m := o.index.find(subj, &o.matched)
	for _, s := range m.plain {
		if s.conn == c && !c.opts.Echo || s.conn.ended != 0 || !s.certain(c) {
			continue
		}
		pairOf(c, s.conn).owe(n, s)
	}
	for i := range m.groups {
		o.owe(r, c, &m.groups[i], r.subject)
	}
	if reply != "" && c.opts.NoResponders {
		o.expect503(c, r, m)
	}
}

// want names a request that must be answered 503.
type want struct {
	conn *Conn
	n    uint64
}

// expect503 notes that a request must be answered 503, if nobody can get it and the requester can get the answer:
// on a plain subscription of its own, for a member of a queue group may share it.
func (o *Oracle) expect503(c *Conn, r *record, m *matches) {
	if !c.anybody(m) {
		o.await503(c, r)
	}
}

// await503 is expect503 for a request that nobody can get.
func (o *Oracle) await503(c *Conn, r *record) {
	if o.forsaken {
		return // who knows to what such a connection listens after a reload, and in which account
	}
	for _, s := range c.indexed {
		if s.group == nil && s.certain(c) && s.written < r.written && s.leastMax == 0 && reaches(r.reply, s.pattern) {
			r.want503 = true
			o.wanting = append(o.wanting, want{conn: c, n: r.n})
			return
		}
	}
}

// anybody reports that somebody might get what c publishes.
func (c *Conn) anybody(m *matches) bool {
	for _, s := range m.plain {
		if s.conn != c || c.opts.Echo {
			return true
		}
	}
	for i := range m.groups {
		for _, s := range m.groups[i].members {
			if s.conn != c || c.opts.Echo {
				return true
			}
		}
	}
	return false
}

// interestAppears excuses the requests that a new subscription may answer.
func (o *Oracle) interestAppears(s *sub) {
	kept := o.wanting[:0]
	for _, w := range o.wanting {
		r := w.conn.records.find(w.n)
		if r == nil || !r.want503 || r.got503 {
			continue
		}
		if s.conn != w.conn && o.mayReach(r, s) {
			r.want503 = false
			continue
		}
		kept = append(kept, w)
	}
	o.wanting = kept
}
