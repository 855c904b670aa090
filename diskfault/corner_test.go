package diskfault

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/engine"
)

// TestSyncDirOfAReplacedDirectory submits a SyncDir and replaces the directory before it completes: the new one's
// entries are not covered.
func TestSyncDirOfAReplacedDirectory(t *testing.T) {
	got := outcomes(100, Config{SyncLatency: Span{1000, 1000}}, func(w *world) string {
		for _, name := range []string{"p", "p/d", "r", "r/d"} {
			must(t, w.mkdir(name))
		}
		for range 3 {
			w.put(t, "p/d/x", "")
			must(t, w.remove("p/d/x"))
		}
		must(t, w.syncDir("r"))
		id := w.next()
		w.d.SyncDir(id, "p/d")
		must(t, w.rename("p", "q"))
		must(t, w.rename("r", "p"))
		_, _, err := w.open("p/d/y", engine.OpenExclusive)
		must(t, err)
		must(t, w.wait(id).Err)
		must(t, w.syncDir(""))
		w.d.Crash()
		return fmt.Sprint(w.names(t, "p/d"))
	})
	mustSee(t, got, "[]", "[y]")
}

// TestSnapshotEndsAtTheSize takes a snapshot while sectors behind the durable size are on the platter, left by a Sync
// that failed: they must not come to light when the restored file grows.
func TestSnapshotEndsAtTheSize(t *testing.T) {
	for seed := range uint64(100) {
		w := seeded(seed, Config{})
		f := w.put(t, "a", fill('x', 1))
		_, err := w.write(f, SectorSize, []byte(fill('y', 1)))
		must(t, err)
		w.with(Config{SyncFail: always})
		mustBe(t, w.sync(f), engine.ErrSync)
		w.with(Config{})
		w.d.Restore(w.d.Snapshot())
		f, size, err := w.open("a", engine.OpenExisting)
		must(t, err)
		if size == SectorSize {
			must(t, w.truncate(f, 2*SectorSize))
			if c, _ := w.content(t, "a"); sectors(c) != "x0" {
				t.Fatalf("seed %d: %s", seed, sectors(c))
			}
		}
	}
}

// TestCrashClosesFiles removes a file that a dead process had open: its space is free.
func TestCrashClosesFiles(t *testing.T) {
	for _, power := range []bool{true, false} {
		w := seeded(1, Config{})
		w.put(t, "a", fill('x', 9))
		w.put(t, "b", fill('x', 9))
		must(t, w.remove("b"))
		must(t, w.syncDir(""))
		if power {
			w.d.Crash()
		} else {
			w.d.Kill()
		}
		if w.d.Used() != 9*SectorSize {
			t.Fatalf("a file without a name uses space: %d", w.d.Used())
		}
		must(t, w.remove("a"))
		if w.d.Used() != 0 {
			t.Fatalf("power %v: %d bytes in use", power, w.d.Used())
		}
	}
}

// TestDamageBelowUnsyncedContent drops the cache while a damaged sector has unsynced content above it, which was made
// from what the cache had: the damage stays hidden and is gone with the next Sync.
func TestDamageBelowUnsyncedContent(t *testing.T) {
	w := seeded(1, Config{})
	f := w.put(t, "a", fill('o', 1))
	w.with(Config{LostWrite: always})
	_, err := w.write(f, 0, []byte(fill('n', 1)))
	must(t, err)
	must(t, w.sync(f))
	w.with(Config{Evict: always, WriteLatency: Span{5, 5}})
	w.d.Write(w.next(), f, 10, []byte("!"))
	must(t, w.sync(f)) // does not cover the write, drops the cache
	must(t, w.sync(f))
	c, _ := w.content(t, "a")
	if x := w.only(t, LostWrite); c[:12] != "nnnnnnnnnn!n" || x.Touched || !x.Healed {
		t.Fatalf("%q: %s", c[:12], x)
	}
}

// TestDamageGoesWithTheBytes cuts damaged bytes off: they are no damage any more, and don't come back.
func TestDamageGoesWithTheBytes(t *testing.T) {
	w := seeded(1, Config{})
	f := w.put(t, "a", fill('x', 3))
	if !w.d.Rot("a", 2*SectorSize+5, 1) || !w.d.Rot("a", SectorSize+5, 1) {
		t.Fatal("no rot")
	}
	must(t, w.truncate(f, SectorSize+3))
	must(t, w.sync(f))
	w.d.Crash()
	for _, x := range w.d.Faults() {
		if !x.Healed || x.Touched {
			t.Errorf("%s", x)
		}
	}
	f, _, err := w.open("a", engine.OpenExisting)
	must(t, err)
	must(t, w.truncate(f, 3*SectorSize))
	if c, _ := w.content(t, "a"); strings.Trim(c[SectorSize+3:], "\x00") != "" {
		t.Fatal("bytes that were cut off came back")
	}
}

// TestForcedFailuresOfEveryKind makes the first operation of each kind fail.
func TestForcedFailuresOfEveryKind(t *testing.T) {
	for k := OpOpen; k < numOps; k++ {
		for _, full := range []bool{false, true} {
			w := seeded(1, Config{})
			w.d.FailNth(Nth{Kind: k, N: 1, Full: full})
			w.d.FailNth(Nth{Kind: OpOpen, N: 9, Forever: true})
			var f engine.FileID
			ops := []struct {
				kind OpKind
				do   func() error
			}{
				{OpMkdir, func() error { return w.mkdir("d") }},
				{OpOpen, func() (err error) { f, _, err = w.open("a", engine.OpenOrCreate); return err }},
				{OpAllocate, func() error { return w.allocate(f, 600) }},
				{OpWrite, func() error { _, err := w.write(f, 0, []byte("abc")); return err }},
				{OpTruncate, func() error { return w.truncate(f, 9) }},
				{OpRead, func() error { _, err := w.read(f, 0, 9); return err }},
				{OpSync, func() error { return w.sync(f) }},
				{OpClose, func() error { return w.close(f) }},
				{OpRename, func() error { return w.rename("a", "b") }},
				{OpList, func() error { _, err := w.list(""); return err }},
				{OpSyncDir, func() error { return w.syncDir("") }},
				{OpRemove, func() error { return w.remove("b") }},
			}
			for _, o := range ops {
				err := o.do()
				if o.kind == k && err == nil {
					t.Errorf("%s did not fail", k)
				}
				if o.kind != k && err != nil && k != OpOpen && k != OpRename && k != OpClose {
					t.Errorf("%s failed, not %s: %v", o.kind, k, err)
				}
				if o.kind == OpWrite && k == OpWrite {
					if want := map[bool]error{false: engine.ErrIO, true: engine.ErrNoSpace}[full]; !errors.Is(err, want) {
						t.Errorf("a full=%v write failed with %v", full, err)
					}
				}
			}
			if n := len(w.d.Faults()); n != 1 {
				t.Errorf("%s: %d faults", k, n)
			}
		}
	}
}
