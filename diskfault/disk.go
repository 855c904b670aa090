package diskfault

import (
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// Sink takes completions. It may submit operations, and crash the disk, while it does.
type Sink interface {
	DiskDone(r engine.DiskResult)
}

// Disk is a simulated disk. It implements engine.Disk; after a Crash or Kill it goes on as what is found then.
type Disk struct {
	queue *schedule.Queue
	src   *decision.Source
	actor decision.Actor
	cfg   Config
	sink  Sink

	root         *node
	ids          uint64  // of the last node made
	files        []*node // files with a name or a handle, by id
	unsyncedDirs []*dir  // with pending changes
	used         int64   // sectors

	handles    []handle
	handleBase engine.FileID // ids up to it are of former lives

	ops     []*op  // in flight, by number; nil where completed
	base    uint64 // number of ops[0]
	names   []*op  // those in flight that are on names
	stalled schedule.Time

	num       uint64
	completed uint64
	perKind   [numOps]uint64
	turns     map[uint32]uint64
	nths      []Nth
	crashAt   uint64
	onCrash   func()

	epoch   uint64 // changes with each crash and kill
	crashes uint64 // crashes and kills
	walks   uint64
	syncs   uint64
	images  []*Image

	faults  []Fault
	counts  [numFaults]int
	missing []lostName
}

// New makes an empty disk. actor names it in decisions. The queue completes its operations.
func New(queue *schedule.Queue, src *decision.Source, actor decision.Actor, cfg Config) *Disk {
	return &Disk{
		queue: queue, src: src, actor: actor, cfg: cfg,
		root: newDir(0, ""), base: 1, turns: make(map[uint32]uint64),
	}
}

// Attach says who gets completions from now on.
func (d *Disk) Attach(s Sink) { d.sink = s }

// Config is the current configuration.
func (d *Disk) Config() Config { return d.cfg }

// Configure replaces the configuration: capacity, speed and rates change from the next operation on.
func (d *Disk) Configure(cfg Config) { d.cfg = cfg }

// Submitted counts the operations submitted over the whole life of the disk; Nth and CrashAt count alike.
func (d *Disk) Submitted() uint64 { return d.num }

// InFlight counts the operations that have not completed.
func (d *Disk) InFlight() int {
	n := 0
	for _, o := range d.ops {
		if o != nil {
			n++
		}
	}
	return n
}

// Used is the space in use, in bytes.
func (d *Disk) Used() int64 { return d.used * SectorSize }

// FailNth adds a rule that makes operations fail by number.
func (d *Disk) FailNth(n Nth) { d.nths = append(d.nths, n) }

// CrashAt calls f when the nth operation of the disk's life is about to be carried out. f is expected to Crash or Kill
// the disk; if it does neither the operation goes on. n is counted from 1 in order of submission.
func (d *Disk) CrashAt(n uint64, f func()) { d.crashAt, d.onCrash = n, f }

// Stall stops the disk: what is submitted from now on does not begin within that time.
func (d *Disk) Stall(length schedule.Time) { d.stall(length, "", 0) }

func (d *Disk) stall(length schedule.Time, path string, op uint64) {
	d.stalled = max(d.stalled, d.queue.Now()+length)
	d.note(Fault{Kind: Stalled, File: path, For: length, Op: op, Touched: true})
}

// Heal ends all that goes wrong: rates become zero, speed normal, rules and what is sticky are gone. Damage that is
// done stays done, and a capacity stays.
func (d *Disk) Heal() {
	d.cfg = Config{
		Capacity: d.cfg.Capacity, BytesPerSecond: d.cfg.BytesPerSecond, ReadLatency: d.cfg.ReadLatency,
		WriteLatency: d.cfg.WriteLatency, SyncLatency: d.cfg.SyncLatency, NameLatency: d.cfg.NameLatency,
	}
	d.stalled, d.nths, d.crashAt, d.onCrash = 0, nil, 0, nil
	for _, n := range d.files {
		n.file.bad, n.file.syncBroken = nil, false
	}
}

// Open implements engine.Disk.
func (d *Disk) Open(id engine.OpID, name string, mode engine.OpenMode) {
	checkName(name)
	d.submit(&op{id: id, kind: OpOpen, name: name, mode: mode}, d.cfg.NameLatency, 0)
}

// Read implements engine.Disk. Until the completion p holds rubbish.
func (d *Disk) Read(id engine.OpID, f engine.FileID, offset int64, p []byte) {
	checkOffset(offset)
	for i := range p {
		p[i] = scribble
	}
	o := d.start(id, OpRead, f)
	o.off, o.p = offset, p
	d.submit(o, d.cfg.ReadLatency, len(p))
}

// Write implements engine.Disk. It panics at the completion if p was changed in between.
func (d *Disk) Write(id engine.OpID, f engine.FileID, offset int64, p []byte) {
	checkOffset(offset)
	o := d.start(id, OpWrite, f)
	o.off, o.p, o.sum = offset, p, checksum(p)
	d.submit(o, d.cfg.WriteLatency, len(p))
}

// Allocate implements engine.Disk. It leaves the size of the file as it is.
func (d *Disk) Allocate(id engine.OpID, f engine.FileID, size int64) {
	checkOffset(size)
	o := d.start(id, OpAllocate, f)
	o.off = size
	d.submit(o, d.cfg.NameLatency, 0)
}

// Truncate implements engine.Disk. It gives up space that was reserved above size.
func (d *Disk) Truncate(id engine.OpID, f engine.FileID, size int64) {
	checkOffset(size)
	o := d.start(id, OpTruncate, f)
	o.off = size
	d.submit(o, d.cfg.NameLatency, 0)
}

// Sync implements engine.Disk. It covers the writes that have completed by now; those still in flight complete before
// it, but it does not cover them.
func (d *Disk) Sync(id engine.OpID, f engine.FileID) {
	o := d.start(id, OpSync, f)
	if o.node != nil {
		o.mark = o.node.file.seq
	}
	d.submit(o, d.cfg.SyncLatency, 0)
}

// Close implements engine.Disk.
func (d *Disk) Close(id engine.OpID, f engine.FileID) {
	d.submit(d.start(id, OpClose, f), d.cfg.NameLatency, 0)
}

// Rename implements engine.Disk. Files and directories can be renamed; to is replaced if it is of the same sort and, for
// a directory, empty.
func (d *Disk) Rename(id engine.OpID, from, to string) {
	checkName(from)
	checkName(to)
	d.submit(&op{id: id, kind: OpRename, name: from, to: to}, d.cfg.NameLatency, 0)
}

// Remove implements engine.Disk. A file that is open stays usable through its handles.
func (d *Disk) Remove(id engine.OpID, name string) {
	checkName(name)
	d.submit(&op{id: id, kind: OpRemove, name: name}, d.cfg.NameLatency, 0)
}

// Mkdir implements engine.Disk.
func (d *Disk) Mkdir(id engine.OpID, name string) {
	checkName(name)
	d.submit(&op{id: id, kind: OpMkdir, name: name}, d.cfg.NameLatency, 0)
}

// List implements engine.Disk. The root directory's name is empty.
func (d *Disk) List(id engine.OpID, name string) {
	checkName(name)
	d.submit(&op{id: id, kind: OpList, name: name}, d.cfg.NameLatency, 0)
}

// SyncDir implements engine.Disk. It covers the changes that have completed by now.
func (d *Disk) SyncDir(id engine.OpID, name string) {
	checkName(name)
	o := &op{id: id, kind: OpSyncDir, name: name, node: d.lookup(name)}
	if o.node != nil && o.node.dir != nil {
		o.mark = o.node.dir.seq
	}
	d.submit(o, d.cfg.SyncLatency, 0)
}

func checkOffset(offset int64) {
	if offset < 0 {
		panic("diskfault: negative offset")
	}
}

var _ engine.Disk = (*Disk)(nil)
