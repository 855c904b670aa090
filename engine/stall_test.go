package engine

import (
	"strings"
	"testing"
	"time"
)

// stalled is a publisher held back by a receiver that takes nothing.
func stalled(t *testing.T, o Options) (e *Engine, w *fakeWorld, pub, sub ConnID) {
	t.Helper()
	o.StallBytes = 1000
	e, w = started(t, o)
	sub = w.join(e, "SUB a 1\r\n")
	pub = w.join(e, "")
	w.rooms[sub] = 0
	say(e, pub, strings.Repeat("PUB a 100\r\n"+strings.Repeat("x", 100)+"\r\n", 5)) // the network is found to be full
	say(e, pub, strings.Repeat("PUB a 100\r\n"+strings.Repeat("x", 100)+"\r\n", 10)+"PING\r\n")
	if !w.paused[pub] || w.take(pub) != "" || e.Marks()[MarkStallStart] != 1 {
		t.Fatal("the publisher was not held back")
	}
	return e, w, pub, sub
}

func TestStallEndsWhenTheReceiverDrains(t *testing.T) {
	e, w, pub, sub := stalled(t, Options{})
	w.give(e, sub, 300)
	w.settle(t, e)
	if !w.paused[pub] {
		t.Fatal("let go although most still waits")
	}
	w.give(e, sub, 5000)
	w.settle(t, e)
	if w.paused[pub] || w.take(pub) != "PONG\r\n" {
		t.Fatal("not let go when the receiver had drained")
	}
	if n := strings.Count(w.take(sub), "MSG"); n != 15 {
		t.Fatalf("%d messages arrived", n)
	}
}

func TestStallEndsAfterStallMax(t *testing.T) {
	e, w, pub, sub := stalled(t, Options{StallMax: time.Second})
	w.advance(t, e, Instant(time.Second)-1)
	if !w.paused[pub] {
		t.Fatal("let go too early")
	}
	w.advance(t, e, 1)
	if w.paused[pub] || w.take(pub) != "PONG\r\n" {
		t.Fatal("not let go after StallMax")
	}
	// Not again before the receiver has drained.
	say(e, pub, "PUB a 1\r\nx\r\nPUB a 1\r\nx\r\nPING\r\n")
	if w.paused[pub] || w.take(pub) != "PONG\r\n" {
		t.Fatal("held back again by the same receiver")
	}
	w.give(e, sub, 5000)
	w.rooms[sub] = 0
	say(e, pub, strings.Repeat("PUB a 100\r\n"+strings.Repeat("x", 100)+"\r\n", 5))
	say(e, pub, strings.Repeat("PUB a 100\r\n"+strings.Repeat("x", 100)+"\r\n", 10))
	if !w.paused[pub] {
		t.Fatal("not held back by a receiver that had drained meanwhile")
	}
}

func TestStallEndsWithTheReceiver(t *testing.T) {
	for name, end := range map[string]func(*Engine, ConnID){ //natsd:orderfree each case stands alone
		"broken":   func(e *Engine, c ConnID) { e.Closed(c, "reset") },
		"error":    func(e *Engine, c ConnID) { e.Received(c, []byte("FOO\r\n")) },
		"its end":  func(e *Engine, c ConnID) { e.EOF(c) },
		"deadline": func(e *Engine, c ConnID) { e.slowConsumer(e.lookup(c), ReasonSlowDeadline) },
	} {
		t.Run(name, func(t *testing.T) {
			e, w, pub, sub := stalled(t, Options{})
			turn(e, func() { end(e, sub) })
			w.settle(t, e)
			if w.paused[pub] || w.take(pub) != "PONG\r\n" {
				t.Fatal("not let go")
			}
			turn(e, func() { e.EOF(pub) })
			if !w.gone[pub] {
				t.Fatal("the publisher is still there")
			}
		})
	}
}

func TestStalledPublisherLeaves(t *testing.T) {
	for name, end := range map[string]func(*Engine, ConnID){ //natsd:orderfree each case stands alone
		"broken": func(e *Engine, c ConnID) { e.Closed(c, "reset") },
		"end":    func(e *Engine, c ConnID) { e.EOF(c) },
		"stop":   func(e *Engine, c ConnID) { e.Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			e, w, pub, sub := stalled(t, Options{})
			turn(e, func() { end(e, pub) })
			if name == "end" {
				if w.fin[pub] || w.gone[pub] {
					t.Fatal("closed before what it had sent was processed")
				}
				w.give(e, sub, 5000)
				w.settle(t, e)
				if n := strings.Count(w.take(sub), "MSG"); n != 15 {
					t.Fatalf("%d messages arrived", n)
				}
				if !w.gone[pub] || w.take(pub) != "PONG\r\n" {
					t.Fatal("it was not closed, or not answered")
				}
			}
			if !w.gone[sub] {
				turn(e, func() { e.Closed(sub, "") })
			}
			if name == "stop" {
				turn(e, func() { e.EOF(pub) })
			}
			w.left(t, e)
		})
	}
}

// A client that fills itself is held back like another and not for ever.
func TestStallByItself(t *testing.T) {
	e, w := started(t, Options{StallBytes: 1000, StallMax: time.Second})
	c := w.join(e, "SUB a 1\r\n")
	w.rooms[c] = 0
	line := "PUB a 100\r\n" + strings.Repeat("x", 100) + "\r\n"
	say(e, c, line)
	say(e, c, strings.Repeat(line, 20))
	if !w.paused[c] {
		t.Fatal("not held back")
	}
	w.advance(t, e, Instant(time.Second))
	if w.paused[c] {
		t.Fatal("not let go after StallMax")
	}
	w.open(e, c)
	if n := strings.Count(w.take(c), "MSG"); n != 21 {
		t.Fatalf("%d messages arrived", n)
	}
	turn(e, func() { e.EOF(c) })
	w.left(t, e)
}

// Each publisher is noted once by a receiver that fills, however many of its subscriptions a message reaches.
func TestStallCountsAPublisherOnce(t *testing.T) {
	e, w := started(t, Options{StallBytes: 10})
	sub := w.join(e, "SUB a 1\r\nSUB a 2\r\nSUB > 3\r\nSUB * 4\r\n")
	pub := w.join(e, "")
	w.rooms[sub] = 0
	say(e, pub, "PUB a 1\r\nx\r\n")
	say(e, pub, "PUB a 1\r\nx\r\n")
	if n := len(e.lookup(sub).stalled); n != 1 {
		t.Fatalf("noted %d times", n)
	}
	w.open(e, sub)
	if c := e.lookup(pub); c.stalls != 0 || c.gate != 0 {
		t.Fatalf("still held back %d times, gate %x", c.stalls, c.gate)
	}
}
