package engine

import "slices"

// deliverQueue gives the message to one member of a queue group: each with the same chance, passing over those that
// can't take it. There may be thousands of those: when the turn's work reaches limit after one was tried at least, it is
// not done, and goes on from there when called again.
func (e *Engine) deliverQueue(members []*subscription, limit int) (delivered, done bool) {
	n, m := len(members), &e.out
	if m.untried == 0 {
		m.untried = n
		m.member = 0
		if n > 1 {
			m.member = e.rng.IntN(n)
			if m.crossed > 0 {
				e.pickHere(members)
			}
		}
	}
	for ; m.untried > 0; m.untried-- {
		if m.trace == nil && e.deliver(members[m.member]) || m.trace != nil && e.deliverTraced(members[m.member]) {
			m.untried = 0
			return true, true
		}
		e.work++
		e.mark(MarkQueueSkip)
		if m.member++; m.member == n {
			m.member = 0
		}
		if e.work >= limit && m.untried > 1 {
			m.untried--
			e.mark(MarkQueueSliced)
			return false, false
		}
	}
	return false, true
}

// pickHere draws again until a member is found that is of the account itself, as only those get what comes there from another one:
// each with the same chance.
func (e *Engine) pickHere(members []*subscription) {
	m := &e.out
	for range pickTries {
		if members[m.member].flags&subShadow == 0 {
			return
		}
		m.member = e.rng.IntN(len(members))
	}
	e.work += len(members) / lookWork
	here := 0
	for _, s := range members {
		if s.flags&subShadow == 0 {
			here++
		}
	}
	if here == 0 {
		return
	}
	nth := e.rng.IntN(here)
	m.member = slices.IndexFunc(members, func(s *subscription) bool {
		if s.flags&subShadow == 0 {
			nth--
		}
		return nth < 0
	})
}

// pickTries is how often is drawn before members are counted.
const pickTries = 16

// deliver appends the message to what waits for the subscriber's connection. It reports whether the subscriber counts as
// having been sent it.
func (e *Engine) deliver(s *subscription) bool {
	m := &e.out
	if c := s.conn; c != nil && c.epoch != e.epoch { // before its flags are looked at, for they may change
		if !e.follow(s) {
			return false
		}
	}
	if special := s.flags & subSpecial; special == subShadow && m.continues(s) && s.also.root.flags&subSpecial == 0 {
		s = s.also.root
	} else if (special != 0 || m.otherHead) && (special != subFiltered || !m.justAllowed(s)) {
		if s = e.divert(s); s == nil {
			return false
		}
	}
	c := s.conn
	if c.gate&gateClosed != 0 || c == m.from && !c.echo {
		return false
	}
	size := m.size
	plain := m.header > 0 && !c.headers
	if plain {
		e.mark(MarkHeaderStripped)
		size -= m.header
	}
	if s.sidLen == m.sidLen && s.sidShort == m.sidShort && plain == m.plain && m.lines > 0 && m.ck == nil && s.sidLen > 0 {
		// The same bytes as the receiver before: from the second time on they are kept in one piece.
		if m.lines++; m.lines == 2 {
			e.buildLine(s, plain)
		}
		if !e.room(c, len(m.line)) {
			return false
		}
		if m.lineChunk != nil && c.out.follow(&e.pool, m.lineChunk, m.lineAt, len(m.line)) {
			e.mark(MarkSharedLine)
		} else {
			copy(c.out.extend(&e.pool, len(m.line)), m.line)
		}
	} else if !e.deliverFirst(s, plain) {
		return false
	}
	e.work += 1 + (size+len(m.head)+len(m.tail)+len(s.sidLong))/bytesPerWork
	c.lastActive = e.now
	c.stats.outMsgs++
	c.stats.outBytes += uint64(size)
	if e.traces && e.tracesOf(c) {
		e.traceMsg(s, plain)
	}
	c.acc.traffic.outMsgs++
	c.acc.traffic.outBytes += uint64(size)
	s.delivered++
	if s.delivered == s.max {
		e.endSub(s)
	}
	if !c.touched {
		e.touchFor(c, m)
	}
	if c.blocked {
		if c.out.pending > e.opts.StallBytes {
			e.stall(m.from, c)
		}
	} else if c.out.pending > e.flushAt {
		if limit := e.earlyLimit(size); e.written < limit {
			e.mark(MarkEarlyFlush)
			e.flushUpTo(c, limit)
		}
	}
	return true
}

