package sublist

// tally counts what was done.
type tally struct {
	inserts, removes uint64
	matches, hits    uint64
	steps            uint64 // what matches, insertions and removals cost
}

// cacheTally counts why results left the cache.
type cacheTally struct {
	evictions uint64 // to make room
	failures  uint64 // since a change concerned them
	steps     uint64 // what looking at results cost
}

// Stats are figures for monitoring.
type Stats struct {
	Subs    int // subscriptions held
	Cached  int // results in the cache
	Inserts uint64
	Removes uint64
	Matches uint64 // calls of Match
	Hits    uint64 // those answered by the cache

	Evictions     uint64 // results that made room for others
	Invalidations uint64 // results in the cache that a change made stale

	// Of the results in the cache: the largest Fanout and the sum of all.
	// The average is FanoutSum / Cached.
	FanoutMax int
	FanoutSum int
}

// What things cost, in steps of some 10 ns.
const (
	missSteps   = 40 // a match that the cache does not answer, for the memory that its result takes
	foundSteps  = 4  // a leaf that is found
	branchSteps = 5  // a branch of the trie
	coldSteps   = 25 // one more of so many that they are in no cache of the processor
	warmMost    = 80 * branchSteps
	stepBytes   = 8  // so many bytes of a subject that is read token by token are a step
	copied      = 16 // so many subscriptions copied into a result are one
	compacted   = 4  // so many of which some are gone, when those are taken out
	groupSteps  = 4  // a queue group in a result
)

// Steps returns how much was looked at so far by matches that the cache did not
// answer, and by insertions and removals: branches of the trie, cached results
// and bytes of long subjects, in units of some 10 ns. The difference over a call
// says what that call cost, to those who must share their time fairly.
func (s *Sublist[T]) Steps() uint64 { return s.tally.steps + s.cache.tally.steps }

// Stats returns the present figures. It looks at every cached result.
func (s *Sublist[T]) Stats() Stats {
	st := Stats{
		Subs:    s.subs,
		Cached:  s.cache.used,
		Inserts: s.tally.inserts,
		Removes: s.tally.removes,
		Matches: s.tally.matches,
		Hits:    s.tally.hits,

		Evictions:     s.cache.tally.evictions,
		Invalidations: s.cache.tally.failures,
	}
	for i := range s.cache.entries {
		r := s.cache.entries[i].result
		if r == nil {
			continue
		}
		n := r.Fanout()
		st.FanoutSum += n
		st.FanoutMax = max(st.FanoutMax, n)
	}
	return st
}
