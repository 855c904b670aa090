package engine

import "github.com/natsd/natsd/engine/assert"

// QueryID names a monitoring query until its answer.
type QueryID uint64

// Monitor takes the answers to queries.
type Monitor interface {
	// Answer is called once for each query, in the turn it was asked or a later one, with a *Varz, *Connz, *Subsz or
	// *Healthz, which belongs to the receiver.
	Answer(id QueryID, answer any)
}

// query is a monitoring answer that is being made, a slice in each turn.
type query interface {
	// step does at most about budget units of work and reports whether the answer is complete.
	step(e *Engine, budget int) (done bool)
	answer() any
}

type pendingQuery struct {
	id QueryID
	q  query
}

// queryPerTurn bounds the connections and subscriptions looked at for monitoring in one turn.
const queryPerTurn = 500

func (e *Engine) ask(id QueryID, q query) {
	assert.That(e.turn && e.env.Monitor != nil, "a query outside a turn, or without a Monitor")
	e.queries = append(e.queries, pendingQuery{id, q})
}

// stepQueries goes on with the oldest query.
func (e *Engine) stepQueries() {
	p := e.queries[0]
	if !p.q.step(e, e.slice(queryPerTurn)) {
		e.mark(MarkQuerySliced)
		return
	}
	e.queries[0] = pendingQuery{}
	e.queries = e.queries[1:]
	if len(e.queries) == 0 {
		e.queries = nil
	}
	e.env.Monitor.Answer(p.id, p.q.answer())
}

// turnTimes says how long turns took, as the host measured them.
type turnTimes struct {
	longest int64 // ns
	total   int64 // ns
	turns   uint64
}

// TurnTook tells how long the turn before took, in nanoseconds of real time. It is shown by monitoring and decides nothing.
func (e *Engine) TurnTook(ns int64) {
	e.turns.turns++
	e.turns.total += ns
	e.turns.longest = max(e.turns.longest, ns)
}

// Healthz is the answer to a health query.
type Healthz struct {
	OK     bool
	Reason string // why not
}

// QueryHealthz asks whether the server serves.
func (e *Engine) QueryHealthz(id QueryID) { e.ask(id, &healthQuery{}) }

type healthQuery struct{ h Healthz }

func (q *healthQuery) step(e *Engine, _ int) bool {
	switch {
	case e.state != stateReady:
		q.h.Reason = "the client port is not open"
	case e.duck.on:
		q.h.Reason = "the server is in lame duck mode"
	default:
		q.h.OK = true
	}
	return true
}

func (q *healthQuery) answer() any { return &q.h }
