package host

import (
	"bytes"
	"testing"
	"time"

	"github.com/natsd/natsd/engine"
)

// A turn that has lasted long takes no more once it has written much; in the next it goes on.
func TestLateTurnTakesNothingMore(t *testing.T) {
	p, id, peer := pair(t)
	large := bytes.Repeat([]byte("x"), lateSmall+1)
	for _, c := range []struct {
		name  string
		bytes int
		began time.Duration // ago
		offer int
		taken int
	}{
		{"much, at once", 2 * lateBytes, 0, lateSmall + 1, lateSmall + 1},
		{"little, over a long time", lateBytes, time.Hour, lateSmall + 1, lateSmall + 1},
		{"much over a long time", lateBytes + 1, time.Hour, lateSmall + 1, 0},
		{"an answer", lateBytes + 1, time.Hour, lateSmall, lateSmall},
	} {
		p.late.bytes, p.s.began = c.bytes, time.Now().Add(-c.began)
		if n := p.Send(id, [][]byte{large[:c.offer]}); n != c.taken {
			t.Errorf("%s: %d bytes were taken, want %d", c.name, n, c.taken)
		}
	}
	if p.socks[0].blocked || len(p.late.ids) != 1 || p.late.ids[0] != id {
		t.Errorf("blocked %v, put off %v", p.socks[0].blocked, p.late.ids)
	}
	if n, err := p.await(); n != 0 || err != nil {
		t.Errorf("%d events, %v: the next turn follows at once", n, err)
	}
	e := engine.New(engine.Options{}, engine.Env{Clock: p.s.clock, Network: p, Jobs: p.s, Rand: entropy{}, Log: nothing{}})
	p.late.begin(e)
	if len(p.late.ids) != 0 {
		t.Errorf("%v are put off for ever", p.late.ids)
	}
	if got, want := len(drainFD(t, peer)), 3*lateSmall+2; got != want {
		t.Errorf("%d bytes arrived, want %d", got, want)
	}
}
