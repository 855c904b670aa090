package diskfault

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
)

// scribble is what a buffer holds between the submission of a Read and its completion, so that nobody reads it early.
const scribble = 0xdb

// checksum tells whether a buffer was changed while it belonged to the disk.
func checksum(p []byte) uint64 {
	h := uint64(len(p)) ^ 0x9e3779b97f4a7c15
	for ; len(p) >= 8; p = p[8:] {
		hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(p), 0xa0761d6478bd642f)
		h = hi ^ lo
	}
	for _, b := range p {
		h = (h ^ uint64(b)) * 0xe7037ed1a0b428db
	}
	return h
}

// span calls do for each sector that the bytes off..off+n lie in: its number, the bytes within it, and where those are
// in the whole.
func span(off int64, n int, do func(sec int64, from, to, at int)) {
	for at := 0; at < n; {
		pos := off + int64(at)
		from := int(pos % SectorSize)
		to := min(SectorSize, from+n-at)
		do(pos/SectorSize, from, to, at)
		at += to - from
	}
}

func (d *Disk) read(o *op, r *engine.DiskResult) {
	f := o.node.file
	n := int(max(0, min(int64(len(o.p)), f.size-o.off)))
	if n == 0 && !o.forced {
		return
	}
	n, r.Err = d.readLimit(o, f, n)
	r.N = n
	d.rotBeforeRead(o, f, n)
	span(o.off, n, func(sec int64, from, to, at int) {
		into := o.p[at : at+to-from]
		s := f.sector(sec)
		if s == nil {
			clear(into)
			return
		}
		b := s.cache
		if len(f.damage) > 0 {
			d.touch(f, sec, s, from, to)
		}
		if st, ok := f.takeStale(sec); ok && len(s.vers) == 0 {
			b = st.data
			d.faults[st.fault].Touched = true
		}
		if b == nil {
			clear(into)
			return
		}
		copy(into, b[from:to])
	})
}

// readLimit says how many of the n bytes a Read gets, and why not more.
func (d *Disk) readLimit(o *op, f *file, n int) (int, error) {
	end := o.off + int64(n)
	if o.forced {
		at := d.detail(o, slotCut, uint64(n))
		d.note(Fault{Kind: ReadFailed, File: f.node.path, Offset: o.off, Length: int64(n), Op: o.num, Touched: true})
		return int(at), engine.ErrIO
	}
	if at, fault, ok := f.badFrom(o.off, end, false); ok {
		d.faults[fault].Touched = true
		return int(at - o.off), engine.ErrIO
	}
	if !d.strikes(o, decision.DiskReadError, d.cfg.ReadError) {
		return n, nil
	}
	at := int64(d.detail(o, slotCut, uint64(n)))
	bad := d.region(o, o.off+at)
	sticky := d.stays(o) && d.allowed(f.node.path, bad.from, bad.to)
	bad.fault = d.note(Fault{Kind: ReadFailed, File: f.node.path, Offset: bad.from * SectorSize,
		Length: (bad.to - bad.from) * SectorSize, Op: o.num, Sticky: sticky, Touched: true})
	if sticky {
		f.bad = append(f.bad, bad)
	}
	return int(max(0, bad.from*SectorSize-o.off)), engine.ErrIO
}

// region is the run of sectors around the byte at pos that an error concerns.
func (d *Disk) region(o *op, pos int64) badRegion {
	sec := pos / SectorSize
	return badRegion{from: sec, to: sec + 1 + int64(d.detail(o, slotLength, 8))}
}

func (d *Disk) write(o *op, r *engine.DiskResult) {
	f := o.node.file
	if !o.plain && checksum(o.p) != o.sum {
		panic("diskfault: a buffer was changed while its Write was in flight: " + o.String())
	}
	n := len(o.p)
	if n == 0 {
		return
	}
	n, r.Err = d.writeLimit(o, f, n)
	r.N = n
	if n > 0 {
		d.store(f, o.off, o.p[:n], d.fateOf(o, f, n))
	}
}

