package engine

import (
	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/wire"
)

// farSubs is from how many subscriptions of an account on the maps that they are in outgrow the processor's caches. They grow a thousand
// entries at a time, which takes some 0.1 ms then, and many of their parts at about the same time.
const farSubs = 64 << 10

// madeWork is what another subscription costs in units of TurnWork.
func (a *account) madeWork() int {
	if a.subs.Count() >= farSubs {
		return madeFar
	}
	return madeWork
}

// subscribe carries out a SUB. The order of the checks is nats-server's: the tokens, the permission, the limit, the subject,
// the sid.
func (e *Engine) subscribe(c *conn, args []byte) {
	subj, queue, sid, ok := wire.ParseSub(args)
	if !ok {
		e.protocolError(c, wire.ErrParser, ReasonProtocol)
		return
	}
	if m := e.opts.MaxSubTokens; m > 0 && subject.Tokens(subj) > m {
		if e.heeds(c) {
			e.complain(c, "Subscription Violation Too Many Tokens - Subject \""+printable(subj)+"\", SID "+printable(sid))
		}
		e.lineScratch = wire.AppendErr(e.lineScratch[:0], wire.Err("Permissions Violation for Subscription to \""+string(subj)+"\", too many tokens"))
		e.sendBytes(c, e.lineScratch)
		return
	}
	allowed, flags := c.judge(subj, queue)
	if !allowed {
		e.mark(MarkSubDenied)
		e.violation(c, subj, queue, sid)
		return
	}
	if len(c.subs) >= c.subsMax {
		e.mark(MarkMaxSubs)
		e.sendErr(c, wire.ErrMaxSubscriptions)
		return
	}
	if old := c.sub(sid); old == nil {
		s := newSubscription(c, sid)
		s.flags = flags
		if e.insert(c.acc, subj, queue, s) != nil {
			e.sendErr(c, wire.ErrInvalidSubject)
			return
		}
		c.addSub(s)
		if len(c.acc.def.streams) > 0 {
			e.castShadows(s)
		}
	} // else: a sid in use keeps its subscription, whatever the subject
	e.ok(c)
}

// unsubscribe carries out an UNSUB. max counts from the beginning of the subscription.
func (e *Engine) unsubscribe(c *conn, args []byte) {
	sid, maxMsgs, ok := wire.ParseUnsub(args)
	if !ok {
		e.protocolError(c, wire.ErrParser, ReasonProtocol)
		return
	}
	if s := c.sub(sid); s != nil {
		if maxMsgs > 0 && s.delivered < uint64(maxMsgs) {
			s.max = uint64(maxMsgs)
		} else {
			e.endSub(s)
		}
	}
	e.ok(c)
}

// endSub removes a subscription. A match being delivered may still name it: it is dead from here on.
func (e *Engine) endSub(s *subscription) {
	if e.traces && e.tracesOf(s.conn) {
		e.traceEnd(s)
	}
	s.flags |= subDead
	home := s.conn.home(s)
	if s.conn.gate&gateClosed != 0 {
		home.leaving--
	}
	s.conn.dropSub(s)
	e.remove(home, s)
	if s.flags&subShadowed != 0 {
		e.takeShadows(s)
	}
}

func (e *Engine) ok(c *conn) {
	if c.verbose {
		e.sendString(c, "+OK\r\n")
	}
}

// reap removes the subscriptions of closed connections, as many in a turn as its share of the work allows. Until then they
// are passed over.
func (e *Engine) reap() {
	budget := e.slice(reapPerTurn)
	for len(e.reaping) > 0 {
		c := e.reaping[len(e.reaping)-1]
		for len(c.subs) > 0 {
			if budget <= 0 {
				e.mark(MarkReapSliced)
				return
			}
			before := e.work
			e.endSub(c.subs[len(c.subs)-1])
			budget -= 1 + e.work - before
		}
		for c.requests != nil && c.requests.n > 0 {
			if budget <= 0 {
				return
			}
			before := e.work
			e.abandonRequest(c.requests.head)
			budget -= 1 + e.work - before
		}
		e.reaping[len(e.reaping)-1] = nil
		e.reaping = e.reaping[:len(e.reaping)-1]
		e.endWish(c)
	}
}
