package engine

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/natsd/natsd/monitor"
	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
)

// The services that count subscriptions: operators ask whether anybody listens where nobody answers.

// countQuery counts the subscriptions of an account's connections: to a subject, those that a message on it reaches; to a
// pattern, those that it covers. Those that stand there for connections of importing accounts count.
type countQuery struct {
	account *account
	subject []byte // or a pattern
	queue   string // the group that counts; empty: all, and plain subscriptions

	from   sublist.Position
	search *sublist.Search[*subscription]
	count  int
}

// verbatim is an answer that is told as it is, by itself.
type verbatim []byte

// Body implements monitor.Answer.
func (v verbatim) Body() (any, error) { return v, nil }

func (q *countQuery) answer() monitor.Answer { return verbatim(strconv.Itoa(q.count)) }

func (q *countQuery) step(e *Engine, budget int) progress {
	if e.recast.on {
		return queryGoesOn // what stands for connections of importing accounts is not all there
	}
	switch subject.Check(q.subject) {
	case subject.Invalid:
		return queryDone
	case subject.Literal:
		// The index knows them; a list of all subscriptions would be looked through for nothing.
		r := q.find(e, budget)
		if r == nil {
			return queryGoesOn
		}
		e.work += r.Fanout() / lookWork
		q.countReached(r)
		return queryDone
	}
	done := false
	for !done {
		if budget <= 0 {
			return queryGoesOn
		}
		portion := min(budget, subszPortion)
		budget -= portion
		q.from, done = q.account.subs.List(q.from, portion, q.subject, func(h sublist.Handle[*subscription], s *subscription) bool {
			if subject.IsSubset(h.Subject(), q.subject) {
				q.add(h.Queue(), s)
			}
			return true
		})
	}
	return queryDone
}

// find returns what the subject reaches; nil: that takes longer.
func (q *countQuery) find(e *Engine, budget int) (r *sublist.Result[*subscription]) {
	if q.search == nil {
		if r = e.matchWithin(q.account, q.subject); r != nil {
			return r
		}
		q.search = q.account.subs.Search(q.subject)
	}
	return e.goOnSearching(q.account, q.search, budget)
}

func (q *countQuery) countReached(r *sublist.Result[*subscription]) {
	for _, s := range r.Plain {
		q.add("", s)
	}
	for i := range r.Queues {
		for _, s := range r.Queues[i].Members {
			q.add(s.handle.Queue(), s)
		}
	}
}

func (q *countQuery) add(queue string, s *subscription) {
	if s.flags&(subDead|subService|subHandler) == 0 && s.conn.gate&gateClosed == 0 && (q.queue == "" || queue == q.queue) {
		q.count++
	}
}

// serveSubscribers tells who asks, and be it through an import, how many subscriptions of its own account there are to a
// subject, or in a queue group.
func (e *Engine) serveSubscribers(k *call) {
	q := &countQuery{account: e.byAccount[k.asker]}
	if f := bytes.Fields(k.body); len(f) > 0 {
		if q.subject = f[0]; len(f) > 1 {
			q.queue = string(f[1])
		}
	}
	e.count(k, q)
}

// serveCount tells one server of another how many subscriptions an account has here. Where nobody is connected to it, there is
// no answer.
func (e *Engine) serveCount(k *call) {
	var r struct {
		Account string `json:"acc"`
		Subject string `json:"subject"`
		Queue   []byte `json:"queue,omitempty"`
	}
	if err := json.Unmarshal(k.body, &r); err != nil {
		e.logf(LevelError, "", "A request on "+k.subject+" can't be read: "+printable([]byte(err.Error())))
		return
	}
	if a := e.byAccount[r.Account]; a != nil && a.conns > 0 {
		e.count(k, &countQuery{account: a, subject: []byte(r.Subject), queue: string(r.Queue)})
	}
}

func (e *Engine) count(k *call, q *countQuery) {
	if q.account != nil {
		e.enqueueInvestigation(&investigation{call: k, query: q, part: whole})
	}
}
