package sublist

import (
	"bytes"

	"github.com/natsd/natsd/subject"
)

// Search is a match that is carried out in pieces, for a subject that reaches so much, or lies among so many patterns, that it
// would take too long at once. Between the pieces the set may change. A subscription that is there during the whole search is
// found exactly once; one that comes or goes meanwhile is found once or not at all.
//
// Nothing but patterns is remembered from one piece to the next: those that match a subject have an order, the one of results,
// and the search goes on at the first that is not before where it stopped, wherever it has come to hang by then.
type Search[T comparable] struct {
	subj   []byte
	hash   uint32
	gen    uint64 // of the subject, when the search began
	wild   bool   // the literal subject is done: it goes through the trie
	path   []byte // to where it goes on, by the kinds of tokens that lead there
	before []byte // the path that the piece before left
	fresh  bool   // this piece has come to something new

	in string   // the subject whose subscriptions are being taken, if it stopped among them
	at Position // there

	steps, most uint64 // of this piece
	back        uint64 // steps that it took to come to where it goes on

	plain    []T
	queues   []Group[T]
	inQueues int            // members of them all
	named    map[string]int // places in queues
	all      bool           // all are found: the groups are being sorted
	order    order[T]
}

// The kinds of tokens by which a pattern matches one of a subject, in the order of results.
const (
	byLiteral = iota
	byStar
	byFull
)

// Search begins a search for what subj reaches; subj is borrowed until Search returns. See Match.
func (s *Sublist[T]) Search(subj []byte) *Search[T] {
	if s.cache.watch == nil {
		s.cache.start() // changes are counted from now on
	}
	h := hash(s.cache.hasher, subj)
	return &Search[T]{subj: bytes.Clone(subj), hash: h, gen: s.cache.watch.generation(h)}
}

// Continue goes on with a search of this Sublist for about so many steps, and a little in any case. It returns the result when the
// search is over, else nil. The result is stale at once if something changed meanwhile that may have concerned it; what has been
// removed may be in it still.
func (s *Sublist[T]) Continue(q *Search[T], steps uint64) *Result[T] {
	q.most, q.steps, q.back, q.fresh = max(steps, q.back), 0, 0, false // at least as much new as old
	if !q.all {
		q.all = s.goOn(q)
		if s.tally.steps += q.steps + q.back; !q.all {
			return nil
		}
	}
	if e := s.cache.get(q.subj, q.hash); e != nil {
		return e.result // another has been faster
	}
	q.named = nil // they change places
	groups, took, done := q.order.goOn(q.queues, q.most-min(q.steps, q.most))
	q.queues = groups
	if s.tally.steps += took; !done {
		return nil
	}
	r := &Result[T]{hash: q.hash, Plain: q.plain, Queues: q.queues}
	if s.cache.watch.generation(q.hash) == q.gen {
		s.cache.put(r, q.subj)
	}
	return r
}

// Found returns how many subscriptions have been found so far: the search holds a copy of each.
func (q *Search[T]) Found() int { return len(q.plain) + q.inQueues }

// goOn reports whether all has been found.
func (s *Sublist[T]) goOn(q *Search[T]) bool {
	if !q.wild {
		if subject.HasEmptyToken(q.subj) {
			return true
		}
		if l := s.literals[string(q.subj)]; l != nil && !q.take(l) {
			return false
		}
		q.wild = true
	}
	if s.wild == 0 {
		return true
	}
	q.path, q.before = q.before[:0], q.path
	return q.node(&s.patterns, 0, q.before)
}

// node finds what is below n, to which the tokens before pos have led, from a path on. It returns false where it stopped: then
// q.path leads there.
func (q *Search[T]) node(n *node[T], pos int, from []byte) bool {
	end := subject.TokenEnd(q.subj, pos)
	kind := byte(byLiteral)
	if len(from) > 0 {
		kind, from = from[0], from[1:]
	}
	for ; kind <= byFull; kind++ {
		q.path = append(q.path, kind)
		if !q.next(n, kind, pos, end, from) {
			return false
		}
		q.path = q.path[:len(q.path)-1]
		from = nil
	}
	return true
}

func (q *Search[T]) next(n *node[T], kind byte, pos, end int, from []byte) bool {
	switch kind {
	case byLiteral:
		return q.branch(n.literal.get(q.subj[pos:end]), end, from)
	case byStar:
		return q.branch(n.star, end, from)
	default:
		return n.full == nil || q.take(n.full)
	}
}

func (q *Search[T]) branch(b branch[T], end int, from []byte) bool {
	if b.empty() {
		return true
	}
	if len(from) > 0 {
		q.back += branchSteps
	} else {
		if q.fresh && q.steps >= q.most {
			return false
		}
		q.fresh = true
		q.steps += coldSteps
	}
	if l := b.leaf; l != nil {
		tail := l.subject[l.tail:]
		q.steps += uint64(len(tail) / stepBytes)
		switch {
		case (end == len(q.subj)) != (tail == ""), tail != "" && !subject.Match(q.subj[end+1:], tail):
			return true
		case len(from) > 0 && bytes.Compare(appendKinds(nil, tail), from) < 0:
			return true // found before, when it had a node to itself
		}
		return q.take(l)
	}
	if end < len(q.subj) {
		return q.node(b.node, end+1, from)
	}
	return b.node.end == nil || q.take(b.node.end)
}

// appendKinds appends the kinds of the tokens of a pattern.
func appendKinds(to []byte, pattern string) []byte {
	for pos := 0; pos < len(pattern); {
		end := subject.TokenEnd(pattern, pos)
		switch token := pattern[pos:end]; {
		case isByte(token, subject.Star):
			to = append(to, byStar)
		case isByte(token, subject.Full) && end == len(pattern):
			to = append(to, byFull)
		default:
			to = append(to, byLiteral)
		}
		pos = end + 1
	}
	return to
}

// take takes the subscriptions of l, from where it stopped among them on. It returns false where it stops before the end.
func (q *Search[T]) take(l *leaf[T]) bool {
	if q.in != l.subject {
		q.in, q.at = l.subject, Position{}
	}
	q.fresh = true
	left := 1 // a subscription is a step
	if q.steps < q.most {
		left = int(min(q.most-q.steps, 1<<20))
	}
	budget := left
	done := l.list(&q.at, &budget, func(h Handle[T], v T) bool {
		if h.group == nil {
			q.plain = append(q.plain, v)
		} else {
			q.member(h.group.name, v)
		}
		return true
	})
	q.steps += foundSteps + uint64(left-budget)
	if done {
		q.in = ""
		return true
	}
	if q.wild {
		q.path = appendKinds(q.path[:0], l.subject)
	}
	return false
}

// member adds a member to a queue group.
func (q *Search[T]) member(queue string, v T) {
	q.inQueues++
	if n := len(q.queues); n > 0 && q.queues[n-1].Name == queue {
		q.queues[n-1].Members = append(q.queues[n-1].Members, v)
		return
	}
	i, found := q.named[queue]
	if !found {
		if q.named == nil {
			q.named = make(map[string]int)
		}
		i = len(q.queues)
		q.named[queue] = i
		q.queues = append(q.queues, Group[T]{Name: queue})
	}
	q.queues[i].Members = append(q.queues[i].Members, v)
}
