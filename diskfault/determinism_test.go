package diskfault

import (
	"errors"
	"fmt"
	"testing"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
)

// everything is a configuration with all faults on.
func everything() Config {
	const r = 60_000
	return Config{
		Capacity: 400 * SectorSize, ReadLatency: Span{10, 900}, WriteLatency: Span{10, 500}, SyncLatency: Span{100, 9000},
		NameLatency: Span{5, 2000}, BytesPerSecond: 1 << 30, Slow: 2, Stall: r, StallMax: 100_000,
		SyncFail: r, ShortWrite: r, NoSpace: r, ReadError: r, WriteError: r, MetaError: r / 4, Sticky: 300_000,
		LostWrite: r, Misdirect: r, RotRead: r, Evict: r, Rot: r, Stale: r, Truncate: r / 4, Missing: r / 4,
		Lost: r / 4, Rollback: r, SnapshotSyncs: 5, TornRename: r, Garbage: r,
	}
}

// storm keeps several operations in flight on a few files, with crashes and kills, and does not care how they end. What
// it does next depends on the source alone.
type storm struct {
	*world
	open  []engine.FileID
	steps int
}

const stormActor = decision.Actor(7)

func (s *storm) pick(what uint32, n uint64) int {
	return int(s.src.Below(decision.Key{Kind: decision.DiskDetail, Purpose: what, Actor: stormActor, N: uint64(s.steps)}, n))
}

func runStorm(src *decision.Source, cfg Config, steps int) *storm {
	s := &storm{world: newWorld(src, cfg)}
	s.d.Mkdir(s.next(), "d")
	for ; s.steps < steps; s.steps++ {
		s.step()
		for range s.pick(1, 4) {
			s.q.Step(1 << 62)
		}
		for _, id := range s.seq {
			if r := s.got[id]; r.File != 0 && r.Err == nil {
				s.open = append(s.open, r.File)
			}
		}
		s.seq = s.seq[:0]
	}
	s.run()
	return s
}

func (s *storm) step() {
	names := []string{"a", "b", "c", "d/a", "d/b", "d/c"}
	name, other := names[s.pick(2, 6)], names[s.pick(3, 6)]
	var f engine.FileID
	if len(s.open) > 0 {
		f = s.open[s.pick(4, uint64(len(s.open)))]
	}
	off, size := int64(s.pick(5, 20_000)), s.pick(6, 3000)
	switch s.pick(7, 40) {
	case 0, 1, 2, 3:
		s.d.Open(s.next(), name, engine.OpenOrCreate)
	case 4:
		s.d.Rename(s.next(), name, other)
	case 5:
		s.d.Remove(s.next(), name)
	case 6, 7:
		s.d.SyncDir(s.next(), []string{"", "d"}[s.pick(8, 2)])
	case 8:
		s.d.List(s.next(), "d")
	case 9:
		s.d.Crash()
		s.open = nil
		s.d.Mkdir(s.next(), "d")
	case 10:
		s.d.Kill()
		s.open = nil
	case 11:
		s.d.Truncate(s.next(), f, off)
	case 12:
		s.d.Allocate(s.next(), f, off)
	case 13:
		s.d.Close(s.next(), f)
	case 14, 15, 16, 17, 18:
		s.d.Sync(s.next(), f)
	case 19, 20, 21, 22, 23, 24:
		s.d.Read(s.next(), f, off, make([]byte, size))
	default:
		p := make([]byte, size)
		for i := range p {
			p[i] = byte(s.steps + i)
		}
		s.d.Write(s.next(), f, off, p)
	}
}

// TestSameSeedSameDisk runs storms with all faults on twice, and a third time from the log of the first.
func TestSameSeedSameDisk(t *testing.T) {
	hashes := make(map[uint64]bool)
	var faults [numFaults]int
	for seed := range uint64(30) {
		src := decision.FromSeed(seed)
		src.Keep()
		one := runStorm(src, everything(), 600)
		two := runStorm(decision.FromSeed(seed), everything(), 600)
		log := decision.FromLog(src.Records())
		replayed := runStorm(log, everything(), 600)
		if one.d.Hash() != two.d.Hash() {
			t.Fatalf("seed %d: two runs, two disks", seed)
		}
		if one.d.Hash() != replayed.d.Hash() {
			t.Fatalf("seed %d: the replay of the log is another disk", seed)
		}
		if drift := log.Drifted(src.Records()); len(drift) != 0 {
			t.Fatalf("seed %d: the replay drifted: %v", seed, drift)
		}
		seen := make(map[decision.Key]bool)
		for _, r := range src.Records() {
			if seen[r.Key] {
				t.Fatalf("seed %d: two choices have the key %+v", seed, r.Key)
			}
			seen[r.Key] = true
		}
		hashes[one.d.Hash()] = true
		for k := range numFaults {
			faults[k] += one.d.Count(k)
		}
	}
	if len(hashes) != 30 {
		t.Fatalf("30 seeds, %d disks", len(hashes))
	}
	for k := SyncFailed; k < numFaults; k++ {
		if faults[k] == 0 {
			t.Errorf("never injected: %s", k)
		}
	}
}

