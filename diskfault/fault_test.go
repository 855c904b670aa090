package diskfault

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/engine"
)

const always = Million

// with sets the rates of a world that was prepared without faults.
func (w *world) with(cfg Config) { w.d.Configure(cfg) }

// only returns the one fault of the kind.
func (w *world) only(t *testing.T, k Kind) Fault {
	t.Helper()
	var got []Fault
	for _, f := range w.d.Faults() {
		if f.Kind == k {
			got = append(got, f)
		}
	}
	if len(got) != 1 || w.d.Count(k) != 1 {
		t.Fatalf("%d faults of kind %s: %v", len(got), k, w.d.Faults())
	}
	return got[0]
}

func TestNoFaultsByDefault(t *testing.T) {
	w := seeded(1, Config{})
	for i := range 20 {
		f := w.put(t, fmt.Sprint("f", i), fill('x', i))
		must(t, w.close(f))
		w.d.Crash()
	}
	if len(w.d.Faults()) != 0 {
		t.Fatal(w.d.Faults())
	}
}

// TestSyncFailure is the trap of fsync: after a failure the next Sync has nothing left to do and succeeds, and what the
// failed one covered is lost by a power failure, all of it or in part.
func TestSyncFailure(t *testing.T) {
	got := outcomes(400, Config{}, func(w *world) string {
		f := w.put(t, "a", fill('o', 2))
		_, err := w.write(f, 0, []byte(fill('n', 2)))
		must(t, err)
		w.with(Config{SyncFail: always})
		mustBe(t, w.sync(f), engine.ErrSync)
		w.with(Config{})
		before, _ := w.content(t, "a")
		must(t, w.sync(f))
		w.d.Crash()
		after, _ := w.content(t, "a")
		if x := w.only(t, SyncFailed); x.File != "a" || !x.Touched || x.Sticky {
			t.Fatal(x)
		}
		return sectors(before) + " " + sectors(after)
	})
	mustSee(t, got, "nn nn", "nn oo", "nn no", "nn on", "oo oo", "no no", "on on")
}

// TestSyncFailureLosesTheSize drops an extension of the file, and then grows it further: zeros are left in the middle.
func TestSyncFailureLosesTheSize(t *testing.T) {
	got := outcomes(400, Config{}, func(w *world) string {
		f := w.put(t, "a", fill('1', 1))
		_, err := w.write(f, SectorSize, []byte(fill('2', 1)))
		must(t, err)
		w.with(Config{SyncFail: always})
		mustBe(t, w.sync(f), engine.ErrSync)
		w.with(Config{})
		_, err = w.write(f, 2*SectorSize, []byte(fill('3', 1)))
		must(t, err)
		must(t, w.sync(f))
		w.d.Crash()
		c, _ := w.content(t, "a")
		return sectors(c)
	})
	mustSee(t, got, "123", "103")
}

func TestSyncFailureSticky(t *testing.T) {
	w := seeded(1, Config{})
	f, g := w.put(t, "a", "x"), w.put(t, "b", "x")
	w.with(Config{SyncFail: always, Sticky: always})
	mustBe(t, w.sync(f), engine.ErrSync)
	w.with(Config{})
	for range 3 {
		mustBe(t, w.sync(f), engine.ErrSync)
	}
	must(t, w.sync(g))
	w.d.Heal()
	must(t, w.sync(f))
}

func TestSyncDirFailure(t *testing.T) {
	got := outcomes(100, Config{}, func(w *world) string {
		_, _, err := w.open("a", engine.OpenExclusive)
		must(t, err)
		w.with(Config{SyncFail: always})
		mustBe(t, w.syncDir(""), engine.ErrSync)
		w.with(Config{})
		must(t, w.syncDir("")) // covers nothing that the failed one dropped
		w.d.Crash()
		return fmt.Sprint(w.names(t, ""))
	})
	mustSee(t, got, "[]", "[a]")
}

