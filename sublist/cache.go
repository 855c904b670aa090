package sublist

import "math/bits"

// cache keeps the results of late matches, at most size of them, and tells
// each when it is out of date. The hand goes round the entries and puts out
// those not used since it passed last.
type cache[T comparable] struct {
	size   int
	most   int // weight
	weight int // subscriptions that the results held name
	hasher hasher

	entries []entry[T] // the first is never used, so that 0 can mean none
	used    int        // entries with a result
	free    int32      // the first of the unused ones
	hand    int32

	chains []int32 // a power of two; nil until a first result comes
	kin    []int32 // a power of two
	watch  *watch  // nil until a first result comes
	tally  cacheTally
}

// watch lets results that the cache has let go notice changes: each remembers
// the generation its subject had. Subjects share generations by hash, and
// wildcard subjects share one, so such a result may turn stale early.
type watch struct {
	literal []uint64 // a power of two
	wild    uint64
}

// defaultCacheWeight is that of Options.CacheWeight.
const defaultCacheWeight = 1 << 20

// watchMin is the smallest number of literal generations.
const watchMin = 64

// generation returns the number of changes so far that may have concerned a
// subject with that hash. It never falls, as neither summand does.
func (w *watch) generation(hash uint32) uint64 {
	return w.wild + w.literal[hash&uint32(len(w.literal)-1)]
}

// init prepares an empty cache.
func (c *cache[T]) init(o Options) {
	c.size, c.most, c.hasher = max(o.CacheSize, 0), o.CacheWeight, newHasher(o.Seed)
	if c.most == 0 {
		c.most = defaultCacheWeight
	}
}

// powerOfTwo returns the smallest power of two that is n or more.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

// start allocates what the first result needs.
func (c *cache[T]) start() {
	c.watch = &watch{literal: make([]uint64, max(powerOfTwo(c.size), watchMin))}
	if c.size > 0 {
		c.entries = make([]entry[T], 1, 2)
		c.chains = make([]int32, powerOfTwo(2*c.size))
		c.kin = make([]int32, powerOfTwo(c.size))
		c.hand = 1
	}
}

// get returns the entry of the subject with that hash, nil if there is none.
func (c *cache[T]) get(subj []byte, hash uint32) *entry[T] {
	i := hash & uint32(len(c.chains)-1)
	if uint(i) >= uint(len(c.chains)) {
		return nil // nothing was ever put in
	}
	for at := c.chains[i]; at != 0; {
		e := &c.entries[at]
		if e.hash == hash && e.is(subj) {
			return e
		}
		at = e.next
	}
	return nil
}

// put takes in the result for subj, which is true at this moment and not in the
// cache.
func (c *cache[T]) put(r *Result[T], subj []byte) {
	if c.watch == nil {
		c.start()
	}
	if c.size == 0 {
		c.detach(r)
		return
	}
	c.weight += r.weight()
	for c.used > 0 && (c.weight > c.most || c.used == c.size) {
		c.evict()
	}
	at := c.free
	if at == 0 {
		at = int32(len(c.entries))
		c.entries = append(c.entries, entry[T]{})
	} else {
		c.free = c.entries[at].next
	}
	c.used++
	e := &c.entries[at]
	e.result, e.touched = r, false
	e.setSubject(subj, r.hash)
	r.place = at
	c.link(at, subj)
}

// evict lets go of the first result, from the hand on, that was not used since
// the hand passed last.
func (c *cache[T]) evict() {
	for e := &c.entries[c.hand]; e.result == nil || e.touched; e = &c.entries[c.hand] {
		e.touched = false
		c.turn()
	}
	r := c.take(c.hand)
	c.detach(r)
	c.tally.evictions++
	c.turn()
}

// turn moves the hand on by one.
func (c *cache[T]) turn() {
	if c.hand++; int(c.hand) == len(c.entries) {
		c.hand = 1
	}
}

// detach lets go of a result that is true at this moment.
func (c *cache[T]) detach(r *Result[T]) {
	r.place, r.watch = detached, c.watch
	r.gen = c.watch.generation(r.hash)
}

// take empties the entry at that place and returns its result.
func (c *cache[T]) take(at int32) *Result[T] {
	c.unlink(at)
	e := &c.entries[at]
	r := e.result
	e.result, e.next, c.free = nil, c.free, at
	c.used--
	c.weight -= r.weight()
	return r
}
