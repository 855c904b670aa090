package engine

// digest stands for something secret or long: SHA-256 of it with a seed that never leaves the engine.
type digest [32]byte

// recall remembers keys for a time, and no more than so many: those renewed longest ago make room.
type recall[K comparable] struct {
	most  int
	span  Instant
	until map[K]Instant
	order []recalled[K] // by when they were to be forgotten when they came here; renewed ones come here again
}

type recalled[K comparable] struct {
	key K
	at  Instant
}

// forgetPerTurn is how many keys are forgotten in a turn.
const forgetPerTurn = 32

func newRecall[K comparable](most int, span Instant) recall[K] {
	return recall[K]{most: most, span: span}
}

// has reports whether k was added within the span.
func (r *recall[K]) has(k K, now Instant) bool { return r.until[k] > now }

// add remembers k from now on.
func (r *recall[K]) add(k K, now Instant) {
	if r.until == nil {
		r.until = make(map[K]Instant)
	}
	if _, ok := r.until[k]; !ok {
		if len(r.until) >= r.most {
			r.makeRoom()
		}
		r.order = append(r.order, recalled[K]{k, now + r.span})
	}
	r.until[k] = now + r.span
}

// fade forgets what is older than the span, some of it in each turn.
func (r *recall[K]) fade(now Instant) {
	for n := 0; n < forgetPerTurn && len(r.order) > 0 && r.order[0].at <= now; n++ {
		r.drop(now)
	}
}

// makeRoom forgets one key. Those that were renewed since they came to the front go to the back, but not all of them at once:
// that some of these may have to go is a price for a bounded turn.
func (r *recall[K]) makeRoom() {
	for n := 0; n < forgetPerTurn && r.until[r.order[0].key] > r.order[0].at; n++ {
		r.drop(r.order[0].at)
	}
	r.drop(Never)
}

// drop forgets the first in order, or puts it where it belongs if it was renewed until after limit.
func (r *recall[K]) drop(limit Instant) {
	first := r.order[0]
	r.order[0] = recalled[K]{}
	r.order = r.order[1:]
	if until := r.until[first.key]; until > limit {
		r.order = append(r.order, recalled[K]{first.key, until})
		return
	}
	delete(r.until, first.key)
	if len(r.order) == 0 {
		r.order = nil
	}
}

// forget forgets one key; its place in order goes when its time comes.
func (r *recall[K]) forget(k K) { delete(r.until, k) }

// clear forgets everything.
func (r *recall[K]) clear() { r.until, r.order = nil, nil }
