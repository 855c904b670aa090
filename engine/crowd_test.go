package engine

import (
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

// An answer does not wait behind all the receivers of a message to thousands.
func TestAnswersPassCrowds(t *testing.T) {
	const receivers = 5 * settleTurn
	e, w := started(t, Options{})
	for range receivers {
		c := accept(e)
		turn(e, func() { e.Received(c, []byte("CONNECT {\"verbose\":false}\r\nSUB a 1\r\n")) })
	}
	pub, healthy := accept(e), accept(e)
	for _, c := range []ConnID{pub, healthy} {
		turn(e, func() { e.Received(c, []byte("CONNECT {\"verbose\":false}\r\n")) })
	}
	w.settle(t, e)
	w.take(healthy)
	turn(e, func() { e.Received(pub, []byte("PUB a 1\r\nx\r\n")) })
	if len(e.crowd) == 0 {
		t.Fatal("all receivers were written to in one turn: the test shows nothing")
	}
	turn(e, func() { e.Received(healthy, []byte("PING\r\n")) })
	if got := w.take(healthy); got != "PONG\r\n" {
		t.Errorf("the PING was answered by %q in its turn", got)
	}
	w.settle(t, e)
	if len(e.crowd) != 0 || e.traffic().outMsgs != receivers {
		t.Errorf("%d receivers are still to be written to, %d were", len(e.crowd), e.traffic().outMsgs)
	}
}

// Nor behind those of a request to a service of another account that thousands answer.
func TestAnswersPassCrowdsOfServices(t *testing.T) {
	const receivers = 5 * settleTurn
	w := withAccounts(t, Options{}, config.Account{Name: "A", Exports: exports(config.Service, "ask")},
		config.Account{Name: "B", Imports: []config.Import{service("A", "ask")}})
	for range receivers {
		w.join("A", "SUB ask 1\r\n")
	}
	pub, healthy := w.join("B", ""), w.join("B", "SUB ask 1\r\n")
	w.w.settle(t, w.e)
	w.w.take(healthy)
	turn(w.e, func() { w.e.Received(pub, []byte("PUB ask 1\r\nx\r\n")) })
	if len(w.e.crowd) == 0 {
		t.Fatal("all receivers were written to in one turn: the test shows nothing")
	}
	turn(w.e, func() { w.e.Received(healthy, []byte("PING\r\n")) })
	if got := w.w.take(healthy); got != "MSG ask 1 1\r\nx\r\nPONG\r\n" {
		t.Errorf("by the turn of its PING it got %q", got)
	}
}

// Nor behind many that were slow and are writable again, with much waiting for each.
func TestAnswersPassThoseThatWereSlow(t *testing.T) {
	const receivers = 2 * settleTurn
	e, w := started(t, Options{})
	var slow []ConnID
	for range receivers {
		c := w.join(e, "SUB a 1\r\n")
		w.settle(t, e)
		w.rooms[c] = 0
		slow = append(slow, c)
	}
	pub, healthy := w.join(e, ""), w.join(e, "")
	w.settle(t, e)
	w.take(healthy)
	turn(e, func() { e.Received(pub, []byte("PUB a 100000\r\n"+strings.Repeat("x", 100_000)+"\r\n")) })
	w.settle(t, e)
	e.BeginTurn()
	for _, c := range slow {
		delete(w.rooms, c)
		delete(w.blocked, c)
		e.Writable(c)
	}
	e.Received(healthy, []byte("PING\r\n"))
	e.EndTurn()
	if got := w.take(healthy); got != "PONG\r\n" {
		t.Errorf("the PING was answered by %q in its turn", got)
	}
	if len(e.crowd) == 0 {
		t.Error("all were written to in one turn: the test shows nothing")
	}
	w.settle(t, e)
	for _, c := range slow {
		if n := len(w.take(c)); n < 100_000 {
			t.Fatalf("a receiver got %d bytes", n)
		}
	}
}
