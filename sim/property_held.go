package sim

import (
	"time"

	"github.com/natsd/natsd/engine"
)

// Before a slow receiver is closed because too much waits for it, those who fill it have been held back.

// propHeld is the name of the property.
const propHeld = "held-back"

// held reports that somebody was held back since the connection's network first refused something that is still
// waiting, or that the way from there to max_pending is too short to tell.
func (n *node) held(nc *nodeConn) bool {
	since, full := n.watch.refused(nc.id)
	if !full || n.lastPause >= since || n.hindered() {
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
	return o.MaxPending < o.StallBytes+burst*copies
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
