package diskfault

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/natsd/natsd/sim/schedule"
)

// SectorSize is the unit, in bytes, in which content survives: within a sector nothing is torn.
const SectorSize = 512

const (
	chunkSectors = 32 // one bit each in chunk.dirty
	versionsMax  = 8  // unsynced versions that a sector remembers; beyond it the oldest is forgotten
)

// block is the content of a sector. Blocks are never changed once they are in place: cache, platter, versions and
// snapshots share them.
type block [SectorSize]byte

// version is content that a sector was given and that no Sync has covered yet.
type version struct {
	data  *block // nil: zeros
	seq   uint64 // of the write or truncation, counted per file
	fate  *fate  // nil: it goes where it should
	heals bool   // writing it to the platter puts right what is damaged there
}

// sector is content as the process sees it (cache), as the platter has it (disk), and as the platter had it before.
// Clean sectors may differ too, after a fault: the cache hides it until it is dropped.
type sector struct {
	cache, disk, prev *block
	vers              []version // unsynced, oldest first; the newest is the cache
}

// chunk is a run of neighbouring sectors; it exists once any of them was written.
type chunk struct {
	index   int64 // first sector / chunkSectors
	dirty   uint32
	sectors [chunkSectors]sector
}

func byIndex(c *chunk, index int64) int { return cmp.Compare(c.index, index) }

type sizeVersion struct {
	size int64
	seq  uint64
}

// file is the content of a file.
type file struct {
	node   *node
	chunks []*chunk // by index
	hint   int      // where sector last looked
	dirty  []*chunk // with dirty sectors, in any order

	size, sizeDisk int64
	sizes          []sizeVersion // unsynced, oldest first
	seq            uint64        // of the last completed write or truncation
	synced         uint64        // seq that the last Sync covered

	reserved, reservedDisk int64 // sectors that Allocate reserved, from 0
	charged                int64 // sectors that count as used: reserved or with content

	last  schedule.Time // when the last operation submitted will complete
	epoch uint64        // of last
	// halted is the kill, counted in Disk.crashes, that stopped the operations in flight before one of this file.
	halted uint64

	damage     []damage // by sector
	bad        []badRegion
	stale      []staleOnce // by sector
	syncBroken bool        // every Sync fails until Heal
	cutFault   int         // index of the Truncated fault + 1
}

// find returns the chunk with that index, or nil; with create it makes one.
func (f *file) find(index int64, create bool) *chunk {
	if f.hint < len(f.chunks) && f.chunks[f.hint].index == index {
		return f.chunks[f.hint]
	}
	i, ok := len(f.chunks), false
	if i > 0 && f.chunks[i-1].index >= index {
		i, ok = slices.BinarySearchFunc(f.chunks, index, byIndex)
	}
	if !ok {
		if !create {
			return nil
		}
		f.chunks = slices.Insert(f.chunks, i, &chunk{index: index})
	}
	f.hint = i
	return f.chunks[i]
}

// sector returns the sector with that number, or nil where nothing was ever written.
func (f *file) sector(n int64) *sector {
	c := f.find(n/chunkSectors, false)
	if c == nil {
		return nil
	}
	return &c.sectors[n%chunkSectors]
}

// at returns the sector with that number, made if need be.
func (f *file) at(n int64) (*chunk, *sector) {
	c := f.find(n/chunkSectors, true)
	return c, &c.sectors[n%chunkSectors]
}

// charge keeps count when the cached content of sector n changes between zeros and something.
func (f *file) charge(n int64, from, to *block) {
	switch {
	case n < f.reserved || (from == nil) == (to == nil):
	case from == nil:
		f.charged++
	default:
		f.charged--
	}
}

// put gives sector n new unsynced content. from and to are the bytes within the sector that the caller set.
func (f *file) put(n int64, b *block, ft *fate, from, to int) {
	c, s := f.at(n)
	v := version{data: b, seq: f.seq, fate: ft, heals: f.mends(n, s, from, to)}
	f.charge(n, s.cache, b)
	s.cache = b
	if len(s.vers) == versionsMax {
		copy(s.vers, s.vers[1:])
		s.vers[versionsMax-1] = v
	} else {
		s.vers = append(s.vers, v)
	}
	if c.dirty == 0 {
		f.dirty = append(f.dirty, c)
	}
	c.dirty |= 1 << (n % chunkSectors)
}

