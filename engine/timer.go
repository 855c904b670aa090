package engine

// timer is one pending moment of a connection or of the engine itself.
type timer struct {
	at  Instant
	seq uint64 // orders equal moments by when they were set
	pos int    // in the heap, from 1; 0: not set
	c   *conn
	of  *export  // with requests that wait for an answer
	who dueTaker // something else
	acc *account // whose connections are to be told of; none of these: the engine's own
}

// timers is a binary heap of timers by (at, seq).
type timers struct {
	heap []*timer
	seq  uint64
}

func (t *timers) len() int { return len(t.heap) }

// next is the earliest moment, or Never.
func (t *timers) next() Instant {
	if len(t.heap) == 0 {
		return Never
	}
	return t.heap[0].at
}

// set moves x to at; Never takes it out.
func (t *timers) set(x *timer, at Instant) {
	if at == Never {
		t.remove(x)
		return
	}
	if x.pos > 0 && x.at == at {
		return
	}
	t.seq++
	x.at, x.seq = at, t.seq
	if x.pos == 0 {
		t.heap = append(t.heap, x)
		x.pos = len(t.heap)
	}
	if !t.up(x.pos - 1) {
		t.down(x.pos - 1)
	}
}

func (t *timers) remove(x *timer) {
	if x.pos == 0 {
		return
	}
	i := x.pos - 1
	last := len(t.heap) - 1
	x.pos = 0
	moved := t.heap[last]
	t.heap[last] = nil
	t.heap = t.heap[:last]
	if i == last {
		return
	}
	t.place(moved, i)
	if !t.up(i) {
		t.down(i)
	}
}

func (t *timers) place(x *timer, i int) {
	t.heap[i] = x
	x.pos = i + 1
}

func (x *timer) before(y *timer) bool { return x.at < y.at || x.at == y.at && x.seq < y.seq }

func (t *timers) up(i int) bool {
	x, moved := t.heap[i], false
	for i > 0 {
		p := (i - 1) / 2
		if !x.before(t.heap[p]) {
			break
		}
		t.place(t.heap[p], i)
		i, moved = p, true
	}
	t.place(x, i)
	return moved
}

func (t *timers) down(i int) {
	x := t.heap[i]
	for {
		c := 2*i + 1
		if c >= len(t.heap) {
			break
		}
		if c+1 < len(t.heap) && t.heap[c+1].before(t.heap[c]) {
			c++
		}
		if !t.heap[c].before(x) {
			break
		}
		t.place(t.heap[c], i)
		i = c
	}
	t.place(x, i)
}

// dueTaker has a timer, and takes its moment.
type dueTaker interface{ due(e *Engine) }
