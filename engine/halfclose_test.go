package engine

import (
	"strings"
	"testing"
	"time"
)

// A peer that has ended its sending side and goes on reading gets all that waits for it, however long that takes, as long
// as it takes something within every write_deadline.
func TestHalfClosedPeerGetsItsOutput(t *testing.T) {
	for _, c := range []struct {
		name  string
		every time.Duration // between two reads
		got   bool
	}{
		{"it reads", 9 * time.Second, true},
		{"it does not", 11 * time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, w := started(t, Options{WriteDeadline: 10 * time.Second})
			id := accept(e)
			w.take(id)
			w.room = 1000
			turn(e, func() {
				e.Received(id, []byte("CONNECT {\"verbose\":false}\r\nSUB a 1\r\nPUB a 4000\r\n"+strings.Repeat("x", 4000)+"\r\nPING\r\n"))
				e.EOF(id)
			})
			got := w.take(id)
			for range 4 {
				w.now += Instant(c.every)
				if w.wake <= w.now {
					turn(e, e.TimerDue)
				}
				w.blocked[id] = false
				turn(e, func() { e.Writable(id) })
				got += w.take(id)
			}
			if all := strings.HasSuffix(got, "x\r\nPONG\r\n"); all != c.got {
				t.Errorf("it got %d bytes, all: %v, want %v", len(got), all, c.got)
			}
			if !w.gone[id] || e.Footprint().Connections != 0 {
				t.Error("the connection is still there")
			}
		})
	}
}
