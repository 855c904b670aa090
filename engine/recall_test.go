package engine

import "testing"

// What was renewed outlives what was not, when room is needed.
func TestRecallForgetsTheOldest(t *testing.T) {
	const most, span = 100, Instant(1000)
	r := newRecall[int](most, span)
	for k := range most {
		r.add(k, 1)
	}
	r.add(0, 2)
	r.add(1, 2)
	r.add(most, 3)
	r.add(most+1, 3)
	for k, want := range map[int]bool{0: true, 1: true, 2: false, 3: false, 4: true, most: true, most + 1: true} { //natsd:orderfree each is asked by itself
		if r.has(k, 4) != want {
			t.Errorf("%d: %v", k, !want)
		}
	}
	// Even where all are renewed, there is room for one more, and no more are looked at than a turn bears.
	for k := range 2 * most {
		if r.has(k, 5) {
			r.add(k, 5)
		}
	}
	for k := range 10 * most {
		r.add(3*most+k, 6)
		if len(r.until) != most || len(r.order) != most {
			t.Fatalf("%d keys, %d in order", len(r.until), len(r.order))
		}
		if !r.has(3*most+k, 6) {
			t.Fatal("a new key is not there")
		}
	}
	r.fade(7 + span)
	for range most {
		r.fade(7 + span)
	}
	if len(r.until) != 0 || len(r.order) != 0 {
		t.Error("keys are left")
	}
}
