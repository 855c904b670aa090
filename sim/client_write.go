package sim

import (
	"strconv"

	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/oracle"
	"github.com/natsd/natsd/wire"
)

// subscription is one SUB of a client's connection that is not known to be over.
type subscription struct {
	sid      uint64
	pattern  string
	queue    string
	responds bool   // answers requests
	standing bool   // the inbox
	doubtful bool   // may have been refused
	ending   bool   // an UNSUB was sent
	max      uint64 // of that UNSUB; 0: none
	ended    uint64 // pings written before that UNSUB
	got      uint64 // messages
	pinged   uint64 // pings written before the SUB
	times    int    // how often it answers a request, less one
}

// wanted is a subscription that a client makes anew when it is connected again.
type wanted struct {
	pattern, queue string
	responds       bool
}

// greet answers the first INFO: CONNECT, the subscriptions from before, PING.
func (c *client) greet() {
	if c.fatal {
		return
	}
	if c.kind == kindSilent && c.hostile {
		if c.w.cfg.auth.required() && !c.w.cfg.mayBeNobody() {
			c.later(clientCloseBy, patienceClose) // for auth_timeout
		}
		return
	}
	if c.garbageFirst() {
		return
	}
	c.state, c.shown = clientOpening, c.drawShown()
	c.told = c.node.oracle.Open(c.id, oracle.ConnOptions{
		Echo: c.traits.echo, NoResponders: c.traits.noResponders && c.headers, User: c.user, Headers: c.headers,
	})
	c.believed[c.dial] = c.told
	if !c.sendConnect() {
		c.flush()
		return
	}
	c.subscribeInbox()
	for _, s := range c.wanted {
		c.subscribe(s.pattern, s.queue, s.responds)
	}
	c.ping()
	c.flush()
}

// sendConnect writes a CONNECT. It returns false if the server must refuse it.
func (c *client) sendConnect() bool {
	t := &c.traits
	if t.late && c.silentAtFirst() {
		return true // the defaults of a connection without CONNECT are among those that traits may have
	}
	good := !(t.badAuth && c.hostile) && c.exists()
	what := rightCredentials
	if !good && c.exists() {
		what = 1 + credentials(c.dial)%(numCredentials-1)
	}
	if !good && t.rude && c.w.cfg.auth.required() {
		rude := [...]string{"PING\r\n", "PUB a 0\r\n\r\n", "SUB > 1\r\n", "\r\n", "FOO"}
		c.out = append(c.out, rude[c.dial%uint64(len(rude))]...)
		c.refusal(wire.ErrAuthorization)
		return false
	}
	b := append(c.out, `CONNECT {"verbose":`...)
	b = strconv.AppendBool(b, t.verbose)
	b = strconv.AppendBool(append(b, `,"pedantic":`...), t.pedantic)
	b = strconv.AppendBool(append(b, `,"echo":`...), t.echo)
	b = strconv.AppendBool(append(b, `,"headers":`...), t.headers)
	b = strconv.AppendBool(append(b, `,"no_responders":`...), t.noResponders && c.headers)
	b = append(b, `,"protocol":1`...)
	switch {
	case c.w.cfg.callout != nil:
		b = c.showLogin(b)
	case c.w.cfg.trustees != nil && good:
		b = c.showJWT(b)
	case t.nobody && what == rightCredentials:
	case c.w.cfg.terms != nil:
		b = c.w.cfg.auth.appendCredentials(b, what, whoNames[c.shown], whoSecrets[c.shown])
	default:
		b = c.w.cfg.auth.appendCredentials(b, what, c.user, c.password())
	}
	c.out = append(b, "}\r\n"...)
	c.logsIn()
	if c.w.cfg.auth.required() && !good {
		c.refusal(wire.ErrAuthorization)
		return false
	}
	c.refusable()
	if t.verbose {
		c.ledger.add(due{kind: dueOK})
	}
	return true
}

