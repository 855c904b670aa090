package oracle

// pair is what one connection gets from another.
type pair struct {
	by, to *Conn
	lastN  uint64   // of the last message
	last   position // when that came
	got    []*sub   // the subscriptions that have it
	recent [8]receipt
	next   int

	dues      []due // in the order of publishing
	head      int   // those before it are done
	overtaken []due // not delivered, though later messages were
	isOwed    bool  // in to.owed

	inBy, inTo int // its places in by.to and to.pairs
}

// due is a message that is owed to a subscription.
type due struct {
	n   uint64
	sub *sub // nil: delivered
}

// receipt is a message that was delivered.
type receipt struct {
	n   uint64
	sub *sub
}

func pairOf(by, to *Conn) *pair {
	if p := to.from[by]; p != nil {
		return p
	}
	p := &pair{by: by, to: to, inBy: len(by.to), inTo: len(to.pairs)}
	by.to = append(by.to, p)
	to.pairs = append(to.pairs, p)
	to.from[by] = p
	return p
}

func (p *pair) unlink() {
	delete(p.to.from, p.by)
	a, b := p.by.to, p.to.pairs
	a[p.inBy] = a[len(a)-1]
	a[p.inBy].inBy = p.inBy
	p.by.to = a[:len(a)-1]
	b[p.inTo] = b[len(b)-1]
	b[p.inTo].inTo = p.inTo
	p.to.pairs = b[:len(b)-1]
	p.dues, p.overtaken, p.head = nil, nil, 0
}

// dropPairs forgets what c gets from others.
func (c *Conn) dropPairs() {
	for len(c.pairs) > 0 {
		c.pairs[len(c.pairs)-1].unlink()
	}
	c.owed = nil
}

func (p *pair) owe(n uint64, s *sub) {
	p.dues = append(p.dues, due{n: n, sub: s})
	if !p.isOwed {
		p.isOwed = true
		p.to.owed = append(p.to.owed, p)
	}
}

// popDue removes the first due.
func (p *pair) popDue() {
	p.dues[p.head].sub = nil
	p.head++
	if p.head == len(p.dues) {
		p.dues, p.head = p.dues[:0], 0
	} else if p.head >= 64 && 2*p.head >= len(p.dues) {
		n := copy(p.dues, p.dues[p.head:])
		clear(p.dues[n:])
		p.dues, p.head = p.dues[:n], 0
	}
}

// deliver notes that message n came for s. It reports whether that was owed.
func (o *Oracle) deliver(p *pair, n uint64, s *sub) (owed bool) {
	for p.head < len(p.dues) && p.dues[p.head].n < n {
		d := p.dues[p.head]
		p.popDue()
		if d.sub == nil {
			continue
		}
		r := p.by.records.find(d.n)
		if r == nil || o.unsure(r) || d.sub != s && o.excused(p, r, d.sub) {
			continue
		}
		p.overtaken = append(p.overtaken, d)
	}
	for i := p.head; i < len(p.dues) && p.dues[i].n == n; i++ {
		if p.dues[i].sub == s {
			p.dues[i].sub = nil
			o.stats.Must++
			owed = true
			break
		}
	}
	for p.head < len(p.dues) && p.dues[p.head].sub == nil {
		p.popDue()
	}
	return owed
}

// excused reports that the subscription may have been over when the publish was handled.
func (o *Oracle) excused(p *pair, r *record, s *sub) bool {
	return s.doubtful || s.mayHaveEnded(r, p.by) || s.exhausted() || o.unsure(r)
}

// note checks that the message comes in its order and not for the second time.
func (o *Oracle) note(p *pair, r *record, s *sub, copies int) {
	switch {
	case r.n > p.lastN:
		p.lastN = r.n
		p.got = append(p.got[:0], s)
	case r.n == p.lastN:
		n := 0
		for _, other := range p.got {
			if other != s {
				continue
			}
			if n++; n == copies {
				o.fail(Once, "%v message %d on %q reached sid %d of %v twice", p.by.id, r.n, r.subject, s.sid, s.conn.id)
				return
			}
		}
		p.got = append(p.got, s)
	default:
		for _, q := range p.recent {
			if q.n == r.n && q.sub == s {
				o.fail(Once, "%v message %d on %q reached sid %d of %v twice, the second time after message %d",
					p.by.id, r.n, r.subject, s.sid, s.conn.id, p.lastN)
				return
			}
		}
		o.fail(Order, "%v message %d on %q reached sid %d of %v after its message %d",
			p.by.id, r.n, r.subject, s.sid, s.conn.id, p.lastN)
		return
	}
	p.recent[p.next] = receipt{n: r.n, sub: s}
	p.next = (p.next + 1) % len(p.recent)
}

// judgeOvertaken fails if a message is missing of which later ones have come.
func (o *Oracle) judgeOvertaken(p *pair) {
	for _, d := range p.overtaken {
		o.fail(Lost, "%v message %d did not reach sid %d (%q) of %v, but later ones reached that connection",
			p.by.id, d.n, d.sub.sid, d.sub.pattern, d.sub.conn.id)
	}
	p.overtaken = p.overtaken[:0]
}

// judgeDues fails if a message is missing that must have come before a pong: the ping was written at ping.
func (o *Oracle) judgeDues(p *pair, ping position) {
	o.judgeOvertaken(p)
	for p.head < len(p.dues) {
		d := p.dues[p.head]
		r := p.by.records.find(d.n)
		if d.sub == nil || r == nil { // delivered, or its publisher is gone and it was never proven
			p.popDue()
			continue
		}
		handled := r.proven != 0 && r.proven <= ping
		if p.by == p.to {
			handled = r.written < ping
		}
		if !handled {
			return
		}
		p.popDue()
		if !o.excused(p, r, d.sub) {
			o.fail(Lost, "%v message %d on %q did not reach sid %d (%q) of %v before the pong to a later ping",
				p.by.id, r.n, r.subject, d.sub.sid, d.sub.pattern, d.sub.conn.id)
		}
	}
}
