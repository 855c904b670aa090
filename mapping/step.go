package mapping

import (
	"bytes"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// cut appends what a function makes of the captured token tok.
func (s *step) cut(dst, tok []byte) []byte {
	n := int(s.n)
	if s.kind == split {
		return s.split(dst, tok)
	}
	if s.kind == token || n <= 0 || n >= len(tok) {
		return append(dst, tok...)
	}
	switch s.kind {
	case left:
		return append(dst, tok[:n]...)
	case right:
		return append(dst, tok[len(tok)-n:]...)
	case splitFromLeft:
		return join(dst, tok[:n], tok[n:])
	case splitFromRight:
		return join(dst, tok[:len(tok)-n], tok[len(tok)-n:])
	case sliceFromRight:
		if odd := len(tok) % n; odd > 0 {
			dst = append(append(dst, tok[:odd]...), '.')
			tok = tok[odd:]
		}
	}
	for len(tok) > n {
		dst = append(append(dst, tok[:n]...), '.')
		tok = tok[n:]
	}
	return append(dst, tok...)
}

// join appends two tokens.
func join(dst, a, b []byte) []byte {
	dst = append(append(dst, a...), '.')
	return append(dst, b...)
}

// split appends the pieces of tok between separators. Empty pieces are left
// out; an empty separator cuts tok into its characters.
func (s *step) split(dst, tok []byte) []byte {
	some := false
	for len(tok) > 0 {
		piece := tok
		if s.text == "" {
			_, size := utf8.DecodeRune(tok)
			piece = tok[:size]
			tok = tok[size:]
		} else if at := index(tok, s.text); at >= 0 {
			piece = tok[:at]
			tok = tok[at+len(s.text):]
		} else {
			tok = nil
		}
		if len(piece) == 0 {
			continue
		}
		if some {
			dst = append(dst, '.')
		}
		dst = append(dst, piece...)
		some = true
	}
	return dst
}

// index returns where sep, which is not empty, is in tok, or -1. It converts
// nothing, so nothing is allocated.
func index(tok []byte, sep string) int {
	for from := 0; from+len(sep) <= len(tok); from++ {
		at := bytes.IndexByte(tok[from:], sep[0])
		if at < 0 {
			return -1
		}
		from += at
		if from+len(sep) <= len(tok) && string(tok[from:from+len(sep)]) == sep {
			return from
		}
	}
	return -1
}

// FNV-1a of 32 bits, the documented hash of partitions.
const (
	fnvOffset = 2166136261
	fnvPrime  = 16777619
)

// fnv continues hash h over text.
func fnv(h uint32, text []byte) uint32 {
	for _, c := range text {
		h = (h ^ uint32(c)) * fnvPrime
	}
	return h
}

// partition appends the number of the partition that subj belongs to: the hash
// of the tokens, put together without dots, modulo the count.
func (s *step) partition(dst, subj []byte, ends []int32) []byte {
	h := uint32(fnvOffset)
	if s.all {
		h = fnv(h, subj)
	}
	for _, n := range s.of {
		h = fnv(h, captured(subj, n, ends))
	}
	count := uint32(s.n) // a negative count is a large one, as in nats-server
	if count == 0 {
		return append(dst, '0')
	}
	return strconv.AppendUint(dst, uint64(h%count), 10)
}

// random appends a number below the count. Steps of one transform draw
// independently: each mixes its place into the caller's number.
func (s *step) random(dst []byte, draw uint64, place int) []byte {
	count := int64(int32(s.n))
	if count < 0 {
		count = -count
	}
	n, _ := bits.Mul64(scramble(draw+uint64(place)*golden), uint64(count))
	return strconv.AppendUint(dst, n, 10)
}

// golden steps through the numbers of 64 bits in a way that scramble spreads well.
const golden = 0x9e3779b97f4a7c15

// scramble is the finalizer of splitmix64: a bijection whose result looks random.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
