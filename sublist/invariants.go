package sublist

import (
	"fmt"

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
	if len(c.ring) > c.size {
		return fmt.Errorf("%d results cached, %d allowed", len(c.ring), c.size)
	}
	chained, kin := 0, 0
	for i := range c.chains {
		for r := c.chains[i]; r != nil; r = r.next {
			chained++
		}
	}
	for i := range c.kin {
		for r := c.kin[i]; r != nil; r = r.kin {
			kin++
			if r.kin != nil && r.kin.kinOf != r {
				return fmt.Errorf("cached %q: kin not linked both ways", r.subject)
			}
		}
	}
	if chained != len(c.ring) || kin != len(c.ring) {
		return fmt.Errorf("%d results in the ring, %d in chains, %d among kin", len(c.ring), chained, kin)
	}
	weight := 0
	for _, r := range c.ring {
		weight += r.weight()
	}
	if weight != c.weight || weight > c.most && len(c.ring) > 1 {
		return fmt.Errorf("%d results cached name %d subscriptions, counted %d, allowed %d", len(c.ring), weight, c.weight, c.most)
	}
	for i, r := range c.ring {
		if r.state != cached || int(r.place) != i || c.get([]byte(r.subject), r.hash) != r {
			return fmt.Errorf("cached %q: wrong state or place", r.subject)
		}
		s.collect([]byte(r.subject))
		fresh := s.build([]byte(r.subject), r.hash)
		clear(s.scratch)
		s.scratch = s.scratch[:0]
		if !r.same(fresh) {
			return fmt.Errorf("cached %q is out of date", r.subject)
		}
	}
	return nil
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
