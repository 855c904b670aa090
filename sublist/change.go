package sublist

import "github.com/natsd/natsd/subject"

// literalChanged tells that another set of subscriptions has that literal
// subject now.
func (c *cache[T]) literalChanged(subj string) {
	if c.watch == nil {
		return
	}
	h := hash(c.hasher, subj)
	c.watch.literal[h&uint32(len(c.watch.literal)-1)]++
	if e := c.get([]byte(subj), h); e != nil {
		c.fail(e.result.place)
	}
}

// patternChanged tells the same of a wildcard subject. One that begins with two
// literal tokens concerns kin alone; for others all entries are looked at,
// which is why the cache must not be large.
func (c *cache[T]) patternChanged(pattern string) {
	if c.watch == nil {
		return
	}
	c.watch.wild++
	if c.used == 0 {
		return
	}
	if p := prefixLen(pattern); p < len(pattern) && !subject.HasWildcard(pattern[:p]) {
		for at := c.kin[kinList(c, pattern)]; at != 0; {
			next := c.entries[at].kin
			c.tally.steps++
			if c.entries[at].matches(pattern) {
				c.fail(at)
			}
			at = next
		}
		return
	}
	c.tally.steps += uint64(len(c.entries) - 1)
	for at := range c.entries {
		if e := &c.entries[at]; e.result != nil && e.matches(pattern) {
			c.fail(int32(at))
		}
	}
}

// fail takes the result out of the entry at that place and makes it stale.
func (c *cache[T]) fail(at int32) {
	c.take(at).place = stale
	c.tally.failures++
}
