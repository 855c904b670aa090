package engine

import (
	"strings"
	"testing"
)

// behind are receivers for each of which so many messages of 100 bytes wait, and who takes the next: the network has room again
// for all of them.
func behind(t *testing.T, o Options, receivers, messages int) (e *Engine, w *fakeWorld, subs []ConnID, pub ConnID) {
	t.Helper()
	o.StallBytes = -1
	e, w = started(t, o)
	for range receivers {
		c := w.join(e, "SUB a 1\r\n")
		w.rooms[c] = 0
		subs = append(subs, c)
	}
	pub = w.join(e, "")
	w.settle(t, e)
	for range messages {
		turn(e, func() { e.Received(pub, []byte(hundred)) })
	}
	w.settle(t, e)
	for _, c := range subs {
		if n := e.lookup(c).out.pending; n != messages*hundredLine {
			t.Fatalf("%d bytes wait", n)
		}
		delete(w.rooms, c)
		delete(w.blocked, c)
	}
	return e, w, subs, pub
}

var hundred = "PUB a 100\r\n" + strings.Repeat("x", 100) + "\r\n"

const hundredLine = len("MSG a 1 100\r\n") + 100 + 2

// oneMore has all receivers be writable, and gives them one more message, in one turn. It returns how much was written before
// the turn's end, and how much in all.
func oneMore(e *Engine, w *fakeWorld, subs []ConnID, pub ConnID) (early, all int) {
	sent := func() (n int) {
		for _, c := range subs {
			if b := w.sent[c]; b != nil {
				n += b.Len()
			}
		}
		return n
	}
	before := sent()
	e.BeginTurn()
	for _, c := range subs {
		e.Writable(c)
	}
	e.Received(pub, []byte(hundred))
	early = sent() - before
	e.EndTurn()
	return early, sent() - before
}

// Who goes on after a long time, with much waiting, and then gets a message, is not given all of it at once.
func TestEarlyWritesAreBounded(t *testing.T) {
	for _, receivers := range []int{1, 10} {
		const messages = 5000
		e, w, subs, pub := behind(t, Options{TurnWork: 100}, receivers, messages)
		early, all := oneMore(e, w, subs, pub)
		if most := e.writeLimit() + e.sendLimit(); early == 0 || early > most || all > 3*most {
			t.Errorf("%d bytes were written early, %d in all, %d receivers have %d waiting", early, all, receivers, messages*hundredLine)
		}
		w.settle(t, e)
		for _, c := range subs {
			if n := strings.Count(w.take(c), "MSG"); n != messages+1 {
				t.Errorf("%d messages arrived", n)
			}
		}
	}
}

// Where there is no room for a message else, more is written early: as much as makes room, and it counts as work.
func TestRoomIsMadeByWork(t *testing.T) {
	const messages, receivers = 500, 20
	e, w, subs, pub := behind(t, Options{TurnWork: 100, MaxPending: messages*hundredLine + 50}, receivers, messages)
	early, _ := oneMore(e, w, subs, pub)
	if e.Marks()[MarkRoomMade] == 0 {
		t.Fatal("no room was made: the test shows nothing")
	}
	if most := 2*e.writeLimit() + 2*e.sendLimit(); early > most {
		t.Errorf("%d bytes were written early, more than %d", early, most)
	}
	w.settle(t, e)
	for _, c := range subs {
		if n := strings.Count(w.take(c), "MSG"); n != messages+1 || w.gone[c] {
			t.Errorf("%d messages arrived, it is gone: %t", n, w.gone[c])
		}
	}
}
