package engine

import (
	"strconv"

	"github.com/natsd/natsd/engine/assert"
	"github.com/natsd/natsd/monitor"
)

// QueryID names a monitoring query until its answer.
type QueryID uint64

// Monitor takes the answers to queries.
type Monitor interface {
	// Answer is called once for each query, in the turn it was asked or a later one. The answer belongs to the receiver, who
	// makes its body where that may take its time.
	Answer(id QueryID, answer monitor.Answer)
}

// Process tells what only the world around an engine knows of it.
type Process interface {
	// Process must not take long.
	Process() monitor.Process
}

// query is a monitoring answer that is being made, a slice in each turn.
type query interface {
	// step does at most about budget units of work and reports whether the answer is complete, or goes on when a job that it
	// has submitted is done.
	step(e *Engine, budget int) progress
	answer() monitor.Answer
}

// progress is how far a query is.
type progress uint8

const (
	queryGoesOn progress = iota
	queryWaits           // for its job, a queryJob
	queryDone
)

type pendingQuery struct {
	q    query
	then func(*Engine, monitor.Answer)
}

// queryPerTurn bounds the connections and subscriptions looked at for monitoring in one turn.
const queryPerTurn = 500

// Ask asks a question. Monitor.Answer takes the answer, once, in this turn or a later one.
func (e *Engine) Ask(id QueryID, q monitor.Question) {
	assert.That(e.turn && e.env.Monitor != nil, "a query outside a turn, or without a Monitor")
	e.inquire(q, func(e *Engine, a monitor.Answer) { e.env.Monitor.Answer(id, a) })
}

// inquire has then called with the answer, at the end of this turn or of a later one. Who needs the answer's body makes it in
// a job.
func (e *Engine) inquire(q monitor.Question, then func(*Engine, monitor.Answer)) {
	e.queries = append(e.queries, pendingQuery{e.newQuery(q), then})
}

func (e *Engine) newQuery(q monitor.Question) query {
	switch q := q.(type) {
	case monitor.VarzOptions:
		return &atOnce{make: func(e *Engine) monitor.Answer { return e.varz() }}
	case monitor.ConnzOptions:
		return newConnzQuery(q)
	case monitor.SubszOptions:
		return &subszQuery{a: &monitor.Subsz{Options: q, Err: q.Check()}}
	case monitor.AccountzOptions:
		return &accountzQuery{o: q}
	case monitor.AccountStatzOptions:
		return &accountStatzQuery{o: q}
	case monitor.MetricsOptions:
		return &metricsQuery{}
	case monitor.HealthzOptions:
		return &atOnce{make: func(e *Engine) monitor.Answer { return e.healthz(q) }}
	default:
		return &atOnce{make: func(e *Engine) monitor.Answer { return e.absent(q) }}
	}
}

// atOnce is a query that needs no slices.
type atOnce struct {
	make func(*Engine) monitor.Answer
	a    monitor.Answer
}

func (q *atOnce) answer() monitor.Answer { return q.a }

func (q *atOnce) step(e *Engine, _ int) progress {
	q.a = q.make(e)
	return queryDone
}

// stepQueries goes on with the oldest query that waits for nothing else.
func (e *Engine) stepQueries() {
	p := e.queries[0]
	done := p.q.step(e, e.slice(queryPerTurn))
	if done == queryGoesOn {
		e.mark(MarkQuerySliced)
		return
	}
	e.queries[0] = pendingQuery{}
	e.queries = e.queries[1:]
	if len(e.queries) == 0 {
		e.queries = nil
	}
	if done == queryWaits {
		e.submit(&queryJob{p})
		return
	}
	p.then(e, p.q.answer())
}

// queryJob is the part of a query that takes too long for a turn.
type queryJob struct{ pendingQuery }

// worker is a query with such a part.
type worker interface {
	// work shares nothing with the engine.
	work()
}

func (j *queryJob) run() { j.q.(worker).work() }

func (j *queryJob) done(e *Engine) { e.queries = append(e.queries, j.pendingQuery) }

// absent answers questions about what the engine does not have.
func (e *Engine) absent(q monitor.Question) monitor.Answer {
	id, now := e.info.ServerID, monitor.Stamp(int64(e.wall))
	switch q := q.(type) {
	case monitor.RoutezOptions:
		return &monitor.Routez{ServerID: id, ServerName: e.info.ServerName, Now: now, Routes: []struct{}{}}
	case monitor.GatewayzOptions:
		return &monitor.Gatewayz{ServerID: id, Now: now}
	case monitor.LeafzOptions:
		return &monitor.Leafz{ServerID: id, Now: now, Leafs: []struct{}{}}
	case monitor.JszOptions:
		return &monitor.Jsz{Options: q, ServerID: id, Now: now, Disabled: true}
	case monitor.RaftzOptions:
		return monitor.Raftz{}
	case monitor.QueueszOptions:
		return monitor.Queuesz{}
	default:
		panic("engine: a question of no known kind")
	}
}

// healthz says whether the server is healthy. The log is told where it isn't: who looks after it may do without the server then.
func (e *Engine) healthz(o monitor.HealthzOptions) *monitor.Healthz {
	h := monitor.NewHealthz(o, e.unhealthy(o))
	if h.OK() || o.Aspect == monitor.Current { // that connections have yet to follow a reload is nothing to worry about
		return h
	}
	e.unwell.add(e.now)
	if n := e.unwell.take(e.now); n > 0 {
		text := "Healthcheck failed: "
		if h.Error != "" {
			text += strconv.Quote(h.Error)
		} else {
			text += strconv.Itoa(len(h.Errors)) + " errors"
		}
		if n > 1 {
			text += " (not logged before: " + strconv.Itoa(n-1) + ")"
		}
		e.logf(LevelWarn, "", text)
	}
	return h
}

// unhealthy says why the server is not healthy.
func (e *Engine) unhealthy(o monitor.HealthzOptions) (why []monitor.Reason) {
	no := func(text string) { why = append(why, monitor.Reason{Type: "CONNECTION", Error: text}) }
	if o.Aspect == monitor.Live {
		return nil // it answers
	}
	switch {
	case e.state >= stateStopping:
		no("the server is stopping")
	case e.state != stateReady:
		no("the client port is not open")
	case e.duck.on:
		no("the server is in lame duck mode")
	}
	if o.Aspect == monitor.Current && e.sweep.on {
		why = append(why, monitor.Reason{Type: "reload", Error: "connections have yet to follow a reload"})
	}
	return why
}
