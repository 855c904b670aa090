package host

import (
	"time"

	"github.com/natsd/natsd/engine"
)

// clock is the system's clocks.
//
// A process that was stopped, or did not get the processor, finds timers overdue and, unread, what clients sent in time.
// So timers that are late wait until that has been delivered: clients are not blamed for time in which nobody listened.
type clock struct {
	start  time.Time
	wakeAt engine.Instant
	// pause is for how long nothing must have arrived before overdue timers are seen to. It is for a host that can't tell
	// whether there is something to read; 0: the host can.
	pause time.Duration

	late    engine.Instant // by how much the timers were that wait; 0: none wait
	from    engine.Instant // since when they do
	quiet   engine.Instant // since when nothing has arrived
	excused engine.Instant // timers due before then have waited
}

const (
	// overdue is by how much timers must be late to wait. It is more than a turn takes.
	overdue = engine.Instant(10 * time.Millisecond)
	// overdueWait bounds the wait, as a multiple of how late they are; overdueMost does as well.
	overdueWait = 4
	overdueMost = engine.Instant(time.Second)
	// overdueStep is how often the engine gets a turn meanwhile, at least.
	overdueStep = time.Millisecond
)

func newClock() *clock { return &clock{start: time.Now(), wakeAt: engine.Never} }

// Now implements engine.Clock.
func (c *clock) Now() (engine.Instant, engine.WallTime) {
	t := time.Now()
	return engine.Instant(t.Sub(c.start)) + 1, engine.WallTime(t.UnixNano())
}

// Wake implements engine.Clock.
func (c *clock) Wake(at engine.Instant) { c.wakeAt = at }

// due reports that the moment asked for has come when a turn began, once; or not yet, if it is overdue and input may be
// unread. busy: something was delivered in this turn after which there may be more.
func (c *clock) due(began time.Time, busy bool) bool {
	return c.dueAt(engine.Instant(began.Sub(c.start))+1, busy)
}

// dueAt is due with the engine's time. What becomes due while a turn lasts is not for this turn: its clock stands still.
func (c *clock) dueAt(now engine.Instant, busy bool) bool {
	if c.wakeAt == engine.Never || now < c.wakeAt {
		c.late = 0
		return false
	}
	if c.late == 0 && now-c.wakeAt > overdue && c.wakeAt > c.excused {
		c.late, c.from, c.quiet = now-c.wakeAt, now, now
		return false // whatever this turn was told of may be from before the process was stopped
	}
	if c.late > 0 {
		if busy {
			c.quiet = now
		}
		if now-c.from < min(overdueWait*c.late, overdueMost) && (busy || now-c.quiet < engine.Instant(c.pause)) {
			return false
		}
		c.late, c.excused = 0, now
	}
	c.wakeAt = engine.Never
	return true
}

// timeout is how long until a turn is due: 0 if it is, negative if none is.
func (c *clock) timeout() time.Duration {
	switch {
	case c.wakeAt == engine.Never:
		return -1
	case c.late > 0 && c.pause > 0:
		return overdueStep // what the engine has left over goes on, and who reads gets the processor
	}
	return max(time.Duration(c.wakeAt)-time.Since(c.start), 0)
}
