package permission

import "math/bits"

// Grants are the reply subjects that a connection may publish on for now,
// because requests with these were delivered to it. One per connection whose
// Set has Responses.
//
// A request grants Max messages on its reply subject until Expires has passed.
// A further request with the same reply subject adds its messages to what is
// left, and the time counts from it. (nats-server counts the further request
// as if it were an answer, so that its own answer is refused.) What is used up
// or expired is removed. When full, the oldest grant gives way.
//
// Memory for subjects is reused, so a steady stream of requests and answers
// allocates nothing.
type Grants struct {
	limit   ResponseLimit
	seed    uint64
	buckets []int32 // heads of chains of slots, plus 1; a power of two of them
	slots   []grant
	free    int32 // the first free slot, plus 1, chained by next
	oldest  int32 // plus 1; from here by newer, in the order of expiry
	newest  int32 // plus 1
	count   int
	bytes   int // of all subjects
}

// grant is a slot of Grants. References are slot numbers plus 1, 0 for none.
type grant struct {
	subject []byte
	hash    uint32
	next    int32 // in the chain of its bucket, or of free slots
	older   int32
	newer   int32
	left    int   // messages; negative: no limit
	expires int64 // when; irrelevant if the limit has no time
}

// The bounds of a connection's Grants. Only requests that stay unanswered take
// room, so a connection at its bound has as many of these.
const (
	GrantsMax     = 65_536
	GrantBytesMax = 4 << 20 // of their subjects together

	bufferKept = 256 // bytes of a slot's buffer worth keeping
	slotsKept  = 64  // slots worth keeping when no grant is left
)

// NewGrants returns an empty Grants for the limit that Set.Responses returned.
// seed, which clients must not know, keeps them from choosing subjects that
// collide.
func NewGrants(limit ResponseLimit, seed uint64) *Grants {
	return &Grants{limit: limit.bounded(), seed: seed}
}

// Under reports whether g is what NewGrants returns for limit, and what was granted since.
func (g *Grants) Under(limit ResponseLimit) bool {
	return g.limit == limit.bounded()
}

// bounded is what counts of a limit.
func (l ResponseLimit) bounded() ResponseLimit {
	l = l.withDefaults()
	l.Max = min(l.Max, maxLeft)
	return l
}

// Len returns the number of grants, those included that have expired but were
// not noticed yet.
func (g *Grants) Len() int { return g.count }

// Add grants the answers to a request with the given reply subject, which is
// copied. now is in nanoseconds and never goes back.
func (g *Grants) Add(reply []byte, now int64) {
	if len(reply) == 0 || len(reply) > GrantBytesMax {
		return
	}
	g.Expire(now, 2) // more than one for each new one, so that what has expired goes away
	h := g.hash(reply)
	ref := g.find(reply, h)
	if ref != 0 {
		s := &g.slots[ref-1]
		if g.expired(s, now) {
			s.left = 0
		}
		if s.left >= 0 && s.left <= maxLeft-g.limit.Max {
			s.left += g.limit.Max
		}
		g.unlink(ref)
	} else {
		for g.count >= GrantsMax || g.bytes+len(reply) > GrantBytesMax {
			g.remove(g.oldest)
		}
		ref = g.insert(reply, h)
	}
	g.slots[ref-1].expires = now + g.limit.Expires
	g.append(ref)
}

// maxLeft bounds what requests with one reply subject add up to.
const maxLeft = 1 << 30

// Use reports whether a message may be published on subj as a response, and
// counts it.
func (g *Grants) Use(subj []byte, now int64) bool {
	if g.count == 0 {
		return false
	}
	ref := g.find(subj, g.hash(subj))
	if ref == 0 {
		return false
	}
	s := &g.slots[ref-1]
	if g.expired(s, now) {
		g.remove(ref)
		return false
	}
	if s.left < 0 {
		return true
	}
	if s.left--; s.left == 0 {
		g.remove(ref)
	}
	return true
}

