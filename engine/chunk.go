package engine

import "math/bits"

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
)

// chunkPool hands out chunks by power-of-two class.
type chunkPool struct {
	free     [maxChunkClass + 1][]*chunk
	retained int // bytes in free
	live     int // chunks handed out
}

// get returns a chunk of at least n bytes with one reference.
func (p *chunkPool) get(n int) *chunk {
	class := minChunkClass
	if n > 1<<minChunkClass {
		class = bits.Len(uint(n - 1))
	}
	p.live++
	if class <= maxChunkClass {
		if l := p.free[class]; len(l) > 0 {
			ck := l[len(l)-1]
			l[len(l)-1] = nil
			p.free[class] = l[:len(l)-1]
			p.retained -= 1 << class
			ck.refs = 1
			return ck
		}
	}
	return &chunk{data: make([]byte, 1<<class), refs: 1, class: uint8(class)}
}

// release gives up one reference.
func (p *chunkPool) release(ck *chunk) {
	ck.refs--
	if ck.refs > 0 {
		return
	}
	p.live--
	if int(ck.class) > maxChunkClass || p.retained+len(ck.data) > poolRetain {
		return
	}
	p.retained += len(ck.data)
	p.free[ck.class] = append(p.free[ck.class], ck)
}
