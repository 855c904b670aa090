package engine

import "github.com/natsd/natsd/mapping"

// replyPrefix begins the subjects that stand in an account for a reply subject of another. They are nats-server's: permissions
// that let services answer name them.
const replyPrefix = "_R_."

func isReplySubject(subj []byte) bool { return begins(subj, replyPrefix) }

// reply is where the answer to a request that crossed into an account goes: what is published on subject in at goes on to
// reply in to. It ends with the answer, or when none came in time, or when nobody listens for it any more.
type reply struct {
	at, to  *account
	subject string // in at
	reply   string // in to
	export  *export
	// importer is the account that asked, one of at and to.
	importer *account
	ends     Instant
	measured *measurement // nil: it isn't
	share    bool         // the import shares who asked

	prev, next *reply // in export.waiting

	asker            *conn  // nil: gone
	askPrev, askNext *reply // in its requests
}

// replyList is a list of replies, the one that ends first at its head.
type replyList struct{ head, tail *reply }

// requests are a connection's that have crossed and are not answered, the oldest first.
type requests struct {
	head, tail *reply
	n          int
}

// requestsMax is how many requests to other accounts one connection may have unanswered. Of more, the oldest is given up.
const requestsMax = 64 << 10

// expectReply makes the subject in at by which an answer comes back to one in to.
func (e *Engine) expectReply(at, to *account, back []byte, ex *export, importer *account) *reply {
	r := &reply{at: at, to: to, reply: string(back), export: ex, importer: importer}
	id := append(e.lineScratch[:0], replyPrefix...)
	id = append(append(id, at.replyToken...), '.')
	id = e.appendID(id, replyIDLen)
	e.lineScratch = id
	r.subject = string(id)
	if at.replies == nil {
		at.replies = make(map[string]*reply)
	}
	at.replies[r.subject] = r
	e.waitFor(r)
	if asker := e.out.from; asker.gate&gateClosed == 0 {
		e.owe(asker, r)
	}
	return r
}

// replyTokenLen tells accounts apart.
const replyTokenLen = 6

// replyIDLen makes reply subjects that can't be guessed: 65 bits.
const replyIDLen = 11

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// appendID appends n letters and digits that nobody can foretell.
func (e *Engine) appendID(b []byte, n int) []byte {
	for n > 0 {
		v := e.secrets.Uint64()
		for i := 0; i < 10 && n > 0; i++ {
			b = append(b, base62[v%62])
			v /= 62
			n--
		}
	}
	return b
}

func (e *Engine) waitFor(r *reply) {
	l := &r.export.waiting
	r.ends = later(e.now, r.export.ResponseThreshold)
	if r.prev = l.tail; r.prev != nil {
		r.prev.next = r
	} else {
		l.head = r
		e.timers.set(&r.export.timer, r.ends)
	}
	l.tail = r
}

func (e *Engine) unlink(r *reply) {
	l := &r.export.waiting
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		l.head = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	} else {
		l.tail = r.prev
	}
	r.prev, r.next = nil, nil
	if l.head == nil {
		e.timers.remove(&r.export.timer)
	}
}

// renewReply gives a further answer the time that the first one had.
func (e *Engine) renewReply(r *reply) {
	e.unlink(r)
	e.waitFor(r)
}

// dropReply ends a reply; a second time nothing happens.
func (e *Engine) dropReply(r *reply) {
	if r.at.replies[r.subject] != r {
		return
	}
	delete(r.at.replies, r.subject)
	if len(r.at.replies) == 0 {
		r.at.replies = nil // a map keeps its size
	}
	e.unlink(r)
	disown(r)
}

// repliesTurn is how many replies are given up in a turn.
const repliesTurn = 1000

// repliesDue gives up those of an export that got no answer in time.
func (e *Engine) repliesDue(x *export) {
	for n := 0; x.waiting.head != nil; n++ {
		r := x.waiting.head
		if r.ends > e.now || n >= e.slice(repliesTurn) {
			e.timers.set(&x.timer, max(r.ends, e.now))
			return
		}
		e.mark(MarkReplyExpired)
		e.failReply(r, latencyTimeout)
	}
}

// failReply ends a reply for which there was no answer.
func (e *Engine) failReply(r *reply, why latencyStatus) {
	e.measured(r.export, r.measured, why, nil)
	r.measured = nil
	e.dropReply(r)
}

// owe remembers that c asked.
func (e *Engine) owe(c *conn, r *reply) {
	if c.requests == nil {
		c.requests = &requests{}
	}
	q := c.requests
	if q.n >= requestsMax {
		e.mark(MarkRequestsMax)
		e.dropReply(q.head)
	}
	r.asker = c
	if r.askPrev = q.tail; r.askPrev != nil {
		r.askPrev.askNext = r
	} else {
		q.head = r
	}
	q.tail = r
	q.n++
}

// disown undoes owe.
func disown(r *reply) {
	c := r.asker
	if c == nil {
		return
	}
	q := c.requests
	if r.askPrev != nil {
		r.askPrev.askNext = r.askNext
	} else {
		q.head = r.askNext
	}
	if r.askNext != nil {
		r.askNext.askPrev = r.askPrev
	} else {
		q.tail = r.askPrev
	}
	r.asker, r.askPrev, r.askNext = nil, nil, nil
	q.n--
}

// abandonRequest ends one request of a connection that is gone, unless somebody else listens for the answer.
func (e *Engine) abandonRequest(r *reply) {
	if e.listensForAnswer(r) {
		disown(r)
		return
	}
	e.mark(MarkReplyAbandoned)
	e.failReply(r, latencyAbandoned)
}

// listensForAnswer reports whether the answer would be delivered, or go on to who has asked in another account: it may, if it is
// left to chance where mappings have it go.
func (e *Engine) listensForAnswer(r *reply) bool {
	subj := []byte(r.reply)
	if t := r.to.def.mappings; t != nil {
		to, outcome, chance := e.mapped(t, nil, subj)
		switch {
		case chance:
			return true
		case outcome == mapping.Lost:
			return false
		case outcome == mapping.Mapped:
			subj = to
		}
	}
	here := func(s *subscription) bool { e.work++; return s.flags&(subShadow|subService) == 0 && s.listening() }
	return r.to.replies[string(subj)] != nil || e.mayReach(r.to, subj, here) || e.moves.on && e.awaited(r.to, subj, 0)
}

// listens reports whether something published on subj in a would be delivered or go on to another account; it says so too where it
// takes long to find out.
func (e *Engine) listens(a *account, subj []byte) bool {
	if a.replies[string(subj)] != nil {
		return true
	}
	here := func(s *subscription) bool { e.work++; return s.listening() }
	return e.mayReach(a, subj, here) || e.recast.on && e.listensBehind(a, subj, 0) || e.moves.on && e.awaited(a, subj, 0)
}

func (s *subscription) listening() bool {
	return !s.dead() && (s.flags&(subService|subHandler) != 0 || s.conn.gate&gateClosed == 0) && (s.flags&subShadow == 0 || !s.cut())
}
