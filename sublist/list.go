package sublist

import "sort"

// list is a sequence of subscriptions in the order of their ids, which is the
// order of insertion. Removal is a binary search: it marks the place as dead,
// and the list is compacted when half of it is, or before it is shown.
//
// Snapshots share the array of values. That is safe because a shared array is
// only ever written behind the end of every snapshot of it.
type list[T comparable] struct {
	vals   []T
	ids    []uint64 // parallel to vals; dead in the top bit
	deads  int
	shared bool // some snapshot may hold the array of vals
}

// dead marks a removed subscription. Ids never come near it.
const dead = 1 << 63

// len returns the number of subscriptions.
func (l *list[T]) len() int { return len(l.ids) - l.deads }

// add appends a subscription with an id greater than all before.
func (l *list[T]) add(v T, id uint64) {
	if len(l.vals) == cap(l.vals) {
		l.shared = false // append moves to an array of its own
	}
	l.vals = append(l.vals, v)
	l.ids = append(l.ids, id)
}

// find returns the index of the first subscription, dead or alive, whose id is
// id or more.
func (l *list[T]) find(id uint64) int {
	return sort.Search(len(l.ids), func(i int) bool { return l.ids[i]&^dead >= id })
}

// remove takes a subscription out and reports whether it was there.
func (l *list[T]) remove(id uint64) bool {
	i := l.find(id)
	if i == len(l.ids) || l.ids[i] != id {
		return false
	}
	l.ids[i] |= dead
	l.deads++
	if !l.shared {
		var none T
		l.vals[i] = none // let go of what it points to
	}
	if l.deads > l.len() {
		l.compact()
	}
	return true
}

// showSteps is what live or snapshot cost, and to copy what they show.
func (l *list[T]) showSteps(copies bool) (steps uint64) {
	if l.deads > 0 {
		steps = uint64(len(l.ids) / compacted)
	}
	if copies {
		steps += uint64(l.len() / copied)
	}
	return steps
}

// compact closes the gaps that removals left.
func (l *list[T]) compact() {
	if l.deads == 0 {
		return
	}
	vals, ids := l.vals[:0], l.ids[:0]
	if n := l.len(); l.shared || n < cap(l.vals)/4 {
		vals, ids = make([]T, 0, n), make([]uint64, 0, n)
	}
	for i, id := range l.ids {
		if id&dead == 0 {
			vals = append(vals, l.vals[i])
			ids = append(ids, id)
		}
	}
	if !l.shared {
		clear(l.vals[len(vals):]) // of the old array, if there is a new one
	}
	l.vals, l.ids, l.deads, l.shared = vals, ids, 0, false
}

// live returns the subscriptions until the next change.
func (l *list[T]) live() []T {
	l.compact()
	return l.vals
}

// snapshot returns the subscriptions in a slice that will not change, and has
// no room behind its end.
func (l *list[T]) snapshot() []T {
	l.compact()
	l.shared = true
	return l.vals[:len(l.vals):len(l.vals)]
}