// deliverFirst appends the message for a receiver whose line differs from that of the one before.
func (e *Engine) deliverFirst(s *subscription, plain bool) bool {
	c, m := s.conn, &e.out
	head, tail, body := m.head, m.tail, m.body
	if plain {
		head, tail, body = m.plainHead, m.plainTail, m.body[m.header:]
	}
	line := len(head) + int(s.sidLen) + len(s.sidLong) + len(tail)
	if !e.room(c, line+len(body)) {
		return false
	}
	// A few bytes left of a large message, without its headers, are copied: sharing them would keep all of it, while
	// only they count towards max_pending.
	shared := m.ck != nil && len(body) >= len(m.ck.data)/4
	total := line
	if !shared {
		total += len(body)
	}
	b := c.out.extend(&e.pool, total)
	n := copy(b, head)
	if s.sidLong == "" {
		n += copy(b[n:], s.sidShort[:s.sidLen])
	} else {
		n += copy(b[n:], s.sidLong)
	}
	n += copy(b[n:], tail)
	if shared {
		e.mark(MarkSharedPayload)
		c.out.share(&e.pool, m.ck, body)
	} else {
		copy(b[n:], body)
	}
	m.sidLen, m.sidShort, m.plain, m.lines = s.sidLen, s.sidShort, plain, 1
	return true
}

// buildLine makes the line that several receivers get: where there are enough of them in a place that they all can share.
func (e *Engine) buildLine(s *subscription, plain bool) {
	m := &e.out
	m.lineChunk = nil
	if m.many {
		n := len(m.head) + int(s.sidLen) + len(m.tail) + len(m.body)
		if m.lineChunk, m.lineAt = e.lines.place(&e.pool, n); m.lineChunk != nil {
			m.line = m.appendLine(m.lineChunk.data[m.lineAt:m.lineAt:m.lineAt+n], s, plain)
			e.lines.used += len(m.line)
			return
		}
	}
	m.lineRoom = m.appendLine(m.lineRoom[:0], s, plain)
	m.line = m.lineRoom
}

// appendLine appends the control line and the body as a subscription gets them.
func (m *outgoing) appendLine(b []byte, s *subscription, plain bool) []byte {
	if plain {
		b = append(s.appendSID(append(b, m.plainHead...)), m.plainTail...)
		return append(b, m.body[m.header:]...)
	}
	return append(append(s.appendSID(append(b, m.head...)), m.tail...), m.body...)
}

// continues reports whether what the message has for a head is for a shadow, too: the one before it came by the same import, which is in
// force.
func (m *outgoing) continues(s *subscription) bool {
	return s.also.stream == m.headFor && s.also.behind == nil
}

// justAllowed reports whether permissions, asked just before, let a plain subscription get the message; false: they are to be asked.
func (m *outgoing) justAllowed(s *subscription) bool {
	return !m.otherHead && s.handle.Queue() == "" && s.conn.user.justGot(m.shown)
}

// divert handles a subscription that a message is not simply delivered to. It returns the one that it is delivered to
// instead, nil if there is none, with e.out as it is for that one.
func (e *Engine) divert(s *subscription) *subscription {
	switch {
	case s.flags&subDead != 0:
		e.mark(MarkAutoUnsubInResult)
		return nil
	case s.flags&subService != 0:
		if !e.out.settled && !e.out.answers() {
			e.request(s.also.service)
		}
		return nil
	case s.flags&subHandler != 0:
		e.take(s)
		return nil
	case s.flags&subShadow != 0:
		if e.out.crossed > 0 {
			e.mark(MarkCrossingKept)
			return nil
		}
		s = e.unshadow(s)
	case e.out.otherHead:
		e.out.setHead(e.out.subject)
		e.out.otherHead, e.out.headFor = false, nil
	}
	if s == nil || s.flags&(subFiltered|subTracked) == 0 {
		return s
	}
	m := &e.out
	if s.denied(m.shown) {
		e.mark(MarkDeliveryFiltered)
		return nil
	}
	if s.flags&subTracked != 0 && len(m.reply) > 0 && s.conn.grants != nil {
		s.conn.grants.Add(m.reply, int64(e.now))
	}
	return s
}

// denied reports whether the permissions in force keep what is published on subj from a subscription, whose connection has followed
// them. Whose connection has closed, and what has ended, may have flags from when the connection was another user: they get nothing.
func (s *subscription) denied(subj []byte) bool {
	return s.flags&(subFiltered|subDead) == subFiltered && s.conn.gate&gateClosed == 0 && !s.conn.user.mayDeliver(s, subj)
}
