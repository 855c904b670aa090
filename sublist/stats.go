package sublist

// tally counts what was done.
type tally struct {
	inserts, removes        uint64
	matches, hits           uint64
	evictions, invalidation uint64
}

// Stats are figures for monitoring.
type Stats struct {
	Subs    int // subscriptions held
	Cached  int // results in the cache
	Inserts uint64
	Removes uint64
	Matches uint64 // calls of Match
	Hits    uint64 // those answered by the cache

	// Of the results in the cache: the largest Fanout and the sum of all.
	// The average is FanoutSum / Cached.
	FanoutMax int
	FanoutSum int
}

// Stats returns the present figures. It looks at every cached result.
func (s *Sublist[T]) Stats() Stats {
	st := Stats{
		Subs:    s.subs,
		Cached:  len(s.cache.ring),
		Inserts: s.tally.inserts,
		Removes: s.tally.removes,
		Matches: s.tally.matches,
		Hits:    s.tally.hits,
	}
	for _, r := range s.cache.ring {
		n := r.Fanout()
		st.FanoutSum += n
		st.FanoutMax = max(st.FanoutMax, n)
	}
	return st
}
