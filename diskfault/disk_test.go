package diskfault

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/natsd/natsd/engine"
)

func TestContent(t *testing.T) {
	w := seeded(1, Config{})
	f, size, err := w.open("a", engine.OpenExclusive)
	must(t, err)
	if size != 0 {
		t.Fatalf("new file has size %d", size)
	}
	steps := []struct {
		off  int64
		data string
		want string // whole content afterwards
	}{
		{0, "hello", "hello"},
		{3, "p!", "help!"},
		{7, "x", "help!\x00\x00x"},
		{510, "abcd", "help!\x00\x00x" + strings.Repeat("\x00", 502) + "abcd"},
		{512, "", "help!\x00\x00x" + strings.Repeat("\x00", 502) + "abcd"},
	}
	for _, s := range steps {
		n, err := w.write(f, s.off, []byte(s.data))
		must(t, err)
		if n != len(s.data) {
			t.Fatalf("wrote %d of %d", n, len(s.data))
		}
		if got, _ := w.content(t, "a"); got != s.want {
			t.Fatalf("after %q at %d: %q", s.data, s.off, got)
		}
	}
	must(t, w.truncate(f, 6))
	must(t, w.truncate(f, 9))
	if got, _ := w.content(t, "a"); got != "help!\x00\x00\x00\x00" {
		t.Fatalf("after truncation: %q", got)
	}
	reads := []struct {
		off  int64
		n    int
		want string
	}{{0, 4, "help"}, {4, 100, "!\x00\x00\x00\x00"}, {9, 1, ""}, {1 << 40, 1, ""}, {2, 0, ""}}
	for _, r := range reads {
		p, err := w.read(f, r.off, r.n)
		must(t, err)
		if string(p) != r.want {
			t.Fatalf("read %d at %d: %q", r.n, r.off, p)
		}
	}
}

// TestFarApart writes at offsets that make sparse files and finds each again, in any order of writing.
func TestFarApart(t *testing.T) {
	w := seeded(1, Config{})
	f := w.put(t, "a", "")
	offsets := []int64{1 << 35, 5, 1 << 20, 16384, 16383 + 512, 1<<20 - 2, 0}
	for _, off := range offsets {
		_, err := w.write(f, off, []byte{byte(off>>9) | 1, 7})
		must(t, err)
	}
	must(t, w.sync(f))
	w.d.Crash()
	f, size, err := w.open("a", engine.OpenExisting)
	must(t, err)
	if size != 1<<35+2 {
		t.Fatalf("size %d", size)
	}
	for _, off := range offsets {
		p, err := w.read(f, off, 2)
		must(t, err)
		if !bytes.Equal(p, []byte{byte(off>>9) | 1, 7}) {
			t.Fatalf("at %d: %v", off, p)
		}
	}
}

