package engine

import (
	"fmt"
	"strings"
	"testing"
)

// A queue group of thousands that can't take the message is tried over several turns, each member once; the one that can
// gets it, and what the publisher sent later comes later.
func TestQueueGroupIsTriedInSlices(t *testing.T) {
	const members, work = 5000, 300
	for _, willing := range []bool{true, false} {
		e, w := started(t, Options{TurnWork: work})
		deaf := accept(e)
		say(e, deaf, "CONNECT {\"verbose\":false,\"echo\":false,\"headers\":true,\"no_responders\":true}\r\n")
		var subs strings.Builder
		for i := range members {
			fmt.Fprintf(&subs, "SUB a q %d\r\n", i)
		}
		say(e, deaf, subs.String()+"SUB in 1x\r\n")
		w.settle(t, e)
		want := "HMSG in 1x 33 33\r\nNATS/1.0 503\r\nNats-Subject: a\r\n\r\n\r\nPONG\r\n"
		var other ConnID
		if willing {
			other = w.join(e, "SUB a q 1\r\nSUB b 2\r\n")
			want = "PONG\r\n"
		}
		w.settle(t, e)
		w.take(deaf)
		turns := 1
		say(e, deaf, "PUB a in 2\r\nhi\r\nPUB b 2\r\nho\r\nPING\r\n")
		for ; w.wake <= w.now; turns++ {
			if e.work > 2*work {
				t.Fatalf("turn %d has %d units of work", turns, e.work)
			}
			w.ring(e)
		}
		if !willing && turns < members/work {
			t.Errorf("%d members in %d turns", members, turns)
		}
		if got := w.take(deaf); got != want {
			t.Errorf("willing %v: the publisher got %q", willing, got)
		}
		if willing {
			if got := w.take(other); got != "MSG a 1 in 2\r\nhi\r\nMSG b 2 2\r\nho\r\n" {
				t.Errorf("the receiver got %q", got)
			}
		}
	}
}
