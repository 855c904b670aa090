package sim

import (
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// When an operator is about to bring another configuration of accounts into force, some clients are in a hurry: they ask, or
// publish on one subject, again and again; where imports of streams come and go, on those that are imported. So the reload finds requests without answer, publishers that do what they just did,
// and messages that come in the same turn, before all connections have followed.

// rush is what a client does again and again.
type rush struct {
	message message
	shared  []string // subjects, if not always the same one
	left    int
	every   schedule.Time
}

// rushMost is how often it does it.
const rushMost = 20

var rushPaces = [...]schedule.Time{30 * millisecond, 5 * millisecond, millisecond}

// Purposes of a server's choices about a reload, beside those of drawReload.
const (
	reloadDelay = 7 // ms, until it is carried out
	reloadFirst = 8 // whether that is done before everything else that waits
	reloadTakes = 9 // ms, to read it: meanwhile more comes to wait
)

const (
	reloadDelayMost = 50 // ms
	reloadTakesMost = 30 // ms
)

// reloadSoon has the reload drawn in the nth second carried out: of other accounts a little later, with clients in a hurry.
func (n *node) reloadSoon(nth uint64) {
	if n.w.cfg.tenants == nil || n.nextVersion == n.version {
		n.tell(ready{kind: readyQuery, n: uint64(askReload)})
		return
	}
	for _, c := range n.w.clients {
		if c != nil && c.node == n {
			c.startRush(nth)
		}
	}
	draw := func(purpose uint32, below uint64) uint64 {
		return n.w.source.Below(decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: purpose, N: nth}, below)
	}
	n.after(nodeReload, draw(reloadTakes, reloadTakesMost)<<1|draw(reloadFirst, 2), schedule.Time(draw(reloadDelay, reloadDelayMost))*millisecond)
}

// reloadNow has it carried out in the next turn, once it is read.
func (n *node) reloadNow(takes schedule.Time, first bool) {
	if n.eng == nil {
		return
	}
	n.busy = max(n.busy, n.w.queue.Now()+takes)
	n.tell(ready{kind: readyQuery, n: uint64(askReload)})
	if last := len(n.ready) - 1; first && n.ready[0].kind != readyStart {
		r := n.ready[last]
		copy(n.ready[1:], n.ready[:last])
		n.ready[0] = r
	}
}

// startRush draws whether the client is in a hurry, and about what.
func (c *client) startRush(nth uint64) {
	s := slotKey{c, nth}
	t, user := c.w.cfg.tenants, c.traits.user
	asked, shared := t.asked[user], t.shared[user]
	asks := c.traits.requests && len(asked) > 0
	how := s.below(detailRush, 4)
	if (how == 0 || how == 1 && !asks) && t.upheaval != unserved && len(shared) == 0 || !c.mayRush() || c.rush.left > 0 {
		return
	}
	m := message{subject: c.w.cfg.subjects[s.below(detailRushSubject, uint64(len(c.w.cfg.subjects)))], size: stampSize}
	if asks && how != 2 {
		m.request, m.subject = true, asked[s.below(detailRushService, uint64(len(asked)))]
		shared = nil
	}
	c.rush = rush{message: m, shared: shared, left: rushMost, every: rushPaces[s.below(detailRushPace, uint64(len(rushPaces)))]}
	c.rushOn()
}

func (c *client) mayRush() bool {
	return c.hostile && c.told != nil && c.state == clientReady && !c.fatal && !c.halfClosed && !c.full()
}

// rushOn does it once more.
func (c *client) rushOn() {
	if !c.mayRush() || c.rush.left == 0 {
		c.rush.left = 0
		return
	}
	m := c.rush.message
	if all := c.rush.shared; len(all) > 0 {
		m.subject = all[(c.index+c.rush.left)%len(all)]
	}
	c.publish(m)
	c.flush()
	if c.rush.left--; c.rush.left > 0 {
		c.later(clientRush, c.rush.every)
	}
}

// outstripped tells the oracle what a reload overtakes: publishes that the engine has not been handed to the end are handled
// after it.
func (n *node) outstripped() {
	for i := range n.conns {
		nc := &n.conns[i]
		c := nc.client
		if nc.id == 0 || c == nil || c.told == nil || c.dial != nc.dial {
			continue
		}
		last := len(c.published)
		for last > 1 && c.published[last-1].epoch == c.id.Epoch() && c.published[last-1].end > nc.handed {
			last--
		}
		if last < len(c.published) {
			n.oracle.Overtaken(c.told, uint64(last))
		}
	}
}
