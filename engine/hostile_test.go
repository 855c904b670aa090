package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/monitor"
)

// held is the memory that a connection's input and output take, in bytes of buffers.
func held(c *conn) int {
	n := cap(c.partial) + cap(c.stash)
	if c.memo != nil {
		n += cap(c.memo.subject) + cap(c.memo.to)
	}
	if c.msg != nil {
		n += cap(c.msg.line) + len(c.msg.ck.data)
	}
	for _, s := range c.out.segs {
		n += len(s.ck.data)
	}
	if c.out.ck != nil {
		n += len(c.out.ck.data)
	}
	return n
}

// What a client announces and does not send costs next to nothing, and what it has sent costs about that.
func TestAnnouncedPayloadCostsLittle(t *testing.T) {
	e, w := started(t, Options{MaxPayload: 64 << 20})
	for _, sent := range []int{0, 1, 1000, 100_000, 1 << 20} {
		c := w.join(e, "")
		say(e, c, "PUB a 67108864\r\n"+strings.Repeat("x", sent))
		if n := held(e.lookup(c)); n > 4*sent+8192 {
			t.Errorf("%d bytes are held for %d sent of 64 MiB", n, sent)
		}
	}
}

// A control line is kept as far as it counts, however it arrives.
func TestPartialLinesAreBounded(t *testing.T) {
	for _, piece := range []string{" ", "\t \t", strings.Repeat(" ", 1000), "x", "\r", strings.Repeat("PING", 500)} {
		for _, begin := range []string{"SUB ", "PUB", "PING", "PONG ", "+OK", "CONNECT", "INFO ", "-ERR ", "P"} {
			e, w := started(t, Options{})
			c := w.join(e, "")
			say(e, c, begin)
			for range 4100 {
				if w.fin[c] {
					break
				}
				turn(e, func() { e.Received(c, []byte(piece)) })
				if cc := e.lookup(c); cc != nil && held(cc) > 3*4096 {
					t.Fatalf("%q and %.10q…: %d bytes are held", begin, piece, held(cc))
				}
			}
		}
	}
}

// A line in many pieces costs as much as in one: nothing is looked at again for each.
func TestPiecesAreNotCopiedAgain(t *testing.T) {
	e, w := started(t, Options{MaxControlLine: 1 << 20})
	c := w.join(e, "")
	say(e, c, "SUB ")
	grown, last := 0, 0
	for range 100_000 {
		turn(e, func() { e.Received(c, []byte("x")) })
		if n := cap(e.lookup(c).partial); n != last {
			grown, last = grown+n, n
		}
	}
	if grown > 1_000_000 {
		t.Fatalf("%d bytes were copied for a line of 100,000", grown)
	}
}

// What was read before reading was paused is all that is kept of a client that is held back.
func TestStashIsBounded(t *testing.T) {
	e, w, pub, _ := stalled(t, Options{})
	if !w.paused[pub] {
		t.Fatal("it is still read from")
	}
	say(e, pub, strings.Repeat("PING\r\n", 10_000)) // read in the same moment
	if n := held(e.lookup(pub)); n > 2*60_000 {
		t.Fatalf("%d bytes are held", n)
	}
}

// A subscriber that is passed over costs work too: a client with any number of subscriptions to what it publishes, who
// wants no echo, gets its share of a turn and no more.
func TestPassingOverIsWork(t *testing.T) {
	for _, queue := range []string{"", "q "} {
		t.Run("queue "+queue, func(t *testing.T) {
			e, w := started(t, Options{TurnWork: 1000})
			c := accept(e)
			say(e, c, `CONNECT {"verbose":false,"pedantic":false,"echo":false}`+"\r\n")
			for i := range 5000 {
				say(e, c, fmt.Sprintf("SUB a %s%d\r\n", queue, i))
			}
			w.settle(t, e)
			turn(e, func() {
				e.Received(c, []byte(strings.Repeat("PUB a 0\r\n\r\n", 100)))
				if e.work > 2*5000 {
					t.Fatalf("%d units of work in a turn of 1000", e.work)
				}
			})
			for n := 0; w.wake <= w.now; n++ {
				w.ring(e)
				if e.work > 2*5000 {
					t.Fatalf("%d units of work in a turn of 1000", e.work)
				}
			}
		})
	}
}

