package engine

import (
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/mapping"
	"github.com/natsd/natsd/sublist"
	"github.com/natsd/natsd/wire"
)

// crossing is a message that goes on in another account: a request to a service imported from there, or the answer to one.
// A message that crosses is first delivered to all whom it reaches in its own account; then come its crossings, one by one,
// each as if the message had been published there, but that it is between two: imports of streams from there don't bring a request
// or an answer to third accounts. A request may cause further ones. An answer goes to who asked, and back from there if it answers
// what came there as a request; it is not itself a request to services that are imported there.
type crossing struct {
	to             *account
	subject, reply []byte         // there; the buffers are used again
	service        *serviceImport // nil: an answer
	record         *reply         // of a request, by which its answer comes back
	hops           int            // accounts passed through before
	behind         int            // the crossing that it follows upon, from 1; 0: none
	reached        bool           // somebody got it there, or behind that
	silent         bool           // there a trace is not told

	found *sublist.Result[*subscription] // whom it reaches there, if that is known: a reload has come since; nil: that is looked up
	info  []byte                         // what the service is told of who asks, if so
}

// original is a message as it was published: what crosses may be changed, each time in another way.
type original struct {
	body         []byte // in a chunk of held
	header, size int
}

// cross adds a crossing to e.out.
func (e *Engine) cross(to *account) *crossing {
	m := &e.out
	if len(m.cross) == 0 {
		e.keepOriginal()
	}
	if n := len(m.cross); n < cap(m.cross) {
		m.cross = m.cross[:n+1]
	} else {
		m.cross = append(m.cross, crossing{})
	}
	x := &m.cross[len(m.cross)-1]
	x.to, x.service, x.record, x.hops, x.silent, x.found, x.info = to, nil, nil, m.hops+1, false, nil, nil
	x.behind, x.reached = m.at, false
	x.subject, x.reply = x.subject[:0], x.reply[:0]
	e.work += crossWork
	return x
}

// crossWork is what another account costs, in messages.
const crossWork = 8

// keepOriginal makes sure that the message stays as it is until its last crossing is done.
func (e *Engine) keepOriginal() {
	m := &e.out
	switch {
	case m.ck == nil:
		ck := e.pool.get(len(m.body))
		m.body = ck.data[:copy(ck.data, m.body)]
		m.held = append(m.held, ck)
	case m.borrowed:
		m.ck.refs++
		m.held = append(m.held, m.ck)
	default:
		m.held = append(m.held, m.ck)
		m.borrowed = true // held has its reference
	}
	m.orig.body, m.orig.header, m.orig.size = m.body, m.header, m.size
}

// request takes e.out to the service that an import of the account stands for.
func (e *Engine) request(im *serviceImport) {
	m := &e.out
	if m.at > 0 && m.cross[m.at-1].service == im {
		return // an account imports its own service: the request has come by that
	}
	if m.hops >= hopsMax {
		e.mark(MarkHopsMax)
		return
	}
	if len(m.cross) >= waysMax {
		e.tellCrossings(im)
		return
	}
	x := e.cross(im.export.account)
	x.service = im
	if im.bridge == nil {
		x.subject = append(x.subject, m.subject...)
	} else {
		var ok bool
		if x.subject, ok = im.bridge.Apply(x.subject, m.subject, 0); !ok {
			m.cross = m.cross[:len(m.cross)-1]
			return // a wildcard for a token, which it does not take apart
		}
	}
	e.mapCrossing(x)
	if m.trace != nil {
		if !e.traceRequest(im, x) {
			m.cross = m.cross[:len(m.cross)-1]
			return
		}
		if m.trace.only {
			return // nobody will answer
		}
	}
	e.mark(MarkRequestCrossed)
	measured := e.measure(x)
	if len(m.reply) > 0 {
		x.record = e.expectReply(im.export.account, im.account, m.reply, im.export, im.account)
		x.record.share = im.share
		x.record.measured = measured
		x.reply = append(x.reply, x.record.subject...)
	}
}

// mapCrossing gives a crossing the subject that the mappings of the account that it comes into make of its own, as they do of
// what is published there. If they drop it, it reaches nobody.
func (e *Engine) mapCrossing(x *crossing) {
	t := x.to.def.mappings
	if t == nil {
		return
	}
	to, outcome, _ := e.mapped(t, e.mapScratch[:0], x.subject)
	switch outcome {
	case mapping.Mapped:
		e.mark(MarkCrossingMapped)
		x.subject, e.mapScratch = to, x.subject
	case mapping.Lost:
		e.mark(MarkCrossingLost)
		x.subject, x.found = x.subject[:0], &e.nobody
	}
}

// answer takes e.out, published on a reply subject of a, to whom it answers.
func (e *Engine) answer(a *account, subj []byte) {
	r := a.replies[string(subj)]
	if r == nil {
		return
	}
	m := &e.out
	x := e.cross(r.to)
	e.mark(MarkReplyCrossed)
	x.subject = append(x.subject, r.reply...)
	e.mapCrossing(x)
	if m.trace != nil && !e.traceAnswer(r, x) {
		m.cross = m.cross[:len(m.cross)-1]
		return
	}
	if len(m.reply) > 0 {
		back := e.expectReply(r.to, a, m.reply, r.export, r.importer)
		x.reply = append(x.reply, back.subject...)
	}
	e.measured(r.export, r.measured, latencyOK, m.from)
	if r.measured = nil; r.export.ResponseType == config.Singleton || m.size == 0 {
		e.dropReply(r)
	} else {
		e.renewReply(r)
	}
}

