package engine

import (
	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/wire"
)

// outgoing is one message on its way to its receivers: the parts of the control line that they have in common, and the
// body. A receiver's line is head, sid, tail.
type outgoing struct {
	from *conn
	head []byte // "MSG subject "
	tail []byte // " reply size\r\n"
	body []byte // headers, payload and CRLF; borrowed
	size int    // bytes of headers and payload

	ck       *chunk // holds body, when it is shared
	borrowed bool   // ck is the gathered message's own: its reference is not ours

	delivered bool // to anybody

	header    int    // bytes of headers in body; 0: none
	plainHead []byte // the same for receivers without headers
	plainTail []byte

	// The receivers of one message often use the same sid: what the last one got, and how many got the same in a row.
	line     []byte // control line and body, from the second on
	lines    int
	plain    bool
	sidLen   uint8
	sidShort [sidShort]byte
}

// publish routes one message. body is the headers, the payload and the final CRLF; it lies in ck, or is borrowed until
// publish returns when ck is nil.
func (e *Engine) publish(c *conn, a *wire.PubArgs, body []byte, ck *chunk) {
	e.work++
	c.stats.inMsgs++
	c.stats.inBytes += uint64(a.Size)
	e.totals.inMsgs++
	e.totals.inBytes += uint64(a.Size)
	if c.pedantic && !subject.ValidLiteral(a.Subject) {
		e.sendErr(c, wire.ErrInvalidPublish) // the message is routed all the same
	}
	if c.verbose {
		e.sendString(c, "+OK\r\n")
	}
	r := c.memo
	if r == nil || string(c.memoSubject) != string(a.Subject) || !r.Valid() {
		if r != nil && !r.Valid() {
			e.mark(MarkMemoStale)
		}
		r = c.acc.subs.Match(a.Subject)
		c.memo = r
		c.memoSubject = append(c.memoSubject[:0], a.Subject...)
	} else {
		e.mark(MarkMemoHit)
	}
	if r.Empty() {
		e.noResponders(c, a.Subject, a.Reply)
	} else {
		e.prepare(c, a, body, ck)
		if next := e.fan(r, 0, e.opts.TurnWork); next < len(r.Plain) {
			e.suspend(r, next, a)
		} else {
			e.fanGroups(r)
			e.finish(a.Subject, a.Reply)
			if e.out.ck != nil && !e.out.borrowed {
				e.pool.release(e.out.ck)
			}
		}
		e.out.ck, e.out.body, e.out.from = nil, nil, nil
	}
	if e.work >= e.opts.TurnWork {
		c.gate |= gateTurn
		e.enqueue(c)
	}
}

// prepare sets e.out for the message.
func (e *Engine) prepare(c *conn, a *wire.PubArgs, body []byte, ck *chunk) {
	m := &e.out
	m.from, m.body, m.size, m.ck, m.delivered, m.borrowed = c, body, a.Size, nil, false, false
	m.header, m.lines = max(a.Header, 0), 0
	if m.header > 0 {
		m.head = append(m.head[:0], "HMSG "...)
	} else {
		m.head = append(m.head[:0], "MSG "...)
	}
	m.head = append(append(m.head, a.Subject...), ' ')
	m.tail = append(m.tail[:0], ' ')
	if len(a.Reply) > 0 {
		m.tail = append(append(m.tail, a.Reply...), ' ')
	}
	if m.header > 0 {
		m.plainTail = wire.AppendUint(append(m.plainTail[:0], m.tail...), a.Size-a.Header)
		m.plainTail = append(m.plainTail, '\r', '\n')
		m.plainHead = m.head[1:]
		m.tail = append(append(m.tail, a.HeaderToken...), ' ')
	}
	m.tail = append(append(m.tail, a.SizeToken...), '\r', '\n')
	if len(body) < shareMin {
		return // a copy for each receiver is cheaper
	}
	if m.ck, m.borrowed = ck, ck != nil; ck == nil {
		m.ck = e.pool.get(len(body))
		m.body = m.ck.data[:copy(m.ck.data, body)]
	}
}

// deliverQueue gives the message to one member of a queue group: each with the same chance, passing over those that
// can't take it.
func (e *Engine) deliverQueue(members []*subscription) bool {
	n := len(members)
	at := 0
	if n > 1 {
		at = e.rng.IntN(n)
	}
	for range n {
		if e.deliver(members[at]) {
			return true
		}
		e.mark(MarkQueueSkip)
		if at++; at == n {
			at = 0
		}
	}
	return false
}

