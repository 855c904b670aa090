package diskfault

import (
	"strings"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
)

// nameError is the injected failure of an operation on names. done means that it was carried out all the same.
func (d *Disk) nameError(o *op) (err error, done bool) {
	fault := Fault{Kind: MetaFailed, File: o.name, Op: o.num, Touched: true}
	needsSpace := o.kind == OpMkdir || o.kind == OpRename || o.kind == OpOpen && o.mode != engine.OpenExisting
	switch {
	case needsSpace && (o.forced && o.full || d.strikes(o, decision.DiskNoSpace, d.cfg.NoSpace)):
		fault.Kind = NoSpace
		d.note(fault)
		return engine.ErrNoSpace, false
	case o.forced && o.kind != OpSyncDir || d.strikes(o, decision.DiskMetaError, d.cfg.MetaError):
		d.note(fault)
		return engine.ErrIO, d.detail(o, slotShape, 2) == 1
	}
	return nil, false
}

// named wraps an operation on names with its injected failure.
func (d *Disk) named(o *op, r *engine.DiskResult, do func()) {
	err, done := d.nameError(o)
	if err == nil || done {
		do()
	}
	if err != nil {
		*r = engine.DiskResult{Op: r.Op, Err: err}
	}
}

func (d *Disk) open(o *op, r *engine.DiskResult) {
	in, base := d.parent(o.name)
	if in == nil || base == "" {
		r.Err = engine.ErrNotExist
		return
	}
	n := in.now.get(base)
	switch {
	case n == nil && o.mode == engine.OpenExisting:
		d.touchMissing(o.name)
		r.Err = engine.ErrNotExist
		return
	case n == nil:
		d.touchMissing(o.name)
		d.ids++
		n = newFile(d.ids, o.name)
		d.files = append(d.files, n)
		d.bind(in, base, n, &change{})
	case o.mode == engine.OpenExclusive:
		r.Err = engine.ErrExist
		return
	case n.file == nil:
		r.Err = engine.ErrIO // a directory
		return
	}
	if n.file.cutFault > 0 {
		d.faults[n.file.cutFault-1].Touched = true
	}
	n.opens++
	d.handles = append(d.handles, handle{node: n})
	r.File = d.handleBase + engine.FileID(len(d.handles))
	r.Size = n.file.size
}

func (d *Disk) rename(o *op, r *engine.DiskResult) {
	from, fromBase := d.parent(o.name)
	to, toBase := d.parent(o.to)
	if from == nil || to == nil || fromBase == "" || toBase == "" {
		r.Err = engine.ErrNotExist
		return
	}
	n, old := from.now.get(fromBase), to.now.get(toBase)
	switch {
	case n == nil:
		d.touchMissing(o.name)
		r.Err = engine.ErrNotExist
	case n == old:
	case n.dir != nil && strings.HasPrefix(o.to, o.name+"/"):
		r.Err = engine.ErrIO // a directory into itself
	case old != nil && (old.dir == nil) != (n.dir == nil):
		r.Err = engine.ErrExist
	case old != nil && old.dir != nil && len(old.dir.now) > 0:
		r.Err = engine.ErrNotEmpty
	default:
		c := &change{rename: n.file != nil}
		d.bind(to, toBase, n, c)
		d.bind(from, fromBase, nil, c)
		repath(n, o.to)
	}
}

func (d *Disk) remove(o *op, r *engine.DiskResult) {
	in, base := d.parent(o.name)
	if in == nil || base == "" || in.now.get(base) == nil {
		d.touchMissing(o.name)
		r.Err = engine.ErrNotExist
		return
	}
	if n := in.now.get(base); n.dir != nil && len(n.dir.now) > 0 {
		r.Err = engine.ErrNotEmpty
		return
	}
	d.bind(in, base, nil, &change{})
}

func (d *Disk) mkdir(o *op, r *engine.DiskResult) {
	in, base := d.parent(o.name)
	switch {
	case in == nil:
		r.Err = engine.ErrNotExist
	case base == "" || in.now.get(base) != nil:
		r.Err = engine.ErrExist
	default:
		d.ids++
		d.bind(in, base, newDir(d.ids, o.name), &change{})
	}
}

func (d *Disk) list(o *op, r *engine.DiskResult) {
	n := d.lookup(o.name)
	if n == nil || n.dir == nil {
		r.Err = engine.ErrNotExist
		return
	}
	d.touchMissingIn(o.name)
	r.Entries = make([]engine.DirEntry, 0, len(n.dir.now))
	for _, e := range n.dir.now {
		de := engine.DirEntry{Name: e.name, Dir: e.node.dir != nil}
		if f := e.node.file; f != nil {
			de.Size = f.size
			if f.cutFault > 0 {
				d.faults[f.cutFault-1].Touched = true
			}
		}
		r.Entries = append(r.Entries, de)
	}
}

func (d *Disk) syncDir(o *op, r *engine.DiskResult) {
	n := d.lookup(o.name)
	if n == nil || n.dir == nil {
		r.Err = engine.ErrNotExist
		return
	}
	mark := o.mark
	if n != o.node {
		mark = 0 // another directory had the name when the SyncDir was submitted
	}
	if o.forced || d.strikes(o, decision.DiskSyncFail, d.cfg.SyncFail) && d.allowedWhole(o.name) {
		d.note(Fault{Kind: SyncFailed, File: o.name, Op: o.num, Touched: true})
		d.coverDir(n.dir, mark, d.detail(o, slotPart, 2) == 1)
		r.Err = engine.ErrSync
		return
	}
	d.coverDir(n.dir, mark, false)
}

// lostName is a name that a fault removed.
type lostName struct {
	path  string
	fault int
}

// touchMissing marks the fault that made a name go, if one did.
func (d *Disk) touchMissing(path string) {
	for _, l := range d.missing {
		if l.path == path {
			d.faults[l.fault].Touched = true
		}
	}
}

// touchMissingIn marks the faults that made names of a directory go.
func (d *Disk) touchMissingIn(dir string) {
	for _, l := range d.missing {
		at := max(0, strings.LastIndexByte(l.path, '/'))
		if l.path[:at] == dir {
			d.faults[l.fault].Touched = true
		}
	}
}
