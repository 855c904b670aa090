package engine

import (
	"strings"
	"testing"
	"time"
)

func TestPings(t *testing.T) {
	e, w := started(t, Options{PingInterval: 10 * time.Second, PingMax: 2})
	c := w.join(e, "")
	w.advance(t, e, Instant(3*time.Second))
	if got := w.take(c); got != "PING\r\n" {
		t.Fatalf("no early ping, but %q", got)
	}
	w.advance(t, e, Instant(20*time.Millisecond))
	say(e, c, "PONG\r\n")
	if rtt := e.lookup(c).rtt; rtt < Instant(20*time.Millisecond) {
		t.Fatalf("round-trip time %d", rtt)
	}
	w.advance(t, e, Instant(11*time.Second))
	if got := w.take(c); got != "PING\r\n" {
		t.Fatalf("%q", got)
	}
	say(e, c, "PONG\r\n")
	for range 3 { // whoever sends something is not asked
		say(e, c, "PUB a 0\r\n\r\n")
		w.advance(t, e, Instant(9*time.Second))
	}
	if got := w.take(c); got != "" {
		t.Fatalf("asked although it sends: %q", got)
	}
	w.advance(t, e, Instant(time.Minute))
	if got := w.take(c); got != "PING\r\nPING\r\n-ERR 'Stale Connection'\r\n" || !w.gone[c] {
		t.Fatalf("%q", got)
	}
	w.left(t, e)
}

// Who answers no pings did nothing wrong: nats-server's log has a line about it where debug lines are wanted.
func TestStaleConnectionIsNoError(t *testing.T) {
	for _, debug := range []bool{false, true} {
		e, w := started(t, Options{PingInterval: time.Second, PingMax: 1, Debug: debug})
		c := w.join(e, "")
		w.advance(t, e, Instant(time.Minute))
		if !w.gone[c] || w.logged("Stale Client Connection - Closing") != debug || w.logged("Stale Connection") && !debug {
			t.Fatal("debug lines", debug, "closed", w.gone[c])
		}
	}
}

// A client that the server itself does not read from can't answer.
func TestNoPingsWhileHeldBack(t *testing.T) {
	e, w, pub, _ := stalled(t, Options{StallMax: time.Hour, WriteDeadline: time.Hour, PingInterval: time.Second, PingMax: 1000})
	w.advance(t, e, Instant(time.Minute))
	if got := w.take(pub); got != "" || w.gone[pub] || w.fin[pub] {
		t.Fatalf("%q", got)
	}
}

// An idle connection keeps neither buffers nor what it published to last.
func TestIdleConnectionHoldsNothing(t *testing.T) {
	e, w := started(t, Options{PingInterval: 10 * time.Second})
	sub := w.join(e, "SUB a 1\r\n")
	pub := w.join(e, "")
	say(e, pub, strings.Repeat("PUB a 5\r\nhello\r\n", 1000)+"PUB a 9000\r\n"+strings.Repeat("x", 9000)+"\r\nPU")
	say(e, pub, "B a 3\r\nab")
	say(e, pub, "c\r\n")
	w.take(sub)
	for range 4 {
		w.advance(t, e, Instant(9*time.Second))
		say(e, pub, "PONG\r\n")
		say(e, sub, "PONG\r\n")
	}
	if n := e.Footprint().Chunks; n != 0 {
		t.Errorf("%d buffers are in use", n)
	}
	for _, c := range e.conns {
		if c.partial != nil || c.msg != nil || c.stash != nil || c.memo != nil || c.out.segs != nil || c.out.open != nil {
			t.Errorf("cid %d holds something: %+v", c.cid, c)
		}
	}
}

// Times and limits below zero mean never and none.
func TestNoLimits(t *testing.T) {
	e, w := started(t, Options{
		PingInterval: -1, WriteDeadline: -1, AuthTimeout: -1, StallMax: -1, LameDuckGrace: -1, LameDuckDuration: -1, Token: "t",
		MaxSubscriptions: -1, MaxSubTokens: -1, MaxPayload: -1, MaxControlLine: -1, MaxPending: -1, PingMax: -1,
		StallBytes: -1, MatchCache: -1, TurnWork: -1,
	})
	silent := accept(e)
	w.advance(t, e, Instant(time.Hour))
	say(e, silent, `CONNECT {"auth_token":"t","verbose":false,"pedantic":false}`+"\r\nSUB a."+strings.Repeat("x", 10_000)+" 1\r\nSUB a 2\r\n")
	w.take(silent)
	w.rooms[silent] = 0
	pub := accept(e)
	say(e, pub, `CONNECT {"auth_token":"t","verbose":false,"pedantic":false}`+"\r\n")
	big := strings.Repeat("x", 3<<20)
	for range 5 {
		say(e, pub, "PUB a 3145728\r\n"+big+"\r\n")
	}
	w.advance(t, e, Instant(time.Hour))
	if w.gone[silent] || w.paused[pub] {
		t.Fatal("closed, or held back")
	}
	w.open(e, silent)
	w.settle(t, e) // over several turns
	if got := len(w.take(silent)); got < 5*len(big) {
		t.Fatalf("%d bytes arrived", got)
	}
	turn(e, e.LameDuck)
	w.advance(t, e, 2)
	for _, id := range []ConnID{silent, pub} {
		if !w.fin[id] {
			t.Fatal("not evicted")
		}
		turn(e, func() { e.EOF(id) })
	}
	if !e.Stopped() {
		t.Fatal("not stopped")
	}
}