// enter turns e.out into its next crossing and returns whom that reaches.
func (e *Engine) enter() *sublist.Result[*subscription] {
	m := &e.out
	x := &m.cross[m.crossed]
	m.crossed++
	m.at = m.crossed
	m.hops = x.hops
	if m.trace != nil {
		m.trace.silent = x.silent
	}
	m.subject, m.reply = x.subject, x.reply
	m.body, m.header, m.size = m.orig.body, m.orig.header, m.orig.size
	m.ck = nil
	if x.service != nil {
		e.addRequestInfo(x)
	}
	if len(m.body) >= shareMin {
		m.ck, m.borrowed = m.held[len(m.held)-1], true
		if x.service == nil {
			m.ck = m.held[0]
		}
	}
	m.setHead(m.subject)
	m.otherHead, m.headFor = false, nil
	m.setTail()
	if x.found != nil {
		return x.found
	}
	e.answerIn(x.to)
	return e.arrive(x.to, m.subject)
}

// answers reports whether the message is an answer, and in the account of who asked.
func (m *outgoing) answers() bool { return m.crossed > 0 && m.cross[m.crossed-1].service == nil }

// answerIn is answer for e.out in an account that it has come into.
func (e *Engine) answerIn(a *account) {
	if subj := e.out.subject; len(a.replies) > 0 && isReplySubject(subj) {
		e.answer(a, subj)
	}
}

// setHead makes what the control lines of all receivers begin with.
func (m *outgoing) setHead(subj []byte) {
	m.lines, m.shown = 0, subj
	if m.header > 0 {
		m.head = append(m.head[:0], "HMSG "...)
	} else {
		m.head = append(m.head[:0], "MSG "...)
	}
	m.head = append(append(m.head, subj...), ' ')
	if m.header > 0 {
		m.plainHead = m.head[1:]
	}
}

// setTail makes what the control lines of all receivers end with.
func (m *outgoing) setTail() {
	m.tail = append(m.tail[:0], ' ')
	if len(m.reply) > 0 {
		m.tail = append(append(m.tail, m.reply...), ' ')
	}
	if m.header > 0 {
		m.plainTail = wire.AppendUint(append(m.plainTail[:0], m.tail...), m.size-m.header)
		m.plainTail = append(m.plainTail, '\r', '\n')
		m.tail = append(wire.AppendUint(m.tail, m.header), ' ')
	}
	m.tail = append(wire.AppendUint(m.tail, m.size), '\r', '\n')
}

// serve goes on with delivering e.out: to those that r reaches, from a place in it on, and then to those in other accounts,
// until the turn's work reaches limit. It returns where it stopped: behind the last of the last when all is done, at notYet
// where it has to wait until that is known or found.
func (e *Engine) serve(r *sublist.Result[*subscription], from, limit int) (at *sublist.Result[*subscription], next int) {
	m := &e.out
	if from == notYet {
		if r = e.findOut(m); !e.isKnown(r) {
			return r, notYet
		}
		from = 0
	}
	for {
		if from < r.Fanout() {
			from = e.fan(r, from, limit)
		}
		if from < r.Fanout() {
			return r, from
		}
		m.noteReached()
		if m.crossed == len(m.cross) {
			m.delivered = m.anywhere
			return r, from
		}
		if e.lapsed(&m.cross[m.crossed]) {
			m.crossed++
			r, from = &e.nobody, 0
			continue
		}
		if r, from = e.enter(), 0; !e.isKnown(r) {
			m.awaits = m.cross[m.crossed-1].to
			return r, notYet
		}
		m.gauge(r)
	}
}

// noteReached notes by which crossings somebody got e.out where it has been delivered now.
func (m *outgoing) noteReached() {
	if !m.delivered {
		return
	}
	m.delivered, m.anywhere = false, true
	for at := m.crossed; at > 0; at = m.cross[at-1].behind {
		m.cross[at-1].reached = true
	}
}

// lapsed reports whether a request that has not come into the other account yet may no longer: the import was taken away meanwhile.
func (e *Engine) lapsed(x *crossing) bool {
	return x.service != nil && x.service.sub.dead()
}

// findOut returns whom a message reaches that has waited to know, or e.unknown or e.sought.
func (e *Engine) findOut(m *outgoing) *sublist.Result[*subscription] {
	r := m.found
	switch m.found = nil; {
	case r != nil:
	case m.crossed > 0:
		r = e.arrive(m.awaits, m.subject)
	default:
		r = e.reach(m.awaits, m.subject)
	}
	if e.isKnown(r) {
		if m.unread {
			e.readNow(m)
		}
		m.awaits = nil
		m.gauge(r)
	}
	return r
}

// letGo ends a message that everybody was served, or nobody is to be.
func (e *Engine) letGo(m *outgoing) {
	for i := range m.cross {
		x := &m.cross[i]
		if x.record != nil && !x.reached { // others may answer the request: this service does not
			e.failReply(x.record, latencyUnavailable)
		}
		x.to, x.service, x.record, x.found, x.info = nil, nil, nil, nil, nil
	}
	for i, ck := range m.held {
		e.pool.release(ck)
		m.held[i] = nil
	}
	m.cross, m.held, m.crossed, m.at, m.hops = m.cross[:0], m.held[:0], 0, 0, 0
	m.multiplied, m.anywhere = false, false
	m.orig.body = nil
}
