package engine

import "github.com/natsd/natsd/sublist"

// SubszOptions say which subscriptions are wanted.
type SubszOptions struct {
	List bool   // list them, not only the counts
	Test string // only those that this subject reaches
}

// Subsz is the answer: counts, and the subscriptions in the list's own order. Paging is the asker's.
type Subsz struct {
	ServerID string
	Now      WallTime
	Stats    sublist.Stats
	Subs     []SubInfo
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
	q.a.ServerID, q.a.Now, q.a.Stats = e.info.ServerID, e.wall, e.global.subs.Stats()
	if !q.o.List {
		return true
	}
	var done bool
	q.from, done = e.global.subs.List(q.from, budget, []byte(q.o.Test), func(h sublist.Handle[*subscription], s *subscription) bool {
		if s.flags&(subDead|subShadow|subService) == 0 && s.conn.gate&gateClosed == 0 {
			q.a.Subs = append(q.a.Subs, s.info())
		}
		return true
	})
	return done
}
