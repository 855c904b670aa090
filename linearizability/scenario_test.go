package linearizability

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

var (
	seeds = flag.Uint64("seeds", 40, "how many seeds TestInterestUnderFaults runs")
	first = flag.Uint64("first", 0, "the first of them")
)

// TestInterestUnderFaults: whatever happens to the network, the server and the clients, interest is a register.
func TestInterestUnderFaults(t *testing.T) {
	var all seen
	for seed := *first; seed < *first+*seeds; seed++ {
		w := newWorld(t, seed)
		w.run(6 * second)
		v := w.judge()
		all.add(w.seen)
		if v.Err() != nil {
			w.report(v)
		}
	}
	t.Logf("%+v", all)
	if *seeds < 40 {
		return
	}
	// A history in which nothing overlaps, is lost or restarts would show nothing.
	for _, n := range []int{all.probes, all.deliveries, all.nobody, all.pongs, all.givenUp, all.ends, all.breaks, all.restarts,
		all.lost, all.overlaps, all.cuts} {
		if n < 10 {
			t.Errorf("too little happens in %d seeds: %+v", *seeds, all)
			break
		}
	}
}

// TestRunsRepeat: a history is a function of the seed.
func TestRunsRepeat(t *testing.T) {
	for seed := range uint64(5) {
		var texts [2]string
		for i := range texts {
			w := newWorld(t, seed)
			w.run(3 * second)
			for _, p := range w.hist.History() {
				texts[i] += p.Key
				for j, op := range p.Ops {
					texts[i] += fmt.Sprintln(op.ClientId, op.Call, op.Return, p.After[j], InterestModel().DescribeOperation(op.Input, op.Output))
				}
			}
			v := w.judge()
			texts[i] += fmt.Sprintln(v.Result, v.Steps)
		}
		if texts[0] != texts[1] {
			t.Errorf("seed %d: two runs differ", seed)
		}
	}
}

// judge checks what happened.
func (w *world) judge() Verdict {
	h := w.hist.History()
	for _, p := range h {
		w.seen.partitions++
		if p.Cut {
			w.seen.cuts++
		}
		w.seen.operations += len(p.Ops)
		for i, op := range p.Ops {
			if _, lost := op.Output.(Lost); lost {
				w.seen.lost++
			}
			if i > 0 && op.Call <= p.Ops[i-1].Return {
				w.seen.overlaps++
			}
		}
	}
	v := Check(InterestModel(), h, budget)
	w.seen.steps, w.seen.stepsMax = v.Steps, v.Steps
	return v
}

// report tells of a verdict that is not good, how to see it again, and draws it.
func (w *world) report(v Verdict) {
	t := w.t
	t.Helper()
	t.Errorf("seed %d: %v", w.seed, v.Err())
	t.Logf("again: go test ./linearizability -run TestInterestUnderFaults -v -artifacts -args -seeds 1 -first %d", w.seed)
	for _, op := range v.Prefix.Ops[max(0, len(v.Prefix.Ops)-25):] {
		t.Logf("%12d %12d %s", op.Call, op.Return, v.model.describe(op))
	}
	f, err := os.Create(filepath.Join(t.ArtifactDir(), fmt.Sprintf("seed%d.html", w.seed)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := v.Picture(f, w.notes); err != nil {
		t.Fatal(err)
	}
}