// Expire removes up to most grants whose time is over and returns how many.
func (g *Grants) Expire(now int64, most int) int {
	n := 0
	for ; n < most && g.oldest != 0 && g.expired(&g.slots[g.oldest-1], now); n++ {
		g.remove(g.oldest)
	}
	return n
}

// NextExpiry returns when the first grant expires; ok is false if none will.
func (g *Grants) NextExpiry() (at int64, ok bool) {
	if g.oldest == 0 || g.limit.Expires < 0 {
		return 0, false
	}
	return g.slots[g.oldest-1].expires, true
}

// expired reports whether the time of s is over.
func (g *Grants) expired(s *grant, now int64) bool {
	return g.limit.Expires >= 0 && now >= s.expires
}

// find returns the grant for subj, 0 if there is none.
func (g *Grants) find(subj []byte, h uint32) int32 {
	if len(g.buckets) == 0 {
		return 0
	}
	ref := g.buckets[h&uint32(len(g.buckets)-1)]
	for ref != 0 {
		s := &g.slots[ref-1]
		if s.hash == h && string(s.subject) == string(subj) {
			return ref
		}
		ref = s.next
	}
	return 0
}

// insert puts a grant for subj, which has none, in a slot and in its bucket.
func (g *Grants) insert(subj []byte, h uint32) int32 {
	if g.count >= len(g.buckets) {
		g.grow()
	}
	ref := g.free
	if ref != 0 {
		g.free = g.slots[ref-1].next
	} else {
		g.slots = append(g.slots, grant{})
		ref = int32(len(g.slots))
	}
	s := &g.slots[ref-1]
	head := &g.buckets[h&uint32(len(g.buckets)-1)]
	*s = grant{subject: append(s.subject[:0], subj...), hash: h, next: *head, left: g.limit.Max}
	*head = ref
	g.count++
	g.bytes += len(subj)
	return ref
}

// grow doubles the buckets.
func (g *Grants) grow() {
	g.buckets = make([]int32, max(8, 2*len(g.buckets)))
	for ref := g.oldest; ref != 0; ref = g.slots[ref-1].newer {
		s := &g.slots[ref-1]
		head := &g.buckets[s.hash&uint32(len(g.buckets)-1)]
		s.next, *head = *head, ref
	}
}

// remove frees a grant.
func (g *Grants) remove(ref int32) {
	g.unlink(ref)
	s := &g.slots[ref-1]
	at := &g.buckets[s.hash&uint32(len(g.buckets)-1)]
	for *at != ref {
		at = &g.slots[*at-1].next
	}
	*at = s.next
	g.count--
	g.bytes -= len(s.subject)
	if g.count == 0 && len(g.slots) > slotsKept {
		g.buckets, g.slots, g.free = nil, nil, 0
		return
	}
	if cap(s.subject) > bufferKept {
		s.subject = nil
	}
	s.next, g.free = g.free, ref
}

// append puts a grant behind the newest.
func (g *Grants) append(ref int32) {
	s := &g.slots[ref-1]
	s.older, s.newer = g.newest, 0
	if g.newest != 0 {
		g.slots[g.newest-1].newer = ref
	} else {
		g.oldest = ref
	}
	g.newest = ref
}

// unlink takes a grant out of the order of expiry.
func (g *Grants) unlink(ref int32) {
	s := &g.slots[ref-1]
	if s.older != 0 {
		g.slots[s.older-1].newer = s.newer
	} else {
		g.oldest = s.newer
	}
	if s.newer != 0 {
		g.slots[s.newer-1].older = s.older
	} else {
		g.newest = s.older
	}
}

// hash hashes subj, eight bytes at a time, by multiplying and folding.
func (g *Grants) hash(subj []byte) uint32 {
	const odd1, odd2 = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	h := g.seed ^ uint64(len(subj))*odd1
	for len(subj) > 0 {
		n := min(8, len(subj))
		var w uint64
		for _, c := range subj[:n] {
			w = w<<8 | uint64(c)
		}
		hi, lo := bits.Mul64(h^w, odd2)
		h = hi ^ lo
		subj = subj[n:]
	}
	hi, lo := bits.Mul64(h^g.seed, odd1)
	return uint32(hi ^ lo)
}
