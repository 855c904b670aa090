package diskfault

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/natsd/natsd/engine"
)

// outcomes runs a scenario under many seeds and counts what it ends in.
func outcomes(seeds uint64, cfg Config, scenario func(w *world) string) map[string]int {
	got := make(map[string]int)
	for seed := range seeds {
		got[scenario(seeded(seed, cfg))]++
	}
	return got
}

// mustSee fails unless exactly the wanted outcomes happened.
func mustSee(t *testing.T, got map[string]int, want ...string) {
	t.Helper()
	for _, x := range want {
		if got[x] == 0 {
			t.Errorf("never seen: %q; seen: %v", x, got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("seen: %v; wanted only: %q", got, want)
	}
}

// sectors describes content by the first byte of each sector.
func sectors(content string) string {
	var b strings.Builder
	for i := 0; i < len(content); i += SectorSize {
		if c := content[i]; c == 0 {
			b.WriteByte('0')
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func fill(c byte, n int) string { return strings.Repeat(string(c), n*SectorSize) }

func TestSyncedSurvives(t *testing.T) {
	for seed := range uint64(50) {
		w := seeded(seed, Config{})
		f := w.put(t, "a", fill('x', 40))
		_, err := w.write(f, 39*SectorSize+100, []byte("unsynced tail in a synced sector"))
		must(t, err)
		w.d.Crash()
		got, ok := w.content(t, "a")
		if !ok || !strings.HasPrefix(got, fill('x', 39)+strings.Repeat("x", 100)) {
			t.Fatalf("seed %d: synced content is gone", seed)
		}
	}
}

// TestUnsyncedSectors overwrites and extends without a sync: each sector and the size survive on their own.
func TestUnsyncedSectors(t *testing.T) {
	got := outcomes(400, Config{}, func(w *world) string {
		f := w.put(t, "a", fill('o', 2))
		_, err := w.write(f, 0, []byte(fill('n', 2)))
		must(t, err)
		w.d.Crash()
		c, _ := w.content(t, "a")
		return sectors(c)
	})
	mustSee(t, got, "oo", "on", "no", "nn")
	got = outcomes(400, Config{}, func(w *world) string {
		f := w.put(t, "a", "")
		for i, c := range []byte{'1', '2'} {
			_, err := w.write(f, int64(i)*SectorSize, []byte(fill(c, 1)))
			must(t, err)
		}
		w.d.Crash()
		c, _ := w.content(t, "a")
		return sectors(c)
	})
	mustSee(t, got, "", "0", "1", "00", "10", "02", "12")
}

// TestIntermediateVersions shows that any version since the last sync can be what survives.
func TestIntermediateVersions(t *testing.T) {
	got := outcomes(400, Config{}, func(w *world) string {
		f := w.put(t, "a", fill('0', 1))
		for _, c := range []byte{'1', '2', '3'} {
			_, err := w.write(f, 0, []byte(fill(c, 1)))
			must(t, err)
		}
		w.d.Crash()
		c, _ := w.content(t, "a")
		return sectors(c)
	})
	mustSee(t, got, "0", "1", "2", "3")
}

// TestManyVersions writes more versions than a sector remembers: the oldest are forgotten, not the one on the platter.
func TestManyVersions(t *testing.T) {
	got := outcomes(600, Config{}, func(w *world) string {
		f := w.put(t, "a", fill('A', 1))
		for c := byte('B'); c <= 'M'; c++ {
			_, err := w.write(f, 0, []byte(fill(c, 1)))
			must(t, err)
		}
		if c, _ := w.content(t, "a"); sectors(c) != "M" {
			t.Fatalf("reads see %s", sectors(c))
		}
		w.d.Crash()
		c, _ := w.content(t, "a")
		return sectors(c)
	})
	mustSee(t, got, "A", "F", "G", "H", "I", "J", "K", "L", "M")
}

func TestUnsyncedTruncate(t *testing.T) {
	got := outcomes(400, Config{}, func(w *world) string {
		f := w.put(t, "a", fill('x', 2))
		must(t, w.truncate(f, SectorSize))
		w.d.Crash()
		c, _ := w.content(t, "a")
		return sectors(c)
	})
	mustSee(t, got, "x", "xx", "x0")
}

// TestSyncCoversWhatCompletedBefore submits a Sync behind a Write that is still in flight: it is not covered.
func TestSyncCoversWhatCompletedBefore(t *testing.T) {
	got := outcomes(100, Config{}, func(w *world) string {
		f := w.put(t, "a", fill('0', 1))
		_, err := w.write(f, 0, []byte(fill('1', 1)))
		must(t, err)
		w.d.Write(w.next(), f, 0, []byte(fill('2', 1)))
		must(t, w.sync(f))
		w.d.Crash()
		c, _ := w.content(t, "a")
		return sectors(c)
	})
	mustSee(t, got, "1", "2")
}

func TestSyncDirCoversWhatCompletedBefore(t *testing.T) {
	cfg := Config{NameLatency: Span{5, 5}, SyncLatency: Span{50, 50}}
	got := outcomes(100, cfg, func(w *world) string {
		w.put(t, "a", "")
		w.d.Rename(w.next(), "a", "b")
		must(t, w.syncDir(""))
		w.d.Crash()
		return fmt.Sprint(w.names(t, ""))
	})
	mustSee(t, got, "[a]", "[b]")
}

// TestRenameAndContent is the pattern that publishes a file by a rename. Without syncs the name can be there before the
// content and the content before the name; a rename is whole unless it is torn.
func TestRenameAndContent(t *testing.T) {
	publish := func(w *world) string {
		w.put(t, "cur", "old")
		f := w.put(t, "tmp", "")
		_, err := w.write(f, 0, []byte("new"))
		must(t, err)
		must(t, w.rename("tmp", "cur"))
		w.d.Crash()
		var s []string
		for _, name := range []string{"cur", "tmp"} {
			if c, ok := w.content(t, name); ok {
				s = append(s, name+"="+c)
			}
		}
		return strings.Join(s, " ")
	}
	got := outcomes(500, Config{}, publish)
	mustSee(t, got, "cur=old tmp=", "cur=old tmp=new", "cur=", "cur=new",
		"cur=old tmp=\x00\x00\x00", "cur=\x00\x00\x00") // the size survived alone
	got = outcomes(2000, Config{TornRename: Million / 2}, publish)
	for _, x := range []string{"cur=old", "cur=new tmp=new"} {
		if got[x] == 0 {
			t.Errorf("no torn rename left %q: %v", x, got)
		}
	}
}

// TestRenameAcrossDirectories syncs one of two directories: the other half of the rename is still open.
func TestRenameAcrossDirectories(t *testing.T) {
	across := func(synced string) map[string]int {
		return outcomes(100, Config{}, func(w *world) string {
			must(t, w.mkdir("d"))
			w.put(t, "a", "x")
			must(t, w.rename("a", "d/a"))
			must(t, w.syncDir(synced))
			w.d.Crash()
			return fmt.Sprint(w.names(t, ""), w.names(t, "d"))
		})
	}
	mustSee(t, across("d"), "[a d] [a]", "[d] [a]")
	mustSee(t, across(""), "[d] [a]", "[d] []") // the file can be lost
}

func TestEntriesEachOnTheirOwn(t *testing.T) {
	got := outcomes(300, Config{}, func(w *world) string {
		w.put(t, "old", "")
		for _, name := range []string{"x", "y"} {
			_, _, err := w.open(name, engine.OpenExclusive)
			must(t, err)
		}
		must(t, w.remove("old"))
		w.d.Crash()
		return strings.Join(w.names(t, ""), " ")
	})
	mustSee(t, got, "", "x", "y", "x y", "old", "old x", "old y", "old x y")
}

// TestUnsyncedDirectory loses a directory together with all that was synced in it.
func TestUnsyncedDirectory(t *testing.T) {
	got := outcomes(50, Config{}, func(w *world) string {
		must(t, w.mkdir("d"))
		f, _, err := w.open("d/a", engine.OpenExclusive)
		must(t, err)
		must(t, w.sync(f))
		must(t, w.syncDir("d"))
		w.d.Crash()
		s := fmt.Sprint(w.names(t, ""))
		if s == "[d]" {
			s += fmt.Sprint(w.names(t, "d"))
		}
		return s
	})
	mustSee(t, got, "[]", "[d][a]")
}

// TestRemovedDirectoryComesBack checks that a removal that is forgotten restores what was durable, once.
func TestRemovedDirectoryComesBack(t *testing.T) {
	got := outcomes(100, Config{}, func(w *world) string {
		must(t, w.mkdir("d"))
		w.put(t, "d/a", "")
		must(t, w.syncDir("d"))
		must(t, w.remove("d/a"))
		must(t, w.remove("d"))
		must(t, w.mkdir("d"))
		w.d.Crash()
		s := fmt.Sprint(w.names(t, ""))
		if s == "[d]" {
			s += fmt.Sprint(w.names(t, "d"))
		}
		return s
	})
	mustSee(t, got, "[]", "[d][]", "[d][a]")
}

func TestInFlightNeverCompletes(t *testing.T) {
	got := outcomes(200, Config{WriteLatency: Span{10, 10}}, func(w *world) string {
		f := w.put(t, "a", fill('o', 1))
		id := w.next()
		w.d.Write(id, f, 0, []byte(fill('n', 1)))
		w.d.Crash()
		w.run()
		if _, done := w.got[id]; done {
			t.Fatal("an operation in flight completed after the crash")
		}
		c, _ := w.content(t, "a")
		return sectors(c)
	})
	mustSee(t, got, "o", "n")
}

// TestKillKeepsTheCache shows that a dead process loses nothing that completed, synced or not, and leaves a prefix of
// what was in flight.
func TestKillKeepsTheCache(t *testing.T) {
	got := outcomes(400, Config{WriteLatency: Span{10, 10}}, func(w *world) string {
		f := w.put(t, "a", "")
		_, err := w.write(f, 0, []byte("12"))
		must(t, err)
		w.d.Write(w.next(), f, 2, []byte("34"))
		w.d.Write(w.next(), f, 4, []byte("5"))
		must(t, w.rename("a", "b"))
		w.d.Kill()
		w.run()
		c, ok := w.content(t, "b")
		if !ok {
			t.Fatal("a completed rename was lost")
		}
		return c
	})
	mustSee(t, got, "12", "123", "1234", "12345")
}

// TestPowerFailureAfterKill loses what only the cache of an earlier process had.
func TestPowerFailureAfterKill(t *testing.T) {
	got := outcomes(100, Config{}, func(w *world) string {
		f := w.put(t, "a", "o")
		_, err := w.write(f, 0, []byte("n"))
		must(t, err)
		w.d.Kill()
		if c, _ := w.content(t, "a"); c != "n" {
			t.Fatalf("after the kill: %q", c)
		}
		w.d.Crash()
		c, _ := w.content(t, "a")
		return c
	})
	mustSee(t, got, "o", "n")
}

func TestGarbageOnlyInUnsyncedSectors(t *testing.T) {
	garbage := false
	for seed := range uint64(100) {
		w := seeded(seed, Config{Garbage: Million})
		f := w.put(t, "a", fill('x', 1))
		_, err := w.write(f, SectorSize, []byte(fill('y', 3)))
		must(t, err)
		w.d.Crash()
		c, _ := w.content(t, "a")
		if c[:SectorSize] != fill('x', 1) {
			t.Fatalf("seed %d: garbage in a synced sector", seed)
		}
		s := sectors(c)[1:]
		garbage = garbage || strings.Trim(s, "y") != ""
	}
	if !garbage {
		t.Fatal("no garbage seen")
	}
}

func TestCrashAtCountsOperations(t *testing.T) {
	w := seeded(1, Config{})
	w.put(t, "a", "x") // open, write, sync, syncdir
	at := w.d.Submitted() + 2
	w.d.CrashAt(at, func() { w.dead = true; w.d.Crash() })
	f, _, err := w.open("a", engine.OpenExisting)
	must(t, err)
	_, err = w.write(f, 0, []byte("y"))
	mustBe(t, err, errDead)
	if w.d.Submitted() != at || w.d.InFlight() != 0 {
		t.Fatalf("submitted %d, in flight %d", w.d.Submitted(), w.d.InFlight())
	}
}

// TestRepeatedCrashes checks that a crash leaves nothing for the next one to lose.
func TestRepeatedCrashes(t *testing.T) {
	for seed := range uint64(50) {
		w := seeded(seed, Config{})
		f := w.put(t, "a", fill('x', 3))
		_, err := w.write(f, 100, []byte(fill('y', 3)))
		must(t, err)
		must(t, w.rename("a", "b"))
		w.d.Crash()
		first := w.names(t, "")
		c1, _ := w.content(t, first[0])
		for range 3 {
			w.d.Crash()
		}
		c2, _ := w.content(t, first[0])
		if c1 != c2 || !slices.Equal(first, w.names(t, "")) {
			t.Fatalf("seed %d: a second crash changed the disk", seed)
		}
	}
}
