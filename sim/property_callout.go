package sim

import (
	"bytes"
	"strconv"
	"time"

	"github.com/natsd/natsd/sim/schedule"
	"github.com/natsd/natsd/wire"
)

// Where a service decides who clients are, nobody is let in but by an answer that is right, is the first one to the question
// about that login, and comes in time; whoever got one is let in, with the account and the permissions that it names (the
// oracle sees to these); and about everybody the server decides in time, whether the service answers, is late, or is not there.

// propCallout is the name of the property.
const propCallout = "callout"

// calloutGrace is how much longer than auth_timeout a decision may take on a server that is not held up: turns in which the
// question waits to be published, and the jobs that verify an answer.
const calloutGrace = time.Second

// verifyIn is how long a server that nothing hinders may take to act on an answer: as answerIn.
const verifyIn = time.Duration(answerIn)

// logsIn notes that the client has written a CONNECT, about which the service is to be asked.
func (c *client) logsIn() {
	c.connectPing, c.connectAt = c.pings, c.w.queue.Now()
	c.unasked = append(c.unasked, c.connectAt)
}

// refusable notes that the CONNECT that was just written may be refused.
func (c *client) refusable() {
	if c.w.cfg.callout != nil || c.short || c.revocable() {
		c.ledger.add(due{kind: dueOption, err: wire.ErrAuthorization})
	}
}

// letIn is told that the nth ping of the client's connection was answered: if a CONNECT came before it, the client was let in.
func (c *client) letIn(ping uint64) {
	if c.w.cfg.callout == nil || ping <= c.connectPing {
		return
	}
	switch q := c.inquiry; {
	case q == nil || len(c.unasked) > 0:
		c.w.fail(propCallout, c.name()+" was let in though the service was not asked")
	case q.firstAt == 0:
		c.w.fail(propCallout, c.name()+" was let in though the service has not answered")
	case !q.right && !(q.answer == answerLate && q.held):
		c.w.fail(propCallout, c.name()+" was let in though the service answered "+answerNames[q.answer])
	}
}

// mayRefuse reports whether the server may refuse to let the client in.
func (n *node) mayRefuse(c *client) bool {
	if n.w.cfg.callout == nil {
		return false
	}
	now, _ := n.Now()
	q, timeout := c.inquiry, n.w.cfg.engine.AuthTimeout
	// Others may wait behind the first CONNECT about which nobody was asked.
	absent := len(c.unasked) > 0 && (n.service.since == 0 || c.unasked[0] <= n.service.since)
	switch {
	case n.hindered() || absent:
		return true
	case q == nil:
		return false
	case q.lost:
		return true
	case q.firstAt == 0: // another CONNECT may wait behind the one that the question is about
		return time.Duration(now-q.heardAt) >= timeout/2
	case q.right:
		return time.Duration(q.firstAt-q.heardAt) > timeout/2 // too late, perhaps
	}
	return true
}

// decided is told of all that the server sends to a client.
func (nc *nodeConn) decided(bufs [][]byte) {
	c := nc.client
	if c == nil || c.dial != nc.dial || c.inquiry == nil || bytes.HasPrefix(bufs[0], []byte("INFO")) {
		return
	}
	if !c.inquiry.decided {
		c.inquiry.decided, c.inquiry.held = true, c.node.hindered()
	}
}

// checkUndecided looks for clients about whom nobody decides.
func (n *node) checkUndecided() {
	if n.w.cfg.callout == nil || n.eng == nil || n.hindered() {
		return
	}
	now, _ := n.Now()
	asked := n.service.asked
	for _, q := range asked[max(len(asked)-checkedBack, 0):] {
		most, since := n.tooLate(), q.heardAt
		if q.firstAt > 0 && !q.lost {
			most, since = verifyIn, q.firstAt
		}
		if took := time.Duration(now - since); took > most && took < verifyIn+2*most && q.undecided(n) {
			n.w.fail(propCallout, "nobody has decided about "+q.client.name()+" (connection "+strconv.FormatUint(q.dial, 10)+
				") for "+took.String()+"; the service answered "+answerNames[q.answer])
		}
	}
}

// undecided is told when the client has waited in vain for an answer to its CONNECT, much longer than whoever decides may take
// since the server is not held up any more.
func (c *client) undecided() {
	n, now := c.node, c.w.queue.Now()
	if c.w.cfg.callout == nil || c.state != clientOpening || c.life != n.life || c.lazy || c.sickUntil > c.since || c.w.netTrouble(c) ||
		c.w.congested(c) || n.hindered() || now-n.sickUntil < schedule.Time(n.tooLate()) {
		return
	}
	c.w.fail(propCallout, c.name()+" was neither let in nor refused for "+time.Duration(now-c.since).String())
}

// checkedBack is how many questions are looked at again.
const checkedBack = 200

// deliberates reports whether the client's answers may be late because the service was asked about it.
func (c *client) deliberates() bool {
	return c.w.cfg.callout != nil && c.w.queue.Now()-c.connectAt < patiencePong
}

// appendSize appends the size that ends a PUB.
func appendSize(b []byte, size int) []byte {
	return append(strconv.AppendInt(append(b, ' '), int64(size), 10), "\r\n"...)
}
