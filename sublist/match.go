package sublist

import (
	"math"
	"slices"
	"strings"

	"github.com/natsd/natsd/subject"
)

// Match returns what subj reaches. In subj, which is borrowed until Match
// returns, the characters "*" and ">" mean nothing. A subject with an empty
// token reaches nobody. The result is never nil; see Result.
//
// A match that the cache answers allocates nothing.
func (s *Sublist[T]) Match(subj []byte) *Result[T] {
	return s.MatchWithin(subj, math.MaxUint64)
}

// MatchWithin is Match if that takes no more than about so many steps, else nil: that is for a Search.
func (s *Sublist[T]) MatchWithin(subj []byte, steps uint64) *Result[T] {
	s.tally.matches++
	h := hash(s.cache.hasher, subj)
	if e := s.cache.get(subj, h); e != nil {
		s.tally.hits++
		e.touched = true
		return e.result
	}
	return s.matchAnew(subj, h, steps)
}

// matchAnew is MatchWithin without the cache's help.
func (s *Sublist[T]) matchAnew(subj []byte, h uint32, most uint64) *Result[T] {
	nowhere, all := s.collect(subj, most)
	if nowhere {
		return s.nothing
	}
	s.tally.steps += missSteps
	var r *Result[T]
	if all {
		cost := s.buildSteps(most)
		s.tally.steps += cost
		if cost/buildsMost <= most {
			r = s.build(h)
			s.cache.put(r, subj)
		}
	}
	s.clearScratch()
	return r
}

// clearScratch forgets what was found: what is removed must not be kept alive.
func (s *Sublist[T]) clearScratch() {
	clear(s.scratch)
	s.scratch = s.scratch[:0]
}

// HasInterest reports whether subj reaches anybody. It neither uses the cache
// up nor fills it.
func (s *Sublist[T]) HasInterest(subj []byte) bool {
	if e := s.cache.get(subj, hash(s.cache.hasher, subj)); e != nil {
		return !e.result.Empty()
	}
	s.collect(subj, math.MaxUint64)
	found := len(s.scratch) > 0
	s.clearScratch()
	return found
}

// collect puts the leaves that subj reaches into s.scratch, in the order of
// results, unless there is more to look at than so many steps: then these are not
// all. A subject with an empty token is one that leads nowhere.
func (s *Sublist[T]) collect(subj []byte, most uint64) (nowhere, all bool) {
	s.tally.steps += uint64(len(subj) / stepBytes)
	if l := s.literals[string(subj)]; l != nil {
		s.scratch = append(s.scratch, l)
	} else if subject.HasEmptyToken(subj) {
		return true, true
	}
	if s.wild == 0 {
		return false, true
	}
	w := walk[T]{subj: subj, found: s.scratch, most: most}
	w.node(&s.patterns, 0)
	s.scratch = w.found
	s.tally.steps += w.steps + uint64(foundSteps*len(w.found))
	return false, w.steps <= most
}

// buildsMost is how many times as much making a result may cost as finding it: it is done in one go.
const buildsMost = 4

// walk looks for the leaves whose patterns match a subject.
type walk[T comparable] struct {
	subj  []byte
	found []*leaf[T]
	steps uint64
	most  uint64 // steps, about
}

// node finds those below n, to which the tokens before pos have led. A token
// starts at pos.
func (w *walk[T]) node(n *node[T], pos int) {
	end := subject.TokenEnd(w.subj, pos)
	if b := n.literal.get(w.subj[pos:end]); !b.empty() {
		w.branch(b, end)
	}
	if !n.star.empty() {
		w.branch(n.star, end)
	}
	if n.full != nil {
		w.found = append(w.found, n.full)
	}
}

// branch finds those below b, where the token that led to b ends at end.
func (w *walk[T]) branch(b branch[T], end int) {
	if w.steps > w.most {
		return
	}
	w.steps += branchSteps
	if w.steps > warmMost {
		w.steps += coldSteps - branchSteps
	}
	if l := b.leaf; l != nil {
		tail := l.subject[l.tail:]
		w.steps += uint64(len(tail) / stepBytes)
		if end == len(w.subj) {
			if tail == "" {
				w.found = append(w.found, l)
			}
		} else if tail != "" && subject.Match(w.subj[end+1:], tail) {
			w.found = append(w.found, l)
		}
		return
	}
	if end < len(w.subj) {
		w.node(b.node, end+1)
		return
	}
	if b.node.end != nil {
		w.found = append(w.found, b.node.end)
	}
}

// buildSteps is what it costs to make a result from the leaves in s.scratch: all of it, or more than most.
func (s *Sublist[T]) buildSteps(most uint64) (steps uint64) {
	several := len(s.scratch) > 1
	for _, l := range s.scratch {
		m := l.more
		if m == nil {
			continue
		}
		steps += m.plain.showSteps(several)
		if steps += uint64(groupSteps * len(m.groups)); steps/buildsMost > most {
			return steps
		}
		for _, g := range m.groups {
			steps += g.members.showSteps(several)
		}
	}
	return steps
}

// build makes a result from the leaves in s.scratch.
func (s *Sublist[T]) build(h uint32) *Result[T] {
	r := &Result[T]{hash: h}
	plain, sources, grouped := 0, 0, 0
	for _, l := range s.scratch {
		if n := l.plainLen(); n > 0 {
			plain += n
			sources++
		}
		if len(l.groups()) > 0 {
			grouped++
		}
	}
	switch {
	case plain == 1:
		r.Plain = r.one[:0]
	case sources > 1:
		r.Plain = make([]T, 0, plain)
	}
	for _, l := range s.scratch {
		if sources == 1 && plain > 1 {
			if l.plainLen() > 0 {
				r.Plain = l.more.plain.snapshot()
			}
			continue
		}
		r.Plain = l.appendPlain(r.Plain)
	}
	if grouped > 0 {
		r.Queues = s.buildQueues(grouped)
	}
	return r
}

// appendPlain appends the plain subscriptions of l.
func (l *leaf[T]) appendPlain(to []T) []T {
	switch {
	case l.firstID != 0:
		to = append(to, l.first)
	case l.more != nil:
		to = append(to, l.more.plain.live()...)
	}
	return to
}

// buildQueues makes the groups of a result from the leaves in s.scratch, of
// which so many have any.
func (s *Sublist[T]) buildQueues(grouped int) []Group[T] {
	var parts []*group[T]
	for _, l := range s.scratch {
		if grouped == 1 && len(l.groups()) > 0 {
			parts = l.groups()
			break
		}
		parts = append(parts, l.groups()...)
	}
	if grouped > 1 {
		slices.SortStableFunc(parts, func(a, b *group[T]) int { return strings.Compare(a.name, b.name) })
	}
	qs := make([]Group[T], 0, len(parts))
	for _, p := range parts {
		if n := len(qs); n > 0 && qs[n-1].Name == p.name {
			// A snapshot has no room behind its end, so this copies it
			// rather than writing into the list.
			qs[n-1].Members = append(qs[n-1].Members, p.members.live()...)
			continue
		}
		qs = append(qs, Group[T]{Name: p.name, Members: p.members.snapshot()})
	}
	return qs
}
