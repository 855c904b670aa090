package diskfault

import (
	"slices"
)

// imagesMax is how many snapshots a disk keeps for rollbacks.
const imagesMax = 4

// Image is the platter of a disk at some moment: what a power failure would have left that kept nothing unsynced.
type Image struct{ root *node }

// Snapshot copies the platter. It costs time in proportion to the number of sectors, but shares their bytes.
func (d *Disk) Snapshot() *Image {
	return &Image{root: clone(d.root, make(map[*node]*node))}
}

// snapshotIfDue keeps a snapshot every SnapshotSyncs successful Syncs.
func (d *Disk) snapshotIfDue() {
	d.syncs++
	if d.cfg.SnapshotSyncs == 0 || d.syncs%uint64(d.cfg.SnapshotSyncs) != 0 {
		return
	}
	if len(d.images) == imagesMax {
		d.images = slices.Delete(d.images, 0, 1)
	}
	d.images = append(d.images, d.Snapshot())
}

// Restore puts an older snapshot in the place of the disk, as after a power failure: whoever used the disk must be dead.
// The image can be restored again.
func (d *Disk) Restore(im *Image) {
	d.replace(clone(im.root, make(map[*node]*node)), RolledBack)
}

// Lose puts an empty disk in the place of this one, as after a power failure.
func (d *Disk) Lose() { d.replace(newDir(0, ""), DiskLost) }

func (d *Disk) replace(root *node, k Kind) {
	d.endLife()
	d.note(Fault{Kind: k, Touched: true})
	d.root, d.missing = root, nil
	d.walks++
	d.files, d.unsyncedDirs, d.used = nil, nil, 0
	for _, x := range d.walk(d.root, nil) {
		f := x.node.file
		d.files = append(d.files, x.node)
		f.recount()
		d.used += f.charged
		for _, a := range f.damage {
			at := &d.faults[a.fault]
			at.left++
			at.Healed = false
		}
	}
	slices.SortFunc(d.files, byID)
}

// clone copies what is on the platter below n. done maps the nodes that were copied: a file can have two names.
func clone(n *node, done map[*node]*node) *node {
	if c := done[n]; c != nil {
		return c
	}
	c := &node{id: n.id, path: n.path}
	done[n] = c
	if n.dir != nil {
		c.dir = &dir{node: c, disk: make(entries, 0, len(n.dir.disk))}
		for _, e := range n.dir.disk {
			c.dir.disk = append(c.dir.disk, entry{e.name, clone(e.node, done)})
		}
		return c
	}
	f := n.file
	c.file = &file{
		node: c, size: f.sizeDisk, sizeDisk: f.sizeDisk, reserved: f.reservedDisk, reservedDisk: f.reservedDisk,
	}
	for _, a := range f.damage {
		if a.sector*SectorSize+int64(a.lo) < f.sizeDisk {
			a.shown = true
			c.file.damage = append(c.file.damage, a)
		}
	}
	for _, from := range f.chunks {
		to := &chunk{index: from.index}
		for i, s := range from.sectors {
			to.sectors[i] = sector{cache: s.disk, disk: s.disk, prev: s.prev}
		}
		c.file.chunks = append(c.file.chunks, to)
	}
	c.file.cut(f.sizeDisk)
	return c
}

// Corrupt reports whether any byte on the platter is known not to be what was synced, for checkers that ask whether a
// copy could have been recovered. Missing files and lost or rolled back disks are not counted.
func (d *Disk) Corrupt(path string) bool {
	n := d.lookup(path)
	return n != nil && n.file != nil && (len(n.file.damage) > 0 || n.file.cutFault > 0)
}
