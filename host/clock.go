package host

import (
	"time"

	"github.com/natsd/natsd/engine"
)

// clock is the system's clocks.
type clock struct {
	start  time.Time
	wakeAt engine.Instant
}

func newClock() *clock { return &clock{start: time.Now(), wakeAt: engine.Never} }

// Now implements engine.Clock.
func (c *clock) Now() (engine.Instant, engine.WallTime) {
	t := time.Now()
	return engine.Instant(t.Sub(c.start)) + 1, engine.WallTime(t.UnixNano())
}

// Wake implements engine.Clock.
func (c *clock) Wake(at engine.Instant) { c.wakeAt = at }

// due reports that the moment asked for has come, once.
func (c *clock) due() bool {
	if c.wakeAt == engine.Never || engine.Instant(time.Since(c.start))+1 < c.wakeAt {
		return false
	}
	c.wakeAt = engine.Never
	return true
}

// timeout is how long until then: 0 if it has come, negative if there is none.
func (c *clock) timeout() time.Duration {
	if c.wakeAt == engine.Never {
		return -1
	}
	return max(time.Duration(c.wakeAt)-time.Since(c.start), 0)
}
