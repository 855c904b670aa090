package engine

import (
	"slices"

	"github.com/natsd/natsd/engine/assert"
	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
)

// A message that takes several turns may be under way when a reload comes. It was published before: it goes to those whom it
// would have reached without the reload, but for those who may no longer get it, and to none whom only the new configuration
// brings it to. Whom it reaches in its own account is known when it begins; whom in another one, only when it comes there. So
// before a reload that is found out: not to deliver it takes long, but to go on as long as there are receivers.

// Following reports whether connections, or their subscriptions, have not all followed an earlier reload. They do so in the turns
// that come; a Reload that does not wait for it has it done in its own turn, however long that takes. It never lasts: what clients
// do does not prolong it.
func (e *Engine) Following() bool {
	return e.trust == nil && (e.sweep.on || e.recast.on || e.moves.on || e.sweptRemaking())
}

// sweptRemaking reports whether subscriptions follow a reload bit by bit.
func (e *Engine) sweptRemaking() bool {
	return slices.ContainsFunc(e.remaking, func(c *conn) bool { return c.remaking != nil && c.remaking.swept })
}

// settleUnderway is called before a reload.
func (e *Engine) settleUnderway() {
	if e.trust != nil {
		return // accounts and users are what their JWTs say
	}
	e.followAll()
	for _, f := range e.fanouts {
		if f.next == notYet {
			f.to, f.next = e.findOut(&f.msg), 0
			assert.That(f.to != e.recast.later, "a message waits though all have followed")
		}
		if !f.msg.settled {
			e.settleFanout(f)
		}
	}
}

// followAll has everybody follow the earlier reloads.
func (e *Engine) followAll() {
	for e.sweep.on {
		e.stepSweep()
	}
	for e.sweptRemaking() {
		e.stepRemaking()
	}
	if e.moves.on {
		e.endMoves()
	}
	e.recastAll()
}

// settleFanout has a message find out whom it reaches wherever it goes on to.
func (e *Engine) settleFanout(f *fanout) {
	spare := e.out
	e.out = f.msg
	m, in, silent := &e.out, f.acc, false
	if m.crossed > 0 {
		in = m.cross[m.crossed-1].to
	}
	if m.trace != nil {
		silent = m.trace.silent
	}
	e.askAll(in, func(s *subscription) bool { return slices.Index(f.to.Plain, s) >= f.next })
	f.to = e.allowed(f.to, f.next, e.out.untried > 0)
	for i := m.crossed; i < len(m.cross); i++ { // they become more
		e.mark(MarkFanoutSettled)
		e.settleCrossing(i)
	}
	m.subject, m.reply, m.hops = f.msg.subject, f.msg.reply, f.msg.hops
	m.body, m.header, m.size = f.msg.body, f.msg.header, f.msg.size
	if m.trace != nil {
		m.trace.silent = silent
	}
	m.settled = true
	f.msg, e.out = e.out, spare
}

// settleCrossing has e.out find out whom it will reach by one of its crossings.
func (e *Engine) settleCrossing(i int) {
	m := &e.out
	x := m.cross[i]
	m.subject, m.reply, m.hops = x.subject, x.reply, x.hops
	m.body, m.header, m.size = m.orig.body, m.orig.header, m.orig.size
	if m.trace != nil {
		m.trace.silent = x.silent
	}
	if x.service != nil {
		m.cross[i].info = e.informs(&x)
	}
	e.answerIn(x.to)
	m.cross[i].found = e.allowed(e.reach(x.to, m.subject), 0, false)
	e.askAll(x.to, func(*subscription) bool { return true })
}

// askAll has e.out cross to those services that an account imports to which it is still to go.
func (e *Engine) askAll(a *account, still func(*subscription) bool) {
	for _, im := range a.def.services {
		if subject.Match(e.out.subject, im.local) && still(im.sub) {
			e.request(im)
		}
	}
}

// allowed is a result without those, from a place on as fan counts, to whom e.out may not be delivered: after a reload, that could
// not be told any more. Those who may no longer get it then are another matter. Of a group that is being served those who are left
// are the first to be tried, in their order.
func (e *Engine) allowed(r *sublist.Result[*subscription], from int, amidGroup bool) *sublist.Result[*subscription] {
	denied := func(s *subscription) bool { return !e.mayGetOut(s) }
	plain, group := min(from, len(r.Plain)), max(from-len(r.Plain), 0)
	queues := slices.Clone(r.Queues[group:])
	if amidGroup {
		queues[0].Members = e.out.toTry(queues[0].Members)
	}
	if !slices.ContainsFunc(r.Plain[plain:], denied) &&
		!slices.ContainsFunc(queues, func(q sublist.Group[*subscription]) bool { return slices.ContainsFunc(q.Members, denied) }) {
		return r
	}
	e.mark(MarkUnderwayDenied)
	n := &sublist.Result[*subscription]{
		Plain:  append(slices.Clone(r.Plain[:plain]), slices.DeleteFunc(slices.Clone(r.Plain[plain:]), denied)...),
		Queues: slices.Clone(r.Queues[:group]),
	}
	for i, q := range queues {
		q.Members = slices.DeleteFunc(slices.Clone(q.Members), denied)
		if amidGroup && i == 0 {
			e.out.member, e.out.untried = 0, len(q.Members)
		}
		if len(q.Members) > 0 {
			n.Queues = append(n.Queues, q)
		}
	}
	return n
}

// toTry is those members of the queue group that is being served who are not tried yet, in the order in which they will be.
func (m *outgoing) toTry(members []*subscription) []*subscription {
	most := min(m.member+m.untried, len(members))
	return slices.Concat(members[m.member:most], members[:m.untried-(most-m.member)])
}

// mayGetOut reports whether the permissions in force let e.out be delivered to a subscription.
func (e *Engine) mayGetOut(s *subscription) bool {
	if s.flags&(subService|subHandler) != 0 {
		return true
	}
	subj := e.out.subject
	if s.flags&subShadow != 0 {
		for x := s; x != nil && subj != nil; x = x.also.behind {
			subj = x.also.stream.toLocal(subj)
		}
		s = s.also.root
	}
	if s.flags&subFiltered == 0 || s.conn.gate&gateClosed != 0 || s.dead() || s.conn.user == nil || subj == nil {
		return true
	}
	return s.conn.user.mayDeliver(s.handle.Queue(), subj)
}
