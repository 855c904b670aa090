package host

import (
	"testing"
	"time"

	"github.com/natsd/natsd/engine"
)

// Timers that are late wait for input, for a bounded time; those on time don't.
func TestOverdueTimersWaitForInput(t *testing.T) {
	const ms = engine.Instant(time.Millisecond)
	const at = 10000 * ms
	type look struct {
		now  engine.Instant
		busy bool
		due  bool
	}
	for _, c := range []struct {
		name  string
		pause time.Duration
		looks []look
	}{
		{"on time", 0, []look{{at - 1, false, false}, {at, true, true}, {at + 1, false, false}}},
		{"a turn late", 0, []look{{at + overdue, true, true}}},
		{"late, nothing to read", 0, []look{{at + 4000*ms, false, false}, {at + 4000*ms, false, true}}},
		{"late, much to read", 0, []look{{at + 4000*ms, true, false}, {at + 4500*ms, true, false}, {at + 4501*ms, false, true}}},
		{"late, always something to read", 0, []look{{at + 4000*ms, true, false}, {at + 4999*ms, true, false}, {at + 5000*ms, true, true}}},
		{"a little late, always something to read", 0, []look{{at + 20*ms, true, false}, {at + 99*ms, true, false}, {at + 100*ms, true, true}}},
		{"late, it can't be told", 20 * time.Millisecond, []look{{at + 4000*ms, false, false}, {at + 4019*ms, false, false}, {at + 4020*ms, false, true}}},
		{"late, something comes", 20 * time.Millisecond, []look{{at + 4000*ms, false, false}, {at + 4019*ms, true, false}, {at + 4020*ms, false, false}, {at + 4039*ms, false, true}}},
		{"late, something comes for ever", 20 * time.Millisecond, []look{{at + 4000*ms, true, false}, {at + 4999*ms, true, false}, {at + 5000*ms, true, true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := clock{wakeAt: at, pause: c.pause}
			for _, l := range c.looks {
				if due := k.dueAt(l.now, l.busy); due != l.due {
					t.Fatalf("at %v, busy %v: due is %v", time.Duration(l.now), l.busy, due)
				}
			}
		})
	}
}

// The engine may ask for other moments while timers wait: they wait no less, and no longer.
func TestOverdueTimersWaitOnce(t *testing.T) {
	const ms = engine.Instant(time.Millisecond)
	k := clock{start: time.Now(), wakeAt: 100 * ms}
	if k.dueAt(1100*ms, true) {
		t.Fatal("timers came before input")
	}
	k.Wake(1100 * ms) // it has something left over
	if k.dueAt(1101*ms, true) {
		t.Fatal("timers came before input when the engine had something left over")
	}
	k.Wake(2000 * ms) // what was overdue is no more
	if k.dueAt(1102*ms, true) || k.late != 0 {
		t.Fatal("timers wait that are not due")
	}
	if !k.dueAt(2000*ms, true) {
		t.Fatal("a timer that was not late has waited")
	}
	k.Wake(2001 * ms)
	if k.dueAt(3000*ms, false) || k.dueAt(3000*ms, true) || !k.dueAt(3000*ms, false) {
		t.Fatal("timers must wait for input, and no longer")
	}
	k.Wake(2002 * ms) // more were due than a turn sees to
	if !k.dueAt(3001*ms, true) {
		t.Error("the same timers wait again")
	}
}
