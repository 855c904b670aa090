package diskfault

import (
	"fmt"
	"slices"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
)

// How the unsynced part of a file or directory survives a power failure.
const (
	keepAll    = iota // nothing is lost
	loseAll           // everything is
	eachAlone         // each sector, size and entry is decided on its own
	keepPrefix        // files: what was written first survives
	keepSuffix        // files: what was written last survives, and what was before is lost
)

// The weights of these modes. The extremes are worth more than chance would give them: they part the fate of one file
// from that of another as a whole, a rename from the content that it was to publish.
var (
	fileModes = []uint32{2, 2, 4, 1, 1}
	dirModes  = []uint32{2, 2, 4}
)

// Kill is the death of the process alone. Operations in flight never complete: of those on one file the first few have
// been carried out, the next may have been in part. The page cache stays.
func (d *Disk) Kill() {
	d.crashes++
	for _, o := range d.ops {
		if o == nil || !o.kind.changes() {
			continue
		}
		onFile := o.kind.onFile()
		if onFile && (o.node == nil || o.node.file.halted == d.crashes) {
			continue
		}
		if d.wasCarriedOut(o) {
			continue
		}
		if onFile {
			o.node.file.halted = d.crashes
		}
		if o.kind == OpWrite {
			n := min(int(d.detail(o, slotCut, uint64(len(o.p))+1)), d.fits(o.node.file, o.off, len(o.p)))
			if n > 0 {
				d.store(o.node.file, o.off, o.p[:n], nil)
			}
		}
	}
	for _, h := range d.handles {
		if h.node != nil {
			h.node.opens--
			d.release(h.node)
		}
	}
	d.endLife()
}

// Crash is a power failure. Any part of what was not synced survives, in-flight operations among it; none of these
// completes. What the disk is from then on is what is found after the reboot, with such further damage as is decided.
func (d *Disk) Crash() {
	d.crashes++
	for _, o := range d.ops {
		if o != nil && o.kind.changes() && (!o.kind.onFile() || o.node != nil) {
			d.wasCarriedOut(o)
		}
	}
	d.endLife()
	if d.wholeDiskFault() {
		return
	}
	for _, in := range d.unsyncedDirs {
		d.settleNames(in)
	}
	d.settleTree()
}

// changes reports whether an operation of the kind can leave a trace on the disk.
func (k OpKind) changes() bool { return k != OpRead && k != OpList && k != OpClose }

// wasCarriedOut decides whether a crash found an operation in flight carried out, and if so carries it out.
func (d *Disk) wasCarriedOut(o *op) bool {
	if d.src.Below(o.key(d, decision.DiskInflight, 0), 2) == 0 {
		return false
	}
	o.plain, o.forced = true, false
	var r engine.DiskResult
	d.carryOut(o, &r)
	return true
}

// endLife forgets what belongs to the process that is gone.
func (d *Disk) endLife() {
	d.epoch++
	d.base += uint64(len(d.ops))
	d.ops, d.names = nil, nil
	d.handleBase += engine.FileID(len(d.handles))
	d.handles = nil
}

// settleNames decides which unsynced entries of a directory survive.
func (d *Disk) settleNames(in *dir) {
	path := in.node.path
	if d.lookup(path) != in.node {
		path = fmt.Sprintf("%s#%d", path, in.node.id) // removed: the name may be another's
	}
	purpose := purposeOf('d', path)
	mode := d.src.Pick(d.crashKey(decision.DiskCrashMode, purpose, 0, 0), dirModes)
	for _, p := range in.pending {
		if d.keeps(p, purpose, mode) {
			in.disk.set(p.name, p.node)
		}
	}
	in.pending = nil
}

// keeps decides whether half a change survives. Both halves of a rename do, or neither, unless it is torn.
func (d *Disk) keeps(p pending, purpose uint32, mode int) bool {
	c := p.of
	if c.decided && !c.torn {
		return c.keep
	}
	keep := mode == keepAll
	if mode == eachAlone {
		keep = d.src.Below(d.crashKey(decision.DiskCrashPart, purpose, slotPart, p.seq), 2) == 0
	}
	if !c.decided {
		c.decided, c.keep = true, keep
		c.torn = c.rename && d.cfg.TornRename != 0 &&
			d.src.Chance(d.crashKey(decision.DiskTornRename, purpose, slotPart, p.seq), d.cfg.TornRename)
	}
	return keep
}

