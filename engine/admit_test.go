package engine

import (
	"strings"
	"testing"
)

// While many have much to be done, so many are accepted each time all of them have had a share, and no more; when they have little,
// everybody is.
func TestAdmission(t *testing.T) {
	const crowd, turnWork = 40, 4 * calmShare
	e, w := started(t, Options{TurnWork: turnWork})
	var all []ConnID
	for range crowd {
		all = append(all, as(e, w, "", ""))
	}
	much := []byte(strings.Repeat("PUB a 0\r\n\r\n", 5000))
	for _, c := range all {
		turn(e, func() { e.Received(c, much) })
	}
	accepted := func() (n int) {
		for e.Admits() {
			if n++; n > 1000 {
				return n
			}
			e.Accepted(1, ConnInfo{IP: "127.0.0.1", Port: 1})
		}
		return n
	}
	if e.run.len() < crowd/2 {
		t.Fatalf("%d wait: that is no crowd", e.run.len())
	}
	total, turns := 0, 0
	passes := func() int { return turns*e.opts.TurnWork/(e.share()*crowd) + 1 }
	for ; e.run.len() > crowd/2; turns++ {
		turn(e, func() {
			n := accepted()
			if total += n; n > admitTurn {
				t.Fatalf("%d accepted in turn %d", n, turns)
			}
		})
		if total > 2*admitPass*passes() {
			t.Fatalf("%d accepted in %d turns", total, turns)
		}
	}
	if total < turns/crowd || turns < 100 {
		t.Errorf("%d accepted in %d turns", total, turns)
	}
	for e.run.len() > 0 {
		turn(e, func() {})
	}
	turn(e, func() {
		if n := accepted(); n < 1000 {
			t.Errorf("%d accepted where nobody has anything to be done", n)
		}
	})
}
