package sim

import (
	"github.com/natsd/natsd/sim/schedule"
)

// The ways in which a client leaves, is cut off or stops listening.

// depart carries out the operation if it is one of those.
func (c *client) depart(op operation, s slotKey) bool {
	wait := millisecond << s.below(detailWait, 15) // up to half a minute
	switch op {
	case opLeave:
		c.backoff = wait / 8
		c.drop("left")
	case opAbort:
		c.conn.Abort()
		c.drop("reset")
	case opKill:
		c.host.Kill()
		c.backoff = wait / 8
		c.drop("process ended")
	case opVanish:
		c.w.struck++
		c.w.noteClient(c, "loses power")
		c.power(false)
		c.w.queue.After(wait, c, clientPower)
	case opHalfOpen:
		c.w.struck++
		c.w.noteClient(c, "half-open")
		c.harmed = true
		c.conn.Vanish()
	case opStall:
		c.w.noteClient(c, "stops reading")
		c.stall(wait)
	case opHalfClose:
		if s.below(detailHow, 2) == 1 { // so that answers are on their way, or cannot be
			for range s.below(detailCount, 400) {
				c.ping()
			}
		}
		c.ping()
		c.flush()
		c.halfClosed, c.sentAll = true, c.outAt == len(c.out)
		c.closing = true
		c.conn.CloseWrite()
		c.later(clientCloseBy, patienceClose)
	default:
		return false
	}
	return true
}

// power switches the client's machine off or on.
func (c *client) power(on bool) {
	if on == !c.away {
		return
	}
	c.away = !on
	if !on {
		c.host.PowerOff()
		c.drop("power failure")
		c.gen++
		c.state = clientIdle
		return
	}
	c.host.PowerOn()
	c.again()
}

// hurry ends whatever keeps the client from being connected and from reading.
func (c *client) hurry(now schedule.Time) {
	c.hostile = false
	if c.away {
		c.power(true)
	}
	if c.traits.badAuth || c.kind == kindSilent || c.mute || c.fatal || c.halfClosed || c.garbage {
		c.drop("mends its ways")
	}
	c.mute = false
	c.traits.mute = false
	c.unstall()
	if c.traits.pace > 0 && c.state > clientDialling {
		c.readAll()
	}
}