// writeLimit says how many of the n bytes a Write takes, and why not more.
func (d *Disk) writeLimit(o *op, f *file, n int) (int, error) {
	fault := Fault{Kind: WriteFailed, File: f.node.path, Offset: o.off, Length: int64(n), Op: o.num, Touched: true}
	if o.forced {
		at := int(d.detail(o, slotCut, uint64(n)))
		if o.full {
			fault.Kind = NoSpace
			d.note(fault)
			return at, engine.ErrNoSpace
		}
		d.note(fault)
		return at, engine.ErrIO
	}
	if at, i, ok := f.badFrom(o.off, o.off+int64(n), true); ok {
		d.faults[i].Touched = true
		return int(at - o.off), engine.ErrIO
	}
	if d.strikes(o, decision.DiskWriteError, d.cfg.WriteError) {
		at := int(d.detail(o, slotCut, uint64(n)))
		bad := d.region(o, o.off+int64(at))
		fault.Offset, fault.Length = bad.from*SectorSize, (bad.to-bad.from)*SectorSize
		fault.Sticky = d.stays(o) && d.allowed(f.node.path, bad.from, bad.to)
		bad.write, bad.fault = true, d.note(fault)
		if fault.Sticky {
			f.bad = append(f.bad, bad)
		}
		return at, engine.ErrIO
	}
	// Space that was reserved is there.
	free := int(max(0, min(int64(n), f.reserved*SectorSize-o.off)))
	if free < n && d.strikes(o, decision.DiskNoSpace, d.cfg.NoSpace) {
		fault.Kind = NoSpace
		d.note(fault)
		return free + int(d.detail(o, slotCut, uint64(n-free))), engine.ErrNoSpace
	}
	if fits := d.fits(f, o.off, n); fits < n {
		return fits, engine.ErrNoSpace
	}
	if n > 1 && d.strikes(o, decision.DiskShortWrite, d.cfg.ShortWrite) {
		fault.Kind = ShortWrite
		d.note(fault)
		return 1 + int(d.detail(o, slotCut, uint64(n-1))), nil
	}
	return n, nil
}

// fits says how many of the n bytes from off on there is room for.
func (d *Disk) fits(f *file, off int64, n int) int {
	if d.cfg.Capacity == 0 {
		return n
	}
	room, fits := d.room(), n
	span(off, n, func(sec int64, _, _, at int) {
		if s := f.sector(sec); sec < f.reserved || s != nil && s.cache != nil || fits < n {
			return
		}
		if room--; room < 0 {
			fits = at
		}
	})
	return fits
}

// room is how many sectors are free.
func (d *Disk) room() int64 { return max(0, d.cfg.Capacity/SectorSize-d.used) }

// store puts bytes into the page cache.
func (d *Disk) store(f *file, off int64, p []byte, ft *fate) {
	before := f.charged
	f.seq++
	first, last := off/SectorSize, (off+int64(len(p))-1)/SectorSize
	blocks := make([]block, last-first+1)
	span(off, len(p), func(sec int64, from, to, at int) {
		b := &blocks[sec-first]
		if to-from < SectorSize {
			if s := f.sector(sec); s != nil && s.cache != nil {
				*b = *s.cache
			}
		}
		copy(b[from:to], p[at:])
		f.put(sec, b, ft, from, to)
	})
	f.remap(first, last+1)
	if len(f.stale) > 0 {
		for sec := first; sec <= last; sec++ {
			f.takeStale(sec)
		}
	}
	f.resize(max(f.size, off+int64(len(p))))
	d.use(f, before)
}

// use adds to the used space what changed in the file since it was charged with before.
func (d *Disk) use(f *file, before int64) { d.used += f.charged - before }

