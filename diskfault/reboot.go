package diskfault

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/natsd/natsd/sim/decision"
)

// wholeDiskFault decides whether the reboot finds another disk than the one that crashed.
func (d *Disk) wholeDiskFault() bool {
	lost := d.crashStrikes(decision.DiskGone, 0, d.cfg.Lost)
	back := !lost && len(d.images) > 0 && d.crashStrikes(decision.DiskRollback, 0, d.cfg.Rollback)
	if !lost && !back || !d.allowedWhole("") {
		return false
	}
	if lost {
		d.Lose()
	} else {
		d.Restore(d.images[d.crashDetail(0, slotWhere, uint64(len(d.images)))])
	}
	return true
}

// rebootFile decides which damage shows in a file after a reboot. The file is settled.
func (d *Disk) rebootFile(x found) {
	f, path := x.node.file, x.node.path
	purpose := purposeOf('f', path)
	if d.crashStrikes(decision.DiskMissing, purpose, d.cfg.Missing) && d.allowedWhole(path) {
		x.in.now.set(x.name, nil)
		x.in.disk.set(x.name, nil)
		x.node.links--
		d.missing = append(d.missing, lostName{path, d.note(Fault{Kind: Missing, File: path, Length: f.size})})
		return
	}
	sectors := uint64(f.size+SectorSize-1) / SectorSize
	if sectors == 0 {
		return
	}
	if d.crashStrikes(decision.DiskTruncate, purpose, d.cfg.Truncate) && d.allowedWhole(path) {
		size := int64(d.crashDetail(purpose, slotCut, uint64(f.size)))
		if d.allowed(path, size/SectorSize, int64(sectors)) {
			f.cutFault = 1 + d.note(Fault{Kind: Truncated, File: path, Offset: size, Length: f.size - size})
			d.settleSize(f, size)
			f.reserved = min(f.reserved, (size+SectorSize-1)/SectorSize)
			f.reservedDisk = f.reserved
			f.recount()
			return
		}
	}
	if d.crashStrikes(decision.DiskBitRot, purpose, d.cfg.Rot) {
		n := int64(d.crashDetail(purpose, slotRot, sectors))
		d.rot(f, n, int(d.crashDetail(purpose, slotShape, 4)), d.crashDetail(purpose, slotBit, 8*SectorSize))
	}
	if d.crashStrikes(decision.DiskStale, purpose, d.cfg.Stale) {
		n := int64(d.crashDetail(purpose, slotStale, sectors))
		count := 1 + int64(d.crashDetail(purpose, slotStaleLength, 8))
		d.makeStale(f, n, min(n+count, int64(sectors)), d.crashDetail(purpose, slotStaleOnce, 2) == 1)
	}
}

// rotBeforeRead decides whether a Read of n bytes meets bytes that have rotted since they were written.
func (d *Disk) rotBeforeRead(o *op, f *file, n int) {
	if n == 0 || !d.strikes(o, decision.DiskBitRot, d.cfg.RotRead) {
		return
	}
	first, last := o.off/SectorSize, (o.off+int64(n)-1)/SectorSize
	sec := first + int64(d.detail(o, slotRot, uint64(last-first+1)))
	d.rot(f, sec, int(d.detail(o, slotShape, 4)), d.detail(o, slotBit, 8*SectorSize))
}

// rot changes synced bytes of a sector: a bit, a byte, or all of it. Nothing happens where nothing is, or where the
// cache hides the platter.
func (d *Disk) rot(f *file, n int64, shape int, bit uint64) bool {
	s := f.sector(n)
	room := int(min(SectorSize, f.size-n*SectorSize))
	if s == nil || s.disk == nil || s.cache != s.disk || len(s.vers) > 0 || room <= 0 || !d.allowed(f.node.path, n, n+1) {
		return false
	}
	b := *s.disk
	at := int(bit/8) % room
	switch shape {
	case 0:
		b[at] ^= 1 << (bit % 8)
	case 1:
		b[at] = ^b[at]
	case 2:
		clear(b[:room])
	default:
		copy(b[:room], d.noise(uint32(bit), n)[:])
	}
	lo, hi := differ(s.disk, &b)
	if lo == hi {
		return false
	}
	s.prev, s.disk, s.cache = s.disk, &b, &b
	var fault int
	d.harm(f, n, lo, hi, &fault, BitRot, true)
	return true
}

// Rot flips bits of one synced byte of a file, as time does. The cache of a clean sector is dropped, so that it shows.
// It reports whether there was such a byte; unsynced ones are not at rest.
func (d *Disk) Rot(path string, offset int64, mask byte) bool {
	n := d.lookup(path)
	if n == nil || n.file == nil || offset >= n.file.size || mask == 0 {
		return false
	}
	f, sec, at := n.file, offset/SectorSize, int(offset%SectorSize)
	s := f.sector(sec)
	if s == nil || s.disk == nil || len(s.vers) > 0 || !d.allowed(path, sec, sec+1) {
		return false
	}
	before := f.charged
	f.charge(sec, s.cache, s.disk)
	b := *s.disk
	b[at] ^= mask
	s.prev, s.disk, s.cache = s.disk, &b, &b
	for i := range f.damageAt(sec) {
		f.damageAt(sec)[i].shown = true
	}
	var fault int
	d.harm(f, sec, at, at+1, &fault, BitRot, true)
	d.use(f, before)
	return true
}

// makeStale lets older content of the sectors from..to reappear, for the next read of each or for good.
func (d *Disk) makeStale(f *file, from, to int64, once bool) {
	var fault int
	for n := from; n < to; n++ {
		s := f.sector(n)
		if s == nil || s.prev == nil || !d.allowed(f.node.path, n, n+1) {
			continue
		}
		old := *s.prev
		if room := f.size - n*SectorSize; room < SectorSize {
			clear(old[room:])
		}
		lo, hi := differ(s.disk, &old)
		if lo == hi {
			continue
		}
		if !once {
			d.harm(f, n, lo, hi, &fault, StaleRead, true)
			f.charge(n, s.cache, &old)
			s.disk, s.cache = &old, &old
			continue
		}
		index := d.note(Fault{Kind: StaleRead, File: f.node.path, Offset: n*SectorSize + int64(lo), Length: int64(hi - lo)})
		i, ok := slices.BinarySearchFunc(f.stale, n, func(a staleOnce, x int64) int { return cmp.Compare(a.sector, x) })
		if ok {
			f.stale = slices.Delete(f.stale, i, i+1)
		}
		f.stale = slices.Insert(f.stale, i, staleOnce{sector: n, data: &old, fault: index})
	}
}

// noise fills a sector with bits that mean nothing.
func (d *Disk) noise(purpose uint32, n int64) *block {
	b := new(block)
	for i := 0; i < SectorSize; i += 8 {
		k := d.crashKey(decision.DiskGarbage, purpose, slotRot, n64(n*SectorSize+int64(i)))
		binary.LittleEndian.PutUint64(b[i:], decision.Noise(k))
	}
	return b
}
