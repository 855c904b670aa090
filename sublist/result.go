package sublist

// Result is what one literal subject reaches: a snapshot, never changed after
// Match returned it and readable for as long as it is held. Nobody may write to
// its slices.
type Result[T comparable] struct {
	Plain  []T        // each gets the message
	Queues []Group[T] // one member of each gets it

	subject string
	hash    uint64
	state   state
	touched bool // used since the cache's hand passed last

	// Places in the cache.
	place      int32 // index in the ring
	next       *Result[T]
	kin, kinOf *Result[T] // neighbours in the list of one prefix

	// What to compare once the cache has let go.
	watch *watch
	gen   uint64
	wild  uint64

	one [1]T // room for Plain in the commonest case
}

// Group is a queue group as one subject sees it.
type Group[T comparable] struct {
	Name    string
	Members []T // at least one
}

// state is how a Result learns that it is out of date.
type state uint8

const (
	stale    state = iota // it is
	cached                // the cache will tell
	detached              // by comparing generations
)

// Valid reports whether the subject still reaches exactly what r says.
func (r *Result[T]) Valid() bool {
	if r.state == cached {
		return true
	}
	return r.state == detached && r.watch.unchanged(r.hash, r.gen, r.wild)
}

// Empty reports whether the subject reaches nobody.
func (r *Result[T]) Empty() bool { return len(r.Plain) == 0 && len(r.Queues) == 0 }

// Fanout returns the number of copies of a message that go out: one for each
// plain subscription and one for each queue group.
func (r *Result[T]) Fanout() int { return len(r.Plain) + len(r.Queues) }
