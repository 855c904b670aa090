package sublist

import "sort"

// leaf holds all subscriptions under one subject. By far the most leaves have
// one plain subscription, which lives in the leaf itself; the rest is in more.
type leaf[T comparable] struct {
	subject string
	first   T      // the one subscription, if firstID is not 0
	firstID uint64 // only set while more is nil
	more    *more[T]
	slot    uint32
	tail    uint32 // in the trie: see branch; otherwise 0
}

// wild reports whether the subject has wildcards, so that the leaf is in the
// trie.
func (l *leaf[T]) wild() bool { return l.tail != 0 }

// more holds what does not fit in a leaf.
type more[T comparable] struct {
	plain  list[T]
	groups []*group[T] // by name
}

// group is the part of a queue group that subscribes under one subject.
type group[T comparable] struct {
	name    string
	members list[T]
}

// addPlain adds a plain subscription, the youngest of all.
func (l *leaf[T]) addPlain(v T, id uint64) {
	if l.more == nil {
		if l.firstID == 0 {
			l.first, l.firstID = v, id
			return
		}
		l.spill()
	}
	l.more.plain.add(v, id)
}

// spill makes room for more than one subscription.
func (l *leaf[T]) spill() {
	l.more = &more[T]{}
	if l.firstID != 0 {
		l.more.plain.add(l.first, l.firstID)
		var none T
		l.first, l.firstID = none, 0
	}
}

// addMember adds a member of a queue group, the youngest of all subscriptions.
func (l *leaf[T]) addMember(queue []byte, v T, id uint64) *group[T] {
	if l.more == nil {
		l.spill()
	}
	gs := l.more.groups
	i := sort.Search(len(gs), func(i int) bool { return gs[i].name >= string(queue) })
	if i == len(gs) || gs[i].name != string(queue) {
		gs = append(gs, nil)
		copy(gs[i+1:], gs[i:])
		gs[i] = &group[T]{name: string(queue)}
		l.more.groups = gs
	}
	gs[i].members.add(v, id)
	return gs[i]
}

// remove takes out the subscription with that id, a plain one if g is nil, and
// reports whether it was there.
func (l *leaf[T]) remove(g *group[T], id uint64) bool {
	switch {
	case g != nil:
		if !g.members.remove(id) {
			return false
		}
		if g.members.len() == 0 {
			l.dropGroup(g)
		}
	case l.firstID == id && id != 0:
		var none T
		l.first, l.firstID = none, 0
	case l.more == nil || !l.more.plain.remove(id):
		return false
	}
	if l.more != nil && len(l.more.groups) == 0 && l.more.plain.len() <= 1 {
		l.fold()
	}
	return true
}

// dropGroup forgets a group without members.
func (l *leaf[T]) dropGroup(g *group[T]) {
	gs := l.more.groups
	i := sort.Search(len(gs), func(i int) bool { return gs[i].name >= g.name })
	copy(gs[i:], gs[i+1:])
	gs[len(gs)-1] = nil
	l.more.groups = gs[:len(gs)-1]
}

// fold undoes spill when at most one plain subscription is left.
func (l *leaf[T]) fold() {
	p := &l.more.plain
	if p.len() == 1 {
		p.compact()
		l.first, l.firstID = p.vals[0], p.ids[0]
	}
	l.more = nil
}

// empty reports whether no subscription is left.
func (l *leaf[T]) empty() bool { return l.firstID == 0 && l.more == nil }

// plainLen returns the number of plain subscriptions.
func (l *leaf[T]) plainLen() int {
	if l.more != nil {
		return l.more.plain.len()
	}
	if l.firstID != 0 {
		return 1
	}
	return 0
}

// groups returns the leaf's queue groups, by name.
func (l *leaf[T]) groups() []*group[T] {
	if l.more == nil {
		return nil
	}
	return l.more.groups
}
