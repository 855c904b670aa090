package sublist

import (
	"math/bits"

	"github.com/natsd/natsd/subject"
)

// Odd constants with about half of their bits set, to multiply with.
const (
	mix1 = 0x9e3779b97f4a7c15
	mix2 = 0xd6e8feb86659fd93
)

// fold multiplies a and b and folds the 128 bits of the product into 64.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// hash hashes s. It takes eight bytes at a time; the last eight may overlap
// those before, which does no harm since the length is part of it.
func hash[S subject.Text](seed uint64, s S) uint32 {
	n := len(s)
	h := seed ^ uint64(n)*mix1
	if n >= 8 {
		for i := 0; i < n-8; i += 8 {
			h = fold(h^load(s[i:i+8]), mix2)
		}
		h ^= load(s[n-8:])
	} else {
		var w uint64
		for i := range n {
			w = w<<8 | uint64(s[i])
		}
		h ^= w
	}
	return uint32(fold(h, mix1))
}

// load returns eight bytes as a number, which compiles to one instruction.
func load[S subject.Text](s S) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// prefixLen returns the length of what decides in which list of kin a subject
// or pattern is: its first two tokens. Literals of one token stand alone.
func prefixLen[S subject.Text](s S) int {
	end := subject.TokenEnd(s, 0)
	if end == len(s) {
		return end
	}
	return subject.TokenEnd(s, end+1)
}
