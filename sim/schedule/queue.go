package schedule

// Time is simulated nanoseconds since the run began. All nodes share it; a node's own clocks are functions of it.
type Time int64

// Handler is called when a scheduled moment comes. arg is what was given to At: a handler with several pending moments
// tells them apart (and recognises outdated ones) by it.
type Handler interface {
	Fire(now Time, arg uint64)
}

type entry struct {
	at  Time
	seq uint64
	arg uint64
	h   Handler
}

func (a *entry) before(b *entry) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

// Queue runs handlers in order of (time, order in which they were scheduled). The zero value is ready.
// There is no cancellation: a handler ignores what it no longer wants, by arg.
type Queue struct {
	heap  []entry // 4-ary: half the depth of a binary one, and neighbours share cache lines
	now   Time
	seq   uint64
	fired uint64
}

// Now is the time of the event being run, or of the last one.
func (q *Queue) Now() Time { return q.now }

// Fired counts the events run so far.
func (q *Queue) Fired() uint64 { return q.fired }

// Len counts the events that wait.
func (q *Queue) Len() int { return len(q.heap) }

// At schedules h.Fire(t, arg). A time that has passed means now.
func (q *Queue) At(t Time, h Handler, arg uint64) {
	if t < q.now {
		t = q.now
	}
	q.seq++
	q.heap = append(q.heap, entry{at: t, seq: q.seq, arg: arg, h: h})
	q.up(len(q.heap) - 1)
}

// After schedules h.Fire(now+d, arg). A sum beyond the end of time is the end of time.
func (q *Queue) After(d Time, h Handler, arg uint64) {
	if d > endOfTime-q.now {
		d = endOfTime - q.now
	}
	q.At(q.now+d, h, arg)
}

// endOfTime is the last moment there is.
const endOfTime Time = 1<<63 - 1

// Next returns the time of the earliest waiting event.
func (q *Queue) Next() (Time, bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// Step runs the earliest event if it is due at or before until, and reports whether it ran one.
func (q *Queue) Step(until Time) bool {
	if len(q.heap) == 0 || q.heap[0].at > until {
		return false
	}
	e := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap[last] = entry{}
	q.heap = q.heap[:last]
	if last > 0 {
		q.down(0)
	}
	q.now = e.at
	q.fired++
	e.h.Fire(e.at, e.arg)
	return true
}

// Advance moves Now to t when nothing that waits is earlier.
func (q *Queue) Advance(t Time) {
	if next, ok := q.Next(); ok && next < t {
		t = next
	}
	if t > q.now {
		q.now = t
	}
}

func (q *Queue) up(i int) {
	e := q.heap[i]
	for i > 0 {
		p := (i - 1) / 4
		if !e.before(&q.heap[p]) {
			break
		}
		q.heap[i] = q.heap[p]
		i = p
	}
	q.heap[i] = e
}

func (q *Queue) down(i int) {
	e := q.heap[i]
	n := len(q.heap)
	for {
		c := 4*i + 1
		if c >= n {
			break
		}
		end := min(c+4, n)
		for j := c + 1; j < end; j++ {
			if q.heap[j].before(&q.heap[c]) {
				c = j
			}
		}
		if !q.heap[c].before(&e) {
			break
		}
		q.heap[i] = q.heap[c]
		i = c
	}
	q.heap[i] = e
}
