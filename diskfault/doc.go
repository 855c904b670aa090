// Package diskfault is a simulated disk. It implements engine.Disk below a simulated node and does to it, by decision,
// everything that disks do: it loses what was not synced, and breaks, misplaces and forgets what was.
//
// It promises exactly what engine.Disk promises while no fault is on, and nothing beyond: a Sync covers the writes that
// had completed when it was submitted, a SyncDir the entries that had, and a power failure (Crash) keeps any part of
// the rest. Between two power failures reads see every completed write: there is a page cache per file, and Kill, the
// death of the process alone, leaves it in place.
//
// Inputs are the calls of engine.Disk, a decision.Source for every choice, and the schedule.Queue that completes
// operations; the effects are the DiskDone calls of the attached Sink and nothing else. Two disks with the same seed
// and the same calls at the same times are equal byte for byte (Hash).
//
// How it is built:
//
//	config.go    rates of faults, latencies, capacity: what a seed draws; printable
//	disk.go      the calls of engine.Disk and of the world (Attach, Configure, Heal, …)
//	op.go        operations in flight: when they complete, in which order, and crashes at the nth
//	file.go      the page cache: sectors with their unsynced versions above what is on the platter
//	fileops.go   read, write, allocate, truncate, sync, close
//	dir.go       names: entries as they are, as they are on the platter, and the changes between
//	dirops.go    open, rename, remove, mkdir, list, sync of a directory
//	crash.go     Kill, Crash and what is found afterwards
//	reboot.go    damage that shows after a reboot: rot, stale content, truncated and missing files
//	damage.go    which synced bytes are not what they should be, and whether anyone has read them
//	fault.go     the list of injected faults
//	inject.go    keys of decisions
//	snapshot.go  older states of the whole disk
//	hash.go      one number for everything on the disk
//
// Limits: a life of the disk has at most 2^16 crashes and 2^32 opens, a file at most 2^40 sectors; a sector remembers its
// last 8 unsynced versions. A crash and a snapshot cost time in proportion to what is stored, all else to what it touches.
package diskfault
