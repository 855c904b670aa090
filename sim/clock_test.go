package sim

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/schedule"
)

// TestClock: whatever is done to a clock, its monotonic half never goes back, and when finds the first moment at which it
// shows what is asked for.
func TestClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		now := schedule.Time(0)
		last, _ := c.read(now)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			now += schedule.Time(rapid.Int64Range(0, int64(100*second)).Draw(t, "pass"))
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				c.drift(now, rapid.Int64Range(-50_000, 50_000).Draw(t, "ppm"))
			case 1:
				c.step(now, schedule.Time(rapid.Int64Range(-int64(farAway), int64(farAway)).Draw(t, "step")))
			case 2:
				c.freeze(now)
			case 3:
				c.thaw(now, schedule.Time(rapid.Int64Range(0, int64(second)).Draw(t, "catch up")))
			case 4:
				c.hold(now, rapid.Bool().Draw(t, "hold"))
			}
			mono, _ := c.read(now)
			if mono < last {
				t.Fatalf("from %d back to %d", last, mono)
			}
			last = mono
			at := mono + engine.Instant(rapid.Int64Range(0, int64(10_000*second)).Draw(t, "ask"))
			when := c.when(at)
			if c.stuck {
				continue
			}
			if m, _ := c.read(when); m < at {
				t.Fatalf("at %d it shows %d, not %d", when, m, at)
			}
			if when > now {
				if m, _ := c.read(when - 2); m >= at {
					t.Fatalf("at %d it shows %d already", when-2, at)
				}
			}
		}
	})
}
