package engine

import "math/bits"

// turnTimes says how long turns took, as the host measured them.
type turnTimes struct {
	longest int64 // ns
	mostCPU int64 // ns
	histogram
}

// TurnTook tells how long the turn before took, in nanoseconds of real time, and a bound on the CPU it used, in nanoseconds too:
// where the host can't tell, as long as it took. Both are shown by monitoring and decide nothing.
func (e *Engine) TurnTook(ns, cpu int64) {
	e.turns.longest, e.turns.mostCPU = max(e.turns.longest, ns), max(e.turns.mostCPU, cpu)
	e.turns.observe(ns)
}

// InputWaited tells that input of a connection, known to be there, waited so many nanoseconds before the engine was given it.
// It is shown by monitoring and decides nothing.
func (e *Engine) InputWaited(ns int64) { e.inputWaits.observe(ns) }

// histogram counts durations in nanoseconds by powers of two: counts[i] those below 2^i and not below half of that.
type histogram struct {
	counts [histogramSize]uint64
	sum    int64
}

// histogramSize is the number of buckets: the last one is for 2^39 ns, nine minutes, and above.
const histogramSize = 41

func (h *histogram) observe(ns int64) {
	ns = max(ns, 0)
	h.sum += ns
	h.counts[min(bits.Len64(uint64(ns)), histogramSize-1)]++
}

func (h *histogram) count() (n uint64) {
	for _, c := range h.counts {
		n += c
	}
	return n
}