// sendEmptyConnect writes a CONNECT that says nothing: all stays as it is.
func (c *client) sendEmptyConnect() {
	c.out = append(c.out, "CONNECT {}\r\n"...)
	c.logsIn()
	c.refusable()
	c.acknowledged()
}

// refusal notes that what was just written ends the connection.
func (c *client) refusal(err wire.Err) {
	c.ledger.add(due{kind: dueFatal, err: err})
	c.fatal = true
	c.later(clientCloseBy, patienceClose)
}

// acknowledged notes that what was just written is answered +OK, if the client asked for that.
func (c *client) acknowledged() {
	if c.traits.verbose {
		c.ledger.add(due{kind: dueOK})
	}
}

// ping writes a fence.
func (c *client) ping() {
	c.node.oracle.Ping(c.told)
	c.out = append(c.out, "PING\r\n"...)
	c.pings++
	c.ledger.add(due{kind: duePong, at: c.w.queue.Now(), n: c.pings, behind: c.unread(), sent: len(c.published)})
	c.pingAt = c.w.queue.Now()
}

// subscribeInbox makes the subscription on which answers to requests come.
func (c *client) subscribeInbox() {
	if c.traits.requests {
		pattern := inboxReply + strconv.Itoa(c.index) + ".>"
		if c.w.cfg.unanswered {
			pattern = inboxReply + ">" // else it would be the first to be found, before those of less precise patterns
		}
		s := c.subscribe(pattern, "", false)
		s.standing = true
	}
	if c.traits.requests && c.w.cfg.unanswered { // of few, the engine would take them one by one
		for i := range unansweredOwn {
			c.subscribe("own."+strconv.Itoa(i), "", false).standing = true
		}
	}
}

// subscribe writes a SUB with a new sid.
func (c *client) subscribe(pattern, queue string, responds bool) *subscription {
	c.nextSid++
	s := &subscription{sid: c.nextSid, pattern: pattern, queue: queue, responds: responds, pinged: c.pings}
	c.node.oracle.Subscribe(c.told, s.sid, pattern, queue)
	if !c.maySubscribe(pattern, queue) {
		c.writeRefused(s.sid, pattern, queue)
		c.forbidden = append(c.forbidden, s)
		return s
	}
	if s.doubtful = c.writeSub(s.sid, pattern, queue); s.doubtful {
		c.node.oracle.Doubt(c.told, s.sid)
	}
	c.subs = append(c.subs, s)
	return s
}

// repeatSID writes a SUB with a sid in use: to no effect, but that the client is told where it may not subscribe to that.
func (c *client) repeatSID(sid uint64, pattern string) {
	if c.maySubscribe(pattern, "") {
		c.writeSub(sid, pattern, "")
	} else {
		c.writeRefused(sid, pattern, "")
	}
}

// writeSub writes a SUB, with a sid in use to no effect, and reports whether the server may, or must, refuse it.
func (c *client) writeSub(sid uint64, pattern, queue string) (doubtful bool) {
	c.appendSub(sid, pattern, queue)
	m := c.node.terms().subscriptions
	_, varies := c.w.cfg.limited()
	if m == 0 || len(c.subs) < m {
		if varies {
			c.acknowledgedUnlessMany()
			return false
		}
		c.acknowledgedUnless(c.subViolation(pattern, queue), c.oneTooMany())
		return false
	}
	kind := dueErr
	for _, s := range c.subs {
		if s.ending || s.doubtful {
			kind = dueMaybe // how many are over, the server may know better
		}
	}
	d := due{kind: kind, err: wire.ErrMaxSubscriptions, mild: varies}
	if c.user != "" && len(c.w.cfg.tenants.versions) > 1 { // a reload that comes first may make room, or forbid this one too
		d.kind, d.errs = dueMaybe, []wire.Err{c.subViolation(pattern, queue)}
	}
	c.ledger.add(d)
	return true
}

