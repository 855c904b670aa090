package engine

import (
	"strings"
	"testing"
	"time"
)

// A receiver for which more than max_pending would wait is closed, and exactly then.
func TestSlowConsumerByPending(t *testing.T) {
	e, w := started(t, Options{MaxPending: 5000, StallBytes: -1})
	sub := w.join(e, "SUB a 1\r\n")
	pub := w.join(e, "")
	w.rooms[sub] = 0
	const payload = 100
	line := len("MSG a 1 100\r\n") + payload + 2
	one := "PUB a 100\r\n" + strings.Repeat("x", payload) + "\r\n"
	for i := range 5000 / line {
		say(e, pub, one)
		if w.gone[sub] {
			t.Fatalf("closed with %d bytes waiting", i*line)
		}
	}
	say(e, pub, one)
	if !w.gone[sub] || !w.logged("Slow Consumer Detected: MaxPending of 5000 Exceeded") {
		t.Fatal("not closed")
	}
	if w.gone[pub] || w.paused[pub] {
		t.Fatal("the publisher suffered")
	}
	say(e, pub, "PING\r\n")
	if got := w.take(pub); got != "PONG\r\n" {
		t.Fatalf("the publisher got %q", got)
	}
	turn(e, func() { e.EOF(pub) })
	w.left(t, e)
}

// What the log says is what operators of nats-server look for.
func TestSlowConsumerByDeadlineIsLogged(t *testing.T) {
	e, w := started(t, Options{WriteDeadline: 2 * time.Second, StallBytes: -1})
	sub := w.join(e, "SUB a 1\r\n")
	pub := w.join(e, "")
	w.rooms[sub] = 0
	say(e, pub, "PUB a 5\r\nhello\r\n")
	w.advance(t, e, Instant(3*time.Second))
	if !w.gone[sub] || !w.logged("Slow Consumer Detected: WriteDeadline of 2s exceeded with 1 chunks of 18 total bytes.") {
		t.Fatalf("closed: %v; the log says %q", w.gone[sub], w.log)
	}
}

// A receiver that takes what it is offered is no slow consumer, however much a turn brings.
func TestFastReceiverIsNotSlow(t *testing.T) {
	e, w := started(t, Options{MaxPending: 5000})
	sub := w.join(e, "SUB a 1\r\n")
	pub := w.join(e, "")
	say(e, pub, strings.Repeat("PUB a 100\r\n"+strings.Repeat("x", 100)+"\r\n", 1000))
	if n := strings.Count(w.take(sub), "MSG"); n != 1000 {
		t.Fatalf("%d messages arrived", n)
	}
}

// A publisher that is a slow consumer of its own messages, its +OKs or its errors is closed in the middle of what it sent;
// the others get the message that it died of.
func TestPublisherDiesOfItsOwnMessage(t *testing.T) {
	for _, c := range []struct{ name, greeting, sent string }{
		{"echo", `CONNECT {"verbose":false,"pedantic":false}`, "PUB a 300\r\n" + strings.Repeat("x", 300) + "\r\n"},
		{"OK", `CONNECT {"verbose":true,"pedantic":false}`, "PUB a 0\r\n\r\n"},
		{"pedantic", `CONNECT {"verbose":false,"pedantic":true}`, "PUB a.* 0\r\n\r\n"},
		{"PONG", `CONNECT {"verbose":false,"pedantic":false}`, "PING\r\n"},
		{"error", `CONNECT {"verbose":false,"pedantic":false}`, "SUB . 2\r\n"},
	} {
		for _, pieces := range []int{1, 2} {
			t.Run(c.name, func(t *testing.T) {
				e, w := started(t, Options{MaxPending: 1500, StallBytes: -1})
				other := w.join(e, "SUB a.> 1\r\nSUB a 2\r\n")
				self := accept(e)
				say(e, self, c.greeting+"\r\nSUB a 1\r\n")
				w.take(self)
				w.rooms[self] = 0
				all := strings.Repeat(c.sent, 400) + "PUB a 1\r\nz\r\n"
				for i := range pieces {
					if !w.gone[self] {
						say(e, self, all[i*len(all)/pieces:(i+1)*len(all)/pieces])
					}
				}
				w.settle(t, e)
				if !w.gone[self] {
					t.Fatal("it was not closed")
				}
				if strings.Contains(w.take(other), "z\r\n") {
					t.Fatal("what came behind was processed")
				}
				turn(e, func() { e.EOF(other) })
				w.left(t, e)
			})
		}
	}
}

// With the headers of a large message removed, little is left: it must not keep the whole message in memory.
func TestStrippedMessageKeepsNoLargeBuffer(t *testing.T) {
	e, w := started(t, Options{StallBytes: -1})
	plain := accept(e)
	say(e, plain, "CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB a 1\r\n")
	pub := w.join(e, "")
	w.take(plain)
	w.rooms[plain] = 0
	header := "NATS/1.0\r\nA: " + strings.Repeat("x", 500_000) + "\r\n\r\n"
	for range 20 {
		turn(e, func() { e.Received(pub, []byte("HPUB a 500017 500019\r\n"+header+"hi\r\n")) })
	}
	held := 0
	for _, s := range append(e.lookup(plain).out.segs, segment{ck: e.lookup(plain).out.ck}) {
		if s.ck != nil {
			held += len(s.ck.data)
		}
	}
	if held > 200_000 {
		t.Fatalf("%d bytes are held for %d that wait", held, e.lookup(plain).out.pending)
	}
	w.open(e, plain)
	if got, want := w.take(plain), strings.Repeat("MSG a 1 2\r\nhi\r\n", 20); got != want {
		t.Fatalf("got %.100q", got)
	}
}
