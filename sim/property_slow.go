package sim

import (
	"strconv"
	"time"

	"github.com/natsd/natsd/engine"
)

// A connection that takes nothing of what waits for it is closed when write_deadline has passed on the server's clock,
// and not before.

// propSlow is the name of the property.
const propSlow = "slow-consumer"

// slowWatch knows, by slot, since when connections owe the server to take something.
type slowWatch struct {
	owed   []engine.Instant // 0: nothing waits, or the network has not refused anything
	behind []engine.Instant // the same, but since when anything has waited without a break
	took   []engine.Instant // when the connection last took all of a Send
}

func (s *slowWatch) reset() { s.owed, s.behind, s.took = s.owed[:0], s.behind[:0], s.took[:0] }

// sent is told of every Send.
func (s *slowWatch) sent(n *node, id engine.ConnID, offered, taken int) {
	slot := int(id.Slot())
	for len(s.owed) <= slot {
		s.owed, s.behind, s.took = append(s.owed, 0), append(s.behind, 0), append(s.took, 0)
	}
	if taken == offered {
		s.owed[slot], s.behind[slot] = 0, 0
		s.took[slot], _ = n.Now()
		return
	}
	if s.behind[slot] == 0 {
		s.behind[slot], _ = n.Now()
	}
	if taken > 0 || s.owed[slot] == 0 {
		s.owed[slot], _ = n.Now()
	}
}

// closed is told of every connection that the engine gives up.
func (s *slowWatch) closed(n *node, nc *nodeConn) {
	if slot := int(nc.id.Slot()); slot < len(s.owed) {
		s.owed[slot], s.behind[slot], s.took[slot] = 0, 0, 0
	}
}

// idle is how long the connection has taken nothing that it was offered.
func (s *slowWatch) idle(n *node, id engine.ConnID) time.Duration {
	if slot := int(id.Slot()); slot < len(s.owed) && s.owed[slot] > 0 {
		now, _ := n.Now()
		return time.Duration(now - s.owed[slot])
	}
	return 0
}

// idleAtMost is the same, or more by what went before: where more waits than a turn may write, the network may have taken all
// that it was offered shortly before it refused the rest, and time counts from there.
func (s *slowWatch) idleAtMost(n *node, id engine.ConnID) time.Duration {
	idle := s.idle(n, id)
	if idle == 0 {
		return 0
	}
	slot := id.Slot()
	if since := time.Duration(s.owed[slot] - s.took[slot]); s.took[slot] > 0 && since < slowGrace {
		return idle + since
	}
	return idle
}

// slowGrace is how much later than its deadline a slow consumer may be closed on a server that is not held up: a turn or
// two, and the Writable that was already under way.
const slowGrace = 500 * time.Millisecond

// check looks for connections that should have been closed.
func (s *slowWatch) check(n *node) {
	if n.eng == nil || n.hindered() {
		return
	}
	limit := n.w.cfg.engine.WriteDeadline
	if n.reloaded {
		limit *= reloadFactor
	}
	for slot := range s.owed {
		if slot >= len(n.conns) || n.conns[slot].id == 0 || n.conns[slot].over {
			continue
		}
		if idle := s.idle(n, n.conns[slot].id); idle > limit+slowGrace {
			n.w.fail(propSlow, "the connection of "+n.conns[slot].who()+" has taken nothing for "+idle.String()+
				" and is still there; write_deadline is "+limit.String())
		}
	}
}

func (nc *nodeConn) who() string {
	if nc.client == nil {
		return nc.info.IP
	}
	return nc.client.name() + " (connection " + strconv.FormatUint(nc.dial, 10) + ")"
}
