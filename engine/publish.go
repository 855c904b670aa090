package engine

import (
	"math"

	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
	"github.com/natsd/natsd/wire"
)

// outgoing is one message on its way to its receivers: the parts of the control line that they have in common, and the
// body. A receiver's line is head, sid, tail.
type outgoing struct {
	from *conn
	// subject and reply are what the message has in the account that it is in; borrowed
	subject, reply []byte
	shown          []byte // the subject in head
	head           []byte // "MSG subject "
	tail           []byte // " reply size\r\n"
	body           []byte // headers, payload and CRLF; borrowed
	size           int    // bytes of headers and payload

	ck       *chunk // holds body, when it is shared
	borrowed bool   // ck is the gathered message's own: its reference is not ours

	delivered bool // to anybody
	many      bool // it has enough receivers to share what they get
	crowd     bool // it has so many that others are written to before them

	// of the queue group that is being served: its members not tried yet, and the next to try
	untried, member int

	header    int    // bytes of headers in body; 0: none
	plainHead []byte // the same for receivers without headers
	plainTail []byte

	// The receivers of one message often use the same sid: what the last one got, and how many got the same in a row.
	line      []byte // control line and body, from the second on
	lines     int
	lineChunk *chunk // holds line from lineAt on, for receivers to share; nil: line lies in lineRoom
	lineAt    int
	lineRoom  []byte
	plain     bool
	sidLen    uint8
	sidShort  [sidShort]byte
	otherHead bool          // head is not for subscriptions of the account itself
	headFor   *streamImport // but for those by this import; nil: for a single one

	// to other accounts
	cross      []crossing
	crossed    int                            // of cross, how many are under way or done
	at         int                            // by which of them it has come where it is, from 1; 0: it was published there
	anywhere   bool                           // it was delivered to anybody before it came there
	multiplied bool                           // the log was told that there are too many
	hops       int                            // accounts passed through
	orig       original                       // set when there are crossings
	held       []*chunk                       // to be released at the end
	trace      *tracing                       // of how it goes; nil: nobody asks
	settled    bool                           // a reload has come since: to whom it goes on is known
	awaits     *account                       // in which it is not known yet whom it reaches; nil: that is known
	unread     bool                           // it is searched for, and was not confirmed
	found      *sublist.Result[*subscription] // whom, when it has been found
}

// publish routes one message. body is the headers, the payload and the final CRLF; it lies in ck, or is borrowed until
// publish returns when ck is nil.
func (e *Engine) publish(c *conn, a *wire.PubArgs, body []byte, ck *chunk) {
	e.work++
	c.stats.inMsgs++
	c.stats.inBytes += uint64(a.Size)
	if e.traces && !c.again && e.tracesOf(c) {
		e.traceBody(c, "<<-", a.Header, body)
	}
	c.acc.traffic.inMsgs++
	c.acc.traffic.inBytes += uint64(a.Size)
	if c.pedantic && !subject.ValidLiteral(a.Subject) {
		e.sendErr(c, wire.ErrInvalidPublish) // the message is routed all the same
	}
	if len(a.Reply) > 0 && (reservedReply(a.Reply) || c.user.withholds(a.Reply)) {
		e.replyViolation(c, a.Reply)
		return
	}
	if a.Header > 0 && e.publishTraced(c, a, body, ck) {
		return
	}
	r := e.route(c, a)
	if r == nil {
		return
	}
	if c.verbose && r != e.sought { // that is not read yet, as it were
		e.sendString(c, "+OK\r\n")
	}
	e.distribute(c, a, body, ck, r)
}

// distribute delivers a message to those that r reaches, and to other accounts where it crosses.
func (e *Engine) distribute(c *conn, a *wire.PubArgs, body []byte, ck *chunk, r *sublist.Result[*subscription]) {
	answer := len(c.acc.replies) > 0 && isReplySubject(a.Subject)
	if r.Empty() {
		switch {
		case !e.isKnown(r):
			e.await(c, a, body, ck, r, answer)
			return
		case !answer:
			e.noResponders(c, a.Subject, a.Reply)
			return
		}
	}
	e.prepare(c, a, body, ck)
	if answer {
		e.answer(c.acc, a.Subject)
	}
	e.out.gauge(r)
	limit := e.limit
	if e.suspended >= suspendedMax {
		limit = math.MaxInt
	}
	at, next := r, e.fan(r, 0, limit)
	if len(e.out.held) > 0 { // though perhaps nothing crosses after all
		at, next = e.serve(r, next, limit)
	}
	if next < at.Fanout() {
		e.suspend(at, next, a)
	} else {
		e.finish(a.Subject, a.Reply)
		if e.out.ck != nil && !e.out.borrowed {
			e.pool.release(e.out.ck)
		}
		if len(e.out.held) > 0 { // though perhaps nothing crosses after all
			e.letGo(&e.out)
		}
	}
	e.out.ck, e.out.body, e.out.from = nil, nil, nil
}

// gauge notes how many there are to get the message where it has come to.
func (m *outgoing) gauge(r *sublist.Result[*subscription]) {
	m.many, m.crowd = r.Fanout() >= manyMin, r.Fanout() >= crowdMin
}

// prepare sets e.out for the message.
func (e *Engine) prepare(c *conn, a *wire.PubArgs, body []byte, ck *chunk) {
	m := &e.out
	m.from, m.body, m.size, m.ck, m.delivered, m.borrowed = c, body, a.Size, nil, false, false
	m.header, m.lines, m.untried, m.otherHead, m.headFor = max(a.Header, 0), 0, 0, false, nil
	m.subject, m.shown, m.reply = a.Subject, a.Subject, a.Reply
	if e.tracing != nil {
		m.trace, e.tracing = e.tracing, nil
	}
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
