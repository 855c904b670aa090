package engine

import (
	"bytes"

	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
	"github.com/natsd/natsd/wire"
)

// noResponders answers a request that nobody got: a 503 to the requester's own subscription on the reply subject (ADR-4).
func (e *Engine) noResponders(c *conn, subj, reply []byte) {
	if !c.noResp || len(reply) == 0 || c.gate&gateClosed != 0 {
		return
	}
	e.work += answerWork // to look for whom it is costs as much as to write it
	r := e.matchWithin(c.acc, reply)
	if r == nil {
		e.lookForOwn(c, subj, reply, nil, 0)
		return
	}
	e.tellNobody(c, subj, reply, r)
}

// tellNobody is noResponders when it is known whom reply reaches. Where those are very many, they are looked through over several turns.
func (e *Engine) tellNobody(c *conn, subj, reply []byte, r *sublist.Result[*subscription]) {
	s, next := e.ownSubscription(c, reply, r, 0, e.opts.MatchWork)
	if next < len(r.Plain) {
		e.lookForOwn(c, subj, reply, r, next)
		return
	}
	e.tellBy(s, c, subj, reply)
}

// lookForOwn has the requester wait until its own subscription is found: among those that r has from a place on; nil: that is to be found
// first.
func (e *Engine) lookForOwn(c *conn, subj, reply []byte, r *sublist.Result[*subscription], from int) {
	e.mark(MarkNobodySought)
	c.gate |= gateSearch
	e.addSearch(&search{in: c.acc, subj: bytes.Clone(reply), c: c, to: bytes.Clone(subj), among: r, next: from})
}

// goOnLooking is tellNobody for so much of a turn's work, where it takes several. It reports whether it is done.
func (e *Engine) goOnLooking(x *search, work int) bool {
	var s *subscription
	if s, x.next = e.ownSubscription(x.c, x.subj, x.among, x.next, work); x.next < len(x.among.Plain) {
		return false
	}
	e.endSearch()
	e.open(x.c, gateSearch)
	e.tellBy(s, x.c, x.to, x.subj)
	return true
}

// tellBy writes a 503 to a connection's own subscription; nil: there is none.
func (e *Engine) tellBy(s *subscription, c *conn, subj, reply []byte) {
	if s == nil || c.gate&gateClosed != 0 {
		return
	}
	e.mark(MarkNoResponders)
	b := wire.AppendNoResponders(e.bodyScratch[:0], subj)
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
	e.work += len(line) / bytesPerWork
	e.sendBytes(c, line)
	c.stats.outMsgs++
	c.stats.outBytes += uint64(size)
	c.acc.traffic.outMsgs++
	c.acc.traffic.outBytes += uint64(size)
}

// ownSubscription finds the connection's own subscription among those that a subject reaches, from a place in r on, for so much of a
// turn's work. It returns at which place it has to go on; the end of r.Plain: nowhere. Members of queue groups don't count: the answer is
// for the requester, not for whoever shares its group.
func (e *Engine) ownSubscription(c *conn, subj []byte, r *sublist.Result[*subscription], from, work int) (own *subscription, next int) {
	end := len(r.Plain)
	if len(c.subs) <= ownMost && len(c.subs) < end/ownShare {
		return e.ownAmongAll(c, subj), end
	}
	stop := end
	if end-from > work*lookWork {
		stop = from + max(work*lookWork, 1)
	}
	for i, s := range r.Plain[from:stop] {
		if s.conn == c && !s.dead() && s.flags&subInternal == 0 {
			return s, end
		}
		if i%lookWork == 0 {
			e.work++
		}
	}
	return nil, stop
}

const (
	// ownShare is how many subscriptions that a subject reaches are looked through as fast as one of a connection is compared with it.
	ownShare = 8
	// ownMost bounds how many are compared: their subjects may be long.
	ownMost = 256
)

// ownAmongAll is ownSubscription for a subject that reaches very many: the connection's own are compared with it.
func (e *Engine) ownAmongAll(c *conn, subj []byte) *subscription {
	for _, s := range c.subs {
		e.work += 1 + len(s.handle.Subject())/lineBytes
		if s.flags&(subDead|subInternal) == 0 && s.handle.Queue() == "" && c.home(s) == c.acc && subject.Match(subj, s.handle.Subject()) {
			return s
		}
	}
	return nil
}
