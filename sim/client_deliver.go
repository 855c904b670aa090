package sim

import (
	"bytes"

	"github.com/natsd/natsd/sim/oracle"
)

// propStray: a message that nobody published is only read when somebody sends garbage, and where there are accounts, only where
// it may come to from a user that does.
const propStray = "stray"

// deliver handles a MSG or HMSG.
func (c *client) deliver(in *inbound) {
	c.w.deliveries++
	if in.unanswered() {
		c.unanswerable(in)
		return
	}
	if in.odd && !c.garbage {
		c.w.fail(propProtocol, c.name()+" read a message for a sid that it does not have, on "+quote(in.subject))
		return
	}
	s := c.sub(in.sid)
	if s != nil {
		s.got++
	}
	id, n, from := c.identify(in)
	if from == nil {
		if !c.mayStray(string(in.subject)) {
			c.w.fail(propStray, c.name()+" read a message on "+quote(in.subject)+" that nobody published: "+quote(in.payload))
		}
		return
	}
	if c.garbage {
		return // what it subscribed to, nobody knows
	}
	p := from.published[n]
	c.judgeTerms(from, &p)
	m := oracle.Message{
		Info: c.uninform(in, from),
		SID:  in.sid, Subject: in.subject, Reply: in.reply, From: id, N: n, Intact: c.intact(in, id, n, p),
	}
	c.grant(&m)
	c.node.oracle.Receive(c.told, &m)
	if c.kind == kindGambler && id == c.id {
		c.landed(n, in.subject)
	}
	c.w.judged(c.node)
	if s == nil || c.w.failure != nil {
		return
	}
	if s.responds && (bytes.HasPrefix(in.reply, []byte(inboxReply)) || bytes.HasPrefix(in.reply, []byte(hiddenReply))) && !c.full() && !c.halfClosed {
		c.answerLater(string(in.reply), s.times+1)
	}
}

func (c *client) sub(sid uint64) *subscription {
	for _, s := range c.subs {
		if s.sid == sid {
			return s
		}
	}
	return nil
}

// identify finds out which publish a message is.
func (c *client) identify(in *inbound) (id oracle.ID, n uint64, from *client) {
	id, n, check, ok := readStamp(in.payload)
	if ok {
		if from = c.w.client(id.Client()); from != nil && n < uint64(len(from.published)) {
			if p := from.published[n]; stampCheck(id, n, p) == check {
				return id, n, from
			}
		}
	}
	if id, n, ok = readReply(in.reply, tinyReply); ok {
		if from = c.w.client(id.Client()); from != nil && n < uint64(len(from.published)) {
			return id, n, from
		}
	}
	return 0, 0, nil
}

// intact reports whether headers and payload are those of the publish, as this connection is to see them.
func (c *client) intact(in *inbound, id oracle.ID, n uint64, p published) bool {
	if !samePayload(in.payload, id, n, p) {
		return false
	}
	if p.header == 0 || !c.headers {
		return in.header == nil
	}
	c.w.block = appendHeader(c.w.block[:0], id, n, int(p.header))
	return string(in.header) == string(c.w.block)
}

// unanswered reports whether a message is a 503: nobody responds.
func (in *inbound) unanswered() bool { return bytes.HasPrefix(in.header, []byte("NATS/1.0 503")) }

// unanswerable handles a 503.
func (c *client) unanswerable(in *inbound) {
	id, n, ok := readReply(in.subject, inboxReply)
	if !ok {
		id, n, ok = readReply(in.subject, tinyReply)
	}
	if c.garbage {
		return
	}
	if !ok || id != c.id || n >= uint64(len(c.published)) {
		c.w.fail(oracle.Responders, c.name()+" was told that nobody answers what it did not ask: "+quote(in.subject))
		return
	}
	right, want := false, ""
	for _, subj := range c.node.oracle.Names(c.told, n, c.published[n].subject) {
		want = "NATS/1.0 503\r\nNats-Subject: " + subj + "\r\n\r\n"
		right = right || string(in.header) == want
	}
	if !right || len(in.payload) > 0 || len(in.reply) > 0 {
		c.w.fail(oracle.Responders, c.name()+" read a 503 with "+quote(in.header)+", not "+quote([]byte(want)))
		return
	}
	c.node.oracle.NoResponders(c.told, in.sid, n)
	c.w.judged(c.node)
}
