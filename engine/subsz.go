package engine

import "github.com/natsd/natsd/sublist"

// SubszOptions say which subscriptions are wanted.
type SubszOptions struct {
	List bool   // list them, not only the counts
	Test string // only those that this subject reaches
}

// Subsz is the answer: counts, and the subscriptions in the list's own order. Paging is the asker's. It is made over several
// turns: a subscription that lasts all the while is in it once, one that comes or goes once or not at all. The counts are
// those of the last of these turns.
type Subsz struct {
	ServerID string
	Now      WallTime
	Stats    sublist.Stats
	Subs     Pages[SubInfo]
}

// QuerySubsz asks for subscriptions.
func (e *Engine) QuerySubsz(id QueryID, o SubszOptions) { e.ask(id, &subszQuery{o: o}) }

type subszQuery struct {
	o    SubszOptions
	a    Subsz
	from sublist.Position
}

func (q *subszQuery) answer() any { return &q.a }

func (q *subszQuery) step(e *Engine, budget int) bool {
	done := !q.o.List
	if !done {
		done = q.list(e, budget)
	}
	if done {
		q.a.ServerID, q.a.Now, q.a.Stats = e.info.ServerID, e.wall, e.global.subs.Stats()
	}
	return done
}

// list lists subscriptions within the budget.
func (q *subszQuery) list(e *Engine, budget int) (done bool) {
	q.from, done = e.global.subs.List(q.from, budget, []byte(q.o.Test), func(h sublist.Handle[*subscription], s *subscription) bool {
		if s.flags&(subDead|subInternal) == 0 && s.conn.gate&gateClosed == 0 {
			q.a.Subs.add(s.info())
		}
		return true
	})
	return done
}