func TestNames(t *testing.T) {
	w := seeded(1, Config{})
	must(t, w.mkdir("d"))
	must(t, w.mkdir("d/e"))
	f := w.put(t, "d/b", "B")
	w.put(t, "d/a", "A")
	w.put(t, "top", "T")
	table := []struct {
		what string
		err  error
		want error
	}{
		{"mkdir twice", w.mkdir("d"), engine.ErrExist},
		{"mkdir over a file", w.mkdir("top"), engine.ErrExist},
		{"mkdir without parent", w.mkdir("x/y"), engine.ErrNotExist},
		{"mkdir below a file", w.mkdir("top/y"), engine.ErrNotExist},
		{"remove a full directory", w.remove("d"), engine.ErrNotEmpty},
		{"remove nothing", w.remove("none"), engine.ErrNotExist},
		{"rename nothing", w.rename("none", "other"), engine.ErrNotExist},
		{"rename into nowhere", w.rename("top", "x/y"), engine.ErrNotExist},
		{"rename a file over a directory", w.rename("top", "d"), engine.ErrExist},
		{"rename a directory over a file", w.rename("d", "top"), engine.ErrExist},
		{"rename a directory over a full one", w.rename("d/e", "d"), engine.ErrNotEmpty},
		{"rename a directory into itself", w.rename("d", "d/e/f"), engine.ErrIO},
		{"rename to itself", w.rename("top", "top"), nil},
		{"sync of no directory", w.syncDir("none"), engine.ErrNotExist},
		{"sync of a file as directory", w.syncDir("top"), engine.ErrNotExist},
	}
	for _, x := range table {
		if !errors.Is(x.err, x.want) {
			t.Errorf("%s: %v, want %v", x.what, x.err, x.want)
		}
	}
	opens := []struct {
		name string
		mode engine.OpenMode
		want error
	}{
		{"none", engine.OpenExisting, engine.ErrNotExist}, {"x/y", engine.OpenOrCreate, engine.ErrNotExist},
		{"top", engine.OpenExclusive, engine.ErrExist}, {"d", engine.OpenOrCreate, engine.ErrIO},
		{"top", engine.OpenExisting, nil}, {"top", engine.OpenOrCreate, nil},
	}
	for _, x := range opens {
		if _, _, err := w.open(x.name, x.mode); !errors.Is(err, x.want) {
			t.Errorf("open %s: %v, want %v", x.name, err, x.want)
		}
	}
	entries, err := w.list("d")
	must(t, err)
	want := []engine.DirEntry{{Name: "a", Size: 1}, {Name: "b", Size: 1}, {Name: "e", Dir: true}}
	if !slices.Equal(entries, want) {
		t.Fatalf("entries %v", entries)
	}
	must(t, w.rename("d", "D"))
	must(t, w.rename("D/a", "D/b"))
	if got, _ := w.content(t, "D/b"); got != "A" {
		t.Fatalf("after the rename: %q", got)
	}
	// The file that was replaced lives on behind its handle.
	p, err := w.read(f, 0, 9)
	must(t, err)
	if string(p) != "B" {
		t.Fatalf("behind the handle: %q", p)
	}
}

func TestClosedFile(t *testing.T) {
	w := seeded(1, Config{})
	f := w.put(t, "a", "x")
	must(t, w.close(f))
	_, err := w.read(f, 0, 1)
	mustBe(t, err, engine.ErrClosed)
	mustBe(t, w.close(f), engine.ErrClosed)
	mustBe(t, w.sync(77), engine.ErrClosed)
	f = w.put(t, "a", "x")
	w.d.Kill()
	mustBe(t, w.sync(f), engine.ErrClosed)
}

// TestOrder submits to two files at once: each file keeps its order, and some seed mixes the two.
func TestOrder(t *testing.T) {
	cfg := Config{WriteLatency: Span{1, 1000}, NameLatency: Span{1, 10}}
	mixed := false
	for seed := range uint64(20) {
		w := seeded(seed, cfg)
		a, b := w.put(t, "a", ""), w.put(t, "b", "")
		w.seq = nil
		var ofA, ofB []engine.OpID
		for i := range 10 {
			ofA, ofB = append(ofA, w.next()), append(ofB, w.next())
			w.d.Write(ofA[i], a, int64(i), []byte{1})
			w.d.Write(ofB[i], b, int64(i), []byte{1})
		}
		w.run()
		if len(w.seq) != 20 {
			t.Fatalf("%d completions", len(w.seq))
		}
		var gotA, gotB []engine.OpID
		for _, id := range w.seq {
			if slices.Contains(ofA, id) {
				gotA = append(gotA, id)
			} else {
				gotB = append(gotB, id)
			}
		}
		if !slices.Equal(gotA, ofA) || !slices.Equal(gotB, ofB) {
			t.Fatalf("seed %d: order of a file broken: %v", seed, w.seq)
		}
		mixed = mixed || w.seq[0] == ofB[0]
	}
	if !mixed {
		t.Fatal("two files never overtook each other")
	}
}

// TestNamesOvertake shows that operations on different names are not in order, and on one name are.
func TestNamesOvertake(t *testing.T) {
	cfg := Config{NameLatency: Span{1, 1000}}
	overtook := false
	for seed := range uint64(20) {
		w := seeded(seed, cfg)
		w.d.Open(1, "a", engine.OpenExclusive)
		w.d.Open(2, "b", engine.OpenExclusive)
		w.d.Rename(3, "a", "c")
		w.d.Remove(4, "c")
		w.run()
		for _, id := range []engine.OpID{1, 3, 4} {
			if err := w.got[id].Err; err != nil {
				t.Fatalf("seed %d: operation %d: %v", seed, id, err)
			}
		}
		overtook = overtook || w.seq[0] == 2
	}
	if !overtook {
		t.Fatal("operations on different names never overtook each other")
	}
}

