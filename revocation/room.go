package revocation

// bounds are how much is remembered.
type bounds struct{ answers, bytes int }

// The certificates are those that the server's authorities have issued: many, but no stranger's. Most answers have 0.5 to 2 KiB.
var cacheBounds = bounds{answers: 100_000, bytes: 64 << 20}

// entryBytes is about what an entry costs besides its texts.
const entryBytes = 256

func (e *entry) size(key string) int { return entryBytes + len(key) + len(e.subject) + len(e.raw) }

func (e *entry) revoked() bool { return e.status == "revoked" }

// put remembers an answer instead of an older one about the same certificate. Where there is no room, others are forgotten that
// are no revocations: they are asked for again. Revocations are never forgotten for others. One that there is no room for is
// refused now, and asked for again the next time; from then on nobody is let in of whom nothing is known and whose responder
// is out of reach, as it could be that one.
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
	k.set(key, nil)
	k.dirty = true
	if k.lost && !e.revoked() {
		return "" // what is saved must tell that one was lost: see mayHaveLost
	}
	for len(k.entries) >= k.bounds.answers || k.bytes+e.size(key) > k.bounds.bytes {
		if k.makeRoom() {
			continue
		}
		switch {
		case e.revoked() && !k.lost:
			k.lost, k.full = true, true
			return fullOfRevocations
		case !k.full:
			k.full = true
			return "OCSP peer cache is full of revocations: other answers are not remembered"
		}
		return ""
	}
	k.set(key, e)
	return ""
}

// mayHaveLost finds out, of what was saved, whether there was no room for a revocation.
func (k *cache) mayHaveLost() bool {
	if k.stats.Responses > k.stats.Revoked {
		return false // which would have made room
	}
	return len(k.entries) >= k.bounds.answers || k.bytes+entryBytes+answerMax > k.bounds.bytes
}

// makeRoom forgets, of a few answers that are no revocations, the one that ends first. The lock is held.
func (k *cache) makeRoom() bool {
	const few = 64
	if k.stats.Responses == k.stats.Revoked {
		return false
	}
	first, looked := "", 0
	for key, e := range k.entries {
		if e.revoked() {
			continue
		}
		if first == "" || e.expires.Before(k.entries[first].expires) {
			first = key
		}
		if looked++; looked == few {
			break
		}
	}
	k.set(first, nil)
	return true
}
