package engine

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTimersModel holds the timers against a sorted list: the earliest comes first, of equal ones the one set first.
func TestTimersModel(t *testing.T) { rapid.Check(t, timersModel) }

func FuzzTimers(f *testing.F) { f.Fuzz(rapid.MakeFuzz(timersModel)) }

func timersModel(t *rapid.T) {
	type entry struct {
		x   *timer
		at  Instant
		seq int
	}
	var (
		heap timers
		list []entry
		seq  int
		all  [20]timer
	)
	find := func(x *timer) int { return slices.IndexFunc(list, func(e entry) bool { return e.x == x }) }
	t.Repeat(map[string]func(*rapid.T){
		"set": func(t *rapid.T) {
			x := &all[rapid.IntRange(0, len(all)-1).Draw(t, "timer")]
			at := Instant(rapid.Int64Range(1, 12).Draw(t, "at"))
			if at == 12 {
				at = Never
			}
			heap.set(x, at)
			i := find(x)
			if i >= 0 && list[i].at == at {
				return // as before, its turn among equals included
			}
			if i >= 0 {
				list = slices.Delete(list, i, i+1)
			}
			if at != Never {
				seq++
				list = append(list, entry{x, at, seq})
			}
		},
		"remove": func(t *rapid.T) {
			x := &all[rapid.IntRange(0, len(all)-1).Draw(t, "timer")]
			heap.remove(x)
			if i := find(x); i >= 0 {
				list = slices.Delete(list, i, i+1)
			}
		},
		"": func(t *rapid.T) {
			slices.SortFunc(list, func(a, b entry) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
			want := Never
			if len(list) > 0 {
				want = list[0].at
			}
			if heap.len() != len(list) || heap.next() != want {
				t.Fatalf("%d timers, next at %d, want %d and %d", heap.len(), heap.next(), len(list), want)
			}
			for i := range all {
				if x := &all[i]; (x.pos > 0) != (find(x) >= 0) {
					t.Fatalf("timer %d has position %d", i, x.pos)
				}
			}
		},
	})
	for i, want := range list {
		got := heap.heap[0]
		heap.remove(got)
		if got != want.x {
			t.Fatalf("the %dth timer due is one for %d, want one for %d", i, got.at, want.at)
		}
	}
}

// TestLater: no time is so long that it comes early.
func TestLater(t *testing.T) {
	for _, c := range []struct {
		now  Instant
		d    int64
		want Instant
	}{
		{5, 7, 12}, {5, 0, 5}, {5, -1, Never}, {5, 1<<63 - 1, Never}, {Never - 1, 1, Never}, {Never, 0, Never},
	} {
		if got := later(c.now, time.Duration(c.d)); got != c.want {
			t.Errorf("%d ns after %d is %d, want %d", c.d, c.now, got, c.want)
		}
	}
}
