package oracle

// Receive tells that a message was read that is no answer of the server.
func (o *Oracle) Receive(c *Conn, m *Message) {
	o.step()
	o.stats.Received++
	if c.ended != 0 {
		return
	}
	s := c.subs[m.SID]
	if s == nil {
		o.fail(Interest, "%v got a message on %q for sid %d, which it never used", c.id, m.Subject, m.SID)
		return
	}
	by := o.byID[m.From]
	if by == nil {
		o.fail(Invented, "%v got a message on %q from %v, number %d, which has nothing on its way", c.id, m.Subject, m.From, m.N)
		return
	}
	r := by.records.find(m.N)
	if r == nil {
		if m.N > by.lastN {
			o.fail(Invented, "%v got message %d of %v on %q, which was not published", c.id, m.N, by.id, m.Subject)
		} else {
			o.fail(Once, "%v got message %d of %v on %q again, or long after it was handled", c.id, m.N, by.id, m.Subject)
		}
		return
	}
	f := fit{copies: 1, could: 1}
	if o.eras != nil {
		var ok bool
		if f, ok = o.fits(c, by, r, s, m); !ok {
			return
		}
	}
	if o.eras == nil && (string(m.Subject) != r.subject || string(m.Reply) != r.reply) || !m.Intact {
		o.altered(c, by, r, m)
		return
	}
	o.prove(c, s.written)
	o.prove(by, r.written-1) // a message with many receivers is not handled at once: others may get it later
	r.begins(&f, o.now)
	r.received = true
	s.received++
	p := pairOf(by, c)
	if owed := o.deliver(p, r.n, s); (!owed || s.unsub != 0) && !o.lawful(c, by, r, s, &f) {
		return
	}
	o.checkLimit(by, r, s)
	o.note(p, r, s, f.copies)
	if o.eras != nil {
		o.crossed(c, by, r, m, f)
	}
	if s.group != nil && !f.vague {
		o.take(by, r, s, f.could)
	}
	if r.got503 {
		o.fail(Responders, "%v request %d on %q was answered 503 and reached sid %d of %v", by.id, r.n, r.subject, s.sid, c.id)
	}
}

func (o *Oracle) altered(c, by *Conn, r *record, m *Message) {
	switch {
	case o.eras != nil:
		o.fail(Intact, "message %d of %v on %q came altered to %v", r.n, by.id, r.subject, c.id)
	case string(m.Subject) != r.subject:
		o.fail(Intact, "%v published message %d on %q, %v got it on %q", by.id, r.n, r.subject, c.id, m.Subject)
	case string(m.Reply) != r.reply:
		o.fail(Intact, "%v published message %d with reply %q, %v got it with %q", by.id, r.n, r.reply, c.id, m.Reply)
	default:
		o.fail(Intact, "message %d of %v on %q came altered to %v", r.n, by.id, r.subject, c.id)
	}
}

// lawful checks what a message that was not owed needs in order to come all the same.
func (o *Oracle) lawful(c, by *Conn, r *record, s *sub, f *fit) bool {
	begun, done := by.begunBy(r, f), by.doneBy(r)
	switch {
	case by.gone != 0 && r.written > by.gone:
		o.fail(Invented, "%v got message %d of %v on %q, written after the server had given that connection up",
			c.id, r.n, by.id, r.subject)
	case by == c && !c.opts.Echo:
		o.fail(Echo, "%v got its own message %d on %q", c.id, r.n, r.subject)
	case o.eras == nil && (hasEmptyToken(r.subject) || !reaches(r.subject, s.pattern)):
		o.fail(Matching, "sid %d (%q) of %v got message %d of %v on %q", s.sid, s.pattern, c.id, r.n, by.id, r.subject)
	case by == c && r.written < s.written || begun != 0 && begun < s.written:
		o.fail(Interest, "sid %d (%q) of %v got message %d of %v on %q from before its SUB",
			s.sid, s.pattern, c.id, r.n, by.id, r.subject)
	case s.unsub != 0 && (s.unsub < c.fenced || by == c && s.unsub < r.written || s.over != 0 && s.over < r.written):
		o.fail(Interest, "sid %d (%q) of %v got message %d of %v on %q after its UNSUB",
			s.sid, s.pattern, c.id, r.n, by.id, r.subject)
	case by == c && r.written < c.fenced || by != c && done != 0 && done < c.fenced:
		o.fail(Order, "sid %d (%q) of %v got message %d of %v on %q after the pong of a later ping",
			s.sid, s.pattern, c.id, r.n, by.id, r.subject)
	default:
		return true
	}
	return false
}

// checkLimit checks the number of an UNSUB against what has come.
func (o *Oracle) checkLimit(by *Conn, r *record, s *sub) {
	if len(s.limits) == 0 {
		return
	}
	before := s.conn.fenced
	if by == s.conn {
		before = max(before, r.written)
	}
	if most, ok := s.allowed(before); ok && s.received > most {
		o.fail(Max, "sid %d (%q) of %v got %d messages, its UNSUB says %d", s.sid, s.pattern, s.conn.id, s.received, most)
	}
	if s.finished() {
		o.unindex(s)
	}
}

// finished reports that the subscription is over beyond doubt.
func (s *sub) finished() bool {
	if s.unsub != 0 {
		return s.unsub < s.conn.fenced
	}
	most, ok := s.allowed(s.conn.fenced)
	return ok && s.received >= most && s.limits[len(s.limits)-1].written < s.conn.fenced
}

// NoResponders tells that a 503 was read on sid for the request that this connection published as n.
func (o *Oracle) NoResponders(c *Conn, sid, n uint64) {
	o.step()
	if c.ended != 0 {
		return
	}
	s, r := c.subs[sid], c.records.find(n)
	switch {
	case s == nil:
		o.fail(Responders, "%v got a 503 for sid %d, which it never used", c.id, sid)
	case r == nil && n > c.lastN:
		o.fail(Responders, "%v got a 503 for request %d, which it did not send", c.id, n)
	case r == nil || r.got503 || r.written < c.fenced:
		o.fail(Responders, "%v got a 503 for request %d a second time, or after the pong of a later ping", c.id, n)
	case r.reply == "" || !c.opts.NoResponders:
		o.fail(Responders, "%v got a 503 for message %d, which did not ask for one", c.id, n)
	case !reaches(r.reply, s.pattern):
		o.fail(Responders, "%v got the 503 for request %d (reply %q) on sid %d (%q)", c.id, n, r.reply, sid, s.pattern)
	case s.unsub != 0 && s.unsub < r.written || r.written < s.written:
		o.fail(Responders, "%v got the 503 for request %d on sid %d, which was not subscribed then", c.id, n, sid)
	case r.received:
		o.fail(Responders, "%v request %d on %q was answered 503, but somebody got it", c.id, n, r.subject)
	default:
		if r.want503 {
			o.stats.Must503++
		}
		r.got503 = true
		o.prove(c, r.written)
	}
}
