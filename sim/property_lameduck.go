package sim

import (
	"time"

	"github.com/natsd/natsd/engine"
)

// In lame duck mode clients are told by an INFO, and after the grace period evicted one by one, none before it and the
// last before the duration is over, on the server's clock.

// propLameDuck is the name of the property.
const propLameDuck = "lame-duck"

// duckGrace is how much later than the duration the last client may be evicted: one interval, by rounding, and a turn.
const duckGrace = time.Second

// ducked is told when the engine is told to enter lame duck mode.
func (n *node) ducked() {
	if n.duckSince == 0 {
		n.duckSince, _ = n.Now()
		n.duckAt = n.w.queue.Now()
		n.duckUp = n.addr != ""
	}
}

// checkDucked follows each turn: in lame duck mode nobody is let in.
func (n *node) checkDucked() {
	if n.duckUp && n.addr != "" {
		n.w.fail(propLameDuck, "the server goes on listening in lame duck mode")
	}
}

// evicted is told of every client that the engine closes for it.
func (n *node) evicted(nc *nodeConn) {
	now, _ := n.Now()
	since, o := time.Duration(now-n.duckSince), &n.w.cfg.engine
	switch {
	case n.duckSince == 0:
		n.w.fail(propLameDuck, nc.who()+" was evicted without lame duck mode")
	case since < o.LameDuckGrace:
		n.w.fail(propLameDuck, nc.who()+" was evicted "+since.String()+" after lame duck mode began, within the grace period")
	case since > o.LameDuckDuration+duckGrace && n.w.queue.Now() >= n.sickUntil:
		n.w.fail(propLameDuck, nc.who()+" was evicted only "+since.String()+" after lame duck mode began")
	}
	if c := nc.client; c != nil && c.dial == nc.dial {
		c.evicted = true
	}
}

// farewellTold is told when a client has read the end of an evicted connection: it must have been told before.
func (c *client) farewellTold() {
	if c.evicted && !c.duckTold && c.readyAt > 0 && c.readyAt < c.node.duckAt && c.life == c.node.life &&
		!c.harmed && !c.lazy && !c.garbage && !c.w.netTrouble(c) && !c.traits.late {
		c.w.fail(propLameDuck, c.name()+" was evicted and never told")
	}
}

// words are the reasons for which the client is told in words before it is closed.
func inWords(r engine.CloseReason) bool {
	switch r {
	case engine.ReasonProtocol, engine.ReasonBadVersion, engine.ReasonNoHeaders, engine.ReasonMaxPayload, engine.ReasonMaxLine, engine.ReasonAuthFailed:
		return true
	}
	return false
}

// lastWords is told when the client has read the end of the stream: if it was closed for an offence that there are words
// for, it has read them, unless its user was taken away before.
func (c *client) lastWords() {
	if c.sentence != "" && !c.wordsRead && inWords(c.closedFor) && !c.garbage && !c.lazy && !c.harmed && !c.w.netTrouble(c) && !c.w.congested(c) {
		c.w.fail(propReplies, c.name()+" was closed after a reload for "+string(c.closedFor)+" without -ERR '"+string(c.sentence)+"'")
	}
	if c.sentence != "" {
		return
	}
	err, offended := c.ledger.fatal()
	if c.expelled && c.closedFor == engine.ReasonAuthFailed || c.unopened {
		return
	}
	if offended && err != "" && inWords(c.closedFor) && !c.garbage && !c.harmed && !c.w.netTrouble(c) {
		c.w.fail(propReplies, c.name()+" was closed for "+string(c.closedFor)+" without -ERR '"+string(err)+"'")
	}
}