func TestShortWrite(t *testing.T) {
	for seed := range uint64(50) {
		w := seeded(seed, Config{})
		f := w.put(t, "a", "")
		w.with(Config{ShortWrite: always})
		n, err := w.write(f, 0, []byte("0123456789"))
		must(t, err)
		if n < 1 || n > 9 {
			t.Fatalf("wrote %d", n)
		}
		w.with(Config{})
		if c, _ := w.content(t, "a"); c != "0123456789"[:n] {
			t.Fatalf("wrote %d: %q", n, c)
		}
		w.only(t, ShortWrite)
		w.with(Config{ShortWrite: always})
		if n, err := w.write(f, 0, []byte("x")); n != 1 || err != nil {
			t.Fatalf("one byte can't be written short: %d %v", n, err)
		}
	}
}

func TestNoSpaceInjected(t *testing.T) {
	middle := false
	for seed := range uint64(50) {
		w := seeded(seed, Config{})
		f := w.put(t, "a", "")
		must(t, w.allocate(f, SectorSize))
		w.with(Config{NoSpace: always})
		n, err := w.write(f, 100, []byte(fill('x', 3)))
		mustBe(t, err, engine.ErrNoSpace)
		if n < SectorSize-100 || n >= 3*SectorSize {
			t.Fatalf("wrote %d: not even what was reserved", n)
		}
		middle = middle || n > SectorSize
		_, err = w.write(f, 0, []byte(fill('x', 1)))
		must(t, err)
		w.only(t, NoSpace)
		mustBe(t, w.allocate(f, 2*SectorSize), engine.ErrNoSpace)
		mustBe(t, w.mkdir("d"), engine.ErrNoSpace)
		mustBe(t, w.rename("a", "b"), engine.ErrNoSpace)
		_, _, err = w.open("b", engine.OpenOrCreate)
		mustBe(t, err, engine.ErrNoSpace)
	}
	if !middle {
		t.Fatal("never in the middle of a write")
	}
}

func TestReadError(t *testing.T) {
	for seed := range uint64(30) {
		w := seeded(seed, Config{})
		f := w.put(t, "a", fill('x', 20))
		w.with(Config{ReadError: always})
		p, err := w.read(f, 100, 5000)
		mustBe(t, err, engine.ErrIO)
		w.with(Config{})
		if len(p) >= 5000 || strings.Trim(string(p), "x") != "" {
			t.Fatalf("read %d bytes before the error", len(p))
		}
		_, err = w.read(f, 100, 5000)
		must(t, err) // it was not sticky
		w.only(t, ReadFailed)
	}
}

// TestReadErrorSticky makes a region unreadable until it is written over, or the disk is healed.
func TestReadErrorSticky(t *testing.T) {
	w := seeded(3, Config{})
	f := w.put(t, "a", fill('x', 40))
	w.with(Config{ReadError: always, Sticky: always})
	_, err := w.read(f, 20*SectorSize, SectorSize)
	mustBe(t, err, engine.ErrIO)
	w.with(Config{})
	x := w.only(t, ReadFailed)
	if x.Offset != 20*SectorSize || x.Length < SectorSize || !x.Sticky {
		t.Fatal(x)
	}
	p, err := w.read(f, 0, 40*SectorSize)
	mustBe(t, err, engine.ErrIO)
	if int64(len(p)) != x.Offset {
		t.Fatalf("%d bytes before the region", len(p))
	}
	w.d.Crash()
	f, _, err = w.open("a", engine.OpenExisting)
	must(t, err)
	_, err = w.read(f, x.Offset, 1)
	mustBe(t, err, engine.ErrIO)
	_, err = w.read(f, x.Offset+x.Length, 1)
	must(t, err)
	_, err = w.write(f, x.Offset, []byte(fill('y', 1)))
	must(t, err)
	_, err = w.read(f, x.Offset, SectorSize)
	must(t, err)
	if x.Length > SectorSize {
		_, err = w.read(f, x.Offset, SectorSize+1)
		mustBe(t, err, engine.ErrIO)
	}
	w.d.Heal()
	_, err = w.read(f, 0, 40*SectorSize)
	must(t, err)
}