// Subscriptions that make others' subjects hard to match are paid for by who publishes on these, and patterns that make
// much of what is remembered worthless by who subscribes to them.
func TestLookingIsWork(t *testing.T) {
	const depth = 8
	e, w := started(t, Options{TurnWork: 5000})
	c := w.join(e, "")
	for i := range 1 << depth {
		pattern := ""
		for bit := range depth {
			pattern += [...]string{"x.", "*."}[i>>bit&1]
		}
		say(e, c, fmt.Sprintf("SUB %sz %d\r\n", pattern, i))
	}
	w.settle(t, e)
	hard := func(i int) string { return fmt.Sprintf("PUB %sq%d 0\r\n\r\n", strings.Repeat("x.", depth), i) }
	turn(e, func() {
		e.Received(c, []byte(hard(0)))
		if least := 1 << depth / lookWork; e.work < least {
			t.Errorf("a match of %d steps counts %d", 1<<depth, e.work)
		}
	})
	for i := range 1000 {
		say(e, c, fmt.Sprintf("PUB a.b.%d 0\r\n\r\n", i))
	}
	w.settle(t, e)
	for _, line := range []string{"SUB *.c.> other\r\n", "UNSUB other\r\n"} {
		turn(e, func() {
			e.Received(c, []byte(line))
			if least := 1000 / lookWork; e.work < least {
				t.Errorf("%q looks at 1000 results and counts %d", line, e.work)
			}
		})
	}
}

// Lines without messages fill a turn too.
func TestLinesAreWork(t *testing.T) {
	for _, line := range []string{"PING\r\n", "SUB a 1\r\n", "UNSUB 1\r\n", "+OK\r\n", "INFO {}\r\n", "CONNECT {}\r\n", "SUB . 1\r\n"} {
		e, w := started(t, Options{TurnWork: 100})
		c := w.join(e, "")
		say(e, c, strings.Repeat(line, 1000))
		if !w.paused[c] || len(e.lookup(c).stash) < 800*len(line) {
			t.Errorf("%q: a turn took it all", line)
		}
		w.settle(t, e)
		if w.paused[c] || e.lookup(c).stash != nil {
			t.Errorf("%q: later turns did not", line)
		}
	}
}

// A turn writes to so many connections and not more; the others follow, whatever happens meanwhile.
func TestTurnWritesToSoMany(t *testing.T) {
	e, w := started(t, Options{})
	var subs []ConnID
	for range settleTurn + 500 {
		subs = append(subs, w.join(e, "SUB a 1\r\n"))
	}
	pub := w.join(e, "")
	say(e, pub, "PUB a 1\r\nx\r\n")
	written := 0
	for _, c := range subs {
		written += len(w.take(c)) / len("MSG a 1 1\r\nx\r\n")
	}
	if written != settleTurn {
		t.Fatalf("%d connections were written to", written)
	}
	turn(e, func() {
		e.Received(pub, []byte("PUB a 1\r\ny\r\n"))
		e.Closed(subs[len(subs)-1], "")
	})
	w.settle(t, e)
	for i, c := range subs[:len(subs)-1] {
		got := w.take(c)
		if want := "MSG a 1 1\r\ny\r\n"; !strings.HasSuffix(got, want) {
			t.Fatalf("receiver %d got %q", i, got)
		}
		written += strings.Count(got, "x\r\n")
	}
	if written != len(subs)-1 {
		t.Fatalf("%d connections got the first message", written)
	}
}

