package engine

import (
	"strings"
	"testing"
)

// A turn is bounded in bytes too: a large message to many receivers is handed to the network over several turns.
func TestTurnIsBoundedInBytes(t *testing.T) {
	const size, receivers = 1 << 20, 60
	e, w := started(t, Options{})
	var subs []ConnID
	for range receivers {
		c := accept(e)
		turn(e, func() { e.Received(c, []byte("CONNECT {\"verbose\":false}\r\nSUB a 1\r\n")) })
		w.take(c)
		subs = append(subs, c)
	}
	p := accept(e)
	sent := func() (n int) {
		for _, c := range subs {
			if b := w.sent[c]; b != nil {
				n += b.Len()
			}
		}
		return n
	}
	input := []byte("CONNECT {\"verbose\":false}\r\nPUB a 1048576\r\n" + strings.Repeat("x", size) + "\r\n")
	before, most, turns := 0, 0, 1
	turn(e, func() { e.Received(p, input) })
	for w.wake <= w.now {
		most, before = max(most, sent()-before), sent()
		turn(e, e.TimerDue)
		turns++
	}
	most = max(most, sent()-before)
	if want := receivers * (size + len("MSG a 1 1048576\r\n\r\n")); sent() != want {
		t.Errorf("%d bytes were sent, want %d", sent(), want)
	}
	// What one turn delivers early and what it writes at its end are bounded each, but for the message that passes the bound.
	if limit := 2*e.writeLimit() + 16384*bytesPerWork + 2*size; most > limit {
		t.Errorf("%d bytes were sent in one turn of %d, more than %d", most, turns, limit)
	}
}
