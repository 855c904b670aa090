package sublist

import (
	"fmt"
	"math"

	"github.com/natsd/natsd/subject"
)

// Check looks at the whole structure and returns the first thing in it that
// cannot be, nil if there is none. It takes time in proportion to everything
// held, and is meant for tests and simulation.
func (s *Sublist[T]) Check() error {
	subs, leaves, literals := 0, 0, 0
	for i := range s.slots.size() {
		l := s.slots.get(i)
		if l == nil {
			continue
		}
		leaves++
		if l.slot != i {
			return fmt.Errorf("leaf %q in slot %d says %d", l.subject, i, l.slot)
		}
		n, err := l.check()
		if err != nil {
			return fmt.Errorf("leaf %q: %w", l.subject, err)
		}
		subs += n
		if !l.wild() {
			literals++
			if s.literals[l.subject] != l {
				return fmt.Errorf("literal leaf %q is not found by its subject", l.subject)
			}
		}
	}
	inTrie, err := s.patterns.check()
	if err != nil {
		return err
	}
	switch {
	case subs != s.subs:
		return fmt.Errorf("counted %d subscriptions, have %d", s.subs, subs)
	case leaves != s.slots.used:
		return fmt.Errorf("counted %d slots taken, have %d", s.slots.used, leaves)
	case literals != len(s.literals):
		return fmt.Errorf("%d literals by subject, %d by slot", len(s.literals), literals)
	case inTrie != s.wild || inTrie != leaves-literals:
		return fmt.Errorf("counted %d wildcard subjects, have %d in the trie, %d by slot",
			s.wild, inTrie, leaves-literals)
	case len(s.scratch) != 0:
		return fmt.Errorf("%d leaves left in the scratch slice", len(s.scratch))
	}
	return s.checkCache()
}

// check counts the subscriptions of l.
func (l *leaf[T]) check() (int, error) {
	if l.wild() != subject.HasWildcard(l.subject) {
		return 0, fmt.Errorf("wild is %v", l.wild())
	}
	if l.more == nil {
		if l.firstID == 0 {
			return 0, fmt.Errorf("is empty")
		}
		return 1, nil
	}
	n := l.more.plain.len()
	if l.firstID != 0 || n <= 1 && len(l.more.groups) == 0 {
		return 0, fmt.Errorf("should be folded, or is both folded and not")
	}
	if err := l.more.plain.check(); err != nil {
		return 0, err
	}
	for i, g := range l.more.groups {
		if g.members.len() == 0 || i > 0 && l.more.groups[i-1].name >= g.name {
			return 0, fmt.Errorf("group %q is empty or out of order", g.name)
		}
		if err := g.members.check(); err != nil {
			return 0, fmt.Errorf("group %q: %w", g.name, err)
		}
		n += g.members.len()
	}
	return n, nil
}

// check looks at order and counts of l.
func (l *list[T]) check() error {
	deads := 0
	for i, id := range l.ids {
		if id&dead != 0 {
			deads++
		}
		if i > 0 && l.ids[i-1]&^dead >= id&^dead {
			return fmt.Errorf("ids out of order at %d", i)
		}
	}
	if deads != l.deads || len(l.vals) != len(l.ids) || deads > len(l.ids)-deads {
		return fmt.Errorf("%d values, %d ids, %d dead, counted %d", len(l.vals), len(l.ids), deads, l.deads)
	}
	return nil
}

// check counts the leaves below n and looks whether each is where its subject
// leads.
func (n *node[T]) check() (leaves int, err error) {
	count := func(l *leaf[T], tail bool) {
		leaves++
		if tail && int(l.tail) != len(l.subject) {
			err = fmt.Errorf("leaf %q has tail %d", l.subject, l.tail)
		}
	}
	below := func(b branch[T]) {
		switch {
		case b.leaf != nil && b.node != nil:
			err = fmt.Errorf("a branch leads to both a node and leaf %q", b.leaf.subject)
		case b.leaf != nil:
			count(b.leaf, false)
		case b.node != nil && b.node.empty():
			err = fmt.Errorf("an empty node")
		case b.node != nil:
			more, e := b.node.check()
			leaves += more
			if e != nil {
				err = e
			}
		}
	}
	if n.full != nil {
		count(n.full, true)
	}
	if n.end != nil {
		count(n.end, true)
	}
	below(n.star)
	for _, e := range n.literal.few {
		below(e.branch)
	}
	for _, b := range n.literal.many { //natsd:orderfree only counts and looks for any fault
		below(b)
	}
	return leaves, err
}

// checkCache looks at the places of the cached results, and whether each is
// true.
func (s *Sublist[T]) checkCache() error {
	c := &s.cache
	if c.used > c.size {
		return fmt.Errorf("%d results cached, %d allowed", c.used, c.size)
	}
	chained, kin, unused := 0, 0, 0
	for _, at := range c.chains {
		for ; at != 0; at = c.entries[at].next {
			chained++
		}
	}
	for i, at := range c.kin {
		for before := ^int32(i); at != 0; before, at = at, c.entries[at].kin {
			kin++
			if c.entries[at].kinOf != before {
				return fmt.Errorf("cached %q: kin not linked both ways", c.entries[at].name())
			}
		}
	}
	for at := c.free; at != 0; at = c.entries[at].next {
		unused++
	}
	if chained != c.used || kin != c.used || c.used+unused != max(len(c.entries)-1, 0) {
		return fmt.Errorf("%d results cached, %d in chains, %d among kin, %d unused of %d entries",
			c.used, chained, kin, unused, len(c.entries)-1)
	}
	weight := 0
	for at := range c.entries {
		if r := c.entries[at].result; r != nil {
			weight += r.weight()
			if err := s.checkEntry(int32(at)); err != nil {
				return fmt.Errorf("cached %q: %w", c.entries[at].name(), err)
			}
		}
	}
	if weight != c.weight || weight > c.most && c.used > 1 {
		return fmt.Errorf("%d results cached name %d subscriptions, counted %d, allowed %d", c.used, weight, c.weight, c.most)
	}
	return nil
}

// checkEntry looks at one entry in use.
func (s *Sublist[T]) checkEntry(at int32) error {
	e := &s.cache.entries[at]
	subj, h := []byte(e.name()), hash(s.cache.hasher, e.name())
	if e.result.place != at || e.result.hash != h || s.cache.get(subj, h) != e {
		return fmt.Errorf("wrong place or hash")
	}
	s.collect(subj, math.MaxUint64)
	fresh := s.build(h)
	s.clearScratch()
	if !e.result.same(fresh) {
		return fmt.Errorf("out of date")
	}
	return nil
}

// name returns the subject.
func (e *entry[T]) name() string {
	if e.length <= shortMax {
		return string(e.short[:e.length])
	}
	return e.result.long
}

// same reports whether both say the same.
func (r *Result[T]) same(o *Result[T]) bool {
	if !sameValues(r.Plain, o.Plain) || len(r.Queues) != len(o.Queues) {
		return false
	}
	for i := range r.Queues {
		if r.Queues[i].Name != o.Queues[i].Name || !sameValues(r.Queues[i].Members, o.Queues[i].Members) {
			return false
		}
	}
	return true
}

// sameValues reports whether a and b are equal.
func sameValues[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
