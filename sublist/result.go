package sublist

import (
	"math"
	"slices"
)

// Result is what one literal subject reaches: a snapshot, never changed after
// Match returned it and readable for as long as it is held. Nobody may write to
// its slices. It keeps alive what its values point to, so a stale one is best
// let go.
type Result[T comparable] struct {
	Plain  []T        // each gets the message
	Queues []Group[T] // one member of each gets it

	hash  uint32 // of the subject
	place int32  // in the cache while it is there, which is above 0; or see below
	watch *watch // set when the cache has let go
	gen   uint64 // what watch said then
	long  string // the subject, if the cache's entry has no room for it

	one [1]T // room for Plain in the commonest case
}

// Group is a queue group as one subject sees it.
type Group[T comparable] struct {
	Name    string
	Members []T // at least one
}

// What Result.place says of results that are not in a cache, which tells those
// in it when they turn stale.
const (
	stale    = 0             // they are out of date
	detached = -1            // generations tell
	always   = math.MaxInt32 // they never are
)

// Valid reports whether the subject still reaches exactly what r says.
func (r *Result[T]) Valid() bool {
	return r.place > 0 || r.place == detached && r.watch.generation(r.hash) == r.gen
}

// Empty reports whether the subject reaches nobody.
func (r *Result[T]) Empty() bool { return len(r.Plain) == 0 && len(r.Queues) == 0 }

// ContainsFunc reports whether f is true of one of the subscriptions that the result names. It is called until it is.
func (r *Result[T]) ContainsFunc(f func(T) bool) bool {
	return slices.ContainsFunc(r.Plain, f) || slices.ContainsFunc(r.Queues, func(q Group[T]) bool { return slices.ContainsFunc(q.Members, f) })
}

// weight is the number of subscriptions that the result names.
func (r *Result[T]) weight() int {
	n := len(r.Plain)
	for i := range r.Queues {
		n += len(r.Queues[i].Members)
	}
	return n
}

// Fanout returns the number of copies of a message that go out: one for each
// plain subscription and one for each queue group.
func (r *Result[T]) Fanout() int { return len(r.Plain) + len(r.Queues) }
