package engine

import (
	"strings"
	"testing"
)

// Those who send much have their shares of the turns by turns: who sends little has it done at once, and none of the others
// falls behind.
func TestSharesGoRound(t *testing.T) {
	const flooders, messages = 40, 3000
	e, w := started(t, Options{TurnWork: 1000})
	var ids []ConnID
	for range flooders {
		c := accept(e)
		turn(e, func() { e.Received(c, []byte("CONNECT {\"verbose\":false}\r\n")) })
		ids = append(ids, c)
	}
	healthy := accept(e)
	turn(e, func() { e.Received(healthy, []byte("CONNECT {\"verbose\":false}\r\n")) })
	w.settle(t, e)
	w.take(healthy)

	flood := []byte(strings.Repeat("PUB a 0\r\n\r\n", messages))
	waiting := ids
	for turns := 0; len(waiting) > 0; turns++ {
		if turns > 2+flooders/minShares {
			t.Fatalf("%d flooders were not read in %d turns", len(waiting), turns)
		}
		e.BeginTurn()
		for len(waiting) > 0 && !e.TurnFull() {
			e.Received(waiting[0], flood)
			waiting = waiting[1:]
		}
		e.EndTurn()
	}
	for turns := range 20 {
		e.BeginTurn()
		e.Received(healthy, []byte("PING\r\n"))
		e.EndTurn()
		if got := w.take(healthy); got != "PONG\r\n" {
			t.Fatalf("turn %d: the PING was answered by %q", turns, got)
		}
	}
	least, most := uint64(messages), uint64(0)
	for _, id := range ids {
		n := e.lookup(id).stats.inMsgs
		least, most = min(least, n), max(most, n)
	}
	if least == 0 || most-least > uint64(3*e.opts.TurnWork/minShares) || most == messages {
		t.Errorf("of %d messages each, one had %d processed, another %d", messages, least, most)
	}
	w.settle(t, e)
	if e.traffic().inMsgs != flooders*messages {
		t.Errorf("%d messages were processed in all, want %d", e.traffic().inMsgs, flooders*messages)
	}
}

// A connection that is alone has all of a turn.
func TestAloneThereIsNoShare(t *testing.T) {
	e, w := started(t, Options{TurnWork: 1000})
	c := w.join(e, "")
	say(e, c, "PUB a 0\r\n\r\n") // so that where it goes is known
	w.settle(t, e)
	before := e.traffic().inMsgs
	turn(e, func() { e.Received(c, []byte(strings.Repeat("PUB a 0\r\n\r\n", 3000))) })
	if n := e.traffic().inMsgs - before; n < 1000 || n > 1001 {
		t.Errorf("%d messages were processed in a turn of 1000", n)
	}
}

// Input put aside is kept in one piece, however often its connection lets others go first, and given back.
func TestStashIsNotCopiedAgain(t *testing.T) {
	e, w := started(t, Options{TurnWork: 64})
	c, other := w.join(e, ""), w.join(e, "")
	w.settle(t, e)
	flood := []byte(strings.Repeat("PUB a 0\r\n\r\n", 3000))
	turn(e, func() {
		e.Received(c, flood)
		e.Received(other, flood)
	})
	held := e.lookup(c).held
	if held == nil {
		t.Fatal("nothing was put aside")
	}
	for range 20 {
		turn(e, func() {})
		if e.lookup(c).held != held {
			t.Fatal("input that waits was copied again")
		}
	}
	w.settle(t, e)
	if e.lookup(c).held != nil || e.pool.live != 0 {
		t.Errorf("%d chunks are held when all is done", e.pool.live)
	}
}

// What takes longer than a message counts as more, however little of it there is.
func TestWorkIsWhatItCosts(t *testing.T) {
	const miss = 5 // a subject that nobody published on before
	sid := strings.Repeat("s", 3000)
	for _, c := range []struct {
		options, line string
		work          int
	}{
		{"", "PUB a 0\r\n\r\n", 1 + miss},
		{"", "PUB a 0\r\n\r\nPUB a 0\r\n\r\n", 2 + miss},
		{"", "PUB a 0\r\n\r\nPUB b 0\r\n\r\nPUB a 0\r\n\r\nPUB c 0\r\n\r\n", 4 + 3*miss},
		{`,"pedantic":true`, "PUB a.*.b 0\r\n\r\n", 1 + miss + answerWork},
		{`,"headers":true,"no_responders":true`, "SUB in 1\r\nPUB a in 0\r\n\r\n", madeWork + 1 + 2*miss + answerWork},
		{"", "PUB " + strings.Repeat("x", 3000) + " 0\r\n\r\n", 1 + miss + 3000/lineBytes + 3000/64},
		{"", "SUB " + strings.Repeat("x", 3000) + " 1\r\n", madeWork + 3000/lineBytes + 3000/32},
		{"", "CONNECT {\"verbose\":false,\"name\":\"" + strings.Repeat("x", 3000) + "\"}\r\n", connectWork + 3000/8 + 3000/lineBytes},
		{"", "INFO {\"name\":\"" + strings.Repeat("x", 3000) + "\"}\r\n", connectWork + 3000/8 + 3000/lineBytes},
		{"", "SUB a " + sid + "\r\nPUB a 0\r\n\r\n", madeWork + 3000/lineBytes + 2 + miss + 3000/bytesPerWork},
		{`,"headers":true,"no_responders":true`, "SUB in " + sid + "\r\nPUB a in 0\r\n\r\n",
			madeWork + 3000/lineBytes + 1 + 2*miss + answerWork + 3000/bytesPerWork},
	} {
		e, _ := started(t, Options{})
		id := accept(e)
		say(e, id, "CONNECT {\"verbose\":false"+c.options+"}\r\n")
		turn(e, func() {
			e.Received(id, []byte(c.line))
			if e.work < c.work || e.work > c.work+8 {
				t.Errorf("%.30q is work of %d, want %d", c.line, e.work, c.work)
			}
		})
	}
}