// resize gives the file a new unsynced size.
func (f *file) resize(size int64) {
	if size == f.size {
		return
	}
	f.size = size
	f.sizes = append(f.sizes, sizeVersion{size: size, seq: f.seq})
}

// unsynced reports whether a power failure could lose anything of the file.
func (f *file) unsynced() bool { return len(f.dirty) > 0 || len(f.sizes) > 0 }

// eachDirty calls do for every sector with unsynced versions, in order, and forgets those that do leaves without any.
func (f *file) eachDirty(do func(n int64, s *sector)) {
	slices.SortFunc(f.dirty, func(a, b *chunk) int { return cmp.Compare(a.index, b.index) })
	keep := f.dirty[:0]
	for _, c := range f.dirty {
		for m := c.dirty; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			s := &c.sectors[i]
			do(c.index*chunkSectors+int64(i), s)
			if len(s.vers) == 0 {
				c.dirty &^= 1 << i
			}
		}
		if c.dirty != 0 {
			keep = append(keep, c)
		}
	}
	clear(f.dirty[len(keep):])
	f.dirty = keep
}

// covered says how many of the sector's versions a Sync submitted at mark covers.
func (s *sector) covered(mark uint64) int {
	n := 0
	for n < len(s.vers) && s.vers[n].seq <= mark {
		n++
	}
	return n
}

// forget drops the oldest n versions.
func (s *sector) forget(n int) {
	if n == len(s.vers) {
		s.vers = nil
		return
	}
	s.vers = append(s.vers[:0], s.vers[n:]...)
}

// forgetSizes drops the sizes up to mark and returns the newest of them.
func (f *file) forgetSizes(mark uint64) (size int64, ok bool) {
	n := 0
	for n < len(f.sizes) && f.sizes[n].seq <= mark {
		size, ok = f.sizes[n].size, true
		n++
	}
	f.sizes = append(f.sizes[:0], f.sizes[n:]...)
	return size, ok
}

// dropCache makes the process see the platter wherever nothing unsynced is above it.
func (f *file) dropCache() {
	for _, c := range f.chunks {
		for i := range c.sectors {
			s := &c.sectors[i]
			if len(s.vers) == 0 && s.cache != s.disk {
				f.charge(c.index*chunkSectors+int64(i), s.cache, s.disk)
				s.cache = s.disk
			}
		}
	}
	for i := range f.damage {
		f.damage[i].shown = f.damage[i].shown || len(f.sector(f.damage[i].sector).vers) == 0
	}
}

// cut makes everything from size on zeros, on the platter and in the cache: the file is settled and has that size.
func (f *file) cut(size int64) {
	first := (size + SectorSize - 1) / SectorSize
	i, _ := slices.BinarySearchFunc(f.chunks, first/chunkSectors, byIndex)
	for _, c := range f.chunks[i:] {
		for j := range c.sectors {
			if n := c.index*chunkSectors + int64(j); n >= first {
				c.sectors[j] = sector{}
			}
		}
	}
	if i < len(f.chunks) && f.chunks[i].index*chunkSectors >= first {
		clear(f.chunks[i:])
		f.chunks = f.chunks[:i]
	} else if i+1 < len(f.chunks) {
		clear(f.chunks[i+1:])
		f.chunks = f.chunks[:i+1]
	}
	if s := f.sector(size / SectorSize); s != nil && s.disk != nil && size%SectorSize != 0 {
		b := *s.disk
		clear(b[size%SectorSize:])
		s.disk, s.cache = &b, &b
	}
}

// recount computes charged from scratch.
func (f *file) recount() {
	f.charged = f.reserved
	for _, c := range f.chunks {
		for i := range c.sectors {
			if c.sectors[i].cache != nil && c.index*chunkSectors+int64(i) >= f.reserved {
				f.charged++
			}
		}
	}
}
