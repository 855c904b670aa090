package host

import (
	"sync"

	"github.com/natsd/natsd/engine"
)

// inbox takes what other threads have to tell the engine.
type inbox struct {
	mu     sync.Mutex
	queue  []func(*engine.Engine)
	spare  []func(*engine.Engine)
	closed bool
}

// put adds f and wakes the loop, unless that has been done since the last take. It returns false when the loop has
// ended. wake is called under the lock: once close has returned it never is, so what it uses can be given up.
func (b *inbox) put(f func(*engine.Engine), wake func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.queue = append(b.queue, f)
	if len(b.queue) == 1 {
		wake()
	}
	return true
}

// take empties the inbox. What it returns is valid until the next take.
func (b *inbox) take() []func(*engine.Engine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queue
	clear(b.spare)
	b.queue, b.spare = b.spare[:0], q
	return q
}

// close refuses everything from now on.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.queue, b.spare = true, nil, nil
}
