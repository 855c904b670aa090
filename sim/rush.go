package sim

import (
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// When an operator is about to bring another configuration of accounts into force, some clients are in a hurry: they ask, or
// publish on one subject, again and again; where imports of streams come and go, on those that are imported. Others publish in the very moment of
// the reload, what somebody hears who is in their account from then on. So the reload finds requests without answer, publishers
// that do what they just did, and messages that come in the same turn, before all connections have followed.

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
	reloadDelay = 7  // ms, until it is carried out
	reloadPlace = 8  // where among all that waits it is
	reloadTakes = 9  // ms, to read it: meanwhile more comes to wait
	reloadAgain = 10 // µs, until another one comes; 0: none does
	reloadNext  = 11 // to which configuration that one is
	reloadHasty = 12 // whether it waits for an earlier one
)

// Where a reload is among what the turn is told that it comes in: behind what has come before it was read, before all else, or
// behind all else.
const (
	reloadBetween = iota
	reloadFirst
	reloadLast
	numPlaces
)

const (
	reloadDelayMost = 50 // ms
	reloadTakesMost = 30 // ms
	reloadAgainMost = 40 // µs: before all have followed
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
	n.hasty = draw(reloadHasty, 3) > 0
	all := uint64(len(n.w.cfg.tenants.versions))
	n.again, n.afterwards = 0, max(draw(reloadNext, 2*all), all)-all // mostly the same one again
	if again := draw(reloadAgain, 2*reloadAgainMost); again > reloadAgainMost {
		n.again = schedule.Time(again-reloadAgainMost) * 1000
	}
	n.after(nodeReload, nth<<16|draw(reloadTakes, reloadTakesMost)<<8|draw(reloadPlace, numPlaces), schedule.Time(draw(reloadDelay, reloadDelayMost))*millisecond)
}

// reloadNow has it carried out in the next turn, once it is read. Clients do something meanwhile, and soon after.
func (n *node) reloadNow(what uint64) {
	if n.eng == nil {
		return
	}
	nth, takes, place := what>>16, schedule.Time(what>>8&0xff)*millisecond, what&0xff
	n.busy = max(n.busy, n.w.queue.Now()+takes)
	for _, c := range n.w.clients {
		if c != nil && c.node == n {
			c.seizeMoment(nth, takes)
		}
	}
	if place == reloadLast {
		n.after(nodeReloadRead, 0, takes)
		return
	}
	n.reloadRead(place == reloadFirst)
}

// reloadRead has the next turn told of the reload: first of all, or behind all that waits.
func (n *node) reloadRead(first bool) {
	n.tell(ready{kind: readyQuery, n: uint64(askReload)})
	if last := len(n.ready) - 1; first && last > 0 && n.ready[0].kind != readyStart {
		r := n.ready[last]
		copy(n.ready[1:], n.ready[:last])
		n.ready[0] = r
	}
}

// reloadOnceMore has the reload that was carried out just now followed by another, before all connections have followed.
func (n *node) reloadOnceMore() {
	if n.again == 0 || n.w.faults.over {
		return
	}
	n.nextVersion = (n.version + int(n.afterwards)) % len(n.w.cfg.tenants.versions)
	n.nextOptions = n.w.cfg.options(n.nextVersion)
	n.after(nodeReloadRead, 1, n.again)
	n.again = 0
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

// momentMost is how often a client does something around the moment of a reload.
const momentMost = 4

// seizeMoment draws whether the client does something in the moment of a reload, and what: something about which others in its
// account have subscriptions, or about what accounts share.
func (c *client) seizeMoment(nth uint64, takes schedule.Time) {
	s := slotKey{c, nth}
	if s.below(detailMoment, 3) == 0 && !c.insists() || !c.mayRush() || c.leaveAround(s, takes) {
		return
	}
	t := c.w.cfg.tenants
	asked, told := t.asked[c.traits.user], t.told[c.traits.user]
	m := message{size: stampSize, request: c.traits.requests && s.below(detailMomentHow, 2) == 1}
	switch about := s.below(detailMomentAbout, 3); {
	case c.insists():
		m.request, m.subject = true, betweenSubject
	case about == 1 && m.request && len(asked) > 0:
		m.subject = asked[s.below(detailMomentWhich, uint64(len(asked)))]
	case about == 2 && len(told) > 0:
		m.subject = told[s.below(detailMomentWhich, uint64(len(told)))]
	default:
		m.subject = c.momentSubject(s)
	}
	under := c.rush.left > 0
	if under && (t.upheaval == unshared || t.upheaval == unserved) {
		return // that hurry is what the upheaval is about
	}
	c.rush = rush{message: m, left: momentMost, every: momentPaces[s.below(detailMomentPace, uint64(len(momentPaces)))]}
	if !under {
		c.rushOn()
	}
}

var momentPaces = [...]schedule.Time{millisecond, 5 * millisecond, millisecond / 10}

// momentSubject draws what a client has subscribed to that will be in the same account from then on: one that comes to it, if
// any does.
func (c *client) momentSubject(s slotKey) string {
	t := c.w.cfg.tenants
	_, account := t.versions[c.node.nextVersion].User(c.user)
	var here, come []string
	for _, other := range c.w.clients {
		if other == nil || other.node != c.node {
			continue
		}
		if _, next := t.versions[c.node.nextVersion].User(other.user); next != account {
			continue
		}
		_, before := t.versions[c.node.version].User(other.user)
		for _, x := range other.subs {
			switch {
			case x.pattern == "" || x.pattern[0] == '_': // inboxes are for answers
			case before == account:
				here = append(here, x.pattern)
			default:
				come = append(come, x.pattern)
			}
		}
	}
	if len(come) == 0 {
		come = here
	}
	if len(come) == 0 {
		return c.w.cfg.subjects[s.below(detailMomentWhich, uint64(len(c.w.cfg.subjects)))]
	}
	return sampleOf(come[s.below(detailMomentWhich, uint64(len(come)))])
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
