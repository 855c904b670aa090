package sublist

import (
	"math"
	"sort"

	"github.com/natsd/natsd/subject"
)

// Position is a place in a listing. The zero value is the start.
type Position struct {
	slot  uint32
	queue string // the group being listed; "": the plain subscriptions
	id    uint64 // the last one listed there
}

// List calls fn for subscriptions from a position on, until it has looked at
// budget of them (places without any count too) or fn returns false. It
// returns the position to go on from, and done when there is nothing more.
// With a non-empty collide, a valid pattern or literal, fn is called for those
// only whose subject can match a literal that collide matches.
//
// Between calls the set may change. A subscription that is there during the
// whole listing is listed exactly once; one that comes or goes meanwhile is
// listed once or not at all. fn must not change the set.
func (s *Sublist[T]) List(from Position, budget int, collide []byte,
	fn func(h Handle[T], v T) bool) (next Position, done bool) {
	for ; from.slot < s.slots.size(); from = (Position{slot: from.slot + 1}) {
		if budget <= 0 {
			return from, false
		}
		budget--
		l := s.slots.get(from.slot)
		if l == nil || len(collide) > 0 && !subject.Collide(l.subject, collide) {
			continue
		}
		if !l.list(&from, &budget, fn) {
			return from, false
		}
	}
	return from, true
}

// list lists the subscriptions of l from a position on, which it moves. It
// returns false when it stopped before the end.
func (l *leaf[T]) list(at *Position, budget *int, fn func(h Handle[T], v T) bool) bool {
	if l.more == nil {
		if at.queue != "" || l.firstID <= at.id {
			return true
		}
		at.id = l.firstID
		*budget--
		return fn(Handle[T]{leaf: l, id: l.firstID}, l.first) && *budget > 0
	}
	if at.queue == "" && !l.listOne(nil, &l.more.plain, at, budget, fn) {
		return false
	}
	gs := l.more.groups
	i := sort.Search(len(gs), func(i int) bool { return gs[i].name >= at.queue })
	for _, g := range gs[i:] {
		if g.name != at.queue {
			at.queue, at.id = g.name, 0
		}
		if !l.listOne(g, &g.members, at, budget, fn) {
			return false
		}
	}
	return true
}

// listOne does the same for one list of l, that of g unless g is nil.
func (l *leaf[T]) listOne(g *group[T], of *list[T], at *Position, budget *int,
	fn func(h Handle[T], v T) bool) bool {
	for i := of.find(at.id + 1); i < len(of.ids); i++ {
		if of.ids[i]&dead != 0 {
			continue
		}
		at.id = of.ids[i]
		*budget--
		if !fn(Handle[T]{leaf: l, group: g, id: at.id}, of.vals[i]) || *budget <= 0 {
			return false
		}
	}
	return true
}

// Reverse appends to out the values of all subscriptions whose subject can
// match a literal that pattern matches, and returns it. Their order means
// nothing, though it is the same for the same calls. For a literal this is what
// Match finds; for a wildcard it looks at every leaf. See List for doing that
// in slices.
func (s *Sublist[T]) Reverse(pattern []byte, out []T) []T {
	if subject.Check(pattern) == subject.Literal {
		s.collect(pattern, math.MaxUint64)
		for _, l := range s.scratch {
			out = l.appendAll(out)
		}
		s.clearScratch()
		return out
	}
	for i := range s.slots.size() {
		if l := s.slots.get(i); l != nil && subject.Collide(l.subject, pattern) {
			out = l.appendAll(out)
		}
	}
	return out
}

// appendAll appends all subscriptions of l.
func (l *leaf[T]) appendAll(out []T) []T {
	out = l.appendPlain(out)
	for _, g := range l.groups() {
		out = append(out, g.members.live()...)
	}
	return out
}
