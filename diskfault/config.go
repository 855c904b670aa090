package diskfault

import (
	"fmt"
	"strings"

	"github.com/natsd/natsd/sim/schedule"
)

// Million is the denominator of all rates.
const Million = 1_000_000

// Span is a duration drawn evenly from Min to Max, both included.
type Span struct{ Min, Max schedule.Time }

// Config says how fast a disk is, how large, and what goes wrong with it. Rates are per million. The zero value is a
// disk without limits, without latency and without faults. Config is plain data, so that a run can draw one.
type Config struct {
	// Capacity in bytes, counted in whole sectors; 0 means without limit. Names cost nothing.
	Capacity int64

	ReadLatency    Span
	WriteLatency   Span
	SyncLatency    Span  // Sync and SyncDir
	NameLatency    Span  // all other operations
	BytesPerSecond int64 // added to reads and writes; 0 means at once
	Slow           int64 // every duration is multiplied by it; 0 means 1

	Stall    uint32 // per operation: the disk stops for up to StallMax
	StallMax schedule.Time

	// Failures that are reported, per operation that could fail so.
	SyncFail   uint32
	ShortWrite uint32
	NoSpace    uint32
	ReadError  uint32
	WriteError uint32
	MetaError  uint32
	Sticky     uint32 // of the SyncFail, ReadError and WriteError: how many stay until Heal

	// Silent damage.
	LostWrite uint32 // per write
	Misdirect uint32 // per write
	RotRead   uint32 // per read: bytes in its range have rotted
	Evict     uint32 // per Sync: the file's page cache is dropped, so that damage shows without a reboot

	// Per file and power failure.
	Rot      uint32
	Stale    uint32
	Truncate uint32
	Missing  uint32

	// Per power failure.
	Lost          uint32
	Rollback      uint32
	SnapshotSyncs uint32 // a snapshot for Rollback is kept every so many successful Syncs; 0: none

	// Lawful losses of power failures that not every file system knows.
	TornRename uint32 // per unsynced rename: both names or neither may be left
	Garbage    uint32 // per lost sector that was never synced and lies within the file: garbage in place of zeros

	// Atlas says whether a sector of a file may be damaged, lost or made unreadable: with it a run confines its damage
	// to, say, a minority of the copies. The sector is WholeFile when a whole file is to be lost, truncated or made
	// unable to sync, and the path is empty when the whole disk is. nil allows everything.
	Atlas func(path string, sector int64) bool
}

type rate struct {
	name  string
	value uint32
}

func (c *Config) rates() []rate {
	return []rate{
		{"stall", c.Stall}, {"sync-fail", c.SyncFail}, {"short-write", c.ShortWrite}, {"no-space", c.NoSpace},
		{"read-error", c.ReadError}, {"write-error", c.WriteError}, {"meta-error", c.MetaError}, {"sticky", c.Sticky},
		{"lost-write", c.LostWrite}, {"misdirect", c.Misdirect}, {"rot-read", c.RotRead}, {"evict", c.Evict},
		{"rot", c.Rot}, {"stale", c.Stale}, {"truncate", c.Truncate}, {"missing", c.Missing},
		{"lost", c.Lost}, {"rollback", c.Rollback}, {"torn-rename", c.TornRename}, {"garbage", c.Garbage},
	}
}

// String is the fault plan: only what differs from the zero value, on one line.
func (c Config) String() string {
	var b strings.Builder
	b.WriteString("(disk")
	if c.Capacity != 0 {
		fmt.Fprintf(&b, " (capacity %d)", c.Capacity)
	}
	spans := []struct {
		name string
		s    Span
	}{{"read", c.ReadLatency}, {"write", c.WriteLatency}, {"sync", c.SyncLatency}, {"name", c.NameLatency}}
	for _, s := range spans {
		if s.s != (Span{}) {
			fmt.Fprintf(&b, " (%s-ns %d %d)", s.name, int64(s.s.Min), int64(s.s.Max))
		}
	}
	if c.BytesPerSecond != 0 {
		fmt.Fprintf(&b, " (bytes-per-second %d)", c.BytesPerSecond)
	}
	if c.Slow > 1 {
		fmt.Fprintf(&b, " (slow %d)", c.Slow)
	}
	for _, r := range c.rates() {
		if r.value != 0 {
			fmt.Fprintf(&b, " (%s %d/M)", r.name, r.value)
		}
	}
	if c.StallMax != 0 {
		fmt.Fprintf(&b, " (stall-max-ns %d)", int64(c.StallMax))
	}
	if c.SnapshotSyncs != 0 {
		fmt.Fprintf(&b, " (snapshot-syncs %d)", c.SnapshotSyncs)
	}
	if c.Atlas != nil {
		b.WriteString(" (atlas)")
	}
	b.WriteString(")")
	return b.String()
}

// Nth makes the nth operation of its kind fail, or that and all later ones. It fails in the manner of the operation:
// ErrSync for syncs, ErrNoSpace for writes, allocations and new names when Full is set, else ErrIO.
type Nth struct {
	Kind    OpKind // AnyOp counts all operations
	N       uint64 // from 1, in order of submission, over the whole life of the disk
	Forever bool
	Full    bool
}

// String is the rule as part of a fault plan.
func (n Nth) String() string {
	s := fmt.Sprintf("(fail %s %d", n.Kind, n.N)
	if n.Forever {
		s += " forever"
	}
	if n.Full {
		s += " full"
	}
	return s + ")"
}

// Plan is the printable fault plan of the disk: its configuration and its rules for single operations.
func (d *Disk) Plan() string {
	s := d.cfg.String()
	for _, n := range d.nths {
		s += " " + n.String()
	}
	if d.crashAt != 0 {
		s += fmt.Sprintf(" (crash %d)", d.crashAt)
	}
	return s
}
