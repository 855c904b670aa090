package diskfault

import "github.com/natsd/natsd/sim/decision"

// slot tells apart the several details of one happening.
type slot uint8

const (
	slotWhere slot = iota
	slotLength
	slotShape
	slotBit
	slotSticky
	slotPart
	slotFile
	slotSector
	slotStale
	slotStaleLength
	slotStaleOnce
	slotCut
	slotRot
	slotStall
)

// purposeOf folds what is done and to which path into the purpose of a key. Two paths with one purpose share a count
// of occurrences, so keys stay unique.
func purposeOf(what byte, path string) uint32 {
	h := uint32(2166136261)
	h = (h ^ uint32(what)) * 16777619
	for i := 0; i < len(path); i++ {
		h = (h ^ uint32(path[i])) * 16777619
	}
	return h
}

// turn counts an occurrence of the purpose, from 0.
func (d *Disk) turn(purpose uint32) uint64 {
	n := d.turns[purpose]
	d.turns[purpose] = n + 1
	return n
}

func (o *op) key(d *Disk, k decision.Kind, s slot) decision.Key {
	return decision.Key{Kind: k, Purpose: o.purpose, Actor: d.actor, N: o.turn | uint64(s)<<56}
}

// strikes decides whether the fault happens to the operation. Operations that a crash carries out are left alone.
func (d *Disk) strikes(o *op, k decision.Kind, perMillion uint32) bool {
	return perMillion != 0 && !o.plain && d.src.Chance(o.key(d, k, 0), perMillion)
}

// detail chooses among n values for something about the operation.
func (d *Disk) detail(o *op, s slot, n uint64) uint64 {
	if n <= 1 {
		return 0
	}
	return d.src.Below(o.key(d, decision.DiskDetail, s), n)
}

func (d *Disk) stays(o *op) bool {
	return d.cfg.Sticky != 0 && d.src.Chance(o.key(d, decision.DiskSticky, 0), d.cfg.Sticky)
}

// crashKey names choices about one power failure or kill: the purpose says about which file or directory, n which part.
func (d *Disk) crashKey(k decision.Kind, purpose uint32, s slot, n uint64) decision.Key {
	return decision.Key{Kind: k, Purpose: purpose, Actor: d.actor, N: uint64(s)<<56 | d.crashes<<40 | n}
}

func (d *Disk) crashDetail(purpose uint32, s slot, n uint64) uint64 {
	if n <= 1 {
		return 0
	}
	return d.src.Below(d.crashKey(decision.DiskDetail, purpose, s, 0), n)
}

func (d *Disk) crashStrikes(k decision.Kind, purpose uint32, perMillion uint32) bool {
	return perMillion != 0 && d.src.Chance(d.crashKey(k, purpose, 0, 0), perMillion)
}
