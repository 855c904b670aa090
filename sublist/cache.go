package sublist

import (
	"math/bits"

	"github.com/natsd/natsd/subject"
)

// cache keeps the results of late matches, at most size of them, and tells
// each when it is out of date.
//
// A result is in three places: in the ring, where the hand goes round and puts
// out those not used since it passed last; in a chain by the hash of its
// subject, for lookups and for changes of that one subject; and in a list of
// kin by the subject's first two tokens, where the changes of a wildcard
// subject that begins with two literal tokens look. (Such are the inboxes that
// come and go with every request.) For other wildcard subjects the whole ring
// is looked at, which is why the cache must not be large.
type cache[T comparable] struct {
	size   int
	most   int // weight
	weight int // subscriptions that the results in the ring name
	seed   uint64
	ring   []*Result[T]
	hand   int
	chains []*Result[T] // a power of two; nil until a first result comes
	kin    []*Result[T] // a power of two
	watch  *watch       // nil until a first result comes
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
	c.size, c.most, c.seed = max(o.CacheSize, 0), o.CacheWeight, o.Seed
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
		c.chains = make([]*Result[T], powerOfTwo(2*c.size))
		c.kin = make([]*Result[T], powerOfTwo(c.size))
	}
}

// get returns the result for the subject with that hash, nil if there is none.
func (c *cache[T]) get(subj []byte, hash uint32) *Result[T] {
	if len(c.ring) == 0 {
		return nil
	}
	r := c.chains[hash&uint32(len(c.chains)-1)]
	for r != nil && (r.hash != hash || r.subject != string(subj)) {
		r = r.next
	}
	return r
}

// put takes in a new result, which is true at this moment and not in the cache.
func (c *cache[T]) put(r *Result[T]) {
	if c.watch == nil {
		c.start()
	}
	if c.size == 0 {
		c.detach(r)
		return
	}
	c.weight += r.weight()
	for len(c.ring) > 0 && c.weight > c.most {
		old := c.oldest()
		c.detach(old)
		c.take(old)
		c.tally.evictions++
	}
	if len(c.ring) < c.size {
		r.place = int32(len(c.ring))
		c.ring = append(c.ring, r)
	} else {
		old := c.oldest()
		c.unlink(old)
		c.detach(old)
		c.weight -= old.weight()
		c.tally.evictions++
		r.place = old.place
		c.ring[c.hand] = r
		c.hand = (c.hand + 1) % c.size
	}
	r.state = cached
	c.link(r)
}

// oldest moves the hand to a result not used since it passed last.
func (c *cache[T]) oldest() *Result[T] {
	for c.ring[c.hand].touched {
		c.ring[c.hand].touched = false
		c.hand = (c.hand + 1) % len(c.ring)
	}
	return c.ring[c.hand]
}

// detach lets go of a result that is true at this moment.
func (c *cache[T]) detach(r *Result[T]) {
	r.state, r.watch = detached, c.watch
	r.gen = c.watch.generation(r.hash)
}

// link adds r to its chain and its kin.
func (c *cache[T]) link(r *Result[T]) {
	chain := &c.chains[r.hash&uint32(len(c.chains)-1)]
	r.next, *chain = *chain, r
	r.kinHash = c.kinHash(r.subject)
	head := c.kinOf(r.kinHash)
	r.kin, r.kinOf = *head, nil
	if r.kin != nil {
		r.kin.kinOf = r
	}
	*head = r
}

// unlink undoes link.
func (c *cache[T]) unlink(r *Result[T]) {
	at := &c.chains[r.hash&uint32(len(c.chains)-1)]
	for *at != r {
		at = &(*at).next
	}
	*at, r.next = r.next, nil
	if r.kin != nil {
		r.kin.kinOf = r.kinOf
	}
	if r.kinOf != nil {
		r.kinOf.kin = r.kin
	} else {
		*c.kinOf(r.kinHash) = r.kin
	}
	r.kin, r.kinOf = nil, nil
}

// kinHash hashes what a subject shares with its kin.
func (c *cache[T]) kinHash(subj string) uint32 {
	return hash(c.seed, subj[:prefixLen(subj)])
}

// kinOf returns the head of the list of those with that kinHash.
func (c *cache[T]) kinOf(kinHash uint32) *(*Result[T]) {
	return &c.kin[kinHash&uint32(len(c.kin)-1)]
}

// fail makes r stale and takes it out.
func (c *cache[T]) fail(r *Result[T]) {
	r.state = stale
	c.tally.failures++
	c.take(r)
}

// take takes r out of the ring and the lists.
func (c *cache[T]) take(r *Result[T]) {
	c.unlink(r)
	c.weight -= r.weight()
	last := len(c.ring) - 1
	c.ring[r.place] = c.ring[last]
	c.ring[r.place].place = r.place
	c.ring[last] = nil
	c.ring = c.ring[:last]
	if c.hand >= last {
		c.hand = 0
	}
}

// literalChanged tells that another set of subscriptions has that literal
// subject now.
func (c *cache[T]) literalChanged(subj string) {
	if c.watch == nil {
		return
	}
	h := hash(c.seed, subj)
	c.watch.literal[h&uint32(len(c.watch.literal)-1)]++
	if len(c.ring) == 0 {
		return
	}
	r := c.chains[h&uint32(len(c.chains)-1)]
	for r != nil && (r.hash != h || r.subject != subj) {
		r = r.next
	}
	if r != nil {
		c.fail(r)
	}
}

// patternChanged tells the same of a wildcard subject.
func (c *cache[T]) patternChanged(pattern string) {
	if c.watch == nil {
		return
	}
	c.watch.wild++
	if len(c.ring) == 0 {
		return
	}
	if p := prefixLen(pattern); p < len(pattern) && !subject.HasWildcard(pattern[:p]) {
		r := *c.kinOf(c.kinHash(pattern))
		for r != nil {
			kin := r.kin
			c.tally.steps++
			if subject.Match(r.subject, pattern) {
				c.fail(r)
			}
			r = kin
		}
		return
	}
	c.tally.steps += uint64(len(c.ring))
	// Backwards, since fail moves the last into the gap.
	for i := len(c.ring) - 1; i >= 0; i-- {
		if r := c.ring[i]; subject.Match(r.subject, pattern) {
			c.fail(r)
		}
	}
}
