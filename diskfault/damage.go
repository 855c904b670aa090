package diskfault

import (
	"cmp"
	"slices"
)

// fate is what becomes of a write on its way to the platter when that is not its place.
type fate struct {
	kind   Kind  // LostWrite or Misdirected
	only   int64 // the one sector concerned, or -1 for all of the write
	target *node // Misdirected: the file that gets it
	shift  int64 // Misdirected: sectors between where it belongs and where it lands
	lacks  int   // index + 1 of the fault that says where it lacks
	landed int   // index + 1 of the fault that says where it is
}

func (ft *fate) concerns(n int64) bool { return ft != nil && (ft.only < 0 || ft.only == n) }

// damage is a run of bytes within a sector whose platter is not what was synced.
type damage struct {
	sector int64
	lo, hi int
	fault  int  // index into Disk.faults
	shown  bool // the cache has it too: reads see it
}

// flush brings a version to the platter, or to wherever its fate leads. settling means that a power failure did it, not
// a Sync: what gets lost then had not been promised.
func (d *Disk) flush(f *file, n int64, s *sector, v version, settling bool) {
	if !v.fate.concerns(n) {
		s.prev, s.disk = s.disk, v.data
		d.mend(f, n, v.heals)
		return
	}
	ft := v.fate
	if ft.kind == Misdirected {
		d.land(ft, n+ft.shift, v.data)
	}
	if lo, hi := differ(s.disk, v.data); lo < hi && !settling {
		d.harm(f, n, lo, hi, &ft.lacks, ft.kind, false)
	}
}

// land puts a misdirected sector where it does not belong.
func (d *Disk) land(ft *fate, n int64, b *block) {
	t := ft.target
	if t.links == 0 || !d.allowed(t.path, n, n+1) {
		return
	}
	_, s := t.file.at(n)
	lo, hi := differ(s.disk, b)
	if lo == hi {
		return
	}
	// What lies above keeps hiding the platter: a clean cache stays as it is until it is dropped.
	s.prev, s.disk = s.disk, b
	d.harm(t.file, n, lo, hi, &ft.landed, Misdirected, false)
}

// harm records damage. fault is the place of the index + 1 of its fault, which is listed at the first sector.
func (d *Disk) harm(f *file, n int64, lo, hi int, fault *int, k Kind, shown bool) {
	from, to := n*SectorSize+int64(lo), n*SectorSize+int64(hi)
	if *fault == 0 {
		*fault = 1 + d.note(Fault{Kind: k, File: f.node.path, Offset: from, Length: to - from})
	}
	at := &d.faults[*fault-1]
	end := max(at.Offset+at.Length, to)
	at.Offset = min(at.Offset, from)
	at.Length = end - at.Offset
	at.left++
	i, _ := slices.BinarySearchFunc(f.damage, n+1, func(a damage, x int64) int { return cmp.Compare(a.sector, x) })
	f.damage = slices.Insert(f.damage, i, damage{sector: n, lo: lo, hi: hi, fault: *fault - 1, shown: shown})
}

// mends reports whether a write of the bytes from..to of sector n, on top of what the cache has, leaves no damage that
// the cache shows. Hidden damage needs no care: the cache is right, and goes to the platter as a whole sector.
func (f *file) mends(n int64, s *sector, from, to int) bool {
	if len(s.vers) > 0 && s.vers[len(s.vers)-1].heals {
		return true
	}
	for _, a := range f.damageAt(n) {
		if a.shown && (a.lo < from || a.hi > to) {
			return false
		}
	}
	return true
}

// damageAt is the damage of one sector.
func (f *file) damageAt(n int64) []damage {
	if len(f.damage) == 0 {
		return nil
	}
	i, _ := slices.BinarySearchFunc(f.damage, n, func(a damage, x int64) int { return cmp.Compare(a.sector, x) })
	j := i
	for j < len(f.damage) && f.damage[j].sector == n {
		j++
	}
	return f.damage[i:j]
}