// fateOf decides whether a write of n bytes will reach the platter, and where.
func (d *Disk) fateOf(o *op, f *file, n int) *fate {
	lost := d.strikes(o, decision.DiskLostWrite, d.cfg.LostWrite)
	if !lost && !d.strikes(o, decision.DiskMisdirect, d.cfg.Misdirect) {
		return nil
	}
	first, end := o.off/SectorSize, (o.off+int64(n)+SectorSize-1)/SectorSize
	if !d.allowed(f.node.path, first, end) {
		return nil
	}
	ft := &fate{kind: LostWrite, only: -1}
	if d.detail(o, slotPart, 2) == 0 {
		ft.only = first + int64(d.detail(o, slotWhere, uint64(end-first)))
		first = ft.only
	}
	if lost {
		return ft
	}
	ft.kind, ft.target = Misdirected, f.node
	if d.detail(o, slotFile, 3) == 2 {
		ft.target = d.files[d.detail(o, slotStale, uint64(len(d.files)))]
	}
	t := ft.target.file
	sectors := (max(t.size, t.sizeDisk) + SectorSize - 1) / SectorSize
	if sectors == 0 {
		return nil
	}
	ft.shift = int64(d.detail(o, slotSector, uint64(sectors))) - first
	if ft.target == f.node && ft.shift == 0 {
		return nil
	}
	return ft
}

func (d *Disk) allocate(o *op, r *engine.DiskResult) {
	f := o.node.file
	want := (o.off + SectorSize - 1) / SectorSize
	if r.Err = d.spaceError(o, f.node.path); r.Err != nil || want <= f.reserved {
		return
	}
	if d.strikes(o, decision.DiskWriteError, d.cfg.WriteError) {
		d.note(Fault{Kind: WriteFailed, File: f.node.path, Length: o.off, Op: o.num, Touched: true})
		r.Err = engine.ErrIO
		return
	}
	need := want - f.reserved
	from, _ := slices.BinarySearchFunc(f.chunks, f.reserved/chunkSectors, byIndex)
	for _, c := range f.chunks[from:] {
		for i := range c.sectors {
			if n := c.index*chunkSectors + int64(i); n >= f.reserved && n < want && c.sectors[i].cache != nil {
				need--
			}
		}
	}
	if d.cfg.Capacity != 0 && need > d.room() {
		r.Err = engine.ErrNoSpace
		return
	}
	f.reserved = want
	f.charged += need
	d.used += need
}

// spaceError is the injected failure of an operation that needs space, but writes no bytes.
func (d *Disk) spaceError(o *op, path string) error {
	fault := Fault{Kind: NoSpace, File: path, Op: o.num, Touched: true}
	switch {
	case o.forced && !o.full:
		fault.Kind = WriteFailed
		d.note(fault)
		return engine.ErrIO
	case o.forced || d.strikes(o, decision.DiskNoSpace, d.cfg.NoSpace):
		d.note(fault)
		return engine.ErrNoSpace
	}
	return nil
}

func (d *Disk) truncate(o *op, r *engine.DiskResult) {
	f, size := o.node.file, o.off
	if o.forced || d.strikes(o, decision.DiskWriteError, d.cfg.WriteError) {
		d.note(Fault{Kind: WriteFailed, File: f.node.path, Offset: size, Op: o.num, Touched: true})
		r.Err = engine.ErrIO
		return
	}
	before := f.charged
	f.seq++
	if size < f.size {
		f.dropTail(size)
	}
	f.resize(size)
	d.use(f, before)
}

// dropTail makes the cached content from size on zeros and gives up the space behind it.
func (f *file) dropTail(size int64) {
	first := (size + SectorSize - 1) / SectorSize
	if s := f.sector(size / SectorSize); size%SectorSize != 0 && s != nil && s.cache != nil {
		b := *s.cache
		clear(b[size%SectorSize:])
		f.put(size/SectorSize, &b, nil, int(size%SectorSize), SectorSize)
	}
	for i := len(f.chunks) - 1; i >= 0 && (f.chunks[i].index+1)*chunkSectors > first; i-- {
		c := f.chunks[i]
		for j := range c.sectors {
			n := c.index*chunkSectors + int64(j)
			if n >= first && (c.sectors[j].cache != nil || c.sectors[j].disk != nil) {
				f.put(n, nil, nil, 0, SectorSize)
			}
		}
	}
	if first < f.reserved {
		f.charged -= f.reserved - first
		f.reserved = first
	}
	for len(f.stale) > 0 && f.stale[len(f.stale)-1].sector >= first {
		f.stale = f.stale[:len(f.stale)-1]
	}
}

