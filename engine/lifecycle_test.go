package engine

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func newEngine(o Options) (*Engine, *fakeWorld) {
	w := newFakeWorld()
	o.Check = true
	return New(o, w.env()), w
}

// An operator's stop may come at any moment, and so may what the network has to tell.
func TestStopAtAnyMoment(t *testing.T) {
	up := func(e *Engine) { e.ListenerUp(clientListener, 4222) }
	down := func(e *Engine) { e.ListenerFailed(clientListener, "in use") }
	for _, c := range []struct {
		name    string
		events  []func(*Engine)
		listens []string
	}{
		{"before Start", []func(*Engine){(*Engine).Stop, (*Engine).Start}, nil},
		{"lame duck before Start", []func(*Engine){(*Engine).LameDuck, (*Engine).Start}, nil},
		{"in the first turn", []func(*Engine){func(e *Engine) { e.Start(); e.Stop() }, up}, []string{"0.0.0.0:4222", "stop"}},
		{"before ListenerUp", []func(*Engine){(*Engine).Start, (*Engine).Stop, up}, []string{"0.0.0.0:4222", "stop"}},
		{"lame duck before ListenerUp", []func(*Engine){(*Engine).Start, (*Engine).LameDuck, up}, []string{"0.0.0.0:4222", "stop"}},
		{"before ListenerFailed", []func(*Engine){(*Engine).Start, (*Engine).Stop, down}, []string{"0.0.0.0:4222"}},
		{"ready", []func(*Engine){(*Engine).Start, up, (*Engine).Stop}, []string{"0.0.0.0:4222", "stop"}},
		{"twice", []func(*Engine){(*Engine).Start, up, (*Engine).Stop, (*Engine).Stop, (*Engine).LameDuck}, []string{"0.0.0.0:4222", "stop"}},
		{"lame duck without clients", []func(*Engine){(*Engine).Start, up, (*Engine).LameDuck}, []string{"0.0.0.0:4222", "stop"}},
		{"no address", []func(*Engine){(*Engine).Start, down}, []string{"0.0.0.0:4222"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, w := newEngine(Options{})
			for _, f := range c.events {
				turn(e, func() { f(e) })
			}
			if !e.Stopped() || !slices.Equal(w.listens, c.listens) {
				t.Errorf("stopped %v, asked of the network %q, want %q", e.Stopped(), w.listens, c.listens)
			}
		})
	}
}

func TestStopClosesEverybody(t *testing.T) {
	e, w := started(t, Options{})
	quiet := w.join(e, "SUB a 1\r\n")
	full := w.join(e, "SUB a 1\r\n")
	busy := w.join(e, "")
	w.rooms[full] = 10
	say(e, busy, "PUB a 5\r\nhello\r\nPUB a 100\r\nhalf")
	turn(e, func() {
		e.Stop()
		e.Received(busy, []byte("PUB a 5\r\nhello\r\n"))
	})
	if !w.fin[quiet] || w.fin[full] || !w.fin[busy] || e.Stopped() {
		t.Fatal("not closed as far as that is possible")
	}
	late := accept(e) // it was on its way
	if !w.fin[late] || !strings.HasPrefix(w.take(late), "INFO ") {
		t.Fatal("a late connection was not turned away")
	}
	for _, c := range []ConnID{quiet, busy, late} {
		turn(e, func() { e.EOF(c) })
		if !w.gone[c] {
			t.Fatal("not given up when its peer had closed too")
		}
	}
	if got := w.take(quiet); got != "MSG a 1 5\r\nhello\r\n" {
		t.Errorf("got %q", got)
	}
	w.advance(t, e, Instant(lingerTime)-1)
	if e.Stopped() {
		t.Fatal("stopped too early")
	}
	w.advance(t, e, 1)
	if !e.Stopped() || !w.gone[full] {
		t.Fatal("who does not read is waited for for ever")
	}
	w.left(t, e)
}

// Clients are evicted evenly over the time that there is for it, behind the grace period, and where there are few one a second.
func TestLameDuck(t *testing.T) {
	for duration, every := range map[time.Duration]Instant{14500 * time.Millisecond: 500e6, 100 * time.Second: 1e9} { //natsd:orderfree each is a test of its own
		t.Run(duration.String(), func(t *testing.T) { lameDuckOf(t, duration, every) })
	}
}

func lameDuckOf(t *testing.T, duration time.Duration, every Instant) {
	e, w := started(t, Options{LameDuckDuration: duration, LameDuckGrace: 10 * time.Second})
	var clients []ConnID
	for range 9 {
		c := accept(e)
		say(e, c, `CONNECT {"protocol":1,"verbose":false}`+"\r\nPING\r\n")
		w.take(c)
		clients = append(clients, c)
	}
	turn(e, e.LameDuck)
	for _, c := range clients {
		if got := w.take(c); !strings.HasPrefix(got, "INFO ") || !strings.Contains(got, `"ldm":true`) {
			t.Fatalf("got %q", got)
		}
	}
	fins := func() int { return len(w.fin) }
	w.advance(t, e, Instant(10*time.Second)-1)
	if fins() != 0 {
		t.Fatal("evicted in the grace period")
	}
	w.advance(t, e, 1)
	for i := range clients {
		if fins() != i+1 {
			t.Fatalf("%d evicted after %d intervals", fins(), i)
		}
		w.now += every / 3 // a turn that comes late does not delay those behind
		w.advance(t, e, every-every/3)
	}
	for _, c := range clients {
		if !w.gone[c] {
			turn(e, func() { e.EOF(c) })
		}
	}
	if !e.Stopped() {
		t.Fatal("not stopped when all were gone")
	}
	w.left(t, e)
}

// Whom the host had accepted already when lame duck mode began, but tells of only then, is not let in: the moments at which
// clients are evicted are those of who was there, and where nobody was the server stayed in lame duck mode for ever (seed
// 701855).
func TestAcceptedInLameDuckMode(t *testing.T) {
	for here := range 2 {
		e, w := started(t, Options{LameDuckDuration: 100 * time.Second, LameDuckGrace: 10 * time.Second})
		for range here {
			w.join(e, "")
		}
		c := ConnID(1)
		turn(e, func() {
			e.LameDuck()
			c = e.Accepted(clientListener, ConnInfo{IP: "127.0.0.1", Port: 5})
		})
		if c != 0 {
			t.Errorf("somebody is let in beside %d", here)
		}
		if want := here == 0; e.Stopped() != want {
			t.Errorf("stopped with %d connections: %v", here, !want)
		}
	}
}

// Slots are used again, with another generation, and what comes late for their former owner is ignored.
func TestSlotsAreUsedAgain(t *testing.T) {
	e, w := started(t, Options{})
	first := accept(e)
	turn(e, func() { e.Closed(first, "reset") })
	second := accept(e)
	if second == first || second.Slot() != first.Slot() {
		t.Fatalf("%x after %x", second, first)
	}
	w.take(second)
	turn(e, func() {
		e.Received(first, []byte("PING\r\n"))
		e.EOF(first)
		e.Writable(first)
		e.Closed(first, "")
	})
	say(e, second, "PING\r\n")
	if got := w.take(second); got != "PONG\r\n" {
		t.Fatalf("%q", got)
	}
	e.gens[second.Slot()] = 1<<31 - 1
	turn(e, func() { e.Closed(second, "") })
	if third := accept(e); third>>32 != 1 {
		t.Fatalf("generation %d after the last", third>>32)
	}
}
