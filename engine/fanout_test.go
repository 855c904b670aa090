package engine

import (
	"fmt"
	"strings"
	"testing"
)

// A message with more receivers than a turn serves is finished in later turns, before what its publisher sent next, and
// even if the publisher leaves.
func TestFanoutOverSeveralTurns(t *testing.T) {
	for _, size := range []int{0, 2, shareMin} {
		for _, pieces := range []int{1, 3} {
			for _, leaves := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d bytes in %d pieces, publisher leaves %v", size, pieces, leaves), func(t *testing.T) {
					testFanout(t, size, pieces, leaves)
				})
			}
		}
	}
}

func testFanout(t *testing.T, size, pieces int, leaves bool) {
	const receivers = 50
	e, w := started(t, Options{TurnWork: 4})
	var subs []ConnID
	for range receivers {
		c := accept(e)
		turn(e, func() { e.Received(c, []byte("CONNECT {\"verbose\":false}\r\nSUB foo 1\r\n")) })
		w.take(c)
		subs = append(subs, c)
	}
	p := accept(e)
	turn(e, func() { e.Received(p, []byte("CONNECT {\"verbose\":false}\r\n")) })
	w.take(p)
	body := strings.Repeat("x", size)
	pub := fmt.Sprintf("PUB foo %d\r\n%s\r\nPUB foo 1\r\ny\r\nPING\r\n", size, body)
	for i := range pieces {
		part := pub[i*len(pub)/pieces : (i+1)*len(pub)/pieces]
		turn(e, func() { e.Received(p, []byte(part)) })
	}
	if got := w.take(p); got == "PONG\r\n" {
		t.Fatal("the PING was answered before the messages were delivered")
	}
	if leaves {
		turn(e, func() { e.EOF(p) })
	}
	for n := 0; w.wake <= w.now; n++ {
		if n > 200 {
			t.Fatal("the fan-out does not end")
		}
		w.ring(e)
	}
	want := fmt.Sprintf("MSG foo 1 %d\r\n%s\r\nMSG foo 1 1\r\ny\r\n", size, body)
	for i, c := range subs {
		if got := w.take(c); got != want {
			t.Fatalf("receiver %d got %d bytes, want %d", i, len(got), len(want))
		}
	}
	if got := w.take(p); got != "PONG\r\n" {
		t.Fatalf("publisher got %q", got)
	}
	for _, c := range append(subs, p) {
		turn(e, func() { e.Closed(c, "") })
	}
	for w.wake <= w.now {
		w.ring(e)
	}
	if f := e.Footprint(); f != (Footprint{Slots: receivers + 1}) {
		t.Fatalf("left behind: %+v", f)
	}
}
