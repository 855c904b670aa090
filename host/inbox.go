package host

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/natsd/natsd/engine"
)

// inbox takes what other threads have to tell the engine. The loop never waits for them: they may be threads that stand back
// behind it, and one that wakes it is often put aside for it in that very moment.
type inbox struct {
	last  atomic.Pointer[told] // nil: there is nothing
	ended told                 // last, when nothing is taken any more
	queue []func(*engine.Engine)

	waking sync.Mutex // held while the loop is woken; the loop itself takes it to close, and where it opens an address (Server.listening)
	closed bool
}

// told is something that the engine is told, and what was told before it.
type told struct {
	f      func(*engine.Engine)
	before *told
}

// put adds f and wakes the loop, unless that has been done since the last take. It returns false when the loop has
// ended. Once close has returned wake never is called, so what it uses can be given up.
func (b *inbox) put(f func(*engine.Engine), wake func()) bool {
	t := &told{f: f}
	for {
		t.before = b.last.Load()
		if t.before == &b.ended {
			return false
		}
		if b.last.CompareAndSwap(t.before, t) {
			break
		}
	}
	if t.before != nil {
		return true
	}
	b.waking.Lock()
	defer b.waking.Unlock()
	if !b.closed {
		wake()
	}
	return true
}

// take empties the inbox; it is the loop's, as close is. What it returns is valid until the next take.
func (b *inbox) take() []func(*engine.Engine) {
	clear(b.queue)
	b.queue = b.queue[:0]
	if t := b.last.Load(); t == nil || t == &b.ended {
		return nil
	}
	for t := b.last.Swap(nil); t != nil; t = t.before {
		b.queue = append(b.queue, t.f)
	}
	slices.Reverse(b.queue)
	return b.queue
}

// close refuses everything from now on.
func (b *inbox) close() {
	b.last.Store(&b.ended)
	b.waking.Lock()
	defer b.waking.Unlock()
	b.closed, b.queue = true, nil
}
