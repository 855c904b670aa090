package permission

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestGrantsCount: as many answers as there are, then no more.
func TestGrantsCount(t *testing.T) {
	for _, c := range []struct{ max, requests, want int }{
		{0, 1, 1}, {1, 1, 1}, {2, 1, 2}, {1, 2, 2}, {3, 2, 6}, {-1, 1, 50}, {-5, 3, 50},
	} {
		g := NewGrants(ResponseLimit{Max: c.max}, 1)
		for range c.requests {
			g.Add([]byte("r"), 0)
		}
		n := 0
		for n < 50 && g.Use([]byte("r"), 0) {
			n++
		}
		if n != c.want {
			t.Errorf("max %d, %d requests: %d answers, want %d", c.max, c.requests, n, c.want)
		}
		if c.max >= 0 && g.Len() != 0 {
			t.Errorf("max %d: %d left behind", c.max, g.Len())
		}
		if g.Use([]byte("other"), 0) {
			t.Error("a subject that nobody asked for is allowed")
		}
	}
}

// TestGrantsExpire: at the end of the time, not before; never if negative; two
// minutes by default.
func TestGrantsExpire(t *testing.T) {
	for _, c := range []struct {
		expires, at int64
		want        bool
	}{
		{100, 99, true}, {100, 100, false}, {0, 119_999_999_999, true}, {0, 120_000_000_000, false}, {-1, 1 << 60, true},
	} {
		g := NewGrants(ResponseLimit{Expires: c.expires}, 1)
		g.Add([]byte("r"), 0)
		if got := g.Use([]byte("r"), c.at); got != c.want || g.Len() != 0 {
			t.Errorf("expires %d, at %d: %v, %d left", c.expires, c.at, got, g.Len())
		}
	}
}

// TestGrantsBounds: the oldest give way, by number and by size.
func TestGrantsBounds(t *testing.T) {
	g := NewGrants(ResponseLimit{}, 1)
	for i := range GrantsMax + 10 {
		g.Add(fmt.Appendf(nil, "r.%d", i), 0)
	}
	if g.Len() != GrantsMax || g.Use([]byte("r.9"), 0) || !g.Use([]byte("r.10"), 0) {
		t.Errorf("%d grants", g.Len())
	}
	g = NewGrants(ResponseLimit{}, 1)
	for i := range 2000 {
		g.Add(append(fmt.Appendf(nil, "r.%04d.", i), make([]byte, 4096)...), 0)
	}
	if g.bytes > GrantBytesMax || g.Len() > GrantBytesMax/4096 {
		t.Errorf("%d grants of %d bytes", g.Len(), g.bytes)
	}
}

// model is Grants by the book.
type model struct {
	left    map[string]int
	expires map[string]int64
}

// grantsProperty: Grants answers as a map does that is asked about each subject.
func grantsProperty(t *rapid.T) {
	limit := ResponseLimit{Max: rapid.IntRange(-1, 3).Draw(t, "max"), Expires: rapid.Int64Range(-1, 20).Draw(t, "expires")}
	g := NewGrants(limit, rapid.Uint64().Draw(t, "seed"))
	limit = limit.withDefaults()
	m := model{map[string]int{}, map[string]int64{}}
	now := int64(0)
	subj := rapid.Map(rapid.IntRange(0, 40), func(n int) string { return fmt.Sprintf("_INBOX.%d", n) })
	t.Repeat(map[string]func(*rapid.T){
		"request": func(t *rapid.T) {
			s := subj.Draw(t, "reply")
			if m.dead(s, limit, now) {
				m.left[s] = 0
			}
			m.left[s] += limit.Max
			m.expires[s] = now + limit.Expires
			g.Add([]byte(s), now)
		},
		"answer": func(t *rapid.T) {
			s := subj.Draw(t, "subject")
			want := m.left[s] != 0 && !m.dead(s, limit, now)
			if want && limit.Max > 0 {
				m.left[s]--
			}
			if got := g.Use([]byte(s), now); got != want {
				t.Fatalf("answer on %s: %v, want %v", s, got, want)
			}
		},
		"wait": func(t *rapid.T) { now += rapid.Int64Range(0, 10).Draw(t, "time") },
		"expire": func(t *rapid.T) {
			g.Expire(now, 1000)
			if at, ok := g.NextExpiry(); ok && at <= now {
				t.Fatalf("at %d something expires at %d", now, at)
			}
			live := 0
			for s := range m.left { //natsd:orderfree counting commutes
				if m.left[s] != 0 && !m.dead(s, limit, now) {
					live++
				}
			}
			if g.Len() != live {
				t.Fatalf("%d grants, want %d", g.Len(), live)
			}
		},
		"": func(t *rapid.T) { g.check(t) },
	})
}

// dead reports whether what was granted on s has expired.
func (m model) dead(s string, limit ResponseLimit, now int64) bool {
	return limit.Expires >= 0 && now >= m.expires[s]
}

// check compares the links of g with each other.
func (g *Grants) check(t *rapid.T) {
	n, bytes, last := 0, 0, int32(0)
	for ref := g.oldest; ref != 0; ref = g.slots[ref-1].newer {
		s := &g.slots[ref-1]
		if s.older != last || g.find(s.subject, s.hash) != ref || s.hash != g.hash(s.subject) {
			t.Fatalf("slot %d is not linked well", ref)
		}
		if last != 0 && g.slots[last-1].expires > s.expires {
			t.Fatal("out of order")
		}
		n++
		bytes += len(s.subject)
		last = ref
	}
	free := 0
	for ref := g.free; ref != 0; ref = g.slots[ref-1].next {
		free++
	}
	if g.newest != last || n != g.count || bytes != g.bytes || n+free != len(g.slots) {
		t.Fatalf("%d linked, %d free of %d, count %d, %d bytes of %d", n, free, len(g.slots), g.count, bytes, g.bytes)
	}
}

func TestGrants(t *testing.T) { rapid.Check(t, grantsProperty) }
func FuzzGrants(f *testing.F) { f.Fuzz(rapid.MakeFuzz(grantsProperty)) }

// TestGrantsAllocateNothing: requests and answers keep coming.
func TestGrantsAllocateNothing(t *testing.T) {
	g := NewGrants(ResponseLimit{}, 1)
	buf := []byte("_INBOX.abcdefghijkl.000")
	now := int64(0)
	turn := func() {
		now++
		buf[len(buf)-1] = '0' + byte(now%10)
		g.Add(buf, now)
		if !g.Use(buf, now) {
			t.Fatal("refused")
		}
	}
	if n := testing.AllocsPerRun(100, turn); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkGrants(b *testing.B) {
	g := NewGrants(ResponseLimit{}, 1)
	buf := []byte("_INBOX.abcdefghijklmnopqrstuv.00000000")
	for i := range 1000 {
		g.Add(fmt.Appendf(nil, "_INBOX.unanswered.%d", i), 0)
	}
	b.ReportAllocs()
	for b.Loop() {
		g.Add(buf, 1)
		g.Use(buf, 1)
	}
}
