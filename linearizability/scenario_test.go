package linearizability

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/anishathalye/porcupine"
)

// TestInterestUnderFaults: whatever happens to the network, the server and the clients, interest is a register.
func TestInterestUnderFaults(t *testing.T) {
	var all seen
	for seed := range uint64(60) {
		w := newWorld(t, seed)
		w.run(6 * second)
		v := w.judge()
		all.add(w.seen)
		if v.Err() != nil {
			report(t, v, seed)
		}
	}
	t.Logf("%+v", all)
}

// judge checks what happened.
func (w *world) judge() Verdict {
	h := w.hist.History()
	for _, p := range h {
		w.seen.partitions++
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
	w.seen.steps = v.Steps
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
