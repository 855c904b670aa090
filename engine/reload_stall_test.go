package engine

import (
	"testing"
	"time"
)

// TestReloadShortensBackPressure: publishers that are held back when a reload shortens StallMax wait no longer than that.
func TestReloadShortensBackPressure(t *testing.T) {
	o := Options{StallBytes: 1, StallMax: time.Second}
	e, w := started(t, o)
	receiver, publisher := accept(e), accept(e)
	turn(e, func() { e.Received(receiver, []byte("CONNECT {\"verbose\":false}\r\nSUB a 1\r\n")) })
	w.room = 0
	turn(e, func() { e.Received(publisher, []byte("CONNECT {\"verbose\":false}\r\nPUB a 2\r\nhi\r\n")) })
	turn(e, func() { e.Received(publisher, []byte("PUB a 2\r\nhi\r\n")) })
	if e.totals.stalls == 0 {
		t.Fatal("the publisher is not held back")
	}
	o.StallMax = time.Millisecond
	o.Check = true
	turn(e, func() { e.Reload(o) }) // the invariants are checked after the turn
}