// deliver appends the message to what waits for the subscriber's connection. It reports whether the subscriber counts as
// having been sent it.
func (e *Engine) deliver(s *subscription) bool {
	c := s.conn
	m := &e.out
	if s.dead {
		e.mark(MarkAutoUnsubInResult)
		return false
	}
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
			m.line = m.appendLine(m.line[:0], s, plain)
		}
		if !e.room(c, len(m.line)) {
			return false
		}
		copy(c.out.extend(&e.pool, len(m.line)), m.line)
	} else if !e.deliverFirst(s, plain) {
		return false
	}
	e.work++
	c.stats.outMsgs++
	c.stats.outBytes += uint64(size)
	e.totals.outMsgs++
	e.totals.outBytes += uint64(size)
	s.delivered++
	if s.delivered == s.max {
		e.endSub(s)
	}
	if !c.touched {
		e.touch(c)
	}
	if c.blocked {
		if c.out.pending > e.opts.StallBytes {
			e.stall(m.from, c)
		}
	} else if c.out.pending > flushAt {
		e.mark(MarkEarlyFlush)
		e.flush(c)
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
	total := line
	if m.ck == nil {
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
	if m.ck == nil {
		copy(b[n:], body)
	} else {
		e.mark(MarkSharedPayload)
		c.out.share(&e.pool, m.ck, body)
	}
	m.sidLen, m.sidShort, m.plain, m.lines = s.sidLen, s.sidShort, plain, 1
	return true
}

// appendLine appends the control line and the body as a subscription gets them.
func (m *outgoing) appendLine(b []byte, s *subscription, plain bool) []byte {
	if plain {
		b = append(s.appendSID(append(b, m.plainHead...)), m.plainTail...)
		return append(b, m.body[m.header:]...)
	}
	return append(append(s.appendSID(append(b, m.head...)), m.tail...), m.body...)
}

// room makes sure that n more bytes may wait for c, closing it as a slow consumer where they may not.
func (e *Engine) room(c *conn, n int) bool {
	if c.out.pending+n <= e.opts.MaxPending {
		return true
	}
	if !c.blocked && c.out.pending > 0 {
		e.mark(MarkEarlyFlush)
		e.flush(c)
		if c.out.pending+n <= e.opts.MaxPending {
			return true
		}
	}
	e.mark(MarkSlowPending)
	e.slowConsumer(c, ReasonSlowPending)
	return false
}

// noResponders answers a request that nobody got: a 503 to the requester's own subscription on the reply subject (ADR-4).
func (e *Engine) noResponders(c *conn, subj, reply []byte) {
	if !c.noResp || len(reply) == 0 || c.gate&gateClosed != 0 {
		return
	}
	s := ownSubscription(c, reply)
	if s == nil {
		return
	}
	e.mark(MarkNoResponders)
	b := e.bodyScratch[:0]
	b = wire.AppendNoResponders(b, subj)
	size := len(b)
	line := append(e.lineScratch[:0], "HMSG "...)
	line = append(append(line, reply...), ' ')
	line = append(s.appendSID(line), ' ')
	line = wire.AppendUint(line, size)
	line = append(line, ' ')
	line = wire.AppendUint(line, size)
	line = append(line, '\r', '\n')
	line = append(append(line, b...), '\r', '\n')
	e.bodyScratch, e.lineScratch = b, line
	e.sendBytes(c, line)
	c.stats.outMsgs++
	c.stats.outBytes += uint64(size)
	e.totals.outMsgs++
	e.totals.outBytes += uint64(size)
}

// ownSubscription finds the connection's own subscription that subj reaches. Members of queue groups don't count: the
// answer is for the requester, not for whoever shares its group.
func ownSubscription(c *conn, subj []byte) *subscription {
	for _, s := range c.acc.subs.Match(subj).Plain {
		if s.conn == c && !s.dead {
			return s
		}
	}
	return nil
}

// sendBytes appends control bytes to what waits for c.
func (e *Engine) sendBytes(c *conn, b []byte) {
	if c.gate&gateClosed != 0 || !e.room(c, len(b)) {
		return
	}
	copy(c.out.extend(&e.pool, len(b)), b)
	e.touch(c)
}

func (e *Engine) sendString(c *conn, s string) {
	if c.gate&gateClosed != 0 || !e.room(c, len(s)) {
		return
	}
	copy(c.out.extend(&e.pool, len(s)), s)
	e.touch(c)
}

// sendErr appends an error that the connection survives.
func (e *Engine) sendErr(c *conn, err wire.Err) {
	e.logf(LevelError, c.subject(), string(err))
	e.lineScratch = wire.AppendErr(e.lineScratch[:0], err)
	e.sendBytes(c, e.lineScratch)
}
