package sim

import "github.com/natsd/natsd/sim/schedule"

// What can happen to a node as a whole.

// aftermath is how long after something was wrong with a node its connections may still be closed for it: every timer
// that the engine has set, and what clients queued meanwhile.
const aftermath = 2 * second

// sick notes that something is wrong with the node until then: what its connections suffer is not the engine's fault.
func (n *node) sick(until schedule.Time) {
	n.sickUntil = max(n.sickUntil, until+aftermath)
	for _, c := range n.w.clients {
		if c != nil {
			c.harmed = true
		}
	}
}

// hindered reports whether something is, or may still be, wrong with the node.
func (n *node) hindered() bool { return n.eng == nil || n.stopping || n.w.queue.Now() < n.sickUntil }

// kill ends the process without a word and starts another one later.
func (n *node) kill(now, later schedule.Time) {
	n.die(now)
	n.host.Kill()
	n.sick(now)
	n.after(nodeBoot, 0, later)
}

// powerOff takes the machine its power.
func (n *node) powerOff(now schedule.Time) {
	n.die(now)
	n.host.PowerOff()
	n.off = true
	n.clock.settle(now)
	n.slow, n.clock.stuck, n.clock.frost = n.w.cfg.slow, false, false
	n.sick(now)
}

// powerOn gives it back, and starts a process.
func (n *node) powerOn(now schedule.Time) {
	if !n.off {
		return
	}
	n.off = false
	n.host.PowerOn()
	n.sick(now)
	n.boot(now)
}

// stop tells the engine to stop, at once or in lame duck mode. When it has, another process is started.
func (n *node) stop(lameDuck bool) {
	if n.eng == nil {
		return
	}
	n.stopping = true
	if lameDuck {
		n.tell(ready{kind: readyDuck})
	} else {
		n.tell(ready{kind: readyStop})
	}
}

// thaw lets the clocks go on, unless they do.
func (n *node) thaw(now, catchUp schedule.Time) {
	if n.clock.stuck {
		n.clock.thaw(now, catchUp)
		n.retime()
	}
}

// heal ends all that is wrong with the node.
func (n *node) heal(now schedule.Time) {
	if n.off || n.clock.stuck || n.slow != n.w.cfg.slow || n.paused > 0 || n.eng == nil || n.stopping {
		n.sick(now)
	}
	if n.off {
		n.powerOn(now)
	}
	n.thaw(now, 0)
	n.clock.hold(now, false)
	n.slow = n.w.cfg.slow
	if n.paused > 0 {
		n.paused = 0
		n.poke()
	}
	if n.eng == nil {
		n.boot(now)
	}
}
