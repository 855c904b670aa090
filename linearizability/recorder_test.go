package linearizability

import (
	"fmt"
	"strings"
	"testing"
)

// show prints a history: for each operation input, call and return, output, and what it comes after.
func show(h History) string {
	var b strings.Builder
	for _, p := range h {
		fmt.Fprintf(&b, "%s:", p.Key)
		for i, op := range p.Ops {
			end := fmt.Sprint(op.Return)
			if Time(op.Return) == Forever {
				end = "…"
			}
			fmt.Fprintf(&b, " %v[%d,%s]%v", op.Input, op.Call, end, op.Output)
			if p.After[i] >= 0 {
				fmt.Fprintf(&b, ">%d", p.After[i])
			}
		}
		if p.Cut {
			b.WriteString(" cut")
		}
		b.WriteString("; ")
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func TestRecorderKeepsWhatHappened(t *testing.T) {
	tests := []struct {
		name string
		do   func(r *Recorder)
		want string
	}{
		{"nothing", func(r *Recorder) {}, ""},
		{"in order", func(r *Recorder) {
			a := r.Call(1, 0, "k", "a")
			b := r.Call(2, 1, "k", "b")
			r.Return(b, 3, "B")
			r.Return(a, 4, "A")
		}, "k: a[1,4]A b[2,3]B"},
		{"by key", func(r *Recorder) {
			r.Return(r.Call(1, 0, "k", "a"), 2, "A")
			r.Return(r.Call(2, 0, "j", "b"), 2, "B")
			r.Return(r.Call(3, 0, "k", "c"), 4, "C")
		}, "k: a[1,2]A c[3,4]C; j: b[2,2]B"},
		{"the first outcome counts", func(r *Recorder) {
			a := r.Call(1, 0, "k", "a")
			r.Return(a, 2, "A")
			r.Return(a, 3, "B")
		}, "k: a[1,2]A"},
		{"lost", func(r *Recorder) { r.Call(1, 0, "k", "a") }, "k: a[1,…]?"},
		{"lost within bounds", func(r *Recorder) {
			a := r.Call(1, 0, "k", "a")
			r.Call(9, 0, "j", "x")
			r.Bound(a, 7)
			r.Bound(a, 8)
			r.Postpone(a, 5)
			r.Postpone(a, 4)
		}, "k: a[5,7]?; j: x[9,…]?"},
		{"bounded, but the outcome became known", func(r *Recorder) {
			a := r.Call(1, 0, "k", "a")
			r.Bound(a, 3)
			r.Return(a, 5, "A")
		}, "k: a[1,3]A"},
		{"dropped", func(r *Recorder) {
			r.Drop(r.Call(1, 0, "k", "a"))
			r.Call(2, 0, "j", "b")
		}, "j: b[2,…]?"},
		{"reads without outcome are left out, with one not", func(r *Recorder) {
			a, b := r.Call(1, 0, "k", "a"), r.Call(1, 0, "k", "b")
			r.Reads(a)
			r.Reads(b)
			r.Return(a, 2, "A")
		}, "k: a[1,2]A"},
		{"after, also what is left out", func(r *Recorder) {
			a, b, c := r.Call(1, 0, "k", "a"), r.Call(1, 0, "k", "b"), r.Call(1, 0, "k", "c")
			r.After(b, a)
			r.After(c, b)
			r.Reads(b)
			r.Return(c, 2, "C")
		}, "k: a[1,…]? c[1,2]C>0"},
		{"after what was called later", func(r *Recorder) {
			a, b, c := r.Call(1, 0, "k", "a"), r.Call(1, 0, "k", "b"), r.Call(1, 0, "k", "c")
			r.After(a, b)
			r.After(a, c)
		}, "k: a[1,…]?>2 b[1,…]? c[1,…]?"},
		{"full: what is pending stays so, and what comes is not recorded", func(r *Recorder) {
			a, b, c := r.Call(1, 0, "k", "a"), r.Call(2, 0, "k", "b"), r.Call(2, 0, "k", "c")
			r.Return(a, 3, "A")
			d := r.Call(4, 0, "k", "d")
			r.After(d, a)
			r.Reads(d)
			r.Return(b, 5, "B")
			r.Postpone(b, 5)
			r.Bound(c, 6)
			r.Return(d, 6, "D")
			r.Drop(d)
		}, "k: a[1,3]A b[2,…]? c[2,…]? cut"},
		{"full, but it was over by then", func(r *Recorder) {
			a := r.Call(1, 0, "k", "a")
			r.Bound(a, 2)
			r.Close(3, "k")
		}, "k: a[1,2]? cut"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			r := NewRecorder(3)
			c.do(r)
			if got := show(r.History()); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRecorderRefusesNonsense(t *testing.T) {
	tests := []struct {
		name string
		do   func(r *Recorder)
	}{
		{"time goes back", func(r *Recorder) { r.Call(2, 0, "k", "a"); r.Call(1, 0, "k", "b") }},
		{"no time", func(r *Recorder) { r.Call(Forever, 0, "k", "a") }},
		{"postponed to the future", func(r *Recorder) { r.Postpone(r.Call(1, 0, "k", "a"), 2) }},
		{"order between partitions", func(r *Recorder) { a := r.Call(1, 0, "k", "a"); r.After(r.Call(1, 0, "j", "b"), a) }},
		{"order of one alone", func(r *Recorder) { a := r.Call(1, 0, "k", "a"); r.After(a, a) }},
		{"no room", func(*Recorder) { NewRecorder(0) }},
		{"too much room", func(*Recorder) { NewRecorder(PartitionMax + 1) }},
		{"no budget", func(r *Recorder) { Check(InterestModel(), r.History(), 0) }},
		{"a PONG without PING", func(*Recorder) { r := NewInterest(9); r.Pong(2, r.Connect(1, 0, true)) }},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			c.do(NewRecorder(3))
		})
	}
}