func TestBuffersBelongToTheDisk(t *testing.T) {
	w := seeded(1, Config{})
	f := w.put(t, "a", "abc")
	p := []byte("xyz")
	w.d.Read(w.next(), f, 0, p)
	if string(p) == "xyz" {
		t.Fatal("the buffer of a Read can be relied on before the completion")
	}
	w.run()
	if string(p) != "abc" {
		t.Fatalf("read %q", p)
	}
	w.d.Write(w.next(), f, 0, p)
	p[1] = '?'
	defer func() {
		if recover() == nil {
			t.Fatal("a changed buffer was not noticed")
		}
	}()
	w.run()
}

func TestBadNames(t *testing.T) {
	for _, name := range []string{"/a", "a/", "a//b", ".", "..", "a/../b", "./a"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was taken", name)
				}
			}()
			seeded(1, Config{}).d.Remove(1, name)
		}()
	}
}

func TestLatency(t *testing.T) {
	cfg := Config{WriteLatency: Span{100, 200}, BytesPerSecond: 1_000_000, Slow: 3}
	w := seeded(4, cfg)
	f := w.put(t, "a", "")
	start := w.q.Now()
	_, err := w.write(f, 0, make([]byte, 1000))
	must(t, err)
	if took := w.q.Now() - start; took < 3*(1_000_000+100) || took > 3*(1_000_000+200) {
		t.Fatalf("took %d ns", took)
	}
	start = w.q.Now()
	w.d.Stall(5_000_000_000)
	_, err = w.write(f, 0, []byte("x"))
	must(t, err)
	if took := w.q.Now() - start; took < 5_000_000_000 {
		t.Fatalf("a stalled disk took %d ns", took)
	}
}

func TestCapacity(t *testing.T) {
	w := seeded(1, Config{Capacity: 10 * SectorSize})
	f := w.put(t, "a", "")
	n, err := w.write(f, 100, make([]byte, 20*SectorSize))
	mustBe(t, err, engine.ErrNoSpace)
	if n != 10*SectorSize-100 || w.d.Used() != 10*SectorSize {
		t.Fatalf("took %d bytes, used %d", n, w.d.Used())
	}
	if _, size, _ := w.open("a", engine.OpenExisting); size != 10*SectorSize {
		t.Fatalf("size %d", size)
	}
	_, err = w.write(f, 0, make([]byte, 10*SectorSize)) // what is there can be overwritten
	must(t, err)
	must(t, w.truncate(f, 3*SectorSize))
	must(t, w.allocate(f, 8*SectorSize))
	g := w.put(t, "b", "x")
	n, err = w.write(g, 0, make([]byte, 5*SectorSize))
	mustBe(t, err, engine.ErrNoSpace)
	if n != 2*SectorSize {
		t.Fatalf("beside a reservation: %d bytes", n)
	}
	_, err = w.write(f, 0, make([]byte, 8*SectorSize)) // the reservation holds
	must(t, err)
	mustBe(t, w.allocate(f, 9*SectorSize), engine.ErrNoSpace)
	must(t, w.remove("b"))
	if w.d.Used() != 10*SectorSize {
		t.Fatalf("an open file gave up its space: %d", w.d.Used())
	}
	must(t, w.close(g))
	if w.d.Used() != 8*SectorSize {
		t.Fatalf("used %d", w.d.Used())
	}
	must(t, w.sync(f))
	must(t, w.syncDir(""))
	w.d.Crash()
	if w.d.Used() != 8*SectorSize {
		t.Fatalf("after the crash: used %d", w.d.Used())
	}
	cfg := w.d.Config()
	cfg.Capacity = 0
	w.d.Configure(cfg)
	w.put(t, "b", strings.Repeat("x", 100*SectorSize))
}