// found is a file that a reboot finds, with the directory that it is in.
type found struct {
	node *node
	in   *dir
	name string
}

// settleTree makes what is on the platter, below the names on the platter, all there is. Content is settled for all
// files before any cache is dropped, because misdirected writes land in files that were settled earlier.
func (d *Disk) settleTree() {
	d.walks++
	d.files, d.unsyncedDirs, d.used = nil, nil, 0
	files := d.walk(d.root, nil)
	for _, x := range files {
		d.settleContent(x.node.file)
	}
	for _, x := range files {
		f := x.node.file
		f.dropCache()
		d.settleSize(f, f.size)
		d.rebootFile(x)
	}
	for _, x := range files {
		if x.node.links > 0 {
			d.files = append(d.files, x.node)
			d.used += x.node.file.charged
		}
	}
	slices.SortFunc(d.files, byID)
}

// walk sets the names that the process sees to those on the platter and lists the files, each once.
func (d *Disk) walk(n *node, files []found) []found {
	n.seen = d.walks
	n.dir.now = slices.Clone(n.dir.disk)
	n.dir.pending = nil
	for _, e := range n.dir.now {
		c := e.node
		if c.seen == d.walks {
			c.links++
			continue
		}
		c.links, c.opens, c.path = 1, 0, join(n.path, e.name)
		if c.dir != nil {
			files = d.walk(c, files)
			continue
		}
		c.seen = d.walks
		files = append(files, found{node: c, in: n.dir, name: e.name})
	}
	return files
}

// settleContent decides what of a file's unsynced content and size is on the platter.
func (d *Disk) settleContent(f *file) {
	size := f.sizeDisk
	if f.unsynced() {
		purpose := purposeOf('f', f.node.path)
		mode := d.src.Pick(d.crashKey(decision.DiskCrashMode, purpose, 0, 0), fileModes)
		pivot := f.synced + d.crashDetail(purpose, slotPart, f.seq-f.synced+1)
		size = d.survivingSize(f, purpose, mode, pivot)
		f.eachDirty(func(n int64, s *sector) {
			i := d.surviving(s, n, purpose, mode, pivot)
			if i >= 0 {
				d.flush(f, n, s, s.vers[i], true)
			} else if s.disk == nil && n*SectorSize < size {
				s.disk = d.garbage(purpose, n)
			}
			s.vers = nil
		})
		f.sizes = nil
	}
	f.size, f.reserved, f.synced = size, f.reservedDisk, f.seq
}

// surviving chooses the version of a sector that survives, -1 for none.
func (d *Disk) surviving(s *sector, n int64, purpose uint32, mode int, pivot uint64) int {
	last := len(s.vers) - 1
	switch mode {
	case keepAll:
		return last
	case eachAlone:
		return last - int(d.src.Below(d.crashKey(decision.DiskCrashPart, purpose, slotSector, n64(n)), uint64(last+2)))
	case keepPrefix:
		return s.covered(pivot) - 1
	case keepSuffix:
		if s.vers[last].seq > pivot {
			return last
		}
	}
	return -1
}

func n64(n int64) uint64 { return uint64(n) & (1<<40 - 1) }

// survivingSize chooses the size that survives.
func (d *Disk) survivingSize(f *file, purpose uint32, mode int, pivot uint64) int64 {
	last := len(f.sizes) - 1
	i := -1
	switch {
	case last < 0:
	case mode == keepAll, mode == keepSuffix && f.sizes[last].seq > pivot:
		i = last
	case mode == eachAlone:
		i = last - int(d.src.Below(d.crashKey(decision.DiskCrashPart, purpose, slotLength, 0), uint64(last+2)))
	case mode == keepPrefix:
		for i < last && f.sizes[i+1].seq <= pivot {
			i++
		}
	}
	if i < 0 {
		return f.sizeDisk
	}
	return f.sizes[i].size
}

// garbage is what a sector holds that the file owns but nobody wrote: mostly zeros.
func (d *Disk) garbage(purpose uint32, n int64) *block {
	if d.cfg.Garbage == 0 || !d.src.Chance(d.crashKey(decision.DiskGarbage, purpose, 0, n64(n)), d.cfg.Garbage) {
		return nil
	}
	return d.noise(purpose, n)
}

// settleSize makes size the file's size and everything behind it nothing.
func (d *Disk) settleSize(f *file, size int64) {
	f.size, f.sizeDisk = size, size
	f.cut(size)
	d.mendFrom(f, size)
	f.recount()
}