func (d *Disk) sync(o *op, r *engine.DiskResult) {
	f := o.node.file
	fails := f.syncBroken || o.forced
	if !fails && d.strikes(o, decision.DiskSyncFail, d.cfg.SyncFail) && d.allowedWhole(f.node.path) {
		fails = true
		f.syncBroken = d.stays(o)
	}
	if fails {
		r.Err = engine.ErrSync
		d.failSync(o, f)
		return
	}
	f.eachDirty(func(n int64, s *sector) {
		if k := s.covered(o.mark); k > 0 {
			d.flush(f, n, s, s.vers[k-1], false)
			s.forget(k)
		}
	})
	if size, ok := f.forgetSizes(o.mark); ok {
		f.sizeDisk = size
	}
	f.reservedDisk = f.reserved
	f.synced = o.mark
	if d.strikes(o, decision.DiskEvict, d.cfg.Evict) {
		before := f.charged
		f.dropCache()
		d.use(f, before)
	}
	d.snapshotIfDue()
}

// closeFile gives up a handle. A failure does not keep it open.
func (d *Disk) closeFile(o *op, r *engine.DiskResult) {
	if o.forced || d.strikes(o, decision.DiskMetaError, d.cfg.MetaError) {
		d.note(Fault{Kind: MetaFailed, File: o.node.path, Op: o.num, Touched: true})
		r.Err = engine.ErrIO
	}
	d.handles[o.file-d.handleBase-1].node = nil
	o.node.opens--
	d.release(o.node)
}

// failSync marks what a Sync covers as clean although none, some or all of it reached the platter: the next Sync will
// not try again. Depending on the file system the cache goes on showing what was written, or falls back to the platter.
func (d *Disk) failSync(o *op, f *file) {
	const (
		all = iota
		none
		each
	)
	mode := all
	if !o.plain {
		mode = [4]int{all, none, each, each}[d.detail(o, slotShape, 4)]
	}
	revert := d.detail(o, slotPart, 2) == 1
	fault := d.note(Fault{Kind: SyncFailed, File: f.node.path, Op: o.num, Sticky: f.syncBroken, Touched: true})
	before, from, to := f.charged, int64(-1), int64(0)
	f.eachDirty(func(n int64, s *sector) {
		k := s.covered(o.mark)
		if k == 0 {
			return
		}
		drop := mode == none
		if mode == each {
			key := decision.Key{Kind: decision.DiskSyncSector, Purpose: o.purpose, Actor: d.actor, N: o.turn<<32 | uint64(n)}
			drop = d.src.Below(key, 2) == 1
		}
		if !drop {
			d.flush(f, n, s, s.vers[k-1], false)
			s.forget(k)
			return
		}
		f.dropCovered(n, s, k, revert)
		if from < 0 {
			from = n
		}
		to = n + 1
	})
	if size, ok := f.forgetSizes(o.mark); ok && (mode == all || mode == each && d.detail(o, slotLength, 2) == 0) {
		f.sizeDisk = size
	}
	f.synced = o.mark
	if from >= 0 {
		d.faults[fault].Offset, d.faults[fault].Length = from*SectorSize, (to-from)*SectorSize
	}
	d.use(f, before)
}

// dropCovered marks the oldest k versions of a sector as clean although they never reached the platter.
func (f *file) dropCovered(n int64, s *sector, k int, revert bool) {
	healed := s.vers[k-1].heals
	s.forget(k)
	falls := revert && len(s.vers) == 0
	if falls {
		f.charge(n, s.cache, s.disk)
		s.cache = s.disk
	}
	// What the cache has now may be right where the platter is damaged, or show the damage again.
	at := f.damageAt(n)
	for i := range at {
		at[i].shown = falls || at[i].shown && !healed
	}
}
