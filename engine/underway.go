package engine

import "github.com/natsd/natsd/engine/assert"

// A message that takes several turns may be under way when a reload comes. It was published before: it goes to those whom it
// would have reached without the reload, but for those who may no longer get it, and to none whom only the new configuration
// brings it to. Whom it reaches in its own account is known when it begins; whom in another one, only when it comes there. So
// before a reload that is found out: not to deliver it takes long, but to go on as long as there are receivers.

// Following reports whether connections, or their subscriptions, have not all followed an earlier reload. They do so in the turns
// that come; a Reload that does not wait for it has it done in its own turn, however long that takes. What clients ask
// for meanwhile does not prolong it; subscriptions that followed a client's CONNECT when the reload came do so first.
func (e *Engine) Following() bool {
	return e.trust == nil && (e.sweep.on || e.recast.on || e.moves.on || len(e.remaking.swept) > 0)
}

// settleUnderway is called before a reload.
func (e *Engine) settleUnderway() {
	if e.trust != nil {
		return // accounts and users are what their JWTs say
	}
	e.followAll()
	e.searchAnew()
	e.boundless = true
	defer func() { e.boundless = false }()
	known := make(outlooks)
	for _, f := range e.fanouts.all() {
		if f.next == notYet {
			f.to, f.next = e.findOut(&f.msg), 0
			assert.That(e.isKnown(f.to), "a message waits though all have followed")
		}
		if !f.msg.settled {
			e.settleFanout(f, known)
		}
	}
}

// followAll has everybody follow the earlier reloads.
func (e *Engine) followAll() {
	for e.sweep.on {
		e.stepSweep()
	}
	for len(e.remaking.swept) > 0 {
		e.stepRemaking()
	}
	if e.moves.on {
		e.endMoves()
	}
	e.recastAll()
}

// settleFanout has a message find out whom it reaches wherever it goes on to.
func (e *Engine) settleFanout(f *fanout, known outlooks) {
	spare := e.out
	e.out = f.msg
	m, in, silent := &e.out, f.acc, false
	if m.crossed > 0 {
		in = m.cross[m.crossed-1].to
	}
	if m.trace != nil {
		silent = m.trace.silent
	}
	o := e.outlook(known, in, f.to)
	if !m.answers() {
		e.askServices(o, f.next)
	}
	f.to, f.next = o.to, o.goOn(m, f.next)
	for i := m.crossed; i < len(m.cross); i++ { // they become more
		e.mark(MarkFanoutSettled)
		e.settleCrossing(i, known)
	}
	m.subject, m.reply, m.hops, m.at = f.msg.subject, f.msg.reply, f.msg.hops, f.msg.at
	m.body, m.header, m.size = f.msg.body, f.msg.header, f.msg.size
	if m.trace != nil {
		m.trace.silent = silent
	}
	m.settled = true
	f.msg, e.out = e.out, spare
}

// settleCrossing has e.out find out whom it will reach by one of its crossings.
func (e *Engine) settleCrossing(i int, known outlooks) {
	m := &e.out
	x := m.cross[i]
	if x.found != nil {
		return // mappings have dropped it
	}
	m.subject, m.reply, m.hops, m.at = x.subject, x.reply, x.hops, i+1
	m.body, m.header, m.size = m.orig.body, m.orig.header, m.orig.size
	if m.trace != nil {
		m.trace.silent = x.silent
	}
	if x.service != nil {
		m.cross[i].info = e.informs(&x)
	}
	e.answerIn(x.to)
	o := e.outlook(known, x.to, e.arrive(x.to, m.subject))
	m.cross[i].found = o.to
	if x.service != nil {
		e.askServices(o, 0)
	}
}

// askServices has e.out cross to those services that an account imports to which it is still to go.
func (e *Engine) askServices(o *outlook, from int) {
	for _, at := range o.services {
		if at >= from {
			e.request(o.of.Plain[at].also.service)
		}
	}
}