func TestWriteError(t *testing.T) {
	w := seeded(5, Config{})
	f := w.put(t, "a", "")
	w.with(Config{WriteError: always, Sticky: always})
	n, err := w.write(f, 0, []byte(fill('x', 30)))
	mustBe(t, err, engine.ErrIO)
	w.with(Config{})
	if _, size, err := w.open("a", engine.OpenExisting); err != nil || size != int64(n) {
		t.Fatalf("%d bytes reported, %d there: %v", n, size, err)
	}
	x := w.only(t, WriteFailed)
	p, err := w.read(f, 0, n)
	mustBe(t, err, engine.ErrIO)
	if string(p) != fill('x', 30)[:x.Offset] {
		t.Fatalf("%d bytes readable before the region", len(p))
	}
	_, err = w.write(f, x.Offset, []byte("again"))
	mustBe(t, err, engine.ErrIO)
	n, err = w.write(f, 0, []byte(fill('y', 30)))
	mustBe(t, err, engine.ErrIO)
	if int64(n) != x.Offset {
		t.Fatalf("%d bytes before the region at %d", n, x.Offset)
	}
	w.with(Config{WriteError: always})
	mustBe(t, w.truncate(f, 0), engine.ErrIO)
	mustBe(t, w.allocate(f, 1<<20), engine.ErrIO)
	w.d.Heal()
	_, err = w.write(f, 0, []byte(fill('y', 30)))
	must(t, err)
}

// TestMetaError shows that an operation on names that failed may have been carried out all the same.
func TestMetaError(t *testing.T) {
	got := outcomes(50, Config{}, func(w *world) string {
		w.put(t, "a", "")
		w.with(Config{MetaError: always})
		mustBe(t, w.rename("a", "b"), engine.ErrIO)
		_, err := w.list("")
		mustBe(t, err, engine.ErrIO)
		w.with(Config{})
		return fmt.Sprint(w.names(t, ""))
	})
	mustSee(t, got, "[a]", "[b]")
}

func TestStallInjected(t *testing.T) {
	w := seeded(1, Config{})
	f := w.put(t, "a", "")
	w.with(Config{Stall: always, StallMax: 2_000_000_000})
	start := w.q.Now()
	must(t, w.sync(f))
	x := w.only(t, Stalled)
	if took := w.q.Now() - start; took != x.For || x.For < 1 || x.For > 2_000_000_000 {
		t.Fatalf("took %d: %s", took, x)
	}
}

func TestLostWrite(t *testing.T) {
	got := outcomes(200, Config{}, func(w *world) string {
		f := w.put(t, "a", fill('o', 3))
		w.with(Config{LostWrite: always})
		_, err := w.write(f, 0, []byte(fill('n', 3)))
		must(t, err)
		must(t, w.sync(f))
		w.with(Config{})
		if c, _ := w.content(t, "a"); c != fill('n', 3) {
			t.Fatal("the cache does not hide a lost write")
		}
		if x := w.only(t, LostWrite); x.Touched {
			t.Fatalf("touched behind the cache: %s", x)
		}
		w.d.Crash()
		c, _ := w.content(t, "a")
		x := w.only(t, LostWrite)
		at := strings.IndexByte(sectors(c), 'o')
		if !x.Touched || x.Healed || x.Offset != int64(at)*SectorSize || !w.d.Corrupt("a") {
			t.Fatalf("%s: %s", sectors(c), x)
		}
		f, _, err = w.open("a", engine.OpenExisting)
		must(t, err)
		_, err = w.write(f, 0, []byte(fill('n', 3)))
		must(t, err)
		if w.only(t, LostWrite).Healed {
			t.Fatal("healed before the sync")
		}
		must(t, w.sync(f))
		if !w.only(t, LostWrite).Healed || w.d.Corrupt("a") {
			t.Fatal("not healed by writing over it")
		}
		return sectors(c)
	})
	mustSee(t, got, "ooo", "onn", "non", "nno")
}

// TestEvictShowsThePlatter drops the cache after a Sync: lost writes show without a reboot.
func TestEvictShowsThePlatter(t *testing.T) {
	w := seeded(1, Config{})
	f := w.put(t, "a", fill('o', 1))
	w.with(Config{LostWrite: always, Evict: always})
	_, err := w.write(f, 0, []byte(fill('n', 1)))
	must(t, err)
	must(t, w.sync(f))
	if c, _ := w.content(t, "a"); c != fill('o', 1) || !w.only(t, LostWrite).Touched {
		t.Fatalf("%s %s", sectors(c), w.only(t, LostWrite))
	}
}

