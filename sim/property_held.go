package sim

import (
	"strconv"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/oracle"
	"github.com/natsd/natsd/sim/schedule"
)

// Before a slow receiver is closed because too much waits for it, those who fill it have been held back.

// propHeld is the name of the property.
const propHeld = "held-back"

// held reports that somebody was held back since the connection's network first refused something that is still
// waiting, or that the way from there to max_pending is too short to tell.
func (n *node) held(nc *nodeConn) bool {
	since, full := n.watch.refused(nc.id)
	if !full || n.lastPause >= since || n.loweredAt >= since || n.hindered() {
		return true
	}
	o := &n.w.cfg.engine
	c := nc.client
	if c == nil || c.dial != nc.dial {
		return true // how many copies of a message it gets, nobody knows any more
	}
	copies := max(len(c.subs), 1) + 1
	// Each publisher may have something on its way through a turn.
	burst := (len(n.w.clients)+1)*(n.w.cfg.sizeMax+1024) + 2*n.w.cfg.budget
	return n.w.cfg.leastPending() < o.StallBytes+burst*copies
}

// judgeHeld is told of a slow consumer that is closed for what waits for it.
func (n *node) judgeHeld(nc *nodeConn) {
	if !n.held(nc) {
		since, _ := n.watch.refused(nc.id)
		now, _ := n.Now()
		n.w.fail(propHeld, nc.who()+" was closed for max_pending "+time.Duration(now-since).String()+
			" after it began to fall behind, and nobody was held back for it")
	}
}

// refused is when the network first refused something of what still waits for the connection.
func (s *slowWatch) refused(id engine.ConnID) (since engine.Instant, ok bool) {
	if slot := int(id.Slot()); slot < len(s.behind) && s.behind[slot] > 0 {
		return s.behind[slot], true
	}
	return 0, false
}

// A publisher that goes on filling a receiver which has enough waiting already is held back. That a receiver has enough is
// known from the messages that the server is proven to have handled and the receiver has not read: what the kernels may
// hold of them does not count.

// fullWatch is what is known of a receiver that has too much waiting.
type fullWatch struct {
	since schedule.Time // when it was first seen so; 0: it is not
	seen  schedule.Time // when that was last looked at
	free  int           // how often since publishers were found that went on filling it
}

// fullOften is how often that must be found: a message that is delivered between Writable and the end of the turn, while
// the receiver takes something, holds nobody back.
const fullOften = 2

// checkHeld looks for receivers that are being filled, once a second.
func (n *node) checkHeld(now schedule.Time) {
	if n.eng == nil {
		return
	}
	for slot := range n.conns {
		nc := &n.conns[slot]
		if nc.id == 0 || nc.over {
			continue
		}
		since, behind := n.watch.refused(nc.id)
		c := nc.client
		if !behind || n.hindered() || n.lastPause >= since || c == nil || c.dial != nc.dial || c.told == nil || c.state <= clientOpening {
			nc.full = fullWatch{}
			continue
		}
		n.checkFull(nc, now)
	}
}

// checkFull looks at one that takes less than there is for it, while nobody has been held back.
func (n *node) checkFull(nc *nodeConn, now schedule.Time) {
	c, w, full := nc.client, n.w, &nc.full
	bytes := -(w.cfg.net.SendBuffer + w.cfg.net.RecvBuffer + len(c.input.rest))
	var filler *client
	n.oracle.Waiting(c.told, func(from oracle.ID, number uint64) {
		p := w.client(from.Client())
		if p == nil || number >= uint64(len(p.published)) {
			return
		}
		m := &p.published[number]
		bytes += int(m.size)
		if c.headers {
			bytes += int(m.header)
		}
		if full.since > 0 && m.at > full.seen && p.id == from && !p.held && p.heldAt < full.since {
			filler = p
		}
	})
	switch {
	case bytes <= w.cfg.engine.StallBytes:
		*full = fullWatch{}
		return
	case full.since == 0:
		full.since = now
	case filler != nil:
		full.free++
	}
	full.seen = now
	if full.free >= fullOften {
		w.fail(propHeld, filler.name()+" goes on publishing to "+nc.who()+", for which "+strconv.Itoa(bytes)+
			" bytes wait beside what the kernels hold, and nobody was held back for it")
	}
}
