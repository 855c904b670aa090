package engine

// QueryID names a monitoring query until its answer.
type QueryID uint64

// query is a monitoring answer that is being made, a slice in each turn.
type query struct {
	id QueryID
}

func (e *Engine) stepQueries() { e.queries = e.queries[:0] }

// turnTimes says how long turns took, as the host measured them.
type turnTimes struct {
	longest int64 // ns
	turns   uint64
}

// TurnTook tells how long the turn before took, in nanoseconds of real time. It is shown by monitoring and decides nothing.
func (e *Engine) TurnTook(ns int64) {
	e.turns.turns++
	e.turns.longest = max(e.turns.longest, ns)
}