// unsubscribe writes an UNSUB, with a number of messages or without; odd follows the sid then, and means nothing.
func (c *client) unsubscribe(s *subscription, most uint64, odd string) {
	c.node.oracle.Unsubscribe(c.told, s.sid, most)
	b := strconv.AppendUint(append(c.out, "UNSUB "...), s.sid, 10)
	if most > 0 {
		b = strconv.AppendUint(append(b, ' '), most, 10)
	}
	c.out = append(append(b, odd...), "\r\n"...)
	c.acknowledged()
	if most > 0 && c.w.garbage {
		c.node.oracle.Doubt(c.told, s.sid) // a stray message counts too
	}
	s.ending = true
	s.max = most
	s.ended = c.pings
}

// message is what is published.
type message struct {
	subject string
	size    int
	header  int // bytes of headers; 0: none
	request bool
	reply   []byte // overrides: empty for none
}

// publish writes a PUB or HPUB.
func (c *client) publish(m message) {
	n := uint64(len(c.published))
	if !c.headers || m.header == 0 {
		m.header = 0
	} else {
		m.header = headerSize(m.header)
	}
	if m.header+stampSize > c.maxPayload {
		m.header = 0
	}
	if t := c.w.cfg.tenants; t != nil && t.services {
		m.size = max(m.size, stampSize) // a reply subject that names the publish would not come through
	}
	m.size = max(min(m.size, c.maxPayload-m.header), 0)
	if m.header+m.size > c.maxPayload {
		m.header = 0
	}
	p := published{subject: m.subject, epoch: c.id.Epoch(), size: int32(m.size), header: int32(m.header), at: c.w.queue.Now()}
	c.published = append(c.published, p)
	var room [64]byte
	reply := room[:0]
	switch {
	case m.request:
		reply = appendReply(reply, inboxReply, c.id, n)
	case m.size < stampSize:
		reply = appendReply(reply, tinyReply, c.id, n)
	}
	grant := c.grantFor(m.subject)
	c.node.oracle.PublishAs(c.told, n, m.subject, string(reply), grant)
	c.w.messages++
	c.w.largest = max(c.w.largest, m.header+m.size)
	c.w.volume.add(c.w.queue.Now(), m.header+m.size+messageOverhead)
	b := c.out
	if m.header > 0 {
		b = append(b, "HPUB "...)
	} else {
		b = append(b, "PUB "...)
	}
	b = append(append(b, m.subject...), ' ')
	if len(reply) > 0 {
		b = append(append(b, reply...), ' ')
	}
	if m.header > 0 {
		b = append(strconv.AppendInt(b, int64(m.header), 10), ' ')
	}
	b = strconv.AppendInt(b, int64(m.header+m.size), 10)
	b = append(b, "\r\n"...)
	if m.header > 0 {
		b = appendHeader(b, c.id, n, m.header)
	}
	b = appendPayload(b, c.id, n, p)
	c.out = append(b, "\r\n"...)
	c.published[n].end = c.outFrom + int64(len(c.out))
	if m.header+m.size > c.node.terms().payload { // which the client has not been told
		if c.bar(int(n)); !c.fatal { // once, in a burst of them
			c.refusal(wire.ErrMaxPayload)
		}
		return
	}
	c.publishAnswered(m.subject, grant)
}

// full reports whether enough waits to be sent.
func (c *client) full() bool { return len(c.out)-c.outAt > outMax }

func (c *client) trait(purpose uint32, n uint64) uint64 {
	return c.w.source.Below(decision.Key{Kind: decision.SimTrait, Actor: c.actor, Purpose: purpose}, n)
}

// fenced is told which of the connection's pings was answered.
func (c *client) fenced(ping uint64) {
	kept := c.subs[:0]
	for _, s := range c.subs {
		if s.ending && (s.max == 0 || s.got >= s.max) && ping > s.ended {
			continue // the UNSUB came before the ping: it is over
		}
		kept = append(kept, s)
	}
	clear(c.subs[len(kept):])
	c.subs = kept
	c.settleForbidden(ping)
	c.toldRevoked(ping)
}

// messageOverhead is about what a message costs beside headers and payload, bytes.
const messageOverhead = 64
