package engine

import (
	"testing"
	"time"
)

// TestWriteDeadlineCountsFromTheRefusal: a peer that took everything, was silent for long and then takes nothing has the
// whole write_deadline from the first refusal on, not from when it last took something.
func TestWriteDeadlineCountsFromTheRefusal(t *testing.T) {
	e, w := started(t, Options{WriteDeadline: time.Second})
	c := accept(e)
	turn(e, func() { e.Received(c, []byte("CONNECT {\"verbose\":false}\r\nSUB a 1\r\nPING\r\n")) })
	w.now += Instant(time.Minute)
	w.room = 0
	turn(e, func() { e.Received(c, []byte("PUB a 2\r\nhi\r\n")) })
	w.now += Instant(time.Second) - 1
	w.ring(e)
	if w.gone[c] {
		t.Fatalf("closed before write_deadline had passed: %q", w.log)
	}
	w.now++
	w.ring(e)
	if !w.gone[c] {
		t.Fatal("not closed after write_deadline")
	}
}
