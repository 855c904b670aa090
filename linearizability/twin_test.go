package linearizability

import (
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"
)

// TestSearchAgreesWithAllOrders: for histories small enough to try every order, with every choice of which lost
// operations happened, the verdict is the same. The orders are tried on a server written without the model.
func TestSearchAgreesWithAllOrders(t *testing.T) {
	var right, wrong int
	rapid.Check(t, func(t *rapid.T) {
		for range 40 {
			r, w := agree(t)
			right += r
			wrong += w
		}
	})
	t.Logf("%d right histories, %d wrong ones", right, wrong)
	if right < 10 || wrong < 10 {
		t.Errorf("%d right histories and %d wrong ones: no test", right, wrong)
	}
}

// FuzzSearchAgreesWithAllOrders is the same, steered by coverage.
func FuzzSearchAgreesWithAllOrders(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { agree(t) }))
}

// agree compares the verdicts on a small history, and counts the right and the wrong partitions.
func agree(t *rapid.T) (right, wrong int) {
	n := newNaive(t, 2, 8)
	n.lie, n.liar = lie(n.draw(int(numLies))), n.draw(2) == 0
	for range n.draw(100) {
		n.step()
	}
	for _, p := range n.r.History() {
		want := porcupine.Illegal
		if explained(p, make([]bool, len(p.Ops)), nil) {
			want = porcupine.Ok
			right++
		} else {
			wrong++
		}
		v := Check(InterestModel(), History{p}, budget)
		if v.Result != want {
			t.Fatalf("%s, but trying all orders says %s%s", v.Result, want, list(Verdict{Prefix: p, model: InterestModel()}))
		}
		if want == porcupine.Illegal {
			shortest(t, v)
		}
		// porcupine alone, which does not know the order on connections, accepts at least as much.
		if want == porcupine.Ok && !porcupine.CheckOperations(InterestModel().Model, p.Ops) {
			t.Fatal("porcupine alone rejects it")
		}
	}
	return right, wrong
}

// shortest requires that the prefix of a verdict is wrong and that no shorter one is.
func shortest(t *rapid.T, v Verdict) {
	if result, _ := judge(InterestModel(), v.Prefix, budget); result != porcupine.Illegal {
		t.Fatalf("the prefix is %s%s", result, list(v))
	}
	before := cut(v.Prefix, Time(v.Culprit.Return)-1)
	if result, _ := judge(InterestModel(), before, budget); result != porcupine.Ok {
		t.Fatalf("a shorter prefix is %s%s", result, list(v))
	}
}

// happened is an operation in an order that is being tried.
type happened struct {
	in     interestInput
	output any
}

// explained tries every order that respects time and connections: did are those already in past.
func explained(p Partition, did []bool, past []happened) bool {
	if len(past) == len(p.Ops) {
		return true
	}
	for i, op := range p.Ops {
		if did[i] || p.After[i] >= 0 && !did[p.After[i]] {
			continue
		}
		early := true
		for j, other := range p.Ops {
			early = early && (did[j] || other.Return >= op.Call)
		}
		if !early {
			continue
		}
		did[i] = true
		next := append(past[:len(past):len(past)], happened{op.Input.(interestInput), op.Output})
		if possible(next) && explained(p, did, next) {
			return true
		}
		did[i] = false
	}
	return false
}

// possible reports whether the last operation of an order can have gone as it did.
func possible(order []happened) bool {
	last := order[len(order)-1]
	order = order[:len(order)-1]
	_, lost := last.output.(Lost)
	ended := false // the connection of the last operation
	for _, o := range order {
		ended = ended || o.in.kind == interestEnd && o.in.share == last.in.share
	}
	switch {
	case lost || last.in.kind == interestEnd:
		return true
	case last.in.kind != interestProbe:
		return !ended
	}
	r := last.output.(*reading)
	anybody, groups := false, map[string]bool{}
	for _, s := range last.in.roster.seats {
		if s.conn == last.in.share.conn && !s.conn.echo {
			if r.got&s.bit != 0 {
				return false
			}
			continue
		}
		if !subscribed(order, s) {
			if r.got&s.bit != 0 {
				return false
			}
			continue
		}
		anybody = true
		if s.queue == "" && r.missed&s.bit != 0 {
			return false
		}
		groups[s.queue] = true
	}
	for _, queue := range []string{"g", "h"} {
		got, may := 0, 0
		for _, s := range last.in.roster.seats {
			if s.queue != queue || !subscribed(order, s) || s.conn == last.in.share.conn && !s.conn.echo {
				continue
			}
			if r.got&s.bit != 0 {
				got++
			} else if r.missed&s.bit == 0 {
				may++
			}
		}
		if got > 1 || groups[queue] && got+may == 0 {
			return false
		}
	}
	return r.twice|r.late == 0 && !r.stray && (r.nobody == unsure || anybody == (r.nobody == no))
}

// subscribed reports whether a subscription is live after those operations. A lost one on an ended connection did not
// happen.
func subscribed(order []happened, s seated) bool {
	live, ended := false, false
	for _, o := range order {
		switch {
		case o.in.kind == interestEnd && o.in.share.conn == s.conn:
			live, ended = false, true
		case o.in.bit == s.bit && o.in.kind == interestSub:
			live = !ended
		case o.in.bit == s.bit && o.in.kind == interestUnsub:
			live = false
		}
	}
	return live
}
