package sublist

// Result is what one literal subject reaches: a snapshot, never changed after
// Match returned it and readable for as long as it is held. Nobody may write to
// its slices. It keeps alive what its values point to, so a stale one is best
// let go.
type Result[T comparable] struct {
	Plain  []T        // each gets the message
	Queues []Group[T] // one member of each gets it

	subject string
	hash    uint32 // of the subject
	kinHash uint32 // of its first two tokens
	place   int32  // in the cache's ring
	state   state
	touched bool // used since the cache's hand passed last

	next       *Result[T] // in the chain of one hash
	kin, kinOf *Result[T] // neighbours in the list of one kinHash

	watch *watch // set when the cache has let go
	gen   uint64 // what watch said then

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
	return r.state == detached && r.watch.generation(r.hash) == r.gen
}

// Empty reports whether the subject reaches nobody.
func (r *Result[T]) Empty() bool { return len(r.Plain) == 0 && len(r.Queues) == 0 }

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
