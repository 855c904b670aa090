package revocation

import (
	"container/heap"
	"time"
)

// bounds are how much is remembered.
type bounds struct{ answers, bytes int }

// The certificates are those that the server's authorities have issued: many, but no stranger's. Most answers have 0.5 to 2 KiB.
var cacheBounds = bounds{answers: 100_000, bytes: 64 << 20}

// entryBytes is about what an entry costs besides its texts.
const entryBytes = 256

func (e *entry) size(key string) int { return entryBytes + len(key) + len(e.subject) + len(e.raw) }

func (e *entry) revoked() bool { return e.status == "revoked" }

// forever is when a certificate ends of which that is not known.
var forever = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// leaves is when an entry may be forgotten: a revocation with the certificate, another answer, which can be asked for again, when
// it counts no more.
func (e *entry) leaves() time.Time {
	switch {
	case !e.revoked():
		return e.expires
	case e.until.IsZero():
		return forever
	}
	return e.until
}

// queue are entries, of which the first is the one that leaves first. It is a heap; entries know their places.
type queue []*entry

// Len implements heap.Interface.
func (q queue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q queue) Less(i, j int) bool { return q[i].leaves().Before(q[j].leaves()) }

// Swap implements heap.Interface.
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	e := x.(*entry)
	e.place = len(*q)
	*q = append(*q, e)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return e
}

// put remembers an answer instead of an older one about the same certificate. Where there is no room, revocations of certificates
// that have expired are forgotten, and then answers that are no revocations: they are asked for again. Other revocations are never
// forgotten. One that there is no room for is refused now, and asked for again the next time; until its certificate has expired,
// nobody is let in of whom nothing is known and whose responder is out of reach, as it could be that one.
func (k *cache) put(key string, e *entry) {
	if text := k.keep(key, e); text != "" {
		k.witness.Warnf("%s", text)
	}
}

const fullOfRevocations = "OCSP peer cache is full of revocations: further ones are not remembered, and AllowWhenCAUnreachable " +
	"lets in only those of whom there is an answer"

// keep returns what the log is to say, the first time that it is so.
func (k *cache) keep(key string, e *entry) (text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e.key = key
	news := e.revoked()
	if old := k.entries[key]; old != nil && old.revoked() {
		news = false
	}
	k.set(key, nil)
	k.dirty = true
	if news {
		k.hurry()
	}
	for len(k.entries) >= k.bounds.answers || k.bytes+e.size(key) > k.bounds.bytes {
		if !k.makeRoom() {
			return k.noRoom(e)
		}
	}
	k.set(key, e)
	return ""
}

// noRoom notes that e can't be remembered, and returns what the log is to say of that.
func (k *cache) noRoom(e *entry) string {
	complained := k.full
	k.full = true
	switch {
	case e.revoked():
		before := k.lost
		if end := e.leaves(); end.After(k.lost) {
			k.lost = end
		}
		if !k.losing(before) {
			return fullOfRevocations
		}
	case !complained:
		return "OCSP peer cache is full of revocations: other answers are not remembered"
	}
	return ""
}

// losing reports whether a revocation that could not be remembered counts still, when the last of them ends at that time.
func (k *cache) losing(last time.Time) bool { return k.now().Before(last) }

// makeRoom forgets one entry that may be forgotten. The lock is held.
func (k *cache) makeRoom() bool {
	switch {
	case len(k.revoked) > 0 && k.revoked[0].leaves().Before(k.now()):
		k.set(k.revoked[0].key, nil)
	case len(k.others) > 0:
		k.set(k.others[0].key, nil)
	default:
		return false
	}
	return true
}

// queueOf is where an entry stands.
func (k *cache) queueOf(e *entry) *queue {
	if e.revoked() {
		return &k.revoked
	}
	return &k.others
}

// set has e, or nothing, remembered. The lock is held.
func (k *cache) set(key string, e *entry) {
	if old := k.entries[key]; old != nil {
		k.stats.add(old, -1)
		k.bytes -= old.size(key)
		heap.Remove(k.queueOf(old), old.place)
		delete(k.entries, key)
	}
	if e != nil {
		k.stats.add(e, 1)
		k.bytes += e.size(key)
		heap.Push(k.queueOf(e), e)
		k.entries[key] = e
	}
}
