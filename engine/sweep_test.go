package engine

import (
	"strings"
	"testing"
	"time"
)

// crowd adds connections that have logged in with a password, subscribed to all, and read all that was sent to them.
func (w *fakeWorld) crowd(t *testing.T, e *Engine, n int, pass string) []ConnID {
	t.Helper()
	var all []ConnID
	for range n {
		c := accept(e)
		say(e, c, `CONNECT {"user":"u","pass":"`+pass+`","verbose":false,"protocol":1}`+"\r\nSUB > 1\r\nPING\r\n")
		w.settle(t, e)
		w.take(c)
		all = append(all, c)
	}
	return all
}

// turnsOf runs turns until nothing is due, after one with f, and returns the most connections of which count says more
// after a turn than before it.
func (w *fakeWorld) turnsOf(e *Engine, f func(), count func() int) (turns, most int) {
	before := count()
	turn(e, f)
	for {
		turns++
		after := count()
		most = max(most, after-before)
		before = after
		if w.wake > w.now {
			return turns, most
		}
		w.ring(e)
	}
}

const crowdSize = 5*sweepPerTurn + 7

// New credentials hold for everybody from one moment on, though it takes turns to close those who don't have them.
func TestNewCredentialsHoldAtOnce(t *testing.T) {
	old, next := Options{User: "u", Pass: "p", Check: true}, Options{User: "u", Pass: "q", Check: true}
	e, w := started(t, old)
	all := w.crowd(t, e, crowdSize, "p")
	last, lastBut1 := all[crowdSize-1], all[crowdSize-2]
	fins := func() int { return len(w.fin) }
	var fresh ConnID
	turns, most := w.turnsOf(e, func() {
		e.Reload(next)
		fresh = e.Accepted(clientListener, ConnInfo{})
		e.Received(fresh, []byte(`CONNECT {"user":"u","pass":"q","verbose":false}`+"\r\nSUB > 1\r\nPUB a 2\r\nhi\r\n"))
		e.Received(last, []byte("PUB b 3\r\nold\r\n"))
		if e.lookup(all[0]).gate&gateClosed == 0 || e.lookup(lastBut1).gate&gateClosed == 0 {
			t.Error("a message would have gone to who may not have it")
		}
	}, fins)
	if fins() != crowdSize || most > settleTurn+sweepPerTurn || turns < 3 {
		t.Errorf("%d of %d closed in %d turns, %d in one", fins(), crowdSize, turns, most)
	}
	if got := w.take(fresh); !strings.HasSuffix(got, "MSG a 1 2\r\nhi\r\n") || strings.Contains(got, "old") {
		t.Errorf("who knows the new password got %q", got)
	}
	for _, c := range all {
		if got := w.take(c); got != violation {
			t.Fatalf("who knows the old password got %q", got)
		}
	}
}

// A sweep that another one overtakes leaves nobody without the consequences of either.
func TestSweepsOvertakeEachOther(t *testing.T) {
	e, w := started(t, Options{User: "u", Pass: "p"})
	all := w.crowd(t, e, crowdSize, "p")
	turn(e, func() { e.Reload(Options{User: "u", Pass: "p", MaxPayload: 1000, Check: true}) })
	turn(e, func() {
		e.Reload(Options{User: "u", Pass: "p", MaxPayload: 1000, Check: true, PingInterval: time.Second})
	})
	w.settle(t, e)
	for _, c := range all {
		if got := w.take(c); !strings.Contains(got, `"max_payload":1000`) {
			t.Fatalf("got %q", got)
		}
	}
	turn(e, func() {
		e.sweep.info = true
		e.startSweep()
	})
	e.sweep.since = e.epoch + 1 // as after 65535 decisions: their numbers begin to repeat
	turn(e, func() {
		e.startSweep()
		for _, c := range e.conns {
			c.must(c.epoch == e.epoch-1, "has not followed before its epoch comes again")
		}
	})
	w.settle(t, e)
	for _, c := range all {
		if got := w.take(c); strings.Count(got, "INFO ") != 1 {
			t.Fatalf("got %q", got)
		}
	}
}

func TestLameDuckTellsInSlices(t *testing.T) {
	e, w := started(t, Options{LameDuckDuration: time.Hour, LameDuckGrace: -1})
	all := w.crowd(t, e, crowdSize, "")
	told := func() (n int) {
		for _, c := range all {
			if w.sent[c].Len() > 0 {
				n++
			}
		}
		return n
	}
	turns, most := w.turnsOf(e, e.LameDuck, told)
	if told() != crowdSize || most > settleTurn || turns < 3 {
		t.Errorf("%d of %d told in %d turns, %d in one", told(), crowdSize, turns, most)
	}
}

func TestStopClosesInSlices(t *testing.T) {
	e, w := started(t, Options{})
	all := w.crowd(t, e, crowdSize, "")
	full := all[7]
	w.rooms[full] = 5
	say(e, full, "PUB a 2\r\nhi\r\n")
	w.settle(t, e)
	fins := func() int { return len(w.fin) }
	turns, most := w.turnsOf(e, func() {
		e.Stop()
		e.Received(all[9], []byte("PUB b 2\r\nho\r\n"))
	}, fins)
	if fins() != crowdSize-1 || most > settleTurn || turns < 3 {
		t.Errorf("%d of %d closed in %d turns, %d in one", fins(), crowdSize, turns, most)
	}
	for _, c := range all {
		if got := w.take(c); c != full && got != "MSG a 1 2\r\nhi\r\n" {
			t.Fatalf("got %q", got)
		}
	}
	w.advance(t, e, Instant(lingerStop))
	if len(w.gone) != crowdSize-1 || e.Stopped() {
		t.Errorf("%d are given up; who keeps its side open is waited for", len(w.gone))
	}
	w.open(e, full) // it has read what waited for it
	w.advance(t, e, Instant(lingerStop))
	if !e.Stopped() {
		t.Error("all is written, and the engine goes on")
	}
	w.left(t, e)
}
