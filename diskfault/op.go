package diskfault

import (
	"fmt"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// OpKind is a kind of operation.
type OpKind uint8

// The operations of engine.Disk.
const (
	AnyOp OpKind = iota
	OpOpen
	OpRead
	OpWrite
	OpAllocate
	OpTruncate
	OpSync
	OpClose
	OpRename
	OpRemove
	OpMkdir
	OpList
	OpSyncDir
	numOps
)

var opNames = [numOps]string{"any", "open", "read", "write", "allocate", "truncate", "sync", "close", "rename",
	"remove", "mkdir", "list", "syncdir"}

func (k OpKind) String() string {
	if k >= numOps {
		return "unknown"
	}
	return opNames[k]
}

// op is one operation in flight.
type op struct {
	num     uint64 // from 1, in order of submission, over the life of the disk
	id      engine.OpID
	kind    OpKind
	mode    engine.OpenMode
	forced  bool // an Nth rule makes it fail
	full    bool // with ErrNoSpace, if it can
	plain   bool // a crash carries it out: no faults
	node    *node
	file    engine.FileID
	name    string
	to      string
	off     int64 // offset, or size
	p       []byte
	sum     uint64 // of p when it was submitted
	mark    uint64 // syncs: the last completed change when it was submitted
	due     schedule.Time
	purpose uint32
	turn    uint64
}

func (o *op) String() string {
	name := o.name
	if o.node != nil {
		name = o.node.path
	}
	return fmt.Sprintf("%d %s %q %d+%d", o.num, o.kind, name, o.off, len(o.p))
}

// onFile reports whether the operation is about an open file, not about names.
func (k OpKind) onFile() bool { return k >= OpRead && k <= OpClose }

// handle is an open file.
type handle struct {
	node   *node
	closed bool // Close was submitted
}

// start submits an operation on an open file. It returns the operation for the caller to fill.
func (d *Disk) start(id engine.OpID, kind OpKind, f engine.FileID) *op {
	o := &op{id: id, kind: kind, file: f}
	if i := int64(f) - int64(d.handleBase) - 1; i >= 0 && i < int64(len(d.handles)) && !d.handles[i].closed {
		o.node = d.handles[i].node
		d.handles[i].closed = kind == OpClose
	}
	return o
}

// submit schedules the completion of an operation that takes a duration of the span and moves so many bytes.
func (d *Disk) submit(o *op, span Span, bytes int) {
	d.num++
	o.num = d.num
	d.perKind[o.kind]++
	for _, n := range d.nths {
		count := d.perKind[o.kind]
		if n.Kind == AnyOp {
			count = d.num
		} else if n.Kind != o.kind {
			continue
		}
		if count == n.N || n.Forever && count > n.N {
			o.forced, o.full = true, n.Full
		}
	}
	path := o.name
	if o.node != nil && o.kind.onFile() {
		path = o.node.path
	}
	o.purpose = purposeOf(byte(o.kind), path)
	o.turn = d.turn(o.purpose)
	took := span.Min
	if span.Max > span.Min {
		took = schedule.Time(d.src.Range(o.key(d, decision.DiskLatency, 0), int64(span.Min), int64(span.Max)))
	}
	if d.cfg.BytesPerSecond > 0 {
		took += schedule.Time(int64(bytes) * 1e9 / d.cfg.BytesPerSecond)
	}
	took *= schedule.Time(max(1, d.cfg.Slow))
	if d.cfg.StallMax > 0 && d.strikes(o, decision.DiskStall, d.cfg.Stall) {
		d.stall(1+schedule.Time(d.detail(o, slotStall, uint64(d.cfg.StallMax))), path, o.num)
	}
	o.due = d.order(o, max(d.queue.Now(), d.stalled)+took, took)
	d.ops = append(d.ops, o)
	d.queue.At(o.due, d, o.num)
}

// order returns when the operation completes: not before those that it must not overtake. On one file the operations
// follow one another; those on names that have none in common overtake each other freely.
func (d *Disk) order(o *op, due, took schedule.Time) schedule.Time {
	if o.kind.onFile() {
		if o.node == nil {
			return due
		}
		f := o.node.file
		if f.epoch == d.epoch {
			due = max(due, f.last+took)
		}
		f.last, f.epoch = due, d.epoch
		return due
	}
	for _, x := range d.names {
		if x.name == o.name || x.to != "" && x.to == o.name || o.to != "" && (x.name == o.to || x.to == o.to) {
			due = max(due, x.due)
		}
	}
	d.names = append(d.names, o)
	return due
}

// Fire completes an operation; the schedule calls it.
func (d *Disk) Fire(_ schedule.Time, arg uint64) {
	if arg < d.base || arg-d.base >= uint64(len(d.ops)) || d.ops[arg-d.base] == nil {
		return // a crash ended it
	}
	o := d.ops[arg-d.base]
	if o.num == d.crashAt {
		epoch, crash := d.epoch, d.onCrash
		d.crashAt, d.onCrash = 0, nil
		if crash(); d.epoch != epoch {
			return
		}
	}
	d.retire(o)
	r := engine.DiskResult{Op: o.id}
	d.carryOut(o, &r)
	d.completed++
	if d.sink != nil {
		d.sink.DiskDone(r)
	}
}

// retire takes an operation out of those in flight.
func (d *Disk) retire(o *op) {
	d.ops[o.num-d.base] = nil
	n := 0
	for n < len(d.ops) && d.ops[n] == nil {
		n++
	}
	d.ops = d.ops[n:]
	d.base += uint64(n)
	if o.kind.onFile() {
		return
	}
	for i, x := range d.names {
		if x == o {
			d.names = append(d.names[:i], d.names[i+1:]...)
			return
		}
	}
}

// carryOut does what the operation is for.
func (d *Disk) carryOut(o *op, r *engine.DiskResult) {
	if o.kind.onFile() && o.node == nil {
		r.Err = engine.ErrClosed
		return
	}
	switch o.kind {
	case AnyOp: // stands for operations in rules only
	case OpOpen:
		d.named(o, r, func() { d.open(o, r) })
	case OpRead:
		d.read(o, r)
	case OpWrite:
		d.write(o, r)
	case OpAllocate:
		d.allocate(o, r)
	case OpTruncate:
		d.truncate(o, r)
	case OpSync:
		d.sync(o, r)
	case OpClose:
		d.closeFile(o, r)
	case OpRename:
		d.named(o, r, func() { d.rename(o, r) })
	case OpRemove:
		d.named(o, r, func() { d.remove(o, r) })
	case OpMkdir:
		d.named(o, r, func() { d.mkdir(o, r) })
	case OpList:
		d.named(o, r, func() { d.list(o, r) })
	case OpSyncDir:
		d.named(o, r, func() { d.syncDir(o, r) })
	}
}
