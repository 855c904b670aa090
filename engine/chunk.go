package engine

import (
	"math/bits"

	"github.com/natsd/natsd/engine/assert"
)

// chunk is a block of bytes that waits to be written, or a message being gathered. It goes back to the pool when the
// last reference is released. A large payload is held once however many receivers wait for it.
type chunk struct {
	data  []byte
	refs  int32
	class uint8
}

const (
	minChunkClass = 12 // 4 KiB: what a request or a reply needs
	maxChunkClass = 27
	bigChunk      = 64 << 10 // bytes of a connection's second and later chunks
	poolRetain    = 32 << 20 // bytes kept for reuse; the rest is the garbage collector's

	// chunkSlack is what chunks from slackClass on have beyond a power of two, so that a payload of such a size, as most
	// large ones are, does not take twice the memory for the CRLF behind it.
	chunkSlack = 64
	slackClass = 14
)

// chunkPool hands out chunks by class: powers of two, and a little more.
type chunkPool struct {
	free     [maxChunkClass + 1][]*chunk
	retained int // bytes in free
	live     int // chunks handed out
}

// chunkClass is the class of chunks of n bytes, and their size.
func chunkClass(n int) (class, size int) {
	class = max(bits.Len(uint(n-1)), minChunkClass)
	if class > slackClass && n <= 1<<(class-1)+chunkSlack {
		class--
	}
	size = 1 << class
	if class >= slackClass {
		size += chunkSlack
	}
	return class, size
}

// get returns a chunk of at least n bytes, n > 0, with one reference.
func (p *chunkPool) get(n int) *chunk {
	class, size := chunkClass(n)
	p.live++
	if class <= maxChunkClass {
		if l := p.free[class]; len(l) > 0 {
			ck := l[len(l)-1]
			l[len(l)-1] = nil
			p.free[class] = l[:len(l)-1]
			p.retained -= size
			ck.refs = 1
			return ck
		}
	}
	return &chunk{data: make([]byte, size), refs: 1, class: uint8(class)}
}

// release gives up one reference.
func (p *chunkPool) release(ck *chunk) {
	ck.refs--
	if ck.refs > 0 {
		return
	}
	assert.That(ck.refs == 0, "a chunk was given back twice")
	p.live--
	if int(ck.class) > maxChunkClass || p.retained+len(ck.data) > poolRetain {
		return
	}
	p.retained += len(ck.data)
	p.free[ck.class] = append(p.free[ck.class], ck)
}

// GiveUpSpare leaves to the garbage collector what is kept for reuse. Nothing else changes: it is for worlds whose server has
// nothing to do.
func (e *Engine) GiveUpSpare() { e.pool.giveUp() }

func (p *chunkPool) giveUp() {
	p.free, p.retained = [len(p.free)][]*chunk{}, 0
}
