package sim

import (
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/schedule"
)

// A client that does all it should, on a connection that nothing is wrong with, is answered in time, whatever others do:
// its PING within patiencePong, its CONNECT within patienceOpen. Only one that publishes may be held back, for the sake
// of a slow receiver, and then not when all is healed and everybody reads.

// The names of the properties.
const (
	propAnswers = "answers" // at all
	propLatency = "latency" // and soon, however sick others are
)

// heldBefore is for how long after it was held back a client's answers may still be late.
const heldBefore = patiencePong + 5*second

// silence is told when the client has waited for an answer since that moment, and gives the connection up.
func (c *client) silence(since schedule.Time, why string) {
	w := c.w
	now := w.queue.Now()
	switch {
	case !c.healthy() || c.mute || c.halfClosed || w.congested(c):
		return
	case w.healedAt == 0 && c.heldLately(now):
		return
	case w.healedAt > 0 && since < w.healedAt+heldBefore:
		return // others read again only since then
	}
	w.fail(propAnswers, c.name()+" was not answered for "+time.Duration(now-since).String()+": "+why)
}

// prompt is told how long the answer to a PING took, and how many bytes of the client's own it came behind. Who is not held back, and has a way to the server that is not full,
// waits for its round trips and for the turns of others, which are short.
func (c *client) prompt(took schedule.Time, behind int64) {
	w := c.w
	most := latencyMax + 10*(w.cfg.net.Link.Latency+w.cfg.net.Link.Jitter)
	if w.cfg.budget <= 64 {
		turn := turnCost + 2*eventCost*len(w.clients) // in which everybody is read, and written to
		most += schedule.Time(behind/int64(w.cfg.budget)+1) * schedule.Time(turn) * schedule.Time(w.cfg.slow)
	}
	// And behind what was published lately, once for each of its subscriptions, while as much is written to somebody else.
	most += 2 * schedule.Time(w.volume.recent(w.queue.Now())) * schedule.Time(max(len(c.subs), 1)) * schedule.Time(w.cfg.slow)
	if c.kind == kindCollector {
		return // one message may fill its way for a while
	}
	if took <= most || !c.healthy() || w.congested(c) || c.heldLately(w.queue.Now()) || c.deliberates() {
		return
	}
	w.fail(propLatency, c.name()+" waited "+time.Duration(took).String()+" for a PONG, at most "+
		time.Duration(most).String()+" is stated")
}

// latencyMax is the bound that is stated beside round trips: a turn takes a few milliseconds, and there may be some before.
const latencyMax = second / 2

// unread is how many bytes of what the client has written its server's engine has not been given.
func (c *client) unread() int64 {
	end := c.outFrom + int64(len(c.out))
	for i := range c.node.conns {
		if nc := &c.node.conns[i]; nc.id != 0 && nc.client == c && nc.dial == c.dial {
			return end - nc.handed
		}
	}
	return end
}

// healthy reports whether nothing explains what the server does to the client but the server.
func (c *client) healthy() bool {
	return !c.harmed && !c.lazy && !c.garbage && !c.fatal && !c.away && !c.node.hindered() && !c.w.netTrouble(c)
}

// heldLately reports whether the server holds the client back, or did lately.
func (c *client) heldLately(now schedule.Time) bool {
	return c.held || c.heldAt > 0 && now-c.heldAt < heldBefore
}

// heldBack is told when the server stops or resumes reading from a connection.
func (n *node) heldBack(id engine.ConnID, on bool) {
	if nc := n.slot(id); nc != nil && nc.client != nil && nc.client.dial == nc.dial {
		nc.client.holdBack(on, n.w.queue.Now())
	}
}

// holdBack notes when the client is held back. That others had their shares before it, within one turn, does not count.
func (c *client) holdBack(on bool, now schedule.Time) {
	switch {
	case on:
		c.heldFormerly, c.heldAt = c.heldAt, now
	case c.heldAt == now:
		c.heldAt = c.heldFormerly
	default:
		c.heldAt = now
	}
	c.held = on
}
