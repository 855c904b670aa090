package schedule

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// call is one call of a recorder.
type call struct {
	now Time
	arg uint64
}

// recorder keeps what it is called with, and may schedule more from inside.
type recorder struct {
	calls []call
	then  func(call)
}

func (r *recorder) Fire(now Time, arg uint64) {
	r.calls = append(r.calls, call{now, arg})
	if r.then != nil {
		r.then(call{now, arg})
	}
}

// run steps q until nothing is due at or before until.
func run(q *Queue, until Time) {
	for q.Step(until) {
	}
}

func TestEventsOfOneMomentRunInTheOrderOfScheduling(t *testing.T) {
	var q Queue
	r := &recorder{}
	for arg := range uint64(100) {
		q.At(Time(arg%3), r, arg)
	}
	run(&q, 10)
	for i := 1; i < len(r.calls); i++ {
		a, b := r.calls[i-1], r.calls[i]
		if a.now > b.now || a.now == b.now && a.arg >= b.arg {
			t.Fatalf("%v runs before %v", a, b)
		}
	}
	if len(r.calls) != 100 || q.Fired() != 100 || q.Len() != 0 {
		t.Errorf("%d calls, %d fired, %d left", len(r.calls), q.Fired(), q.Len())
	}
}

func TestAPastTimeMeansNow(t *testing.T) {
	var q Queue
	r := &recorder{}
	q.Advance(50)
	q.At(10, r, 1)
	q.After(-5, r, 2)
	q.After(0, r, 3)
	run(&q, 50)
	if want := []call{{50, 1}, {50, 2}, {50, 3}}; !slices.Equal(r.calls, want) {
		t.Errorf("got %v", r.calls)
	}
}

func TestNoTimeIsBeyondTheEnd(t *testing.T) {
	var q Queue
	r := &recorder{}
	q.Advance(50)
	q.After(endOfTime, r, 1)
	q.After(endOfTime-50, r, 2)
	q.After(1, r, 3)
	run(&q, endOfTime)
	if want := []call{{51, 3}, {endOfTime, 1}, {endOfTime, 2}}; !slices.Equal(r.calls, want) {
		t.Errorf("got %v", r.calls)
	}
}

func TestWhatIsScheduledFromInsideRunsToo(t *testing.T) {
	var q Queue
	r := &recorder{}
	r.then = func(c call) {
		if q.Now() != c.now {
			t.Errorf("Now is %d during the event of %d", q.Now(), c.now)
		}
		if c.arg > 0 {
			q.After(Time(c.arg), r, c.arg-1)
		}
	}
	q.At(5, r, 3)
	run(&q, 1000)
	if want := []call{{5, 3}, {8, 2}, {10, 1}, {11, 0}}; !slices.Equal(r.calls, want) {
		t.Errorf("got %v", r.calls)
	}
}

func TestStepAndAdvanceDoNotPassWhatWaits(t *testing.T) {
	var q Queue
	r := &recorder{}
	if _, waits := q.Next(); waits || q.Step(1<<60) {
		t.Error("an empty queue has something")
	}
	q.At(20, r, 0)
	if at, waits := q.Next(); !waits || at != 20 {
		t.Errorf("next at %d, %v", at, waits)
	}
	if q.Step(19) || q.Now() != 0 {
		t.Errorf("ran early, at %d", q.Now())
	}
	if q.Advance(100); q.Now() != 20 {
		t.Errorf("advanced to %d", q.Now())
	}
	if q.Advance(3); q.Now() != 20 {
		t.Errorf("went back to %d", q.Now())
	}
	if !q.Step(20) {
		t.Error("not run")
	}
	if q.Advance(100); q.Now() != 100 {
		t.Errorf("advanced to %d", q.Now())
	}
}

// The queue against a list that is searched for the earliest event.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		r := &recorder{}
		var waiting []call // in the order of scheduling
		var want []call
		for arg := range rapid.Uint64Range(0, 200).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "schedule") {
				at := Time(rapid.Int64Range(0, 30).Draw(t, "at"))
				q.At(at, r, arg)
				waiting = append(waiting, call{max(at, q.Now()), arg})
				continue
			}
			until := Time(rapid.Int64Range(0, 40).Draw(t, "until"))
			first := 0
			for i, c := range waiting {
				if c.now < waiting[first].now {
					first = i
				}
			}
			due := len(waiting) > 0 && waiting[first].now <= until
			if due {
				want = append(want, waiting[first])
				waiting = slices.Delete(waiting, first, first+1)
			}
			if q.Step(until) != due {
				t.Fatalf("a step to %d: due is %v", until, due)
			}
		}
		if !slices.Equal(r.calls, want) || q.Len() != len(waiting) || q.Fired() != uint64(len(want)) {
			t.Fatalf("got %v, want %v", r.calls, want)
		}
	})
}

func TestSchedulingDoesNotAllocate(t *testing.T) {
	var q Queue
	r := &ticker{q: &q}
	for i := range Time(64) {
		q.At(i, r, 0)
	}
	if n := testing.AllocsPerRun(100, func() { q.Step(1 << 60) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// ticker schedules itself again.
type ticker struct{ q *Queue }

func (r *ticker) Fire(now Time, arg uint64) { r.q.At(now+100, r, arg) }
