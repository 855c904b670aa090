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

// put adds f and reports whether the loop must be woken: not when it has been already, or has ended.
func (b *inbox) put(f func(*engine.Engine)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.queue = append(b.queue, f)
	return len(b.queue) == 1
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

func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.queue = true, nil
}
