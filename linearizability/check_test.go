package linearizability

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

// put is an operation on a register that keeps the revision of its last write: it writes if the revision is the one that
// is expected. This is what publishing to a subject of a stream with an expectation will be.
type put struct{ expect, revision int }

// stored is its outcome; not refused: written.
type stored struct{ refused bool }

// putModel is the register. Nothing but Init, Step and Equal is given, and Inert if asked for.
func putModel(inert bool) Model {
	step := func(state, input, output any) (bool, any) {
		now, in := state.(int), input.(put)
		if now != in.expect {
			out, known := output.(stored)
			return !known || out.refused, now
		}
		if out, known := output.(stored); known && out.refused {
			return false, now
		}
		return true, in.revision
	}
	m := Model{Model: porcupine.Model{
		Init: func() any { return 0 }, Step: step, Equal: func(a, b any) bool { return a == b },
	}}
	if inert { // revisions are never used again
		m.Inert = func(state, input, output any) bool {
			ok, _ := step(state, input, output)
			return ok && state.(int) > input.(put).expect
		}
	}
	return m
}

func TestOtherModelsFitTheRecorder(t *testing.T) {
	record := func(secondRefused bool) History {
		r := NewRecorder(10)
		a := r.Call(1, 1, "bucket.key", put{0, 1})
		b := r.Call(2, 2, "bucket.key", put{0, 2})
		r.Call(3, 3, "bucket.key", put{1, 3}) // its connection is lost
		r.Return(a, 4, stored{})
		r.Return(b, 5, stored{refused: secondRefused})
		r.Return(r.Call(6, 1, "bucket.key", put{3, 4}), 7, stored{}) // so it did happen
		return r.History()
	}
	for _, inert := range []bool{false, true} {
		if err := Check(putModel(inert), record(true), 1000).Err(); err != nil {
			t.Error(err)
		}
		v := Check(putModel(inert), record(false), 1000)
		if v.Result != porcupine.Illegal || v.Culprit.Input != (put{0, 2}) {
			t.Errorf("two writes over the same revision: %s, %v", v.Result, v.Culprit)
		}
	}
}

// TestBudget: too small a budget is an error that says so, and the same one every time.
func TestBudget(t *testing.T) {
	r := NewRecorder(100)
	var ops []Op
	for i := range 12 {
		ops = append(ops, r.Call(1, i, "k", put{i * 7 % 12, i}))
	}
	for _, o := range ops {
		r.Return(o, 2, stored{})
	}
	v := Check(putModel(false), r.History(), 10)
	if v.Result != porcupine.Unknown || v.Steps != 10 || !strings.Contains(fmt.Sprint(v.Err()), "not decided within 10 steps") {
		t.Errorf("%s after %d steps: %v", v.Result, v.Steps, v.Err())
	}
	if v = Check(putModel(false), r.History(), 1_000_000); v.Result != porcupine.Illegal {
		t.Errorf("%s: %v", v.Result, v.Err())
	}
}

func TestVerdictNamesWhatCannotBe(t *testing.T) {
	h := play(t, 100, `A sub! x s
		B probe! p s
		got x p
		A unsub! x
		B probe! q s
		got x q
		B probe! r s
		C sub! y s
		B probe! u s
		got y u
		B probe! v t`).History()
	v := Check(InterestModel(), h, 1000)
	want := `"s" is not linearizable: no order explains its first 5 operations once c1.1 probes -> read by {c0.1/1}, no 503 has returned at 13000 ns`
	if v.Err() == nil || v.Err().Error() != want {
		t.Errorf("got  %v\nwant %s", v.Err(), want)
	}
	var page bytes.Buffer
	note := porcupine.Annotation{Tag: "server", Start: 3000, End: 4000, Description: "paused"}
	if err := v.Picture(&page, []porcupine.Annotation{note}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"SUB {c0.1/1}", "UNSUB {c0.1/1}", "no order explains", "paused", "c0.1 ends"} {
		if !strings.Contains(page.String(), text) {
			t.Errorf("the page does not say %q", text)
		}
	}
}

func TestPictureOfARightPartition(t *testing.T) {
	h := play(t, 100, "A sub x s\nA sub y s g\nB probe p s\n503 p\nA ping\nA pong").History()
	var page bytes.Buffer
	if err := Picture(&page, InterestModel(), h[0], 1000, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "c1.1 probes") {
		t.Error("the page does not show the probe")
	}
}

func TestLanesDoNotOverlap(t *testing.T) {
	op := func(client int, call, end int64) porcupine.Operation {
		return porcupine.Operation{ClientId: client, Call: call, Return: end}
	}
	got := lanes([]porcupine.Operation{op(7, 1, 9), op(2, 1, 5), op(7, 2, 3), op(7, 3, 8), op(7, 4, 6), op(2, 6, 7)})
	var lane []int
	for _, o := range got {
		lane = append(lane, o.ClientId)
	}
	if want := "[1 0 2 3 2 0]"; fmt.Sprint(lane) != want {
		t.Errorf("got %v, want %s", lane, want)
	}
}
