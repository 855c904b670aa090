package engine

import (
	"strings"
	"testing"
)

// Whatever publishers have left over, what is received in a turn is processed in it: a PING is answered while others have
// seconds of deliveries waiting.
func TestBacklogKeepsNobodyOut(t *testing.T) {
	e, w := started(t, Options{TurnWork: 40})
	sub := accept(e)
	turn(e, func() {
		e.Received(sub, []byte("CONNECT {\"verbose\":false}\r\n"+strings.Repeat("SUB a 1\r\n", 1)))
		for i := range 30 {
			e.Received(sub, []byte("SUB a x"+string(rune('A'+i))+"\r\n"))
		}
	})
	w.settle(t, e)
	for range 10 {
		p := accept(e)
		turn(e, func() {
			e.Received(p, []byte("CONNECT {\"verbose\":false}\r\n"+strings.Repeat("PUB a 0\r\n\r\n", 1000)))
		})
	}
	healthy := accept(e)
	turn(e, func() { e.Received(healthy, []byte("CONNECT {\"verbose\":false}\r\n")) })
	for i := range 100 {
		w.take(healthy)
		e.BeginTurn()
		if e.TurnFull() {
			t.Fatalf("turn %d is full before anything was received", i)
		}
		e.Received(healthy, []byte("PING\r\n"))
		e.EndTurn()
		if got := w.take(healthy); got != "PONG\r\n" {
			t.Fatalf("turn %d: PING was answered by %q", i, got)
		}
	}
	if e.traffic().inMsgs == 10_000 {
		t.Fatal("the backlog was too small to show anything")
	}
}