// mend forgets damage of sector n that new content on the platter put right.
func (d *Disk) mend(f *file, n int64, heals bool) {
	if len(f.damage) == 0 {
		return
	}
	f.damage = slices.DeleteFunc(f.damage, func(a damage) bool {
		return a.sector == n && (heals || !a.shown) && d.relieve(a.fault)
	})
}

// mendFrom forgets damage of all bytes from size on: they are no more.
func (d *Disk) mendFrom(f *file, size int64) {
	if len(f.damage) == 0 {
		return
	}
	f.damage = slices.DeleteFunc(f.damage, func(a damage) bool {
		return a.sector*SectorSize+int64(a.lo) >= size && d.relieve(a.fault)
	})
	for i := range f.damage {
		a := &f.damage[i]
		a.hi = int(min(int64(a.hi), size-a.sector*SectorSize))
	}
}

// relieve counts off a damaged sector of a fault. It returns true.
func (d *Disk) relieve(fault int) bool {
	at := &d.faults[fault]
	at.left--
	at.Healed = at.left == 0
	return true
}

// touch marks the faults whose damage a read of the bytes from..to of sector n delivers.
func (d *Disk) touch(f *file, n int64, s *sector, from, to int) {
	if len(s.vers) > 0 && s.vers[len(s.vers)-1].heals {
		return
	}
	for _, a := range f.damageAt(n) {
		if a.shown && a.lo < to && from < a.hi {
			d.faults[a.fault].Touched = true
		}
	}
}

// differ returns the bounds of the bytes in which two contents differ; equal bounds mean that they are the same.
func differ(a, b *block) (lo, hi int) {
	var zero block
	if a == nil {
		a = &zero
	}
	if b == nil {
		b = &zero
	}
	if *a == *b {
		return 0, 0
	}
	hi = SectorSize
	for a[lo] == b[lo] {
		lo++
	}
	for a[hi-1] == b[hi-1] {
		hi--
	}
	return lo, hi
}

// badRegion is a run of sectors that cannot be read or written until Heal. A completed write makes it readable again,
// as drives do that remap sectors.
type badRegion struct {
	from, to int64 // sectors
	write    bool  // also unwritable
	fault    int
}

// badFrom returns the first byte from off on, below end, that lies in a region bad for the purpose, and its fault.
func (f *file) badFrom(off, end int64, write bool) (at int64, fault int, ok bool) {
	at = end
	for _, r := range f.bad {
		from, to := r.from*SectorSize, r.to*SectorSize
		if (!write || r.write) && from < end && to > off && max(from, off) < at {
			at, fault, ok = max(from, off), r.fault, true
		}
	}
	return at, fault, ok
}

// remap makes sectors readable that were written over.
func (f *file) remap(from, to int64) {
	if len(f.bad) == 0 {
		return
	}
	var keep []badRegion
	for _, r := range f.bad {
		if r.write || r.to <= from || r.from >= to {
			keep = append(keep, r)
			continue
		}
		if r.from < from {
			keep = append(keep, badRegion{from: r.from, to: from, fault: r.fault})
		}
		if r.to > to {
			keep = append(keep, badRegion{from: to, to: r.to, fault: r.fault})
		}
	}
	f.bad = keep
}

// staleOnce is older content that the next read of a sector gets, and no later one.
type staleOnce struct {
	sector int64
	data   *block
	fault  int
}

// takeStale returns and forgets the older content that a read of sector n is to see.
func (f *file) takeStale(n int64) (staleOnce, bool) {
	i, ok := slices.BinarySearchFunc(f.stale, n, func(a staleOnce, x int64) int { return cmp.Compare(a.sector, x) })
	if !ok {
		return staleOnce{}, false
	}
	st := f.stale[i]
	f.stale = slices.Delete(f.stale, i, i+1)
	return st, true
}
