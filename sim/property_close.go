package sim

import (
	"strconv"
	"strings"

	"github.com/natsd/natsd/engine"
)

// Clients are closed by the server for what they did, or did not do, and never otherwise. The server says why in its
// log; that is held against what the client and the network did.

// propClosed is the name of the property.
const propClosed = "closed"

// propContract: the engine asks only what env.go allows.
const propContract = "contract"

const closedPrefix = "Client connection closed: "

// clientSays is what stands in the log between a connection's name, which stays the same, and what its client said of itself.
const clientSays = ` - "`

// heard is told of every log line.
func (n *node) heard(level engine.Level, subject, text string) {
	if level != engine.LevelDebug {
		return
	}
	subject, _, _ = strings.Cut(subject, clientSays)
	if text == "Client connection created" {
		n.newest.name = subject
		return
	}
	reason, ok := strings.CutPrefix(text, closedPrefix)
	if !ok {
		return
	}
	if n.listenerLog(subject, reason) || n.localClosed(&n.service.local, subject) || n.lendLog(subject) || n.archiveLog(subject) || n.membersLog(subject) || n.askersLog(subject) || n.grantersLog(subject) {
		return
	}
	nc := n.named(subject)
	if nc == nil {
		n.w.fail(propClosed, "the server closed "+subject+", which it does not have")
		return
	}
	n.judgeAddress(nc, subject)
	nc.over, nc.reason = true, engine.CloseReason(reason)
	n.judge(nc, engine.CloseReason(reason))
	n.active--
}

// named finds the connection that the log calls by that name.
func (n *node) named(subject string) *nodeConn {
	if n.newest.conn != nil && sameConn(n.newest.name, subject) {
		return &n.newest
	}
	for i := range n.conns {
		if nc := &n.conns[i]; nc.id != 0 && sameConn(nc.name, subject) {
			return nc
		}
	}
	return nil
}

// judge says whether the reason is a good one.
func (n *node) judge(nc *nodeConn, reason engine.CloseReason) {
	c := nc.client
	n.w.note(n.index, "closes "+nc.who()+": "+string(reason))
	if c == nil {
		return
	}
	if c.dial == nc.dial {
		c.closedFor, c.unopened = reason, nc.unopened()
	}
	gone := c.dial != nc.dial || c.state <= clientDialling // it has left meanwhile
	sick := gone || c.harmed || n.hindered() || n.w.netTrouble(c)
	just := true
	switch reason {
	case engine.ReasonClientClosed, engine.ReasonReadError:
		just = gone || nc.end || c.garbage
	case engine.ReasonAuthTimeout:
		just = sick || c.mute || c.lazy || c.kind == kindSilent || c.garbage
	case engine.ReasonAuthFailed:
		just = gone || c.fatal || c.garbage || c.expelled || n.mayRefuse(c) || c.mayLapse()
	case engine.ReasonSlowPending:
		n.judgeHeld(nc)
		just = sick || c.lazy || n.w.overwhelmed(c)
	case engine.ReasonSlowDeadline:
		just = sick || c.lazy || n.w.congested(c)
		if idle := n.watch.idleAtMost(n, nc.id); idle < n.w.cfg.engine.WriteDeadline {
			n.w.fail(propSlow, nc.who()+" was closed for write_deadline "+idle.String()+" after it last took something")
		}
	case engine.ReasonProtocol:
		just = gone || c.fatal || c.garbage || nc.unopened() && (sick || c.mute || c.lazy)
	case engine.ReasonParseError, engine.ReasonBadVersion, engine.ReasonNoHeaders, engine.ReasonMaxPayload, engine.ReasonMaxLine:
		just = gone || c.fatal || c.garbage
	case engine.ReasonStale:
		just = sick || c.mute || c.lazy || n.w.congested(c) || c.garbage // what it answers may lie in a payload that it began
	case engine.ReasonMaxConns:
		just = n.active > n.terms().connections && nc == &n.newest // those that are there stay
	case engine.ReasonShutdown:
		just = n.stopping
	case engine.ReasonKicked:
		just = false // nobody asks for that
	case engine.ReasonTLSHandshake:
		just = false // simulated clients speak plaintext to a server that has no TLS
	case engine.ReasonAuthExpired, engine.ReasonAuthRevoked:
		just = gone || c.mayLapse()
	case engine.ReasonNoProxy, engine.ReasonProxy:
		just = false // nobody has to come through one
	case engine.ReasonAccountConns, engine.ReasonMaxSubs:
		just = false // accounts have no limits
	case engine.ReasonLameDuck:
		n.evicted(nc)
	}
	if !just {
		n.w.fail(propClosed, nc.who()+" was closed without cause: "+string(reason))
	}
}

// accepting is told of a connection that the engine is about to be told of.
func (n *node) accepting(nc nodeConn) {
	n.newest = nc
	n.active++
	n.total++
}

// accepted is told when the engine has named it.
func (n *node) accepted(nc *nodeConn) {
	nc.over, nc.name = n.newest.over, n.newest.name
	n.newest = nodeConn{}
	if most := n.terms().connections; n.active > most && !nc.over {
		n.w.fail(propClosed, strconv.Itoa(n.active)+" connections, max_connections is "+strconv.Itoa(most))
	}
}

// turnedAway is told when the engine does not want the connection that it was told of: there are too many, or it has given
// it up already.
func (n *node) turnedAway() {
	if !n.newest.over {
		n.active--
		n.total--
		if most := n.terms().connections; n.active < most && !n.stopping {
			n.w.fail(propClosed, n.newest.who()+" was turned away though there are but "+strconv.Itoa(n.active)+
				" connections, max_connections is "+strconv.Itoa(most))
		}
	}
	n.newest = nodeConn{}
}

// overdue is the moment by which the server must have closed the connection.
func (c *client) overdue() {
	if c.state <= clientDialling {
		return
	}
	if c.harmed || c.lazy || c.node.hindered() || c.w.netTrouble(c) || c.w.congested(c) || c.outAt < len(c.out) || !c.hostile {
		c.giveUp(c.w.queue.Now(), "the server does not close it")
		return
	}
	c.w.fail(propClosed, c.name()+" was not closed for its offence, due was "+c.ledger.unanswered())
}

// overwhelmed reports whether so much was published lately that more than max_pending may have waited for a client that
// reads all it can.
func (w *world) overwhelmed(c *client) bool {
	return w.volume.recent(w.queue.Now())*uint64(max(len(c.subs), 1)) > uint64(w.cfg.leastPending())
}

// congested reports whether so much was published lately that the client's way to the server may have been full.
func (w *world) congested(c *client) bool {
	r := uint64(w.cfg.rate)
	if cut := w.cfg.cutRate(); cut > 0 && (r == 0 || cut < r) {
		r = cut
	}
	return r > 0 && w.volume.recent(w.queue.Now())*uint64(max(len(c.subs), 1)) > r/4
}

// cutRate is how many bytes a second pass where small segments are cut near their beginnings, and what follows a cut comes
// later; 0: there is no such bound.
func (c *config) cutRate() uint64 {
	const (
		small   = 64     // bytes of a segment
		gaps    = 10_000 // in a second
		million = 1_000_000
	)
	n := &c.net
	if n.CutPerMillion == 0 || n.CutMax == 0 || n.CutMax > small {
		return 0
	}
	return small * gaps * uint64(million-n.CutPerMillion) / uint64(n.CutPerMillion)
}