func TestMisdirectedWrite(t *testing.T) {
	got := outcomes(400, Config{}, func(w *world) string {
		w.put(t, "b", fill('b', 2))
		f := w.put(t, "a", fill('a', 3))
		w.with(Config{Misdirect: always})
		_, err := w.write(f, SectorSize, []byte(fill('n', 1)))
		must(t, err)
		must(t, w.sync(f))
		w.with(Config{})
		w.d.Crash()
		a, _ := w.content(t, "a")
		b, _ := w.content(t, "b")
		n := w.d.Count(Misdirected)
		for _, x := range w.d.Faults() {
			if !x.Touched {
				t.Fatalf("not touched: %s", x)
			}
		}
		return fmt.Sprint(sectors(a), " ", sectors(b), " ", n)
	})
	// The last: the place that was drawn is where the write belongs.
	mustSee(t, got, "naa bb 2", "aan bb 2", "aaa nb 2", "aaa bn 2", "ana bb 0")
}

func TestRotAtReboot(t *testing.T) {
	shapes := make(map[string]int)
	for seed := range uint64(200) {
		w := seeded(seed, Config{})
		w.put(t, "a", fill('x', 3)+"tail")
		w.with(Config{Rot: always})
		w.d.Crash()
		w.with(Config{})
		if w.d.Count(BitRot) == 0 {
			t.Fatal("no rot")
		}
		x := w.only(t, BitRot)
		if x.Touched {
			t.Fatalf("touched before any read: %s", x)
		}
		c, _ := w.content(t, "a")
		x = w.only(t, BitRot)
		if !x.Touched || len(c) != 3*SectorSize+4 {
			t.Fatal(x)
		}
		good := fill('x', 3) + "tail"
		for i := range c {
			in := int64(i) >= x.Offset && int64(i) < x.Offset+x.Length
			if c[i] != good[i] && !in {
				t.Fatalf("byte %d differs outside of %s", i, x)
			}
		}
		switch {
		case x.Length == 1:
			shapes["byte"]++
		case strings.Trim(c[x.Offset:x.Offset+x.Length], "\x00") == "":
			shapes["zeros"]++
		default:
			shapes["noise"]++
		}
	}
	mustSee(t, shapes, "byte", "zeros", "noise")
}

func TestRotByHand(t *testing.T) {
	w := seeded(1, Config{})
	f := w.put(t, "a", "hello")
	if w.d.Rot("b", 0, 1) || w.d.Rot("a", 5, 1) || w.d.Rot("a", 0, 0) {
		t.Fatal("rot where nothing is")
	}
	if !w.d.Rot("a", 1, 0x20) {
		t.Fatal("no rot")
	}
	if _, err := w.read(f, 2, 3); err != nil || w.only(t, BitRot).Touched {
		t.Fatal("a read beside the damage touched it")
	}
	// Writing beside the damage keeps it: the sector is read, changed and written.
	_, err := w.write(f, 3, []byte("LO"))
	must(t, err)
	must(t, w.sync(f))
	w.d.Crash()
	if c, _ := w.content(t, "a"); c != "hElLO" {
		t.Fatalf("%q", c)
	}
	if x := w.only(t, BitRot); !x.Touched || x.Healed || x.Offset != 1 || x.Length != 1 {
		t.Fatal(x)
	}
	f, _, err = w.open("a", engine.OpenExisting)
	must(t, err)
	_, err = w.write(f, 0, []byte("he"))
	must(t, err)
	must(t, w.sync(f))
	if x := w.only(t, BitRot); !x.Healed {
		t.Fatal(x)
	}
}

func TestRotBeforeRead(t *testing.T) {
	w := seeded(2, Config{})
	f := w.put(t, "a", fill('x', 10))
	w.with(Config{RotRead: always})
	p, err := w.read(f, 0, 10*SectorSize)
	must(t, err)
	w.with(Config{})
	if string(p) == fill('x', 10) || !w.only(t, BitRot).Touched {
		t.Fatalf("rot did not show: %s", w.only(t, BitRot))
	}
	again, err := w.read(f, 0, 10*SectorSize)
	must(t, err)
	if string(again) != string(p) {
		t.Fatal("rot went away")
	}
	// What is not synced is not at rest.
	g, _, err := w.open("b", engine.OpenOrCreate)
	must(t, err)
	_, err = w.write(g, 0, []byte("fresh"))
	must(t, err)
	w.with(Config{RotRead: always})
	p, err = w.read(g, 0, 5)
	must(t, err)
	if string(p) != "fresh" {
		t.Fatalf("%q", p)
	}
}