// Connections above the limit are told so, but not any number of them at a time.
func TestTooManyConnections(t *testing.T) {
	e, w := started(t, Options{MaxConnections: 2})
	a := accept(e)
	accept(e)
	for i := range turnedAwayMax + 10 {
		c := accept(e)
		if i >= turnedAwayMax {
			if c != 0 {
				t.Fatalf("connection %d above the limit was taken in", i)
			}
			continue
		}
		if got := w.take(c); !strings.HasPrefix(got, "INFO ") || !strings.HasSuffix(got, "-ERR 'maximum connections exceeded'\r\n") || !w.fin[c] {
			t.Fatalf("connection %d above the limit got %q", i, got)
		}
	}
	w.advance(t, e, Instant(lingerTime))
	if n := e.Footprint().Connections; n != 2 {
		t.Fatalf("%d connections", n)
	}
	turn(e, func() { e.Closed(a, "") })
	if c := accept(e); w.fin[c] {
		t.Fatal("a connection was turned away although there is room")
	}
}

// Messages that publishers leave behind unfinished don't pile up.
func TestSuspendedMessagesAreBounded(t *testing.T) {
	w := &sinkWorld{fakeWorld: newFakeWorld()}
	env := w.env()
	env.Network = w
	e := New(Options{TurnWork: 10, MaxPayload: 16 << 20, Check: true}, env)
	turn(e, e.Start)
	turn(e, func() { e.ListenerUp(clientListener, 4222) })
	for i := range 100 {
		w.join(e, fmt.Sprintf("SUB a %d\r\n", i))
	}
	w.settle(t, e)
	message := []byte("PUB a 10485760\r\n" + strings.Repeat("x", 10<<20) + "\r\n")
	for range 20 {
		p := w.join(e, "")
		turn(e, func() {
			e.Received(p, message)
			e.Closed(p, "reset")
		})
		if e.suspended > suspendedMax+32<<20 {
			t.Fatalf("%d bytes wait to be delivered further", e.suspended)
		}
	}
	w.settle(t, e)
	if e.suspended != 0 || w.sent < 20*100*10<<20 {
		t.Fatalf("%d bytes are believed to wait, %d were sent", e.suspended, w.sent)
	}
}

// A connection that there is no room for from the beginning is refused, and leaves nothing behind.
func TestNoRoomForTheGreeting(t *testing.T) {
	e, w := started(t, Options{MaxPending: 10})
	for range 3 {
		if c := accept(e); c != 0 {
			t.Fatalf("connection %x was taken in", c)
		}
	}
	w.left(t, e)
	turn(e, func() { e.Ask(1, monitor.ConnzOptions{State: monitor.Closed}) })
	if n := w.answers[1].(*monitor.Connz).Conns.Len(); n != 3 {
		t.Fatalf("%d connections are remembered", n)
	}
}

// Whatever is written before the end of a turn, to make room, leaves something for the others at its end.
func TestEarlyWritesKeepNobodyWaiting(t *testing.T) {
	w := &sinkWorld{fakeWorld: newFakeWorld()}
	env := w.env()
	env.Network = w
	e := New(Options{MaxPending: 300_000, TurnWork: 1000, Check: true}, env)
	turn(e, e.Start)
	turn(e, func() { e.ListenerUp(clientListener, 4222) })
	for i := range 3 {
		w.join(e, fmt.Sprintf("SUB a %d\r\n", i))
	}
	pub, healthy := w.join(e, ""), w.join(e, "")
	w.settle(t, e)
	message := []byte("PUB a 200000\r\n" + strings.Repeat("x", 200_000) + "\r\n")
	for i := range 20 {
		turn(e, func() {
			e.Received(pub, message)
			e.Received(pub, message)
			e.Received(healthy, []byte("PING\r\n"))
		})
		if n := e.lookup(healthy).out.pending; n > 20*len("PONG\r\n") {
			t.Fatalf("turn %d: %d bytes of PONGs wait", i, n)
		}
	}
	if n := e.lookup(healthy).out.pending; n > 5*len("PONG\r\n") {
		t.Fatalf("%d bytes of PONGs wait", n)
	}
}
