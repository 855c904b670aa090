// Package sublist answers one question quickly: who subscribes to the subject a
// message travels on?
//
// A Sublist holds subscriptions, plain ones and members of queue groups, each
// under a subject that may have wildcards. What a subscription is, is the
// caller's business: a value of type T, usually a pointer. Insert returns a
// Handle, and Remove takes it back. Match returns a Result, a snapshot of the
// subscriptions that a literal subject reaches.
//
// # Results
//
// A Result never changes while somebody holds it, whatever is inserted or
// removed meanwhile. Valid tells whether it still says the truth: it turns
// false when an insertion or removal changes what that subject reaches, and
// not when an unrelated subscription comes or goes. So a caller may keep the
// last Result of each connection and ask for a new one only when Valid is
// false. (A Result that the cache has let go in favour of others is watched
// less closely: it may turn invalid a little early, never late.)
//
// The order within a Result is a function of the subscriptions alone. Plain
// subscriptions come pattern by pattern; of two patterns the one comes first
// that, in the first token where they differ, has the more specific token: a
// literal before "*" before ">". Under one pattern they come in the order of
// insertion. Queue groups come in the order of their names, byte by byte. A
// group's members are those of all matching patterns, in the same order as
// plain subscriptions.
//
// A match may have to look at very many patterns. MatchWithin gives up where
// that is too much, and a Search does it in pieces.
//
// # Inside
//
// Subscriptions under the same subject share a leaf. The leaves of literal
// subjects are found by one lookup in a hash table, since nothing but the
// subject itself reaches them; the leaves of wildcard subjects hang in a trie
// of tokens that grows a node only where two patterns share a prefix. All
// leaves also have a slot number, by which listings resume and reverse matches
// run, so no map is ever iterated. A bounded cache of results sits in front.
//
// Nothing here depends on a map's iteration order, an address, time or chance:
// the same calls give the same answers, the same cache hits and the same
// evictions, on every machine.
//
// # Limits
//
// A Sublist is not safe for use by several goroutines at once.
//
// Reverse looks at every leaf when its subject has wildcards. List does the
// same in slices, for those who may not take that long.
//
// The hash table of literals, and that of a node with many children, keep the
// memory of their largest size until they are empty or nearly so.
//
// An insertion or removal under a wildcard subject that does not begin with two
// literal tokens looks at every cached result, some nanoseconds each.
//
// Start with sublist.go, then leaf.go, trie.go and cache.go.
package sublist