func TestStaleAfterReboot(t *testing.T) {
	got := outcomes(300, Config{}, func(w *world) string {
		f := w.put(t, "a", fill('o', 2))
		_, err := w.write(f, 0, []byte(fill('n', 2)))
		must(t, err)
		must(t, w.sync(f))
		w.with(Config{Stale: always})
		w.d.Crash()
		w.with(Config{})
		first, _ := w.content(t, "a")
		second, _ := w.content(t, "a")
		for _, x := range w.d.Faults() {
			if x.Kind != StaleRead || !x.Touched {
				t.Fatal(x)
			}
		}
		return sectors(first) + " " + sectors(second)
	})
	mustSee(t, got, "oo oo", "no no", "on on", "oo nn", "no nn", "on nn")
}

func TestTruncatedAndMissing(t *testing.T) {
	for seed := range uint64(20) {
		w := seeded(seed, Config{})
		w.put(t, "a", fill('x', 4))
		w.with(Config{Truncate: always})
		w.d.Crash()
		w.with(Config{Missing: always})
		x := w.only(t, Truncated)
		c, _ := w.content(t, "a")
		if int64(len(c)) != x.Offset || x.Offset+x.Length != 4*SectorSize || strings.Trim(c, "x") != "" {
			t.Fatalf("%d bytes: %s", len(c), x)
		}
		if !w.only(t, Truncated).Touched {
			t.Fatal("not touched by the open")
		}
		w.d.Crash()
		if w.only(t, Missing).Touched {
			t.Fatal("touched too early")
		}
		if _, ok := w.content(t, "a"); ok || !w.only(t, Missing).Touched {
			t.Fatal(w.only(t, Missing))
		}
		if w.d.Used() != 0 {
			t.Fatalf("a missing file uses %d bytes", w.d.Used())
		}
	}
}

func TestLostDisk(t *testing.T) {
	w := seeded(1, Config{})
	must(t, w.mkdir("d"))
	w.put(t, "d/a", "x")
	w.with(Config{Lost: always})
	w.d.Crash()
	if len(w.names(t, "")) != 0 || w.d.Used() != 0 {
		t.Fatal("something is left")
	}
	w.only(t, DiskLost)
	w.put(t, "a", "x") // the new disk works
}

func TestSnapshotAndRestore(t *testing.T) {
	w := seeded(1, Config{})
	must(t, w.mkdir("d"))
	f := w.put(t, "a", fill('1', 2))
	_, err := w.write(f, 0, []byte("unsynced"))
	must(t, err)
	im := w.d.Snapshot()
	_, err = w.write(f, 0, []byte(fill('2', 3)))
	must(t, err)
	must(t, w.sync(f))
	must(t, w.rename("a", "d/b"))
	must(t, w.syncDir("d"))
	for range 2 {
		w.d.Restore(im)
		if c, _ := w.content(t, "a"); c != fill('1', 2) || len(w.names(t, "d")) != 0 {
			t.Fatalf("restored %s, %v", sectors(c), w.names(t, "d"))
		}
		f, _, err := w.open("a", engine.OpenExisting)
		must(t, err)
		_, err = w.write(f, 0, []byte(fill('3', 1)))
		must(t, err)
		must(t, w.sync(f))
	}
	if w.d.Count(RolledBack) != 2 {
		t.Fatal(w.d.Faults())
	}
}

func TestRollbackInjected(t *testing.T) {
	got := outcomes(50, Config{SnapshotSyncs: 2}, func(w *world) string {
		for _, c := range "0123456789ab" {
			f := w.put(t, "a", string(c))
			must(t, w.close(f))
		}
		w.with(Config{Rollback: always})
		w.d.Crash()
		w.only(t, RolledBack)
		c, _ := w.content(t, "a")
		return c
	})
	mustSee(t, got, "5", "7", "9", "b")
}

