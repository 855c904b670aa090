package linearizability

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/anishathalye/porcupine"
)

var seeds = flag.Uint64("seeds", 40, "how many seeds TestInterestUnderFaults runs")

// TestInterestUnderFaults: whatever happens to the network, the server and the clients, interest is a register.
func TestInterestUnderFaults(t *testing.T) {
	var all seen
	for seed := range *seeds {
		w := newWorld(t, seed)
		w.run(6 * second)
		v := w.judge()
		all.add(w.seen)
		if v.Err() != nil {
			report(t, v, seed)
		}
	}
	t.Logf("%+v", all)
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

func report(t *testing.T, v Verdict, seed uint64) {
	t.Helper()
	t.Errorf("seed %d: %v", seed, v.Err())
	if v.Result != porcupine.Illegal {
		return
	}
	for _, op := range v.Prefix.Ops[max(0, len(v.Prefix.Ops)-25):] {
		t.Logf("%12d %12d %s", op.Call, op.Return, v.model.describe(op))
	}
	f, err := os.Create(filepath.Join(t.ArtifactDir(), "interest.html"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := v.Picture(f, nil); err != nil {
		t.Fatal(err)
	}
}
