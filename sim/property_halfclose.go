package sim

import (
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/schedule"
)

// A peer that ends its sending side still reads all that the server has for it, the answers to what it sent included, if
// it reads it in time.

// propHalfClose is the name of the property.
const propHalfClose = "half-close"

// inTime is how long the server waits at least, on the world's clock, for a peer that takes nothing: a little less than
// the write_deadline that it grants on its own, or than the two seconds that it grants in any case.
func (w *world) inTime() schedule.Time {
	return min(2*second, schedule.Time(w.cfg.engine.WriteDeadline)) * 3 / 4
}

// farewell is told when the engine closes a connection: if that is soon after the end of what the peer sent, and for no
// other reason, then all answers have been handed to the network.
func (n *node) farewell(id engine.ConnID) {
	nc := n.slot(id)
	if nc == nil || nc.endedAt == 0 || nc.reason != engine.ReasonClientClosed || n.hindered() {
		return
	}
	if c := nc.client; c != nil && c.dial == nc.dial && !c.harmed && !c.lazy && !n.w.netTrouble(c) &&
		n.w.queue.Now()-nc.endedAt < n.w.inTime() {
		c.answered = true
	}
}

// endOfStream is told when the client has read the last that comes.
func (c *client) endOfStream() {
	if c.halfClosed && c.answered && c.sentAll && !c.garbage && !c.fatal && c.ledger.pongs > 0 {
		c.w.fail(propHalfClose, c.name()+" ended its sending side and did not read what was due to it: "+c.ledger.unanswered())
	}
	c.farewellTold()
	c.lastWords()
	c.ended("end of stream")
}
