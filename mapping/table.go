package mapping

import "github.com/natsd/natsd/subject"

// Table is the mappings of an account. It never changes and may be shared.
type Table struct {
	list     []*Weighted
	literals map[string]int // sources without wildcards → place in list
	wild     []int          // places of the others, rising
	random   bool
}

// NewTable returns the table of the given mappings. Of two with the same
// source, the later one counts, at its own place.
//
// nats-server goes through overlapping sources in an order that changes each
// time it starts; here it is the order of the list.
func NewTable(list []*Weighted) *Table {
	t := &Table{literals: make(map[string]int)}
	last := make(map[string]int, len(list))
	for i, w := range list {
		last[w.Source()] = i
	}
	for i, w := range list {
		if last[w.Source()] != i {
			continue
		}
		if subject.HasWildcard(w.Source()) {
			t.wild = append(t.wild, len(t.list))
		} else {
			t.literals[w.Source()] = len(t.list)
		}
		t.list = append(t.list, w)
		t.random = t.random || w.random
	}
	return t
}

// Len returns the number of sources.
func (t *Table) Len() int { return len(t.list) }

// At returns the mapping at place i, from 0.
func (t *Table) At(i int) *Weighted { return t.list[i] }

// NeedsRandom reports whether any result depends on the random number.
func (t *Table) NeedsRandom() bool { return t.random }

// Match returns the mapping that speaks of subj, or nil: the first one whose
// source matches.
func (t *Table) Match(subj []byte) *Weighted {
	at, ok := t.literals[string(subj)]
	if !ok {
		at = len(t.list)
	}
	for _, i := range t.wild {
		if i > at {
			break
		}
		if t.list[i].Match(subj) {
			return t.list[i]
		}
	}
	if ok {
		return t.list[at]
	}
	return nil
}

// Apply maps subj by the first mapping whose source matches, and not again:
// what a mapping results in is not mapped a second time. It appends to dst if
// the outcome is Mapped.
func (t *Table) Apply(dst, subj []byte, draw uint64) ([]byte, Outcome) {
	w := t.Match(subj)
	if w == nil {
		return dst, Unmatched
	}
	return w.Apply(dst, subj, draw)
}
