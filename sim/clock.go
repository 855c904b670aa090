package sim

import (
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/schedule"
)

// wallStart is the wall time at which every run begins: 2027-01-15 08:00 UTC.
const wallStart engine.WallTime = 1_800_000_000_000_000_000

// million is the rate of a clock that runs right.
const million = 1_000_000

// clock is a machine's pair of clocks: a monotonic one that may run fast, slow or not at all but never goes back, and
// the wall clock, which follows it and can be set. Both are linear functions of simulated time between two changes.
type clock struct {
	since schedule.Time // of the last change
	mono  engine.Instant
	wall  engine.WallTime // at since
	ppm   int64           // drift
	stuck bool            // neither moves
	frost bool            // the wall clock does not move
}

func newClock() clock { return clock{mono: 1, wall: wallStart} }

func (c *clock) rate() int64 {
	if c.stuck {
		return 0
	}
	return million + c.ppm
}

// read tells both times.
func (c *clock) read(now schedule.Time) (engine.Instant, engine.WallTime) {
	d := int64(now - c.since)
	// d*rate overflows after 2.5 hours: split it.
	gone := d/million*c.rate() + d%million*c.rate()/million
	wall := c.wall
	if !c.frost {
		wall += engine.WallTime(gone)
	}
	return c.mono + engine.Instant(gone), wall
}

// settle makes now the moment from which the functions count.
func (c *clock) settle(now schedule.Time) {
	c.mono, c.wall = c.read(now)
	c.since = now
}

// when is the earliest simulated time at which the monotonic clock shows at, or far away if it does not move.
func (c *clock) when(at engine.Instant) schedule.Time {
	if at <= c.mono {
		return c.since
	}
	rate := c.rate()
	if rate == 0 {
		return farAway
	}
	d := int64(at - c.mono)
	whole, rest := d/rate, d%rate
	if whole >= int64(farAway)/million {
		return farAway
	}
	t := c.since + schedule.Time(whole*million+(rest*million+rate-1)/rate)
	if m, _ := c.read(t); m < at {
		t++ // both divisions round down
	}
	return t
}

// farAway is later than the end of any run: 31 years.
const farAway schedule.Time = 1_000_000_000_000_000_000

// drift sets by how much the clocks run fast, in parts per million.
func (c *clock) drift(now schedule.Time, ppm int64) {
	c.settle(now)
	c.ppm = ppm
}

// step sets the wall clock by d.
func (c *clock) step(now schedule.Time, d schedule.Time) {
	c.settle(now)
	c.wall += engine.WallTime(d)
}

// freeze stops both clocks; thaw lets them go on where they stood, or where they would be had they not stopped.
func (c *clock) freeze(now schedule.Time) {
	c.settle(now)
	c.stuck = true
}

func (c *clock) thaw(now schedule.Time, catchUp schedule.Time) {
	c.settle(now)
	c.stuck = false
	c.mono += engine.Instant(catchUp)
	c.wall += engine.WallTime(catchUp)
}

// hold stops the wall clock alone.
func (c *clock) hold(now schedule.Time, on bool) {
	c.settle(now)
	c.frost = on
}
