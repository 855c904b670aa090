package sublist

import (
	"math/bits"

	"github.com/natsd/natsd/subject"
)

// hasher hashes subjects. What a block of a subject is multiplied with depends
// on both keys, so who does not know them can neither look for subjects that
// collide nor cancel a block out.
type hasher struct{ block, start uint64 }

// Odd constants with about half of their bits set, to multiply with.
const (
	mix1 = 0x9e3779b97f4a7c15
	mix2 = 0xd6e8feb86659fd93
)

// newHasher returns the hasher of a seed.
func newHasher(seed uint64) hasher {
	return hasher{block: scramble(seed + mix1), start: scramble(seed ^ mix2)}
}

// scramble returns a number for each number, another for another, in which
// every bit depends on every bit.
func scramble(x uint64) uint64 {
	for range 3 {
		x ^= x >> 32
		x *= mix2
	}
	return x ^ x>>32
}

// fold multiplies a and b and folds the 128 bits of the product into 64.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// hash hashes s. It takes sixteen bytes at a time; the last block may overlap
// the one before, and its halves each other, which does no harm since the
// length is part of it. (The last fold is there since one alone leaves subjects
// that differ in few bits in few lists.)
func hash[S subject.Text](k hasher, s S) uint32 {
	n := len(s)
	h := k.start + uint64(n)*mix1
	switch {
	case n >= 16:
		last := s[n-16:]
		for len(s) > 16 {
			h = fold(load(s)^k.block, load(s[8:])^h)
			s = s[16:]
		}
		h = fold(load(last)^k.block, load(last[8:])^h)
	case n >= 8:
		h = fold(load(s)^k.block, load(s[n-8:])^h)
	default:
		var w uint64
		for i := range n {
			w = w<<8 | uint64(s[i])
		}
		h = fold(w^k.block, h)
	}
	return uint32(fold(h^k.start, mix1))
}

// load returns the first eight bytes as a number, which compiles to one
// instruction.
func load[S subject.Text](s S) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