// TestAtlas confines silent damage to what the atlas gives free.
func TestAtlas(t *testing.T) {
	free := func(path string, sector int64) bool { return path == "b" && sector >= 0 }
	hit := false
	for seed := range uint64(100) {
		w := seeded(seed, Config{})
		cfg := Config{LostWrite: always / 2, Misdirect: always / 2, Rot: always / 2, Stale: always / 2, RotRead: always / 2,
			Truncate: always, Missing: always, Lost: always, ReadError: always / 2, Sticky: always, SyncFail: always, Atlas: free}
		w.with(cfg)
		for _, name := range []string{"a", "b", "c"} {
			f := w.put(t, name, fill('x', 4))
			_, err := w.write(f, 0, []byte(fill('y', 4)))
			must(t, err)
			must(t, w.sync(f))
		}
		w.d.Crash()
		w.d.Crash()
		w.with(Config{})
		for _, name := range []string{"a", "c"} {
			if c, _ := w.content(t, name); c != fill('y', 4) {
				t.Fatalf("seed %d: %s is damaged: %v", seed, name, w.d.Faults())
			}
		}
		f, _, err := w.open("b", engine.OpenExisting)
		must(t, err)
		p, err := w.read(f, 0, 4*SectorSize)
		hit = hit || err != nil || string(p) != fill('y', 4)
	}
	if !hit {
		t.Fatal("the atlas prevented everything")
	}
}

func TestNth(t *testing.T) {
	type result struct{ write, sync, open, again error }
	run := func(rules ...Nth) result {
		w := seeded(1, Config{})
		for _, r := range rules {
			w.d.FailNth(r)
		}
		var r result
		f, _, err := w.open("a", engine.OpenOrCreate) // operation 1
		r.open = err
		_, r.write = w.write(f, 0, []byte("xyz")) // 2
		r.sync = w.sync(f)                        // 3
		r.again = w.sync(f)                       // 4
		return r
	}
	table := []struct {
		rule Nth
		want result
	}{
		{Nth{Kind: AnyOp, N: 2}, result{write: engine.ErrIO}},
		{Nth{Kind: AnyOp, N: 2, Full: true}, result{write: engine.ErrNoSpace}},
		{Nth{Kind: AnyOp, N: 3}, result{sync: engine.ErrSync}},
		{Nth{Kind: AnyOp, N: 3, Forever: true}, result{sync: engine.ErrSync, again: engine.ErrSync}},
		{Nth{Kind: OpSync, N: 2}, result{again: engine.ErrSync}},
		{Nth{Kind: OpWrite, N: 1}, result{write: engine.ErrIO}},
		{Nth{Kind: OpRead, N: 1}, result{}},
		{Nth{Kind: AnyOp, N: 5}, result{}},
	}
	for _, x := range table {
		if got := run(x.rule); got != x.want {
			t.Errorf("%s: %+v, want %+v", x.rule, got, x.want)
		}
	}
	if got := run(Nth{Kind: OpOpen, N: 1, Full: true}); !errors.Is(got.open, engine.ErrNoSpace) {
		t.Errorf("open: %+v", got)
	}
}

func TestPlan(t *testing.T) {
	w := seeded(1, Config{Capacity: 1 << 20, SyncLatency: Span{10, 20}, Slow: 7, SyncFail: 500, Sticky: 3, Rot: 9, SnapshotSyncs: 4})
	w.d.FailNth(Nth{Kind: OpSync, N: 3, Forever: true})
	w.d.CrashAt(17, func() {})
	want := "(disk (capacity 1048576) (sync-ns 10 20) (slow 7) (sync-fail 500/M) (sticky 3/M) (rot 9/M) (snapshot-syncs 4))" +
		" (fail sync 3 forever) (crash 17)"
	if got := w.d.Plan(); got != want {
		t.Errorf("plan:\n%s\nwant:\n%s", got, want)
	}
	if got := (Config{}).String(); got != "(disk)" {
		t.Error(got)
	}
	f := Fault{Kind: BitRot, File: "a/b", Offset: 7, Length: 1, At: 5, Op: 9, Sticky: true, Touched: true, Healed: true}
	if got := f.String(); got != `bit-rot "a/b" [7,+1) t=5ns op=9 sticky touched healed` {
		t.Error(got)
	}
}