const goldenHash = "a238f3eef694ba98"

// TestGoldenHash pins the disk of one seed: it must be the same on every machine, and whoever changes what a seed means
// should know it.
func TestGoldenHash(t *testing.T) {
	got := fmt.Sprintf("%016x", runStorm(decision.FromSeed(1), everything(), 600).d.Hash())
	if got != goldenHash {
		t.Errorf("hash %s, want %s", got, goldenHash)
	}
}

// TestFaultsDoNotDisturbEachOther turns one rate up: what the other choices decided stays decided.
func TestFaultsDoNotDisturbEachOther(t *testing.T) {
	fails := func(cfg Config) string {
		w := seeded(9, cfg)
		f, _, err := w.open("a", engine.OpenOrCreate)
		must(t, err)
		var s []byte
		for i := range 60 {
			_, err := w.write(f, int64(i), []byte{1})
			must(t, err)
			s = append(s, '.')
			if errors.Is(w.sync(f), engine.ErrSync) {
				s[i] = 'X'
			}
		}
		return string(s)
	}
	quiet := fails(Config{SyncFail: 200_000})
	loud := fails(Config{SyncFail: 200_000, LostWrite: 500_000, Misdirect: 100_000, Evict: 500_000, SyncLatency: Span{1, 99}})
	if quiet != loud {
		t.Fatalf("the same syncs should fail:\n%s\n%s", quiet, loud)
	}
}

// TestStormInvariants checks, after each step of a storm, what must hold between the parts of the disk.
func TestStormInvariants(t *testing.T) {
	for seed := range uint64(20) {
		s := &storm{world: newWorld(decision.FromSeed(seed), everything())}
		for ; s.steps < 400; s.steps++ {
			s.step()
			s.q.Step(1 << 62)
			s.q.Step(1 << 62)
			for _, id := range s.seq {
				if r := s.got[id]; r.File != 0 && r.Err == nil {
					s.open = append(s.open, r.File)
				}
			}
			s.seq = s.seq[:0]
			if err := s.d.invariants(); err != "" {
				t.Fatalf("seed %d, step %d: %s", seed, s.steps, err)
			}
		}
	}
}

// invariants recomputes what the disk keeps count of.
func (d *Disk) invariants() string {
	var used int64
	for i, n := range d.files {
		f := n.file
		if i > 0 && d.files[i-1].id >= n.id {
			return "files are out of order"
		}
		if n.links == 0 && n.opens == 0 {
			return "a file without names or handles is kept: " + n.path
		}
		charged := f.charged
		f.recount()
		if f.charged != charged {
			return fmt.Sprintf("%s is charged %d sectors, has %d", n.path, charged, f.charged)
		}
		used += charged
		if msg := f.invariants(); msg != "" {
			return n.path + ": " + msg
		}
	}
	if used != d.used {
		return fmt.Sprintf("%d sectors used, counted %d", used, d.used)
	}
	if d.cfg.Capacity > 0 && d.used > d.cfg.Capacity/SectorSize {
		return "more is used than there is"
	}
	for i, f := range d.faults {
		if f.left < 0 {
			return fmt.Sprintf("fault %d was healed more often than it did damage", i)
		}
	}
	return ""
}

func (f *file) invariants() string {
	dirty := 0
	for i, c := range f.chunks {
		if i > 0 && f.chunks[i-1].index >= c.index {
			return "chunks are out of order"
		}
		if c.dirty != 0 {
			dirty++
		}
		for j := range c.sectors {
			s := &c.sectors[j]
			if (len(s.vers) > 0) != (c.dirty&(1<<j) != 0) {
				return "a dirty bit is wrong"
			}
			if len(s.vers) > 0 && s.vers[len(s.vers)-1].data != s.cache {
				return "the newest version is not the cache"
			}
			at := (c.index*chunkSectors + int64(j)) * SectorSize
			if s.cache != nil && at >= f.size && *s.cache != (block{}) && s.cache != s.disk {
				return fmt.Sprintf("content at %d behind the end %d", at, f.size)
			}
		}
	}
	if dirty != len(f.dirty) {
		return "dirty chunks are missing from the list"
	}
	return ""
}

func BenchmarkAppendSync(b *testing.B) {
	w := seeded(1, Config{WriteLatency: Span{10, 500}, SyncLatency: Span{100, 900}, SyncFail: 1, LostWrite: 1})
	f, _, _ := w.open("a", engine.OpenOrCreate)
	p := make([]byte, 300)
	b.ReportAllocs()
	for i := range b.N {
		off := int64(i) * 300 % (64 << 20)
		w.d.Write(1, f, off, p)
		if i%16 == 15 {
			w.d.Sync(2, f)
		}
		w.run()
		w.seq = w.seq[:0]
	}
}
