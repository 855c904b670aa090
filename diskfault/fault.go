package diskfault

import (
	"fmt"

	"github.com/natsd/natsd/sim/schedule"
)

// Kind is a kind of fault.
type Kind uint8

// The faults. What is lost of unsynced data in a power failure is no fault: it was never promised.
const (
	NoFault     Kind = iota
	SyncFailed       // a Sync or SyncDir reported ErrSync and dropped what it covered, or part of it
	ShortWrite       // a Write wrote less than asked, without an error
	NoSpace          // ErrNoSpace although there was space, perhaps in the middle of a write
	ReadFailed       // ErrIO from a Read
	WriteFailed      // ErrIO from a Write, Truncate or Allocate
	MetaFailed       // ErrIO from an operation on names, carried out or not, or from a Close
	Stalled          // the disk did nothing for a while
	BitRot           // synced bytes changed
	LostWrite        // synced bytes never reached the platter
	Misdirected      // synced bytes reached another place; listed once for where they lack and once for where they are
	StaleRead        // older content of synced sectors appeared after a reboot
	Truncated        // a file was shorter after a reboot
	Missing          // a file had no name after a reboot
	DiskLost         // the disk was empty after a reboot
	RolledBack       // the disk was an older snapshot of itself after a reboot
	numFaults
)

var faultNames = [numFaults]string{
	"none", "sync-failed", "short-write", "no-space", "read-failed", "write-failed", "meta-failed", "stalled",
	"bit-rot", "lost-write", "misdirected", "stale-read", "truncated", "missing", "disk-lost", "rolled-back",
}

func (k Kind) String() string {
	if k >= numFaults {
		return "unknown"
	}
	return faultNames[k]
}

// Silent reports whether the fault damages stored data without telling anyone: what checksums and scrubbing are for.
func (k Kind) Silent() bool { return k >= BitRot && k < numFaults }

// WholeFile is the sector number for faults that concern a file as such.
const WholeFile int64 = -1

// Fault is one injected fault.
type Fault struct {
	Kind   Kind
	File   string        // path at the time; empty when the whole disk is meant
	Offset int64         // first byte concerned
	Length int64         // bytes concerned; 0 for whole files and the whole disk
	At     schedule.Time // when it was done
	For    schedule.Time // Stalled: how long
	Op     uint64        // number of the operation that it happened to, 0 for none
	Sticky bool          // it stays until Heal
	// Touched means that the caller met it: an error or short count was delivered, a damaged byte was read, or the
	// name of a missing or truncated file was asked for. Damage that was touched must have been reported (P13).
	Touched bool
	// Healed means that the damaged bytes were all overwritten and synced, or their file removed by a reboot.
	Healed bool

	left int // damaged sectors that remain
}

// String is one line of the printed list.
func (f Fault) String() string {
	s := fmt.Sprintf("%s %q [%d,+%d) t=%dns", f.Kind, f.File, f.Offset, f.Length, int64(f.At))
	if f.For != 0 {
		s += fmt.Sprintf(" for=%dns", int64(f.For))
	}
	if f.Op != 0 {
		s += fmt.Sprintf(" op=%d", f.Op)
	}
	if f.Sticky {
		s += " sticky"
	}
	if f.Touched {
		s += " touched"
	}
	if f.Healed {
		s += " healed"
	}
	return s
}

// Faults is everything that was injected so far, in order. The caller must not change it.
func (d *Disk) Faults() []Fault { return d.faults }

// Count says how often a kind of fault was injected.
func (d *Disk) Count(k Kind) int { return d.counts[k] }

// note lists a fault and returns its index.
func (d *Disk) note(f Fault) int {
	f.At = d.queue.Now()
	d.counts[f.Kind]++
	d.faults = append(d.faults, f)
	return len(d.faults) - 1
}

// allowed asks the atlas whether the bytes of the file may be damaged.
func (d *Disk) allowed(path string, from, to int64) bool {
	if d.cfg.Atlas == nil {
		return true
	}
	for s := from; s < to; s++ {
		if !d.cfg.Atlas(path, s) {
			return false
		}
	}
	return true
}

// allowedWhole asks the atlas about a whole file, or with an empty path about the whole disk.
func (d *Disk) allowedWhole(path string) bool {
	return d.cfg.Atlas == nil || d.cfg.Atlas(path, WholeFile)
}
