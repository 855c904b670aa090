package engine

import "github.com/natsd/natsd/wire"

// The server itself publishes and subscribes: events, answers to requests about it, measurements. What it publishes waits in
// posts until the end of the turn; what it receives waits in an intake until then. So a handler never runs in the middle of a
// delivery, and a message of the server's own never comes between those of a client. The accounts on whose behalf it speaks take
// turns.

// post is a message of the server's own that waits to be published.
type post struct {
	account        *account
	subject, reply string
	header         int                  // bytes of body that are a header block
	body           []byte               // and CRLF
	make           func(*Engine) []byte // makes the payload when it is published; nil: it is in body
}

// call is a message that one of the server's own subscriptions received.
type call struct {
	account        *account // in which it was received
	subject, reply string
	header, body   []byte      // owned
	asker          string      // the account whose import brought it, or in which it was published
	behalf         *account    // in which it was published
	from           requestInfo // who published it, as the server knows it, whatever the message says
	conn           ConnID      // its connection, which may be gone
	handle         func(*call)
}

// callWork is what a call counts as in a turn, besides what its handler does.
const callWork = 64

// initInternal makes the engine's own connection, which is in no slot: what the server publishes comes from it.
func (e *Engine) initInternal() {
	e.answers.replies = true
	e.self = &conn{acc: e.system, echo: true, headers: true, connect: wire.DefaultConnect(), connected: true, authed: true, start: e.wall, startMono: e.now}
}

// handle subscribes the server to subj, a valid pattern, in an account.
func (e *Engine) handle(a *account, subj string, f func(*call)) *subscription {
	s := &subscription{flags: subHandler, also: &also{handle: f}}
	if err := e.insert(a, []byte(subj), nil, s); err != nil {
		panic("engine: not a pattern: " + subj)
	}
	a.standing++
	return s
}

// publishOwn publishes a message of the server's own in an account. header is a whole header block, or empty.
func (e *Engine) publishOwn(a *account, subj, reply string, header, payload []byte) {
	e.publishFor(a, a, subj, reply, header, payload)
}

// publishFor is publishOwn on behalf of another account.
func (e *Engine) publishFor(behalf, a *account, subj, reply string, header, payload []byte) {
	body := make([]byte, 0, len(header)+len(payload)+2)
	body = append(append(append(body, header...), payload...), '\r', '\n')
	e.posts.push(behalf, post{account: a, subject: subj, reply: reply, header: len(header), body: body}, len(body))
}

// respond answers a call; one that wants no answer is given none.
func (e *Engine) respond(k *call, header, payload []byte) {
	if k.reply != "" {
		e.publishFor(k.behalf, k.account, k.reply, "", header, payload)
	}
}

// internalDue reports whether something of the server's own waits.
func (e *Engine) internalDue() bool {
	return e.answers.calls.ready() || e.asked.calls.ready() || e.posts.ready()
}

// runInternal handles what the server received and publishes what it has to say, until the turn is full; something is
// always done, for a backlog must not keep the server from answering.
func (e *Engine) runInternal() {
	e.runCalls(&e.answers, func(*account) bool { return true })
	e.runCalls(&e.asked, func(a *account) bool { // else what they ask waits, which is bounded, and not the answers
		e.work++
		return e.posts.fits(a, e.opts.MaxCalls, callBytesMax)
	})
	for n := 0; n == 0 || e.work < e.opts.TurnWork; n++ {
		a, p, ok := e.posts.pop()
		if !ok {
			return
		}
		e.publishPost(a, &p)
	}
}

// runCalls handles what waits in an intake on behalf of accounts of which may is true.
func (e *Engine) runCalls(in *intake, may func(*account) bool) {
	limit := e.work + (e.opts.TurnWork-e.work)/2 // the other half is for what is answered
	for n := 0; n == 0 || e.work < limit; n++ {
		_, k, ok := in.calls.popIf(may)
		if !ok {
			return
		}
		e.work += callWork
		k.handle(k)
	}
}

// publishPost publishes a message on behalf of an account.
func (e *Engine) publishPost(behalf *account, p *post) {
	if p.make != nil {
		p.body = append(p.make(e), '\r', '\n')
	}
	a := wire.PubArgs{Subject: []byte(p.subject), Header: -1, Size: len(p.body) - 2}
	if p.reply != "" {
		a.Reply = []byte(p.reply)
	}
	if p.header > 0 {
		a.Header, a.HeaderToken = p.header, wire.AppendUint(nil, p.header)
	}
	a.SizeToken = wire.AppendUint(nil, a.Size)
	if e.traces && e.tracesOwn(p.account) {
		e.tracePost(p)
	}
	e.self.acc, e.speaksFor = p.account, behalf
	e.work++
	r := e.reach(p.account, a.Subject)
	if r == e.sought && e.suspended >= suspendedMax {
		e.sys.dropped.add(e.now) // clients choose where they want to be answered
		return
	}
	e.distribute(e.self, &a, p.body, nil, r)
}
