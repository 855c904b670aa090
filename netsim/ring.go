package netsim

import "math/bits"

// ring holds the bytes of one stream that are taken and not yet read. A byte's place is its offset in the stream modulo
// the size, a power of two, so the ring itself keeps no positions. An empty stream holds no ring.
type ring []byte

const (
	minRingBits = 9
	maxRingBits = 40
)

// pool keeps rings that are not in use, by size.
type pool struct {
	free [maxRingBits][]ring
	out  int // rings in use
}

func ringBits(size int) int { return max(minRingBits, bits.Len(uint(size-1))) }

// get returns a ring of at least size bytes, with whatever was in it.
func (p *pool) get(size int) ring {
	b := ringBits(size)
	p.out++
	if f := p.free[b]; len(f) > 0 {
		r := f[len(f)-1]
		p.free[b] = f[:len(f)-1]
		return r
	}
	return make(ring, 1<<b)
}

func (p *pool) put(r ring) {
	p.out--
	b := ringBits(len(r))
	p.free[b] = append(p.free[b], r)
}

// grow returns a ring of at least size bytes with the bytes from..to of the stream in place.
func (p *pool) grow(r ring, from, to uint64, size int) ring {
	bigger := p.get(size)
	for from < to {
		part := r.at(from, to)
		bigger.put(from, part)
		from += uint64(len(part))
	}
	p.put(r)
	return bigger
}

// at returns the bytes of the stream from offset from, up to offset to or where the ring wraps.
func (r ring) at(from, to uint64) []byte {
	i := from & uint64(len(r)-1)
	return r[i:min(i+to-from, uint64(len(r)))]
}

// put stores b at offset off of the stream.
func (r ring) put(off uint64, b []byte) {
	n := copy(r[off&uint64(len(r)-1):], b)
	copy(r, b[n:])
}

// get copies the bytes from offset off on to b.
func (r ring) get(off uint64, b []byte) {
	n := copy(b, r[off&uint64(len(r)-1):])
	copy(b[n:], r)
}
