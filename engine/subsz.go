package engine

import (
	"github.com/natsd/natsd/monitor"
	"github.com/natsd/natsd/sublist"
)

// subszQuery lists subscriptions: account by account, in the order in which these came.
type subszQuery struct {
	a    *monitor.Subsz
	nth  int // account
	from sublist.Position
}

func (q *subszQuery) answer() monitor.Answer { return q.a }

func (q *subszQuery) step(e *Engine, budget int) progress {
	o := &q.a.Options
	if q.a.Err != nil {
		return queryDone
	}
	for o.Subscriptions && q.nth < len(e.accounts) {
		if a := e.accounts[q.nth]; o.Account == "" || a.name == o.Account {
			if !q.list(a, &budget) {
				return queryGoesOn
			}
		}
		q.nth, q.from = q.nth+1, sublist.Position{}
	}
	q.a.ServerID, q.a.Now = e.info.ServerID, int64(e.wall)
	for _, a := range e.accounts {
		if o.Account == "" || a.name == o.Account {
			q.a.Stats.Add(a.subs.Stats())
		}
	}
	return queryDone
}

// subszPortion is how many places of a list are looked at before the budget is asked again.
const subszPortion = 50

// list lists subscriptions of an account within the budget.
func (q *subszQuery) list(a *account, budget *int) (done bool) {
	for !done {
		if *budget <= 0 {
			return false
		}
		portion := min(*budget, subszPortion)
		*budget -= portion
		q.from, done = a.subs.List(q.from, portion, []byte(q.a.Options.Test), func(h sublist.Handle[*subscription], s *subscription) bool {
			if s.flags&(subDead|subInternal) == 0 && s.conn.gate&gateClosed == 0 {
				q.a.Subs.Add(s.info())
			}
			return true
		})
	}
	return true
}
