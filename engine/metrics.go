package engine

import (
	"slices"

	"github.com/natsd/natsd/monitor"
)

// metricsQuery collects what /metrics shows.
type metricsQuery struct {
	a    monitor.Metrics
	slot int
	nth  int // account
}

func (q *metricsQuery) answer() monitor.Answer { return &q.a }

func (q *metricsQuery) step(e *Engine, budget int) progress {
	for ; q.slot < len(e.conns); q.slot++ {
		if budget <= 0 {
			return queryGoesOn
		}
		budget--
		if c := e.conns[q.slot]; c != nil && c.gate&gateClosed == 0 {
			q.a.Pending += int64(c.out.pending)
			if c.blocked {
				q.a.Blocked++
			}
			if c.gate&gateStall != 0 {
				q.a.Stalled++
			}
		}
	}
	for ; q.nth < len(e.accounts); q.nth++ {
		if budget <= 0 {
			return queryGoesOn
		}
		budget -= accountWork
		if a := e.accounts[q.nth]; a.total > 0 {
			q.a.AddAccount(e.accountStat(a), a.total)
		}
	}
	q.a.Varz = e.varz()
	for _, a := range e.accounts {
		q.a.Sublist.Add(a.subs.Stats())
	}
	q.a.Closed = e.closed.count
	q.a.Turns, q.a.RunWaits = e.turns.shown(), e.runWaits.shown()
	q.a.InputWaits, q.a.SlowWrites = e.inputWaits.shown(), e.slowWrites.shown()
	q.a.Fanouts, q.a.FanoutBytes = e.asides, e.suspended
	q.a.Waiting, q.a.Jobs = e.run.len(), len(e.jobs)+e.checks.waiting
	return queryDone
}

func (h *histogram) shown() monitor.Histogram {
	return monitor.Histogram{Counts: slices.Clone(h.counts[:]), Sum: h.sum}
}
