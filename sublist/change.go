package sublist

import (
	"strings"

	"github.com/natsd/natsd/subject"
)

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
	kin := int32(-1)
	if p := prefixLen(pattern); p < len(pattern) && !subject.HasWildcard(pattern[:p]) {
		kin = kinList(c, pattern)
	}
	pattern = shortened(pattern)
	each := uint64(1 + len(pattern)/(2*stepBytes))
	if kin >= 0 {
		for at := c.kin[kin]; at != 0; {
			next := c.entries[at].kin
			c.tally.steps += each
			if c.entries[at].matches(pattern) {
				c.fail(at)
			}
			at = next
		}
		return
	}
	c.tally.steps += each * uint64(len(c.entries)-1)
	for at := range c.entries {
		if e := &c.entries[at]; e.result != nil && e.matches(pattern) {
			c.fail(int32(at))
		}
	}
}

// patternMax is how many bytes of a pattern are held against each result.
const patternMax = 128

// shortened returns a pattern that is not long and that all the subjects match
// that pattern does: there are subjects of thousands of tokens, and a result too
// many that is stale costs less than reading them for each result.
func shortened(pattern string) string {
	if len(pattern) <= patternMax {
		return pattern
	}
	end := strings.LastIndexByte(pattern[:patternMax], '.')
	if end < 0 {
		return ">" // its first token is that long
	}
	return pattern[:end] + ".>"
}

// fail takes the result out of the entry at that place and makes it stale.
func (c *cache[T]) fail(at int32) {
	c.take(at).place = stale
	c.tally.failures++
}
