package sublist

import "github.com/natsd/natsd/subject"

// entry is a place in the cache. It is a cache line long, and a lookup that
// finds its result reads no other, but for the one in chains. It is in two
// lists: one by the hash of its subject, for lookups and for changes of that
// one subject, and one of kin by the subject's first two tokens, where the
// changes of a wildcard subject that begins with two literal tokens look.
// (Such are the inboxes that come and go with every request.)
type entry[T comparable] struct {
	result  *Result[T] // nil: unused
	hash    uint32     // of the subject
	next    int32      // in the chain; or the next unused entry
	kin     int32      // the next of its kin
	kinOf   int32      // the one before it, or ^i if it heads the list i
	length  uint8      // of the subject, if it is in short
	touched bool       // used since the cache's hand passed last
	short   [shortMax]byte
}

// shortMax is the length up to which subjects lie in the entry itself, which
// makes it 64 bytes. Common inboxes just fit.
const shortMax = 38

// setSubject copies subj. A long one it leaves to the result.
func (e *entry[T]) setSubject(subj []byte, hash uint32) {
	e.hash = hash
	e.length = uint8(min(len(subj), shortMax+1))
	copy(e.short[:], subj)
	if len(subj) > shortMax && e.result.long == "" {
		e.result.long = string(subj)
	}
}

// is reports whether that is the subject.
func (e *entry[T]) is(subj []byte) bool {
	if e.length <= shortMax {
		return string(e.short[:e.length]) == string(subj)
	}
	return e.result.long == string(subj)
}

// matches reports whether the subject matches the pattern.
func (e *entry[T]) matches(pattern string) bool {
	if e.length <= shortMax {
		return subject.Match(e.short[:e.length], pattern)
	}
	return subject.Match(e.result.long, pattern)
}

// link adds the entry at that place to its chain and its kin.
func (c *cache[T]) link(at int32, subj []byte) {
	e := &c.entries[at]
	chain := &c.chains[e.hash&uint32(len(c.chains)-1)]
	e.next, *chain = *chain, at
	list := kinList(c, subj)
	e.kin, e.kinOf = c.kin[list], ^list
	if e.kin != 0 {
		c.entries[e.kin].kinOf = at
	}
	c.kin[list] = at
}

// unlink undoes link.
func (c *cache[T]) unlink(at int32) {
	e := &c.entries[at]
	before := &c.chains[e.hash&uint32(len(c.chains)-1)]
	for *before != at {
		before = &c.entries[*before].next
	}
	*before = e.next
	if e.kin != 0 {
		c.entries[e.kin].kinOf = e.kinOf
	}
	if e.kinOf >= 0 {
		c.entries[e.kinOf].kin = e.kin
	} else {
		c.kin[^e.kinOf] = e.kin
	}
}

// kinList returns the number of the list in which kin of subj are.
func kinList[T comparable, S subject.Text](c *cache[T], subj S) int32 {
	return int32(hash(c.hasher, subj[:prefixLen(subj)]) & uint32(len(c.kin)-1))
}

// prefixLen returns the length of what decides in which list of kin a subject
// or pattern is: its first two tokens. Literals of one token stand alone.
func prefixLen[S subject.Text](s S) int {
	end := subject.TokenEnd(s, 0)
	if end == len(s) {
		return end
	}
	return subject.TokenEnd(s, end+1)
}
