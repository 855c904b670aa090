package sublist

import "math/bits"

// slabSize is the number of slots in a slab.
const slabSize = 256

// slots gives every leaf a number that it keeps while it lives, so that one can
// go through all leaves in pieces while leaves come and go. A number is used
// again after its leaf is gone. Slabs are given back when they are empty.
type slots[T comparable] struct {
	slabs []*slab[T]
	open  []uint32 // slabs (nil ones too) with a free slot, each once
	used  int
}

// slab is a run of slots.
type slab[T comparable] struct {
	leaves [slabSize]*leaf[T]
	free   [slabSize / 64]uint64 // one bit each
	used   int
}

// put gives l a slot.
func (s *slots[T]) put(l *leaf[T]) {
	if len(s.open) == 0 {
		s.open = append(s.open, uint32(len(s.slabs)))
		s.slabs = append(s.slabs, nil)
	}
	at := s.open[len(s.open)-1]
	b := s.slabs[at]
	if b == nil {
		b = &slab[T]{}
		for i := range b.free {
			b.free[i] = ^uint64(0)
		}
		s.slabs[at] = b
	}
	i := b.takeFree()
	b.leaves[i] = l
	l.slot = at*slabSize + uint32(i)
	b.used++
	if b.used == slabSize {
		s.open = s.open[:len(s.open)-1]
	}
	s.used++
}

// takeFree returns the first free slot, no longer free.
func (b *slab[T]) takeFree() int {
	for w := range b.free {
		if b.free[w] != 0 {
			i := bits.TrailingZeros64(b.free[w])
			b.free[w] &^= 1 << i
			return w*64 + i
		}
	}
	panic("sublist: a slab without a free slot is listed as open")
}

// drop frees the slot of l.
func (s *slots[T]) drop(l *leaf[T]) {
	s.used--
	if s.used == 0 {
		*s = slots[T]{}
		return
	}
	at, i := l.slot/slabSize, l.slot%slabSize
	b := s.slabs[at]
	if b.used == slabSize {
		s.open = append(s.open, at)
	}
	b.leaves[i] = nil
	b.free[i/64] |= 1 << (i % 64)
	b.used--
	if b.used == 0 {
		s.slabs[at] = nil
	}
}

// get returns the leaf in slot i, nil if there is none. i is below size.
func (s *slots[T]) get(i uint32) *leaf[T] {
	b := s.slabs[i/slabSize]
	if b == nil {
		return nil
	}
	return b.leaves[i%slabSize]
}

// size returns the number of slots, taken or free.
func (s *slots[T]) size() uint32 { return uint32(len(s.slabs)) * slabSize }
