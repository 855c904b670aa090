package diskfault

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/natsd/natsd/engine"
	"pgregory.net/rapid"
)

// The model is naive: a file is the list of all contents that it had since the last sync, as whole byte strings; a
// directory is the list of all maps from names to files that it was since the last sync. After a power failure each
// sector must be that of one of the contents, the size that of one of them, and each name mean what it meant in one of
// the maps. The model waits for each operation, so that at a crash at most one is in flight.

type modelFile struct {
	id       uint64
	contents [][]byte // [0] is on the platter, the last is what the process sees
}

func (m *modelFile) now() []byte { return m.contents[len(m.contents)-1] }

// plus is the content after a write.
func (m *modelFile) plus(off int64, p []byte) []byte {
	c := slices.Clone(m.now())
	for int64(len(c)) < off+int64(len(p)) {
		c = append(c, 0)
	}
	copy(c[off:], p)
	return c
}

func (m *modelFile) cutTo(size int64) []byte {
	c := slices.Clone(m.now())
	for int64(len(c)) < size {
		c = append(c, 0)
	}
	return c[:size]
}

// allows says why the content can't be what a power failure left, or nothing.
func (m *modelFile) allows(got []byte) string {
	sizeOK := false
	for _, c := range m.contents {
		sizeOK = sizeOK || len(c) == len(got)
	}
	if !sizeOK {
		return fmt.Sprintf("size %d was never its size", len(got))
	}
	for at := 0; at < len(got); at += SectorSize {
		sector := got[at:min(len(got), at+SectorSize)]
		ok := false
		for _, c := range m.contents {
			was := make([]byte, len(sector))
			if at < len(c) {
				copy(was, c[at:])
			}
			ok = ok || bytes.Equal(was, sector)
		}
		if !ok {
			return fmt.Sprintf("sector at %d was never so", at)
		}
	}
	return ""
}

var (
	modelDirs  = []string{"", "d"}
	modelNames = []string{"x", "y", "z"}
)

// names maps the names of one directory to files; it is always looked up, never ranged over.
type names map[string]uint64

func (n names) clone() names {
	c := make(names)
	for _, name := range modelNames {
		if id, ok := n[name]; ok {
			c[name] = id
		}
	}
	return c
}

type diskModel struct {
	*world
	files  map[uint64]*modelFile
	dirs   [2][]names // per directory: [0] is on the platter, the last is what the process sees
	handle map[uint64]engine.FileID
	crash  bool // the next operation is cut short by a power failure
	// What the operation in flight at a crash may have done.
	maybeFile    *modelFile
	maybeContent []byte
	maybeDirs    [2]names
}

func newModel(t *rapid.T, cfg Config) *diskModel {
	m := &diskModel{
		world: seeded(rapid.Uint64().Draw(t, "seed"), cfg), files: make(map[uint64]*modelFile),
		handle: make(map[uint64]engine.FileID),
	}
	must(t, m.mkdir("d"))
	must(t, m.world.syncDir(""))
	m.dirs = [2][]names{{names{}}, {names{}}}
	return m
}

func (m *diskModel) now(dir int) names { return m.dirs[dir][len(m.dirs[dir])-1] }

// pick draws a name and what it means: path, directory, last part, file or 0.
func (m *diskModel) pick(t *rapid.T, label string) (path string, dir int, name string, id uint64) {
	dir = rapid.IntRange(0, 1).Draw(t, label+" dir")
	name = rapid.SampledFrom(modelNames).Draw(t, label)
	return join(modelDirs[dir], name), dir, name, m.now(dir)[name]
}

// begin arms a crash for the operation that follows, if one is due.
func (m *diskModel) begin() {
	if m.crash {
		m.d.CrashAt(m.d.Submitted()+1, func() { m.dead = true; m.d.Crash() })
	}
}

func (m *diskModel) open(t *rapid.T, path string, dir int, name string, id uint64) {
	if id == 0 {
		m.maybeDirs[dir] = m.now(dir).clone()
		m.maybeDirs[dir][name] = m.d.ids + 1
		m.files[m.d.ids+1] = &modelFile{id: m.d.ids + 1, contents: [][]byte{{}}}
	}
	m.begin()
	f, size, err := m.world.open(path, engine.OpenOrCreate)
	if errors.Is(err, errDead) {
		return
	}
	must(t, err)
	if id == 0 {
		id = m.d.lookup(path).id
		m.dirs[dir] = append(m.dirs[dir], m.maybeDirs[dir])
	}
	if size != int64(len(m.files[id].now())) {
		t.Fatalf("%s has size %d", path, size)
	}
	m.handle[id] = f
}

// ensure opens the file that a name means, unless it is open.
func (m *diskModel) ensure(t *rapid.T) *modelFile {
	path, dir, name, id := m.pick(t, "file")
	if id == 0 || m.handle[id] == 0 {
		armed := m.crash
		m.crash = false
		m.open(t, path, dir, name, id)
		m.crash = armed
		m.maybeDirs = [2]names{}
		id = m.now(dir)[name]
	}
	return m.files[id]
}

func (m *diskModel) write(t *rapid.T) {
	f := m.ensure(t)
	off := int64(rapid.IntRange(0, 2500).Draw(t, "offset"))
	p := bytes.Repeat([]byte{byte(rapid.IntRange(1, 255).Draw(t, "byte"))}, rapid.IntRange(1, 1600).Draw(t, "length"))
	m.maybeFile, m.maybeContent = f, f.plus(off, p)
	m.begin()
	n, err := m.world.write(m.handle[f.id], off, p)
	if errors.Is(err, errDead) {
		return
	}
	if err == nil && n != len(p) && m.d.cfg.ShortWrite == 0 {
		t.Fatalf("wrote %d of %d", n, len(p))
	}
	if n > 0 {
		f.contents = append(f.contents, f.plus(off, p[:n]))
	}
}

func (m *diskModel) truncate(t *rapid.T) {
	f := m.ensure(t)
	size := int64(rapid.IntRange(0, 3000).Draw(t, "size"))
	m.maybeFile, m.maybeContent = f, f.cutTo(size)
	m.begin()
	if err := m.world.truncate(m.handle[f.id], size); err == nil {
		f.contents = append(f.contents, m.maybeContent)
	}
}

func (m *diskModel) sync(t *rapid.T) {
	f := m.ensure(t)
	m.begin()
	if err := m.world.sync(m.handle[f.id]); err == nil {
		f.contents = [][]byte{f.now()}
	}
}

func (m *diskModel) read(t *rapid.T) {
	f := m.ensure(t)
	off, n := int64(rapid.IntRange(0, 4000).Draw(t, "offset")), rapid.IntRange(0, 2000).Draw(t, "length")
	got, err := m.world.read(m.handle[f.id], off, n)
	must(t, err)
	want := f.now()
	want = want[min(off, int64(len(want))):]
	want = want[:min(n, len(want))]
	if !bytes.Equal(got, want) {
		t.Fatalf("read %d at %d: not what was written", n, off)
	}
}

func (m *diskModel) rename(t *rapid.T) {
	from, fromDir, fromName, id := m.pick(t, "from")
	to, toDir, toName, old := m.pick(t, "to")
	if id == 0 || id == old {
		return
	}
	m.maybeDirs[fromDir] = m.now(fromDir).clone()
	if toDir != fromDir {
		m.maybeDirs[toDir] = m.now(toDir).clone()
	}
	m.maybeDirs[toDir][toName] = id
	delete(m.maybeDirs[fromDir], fromName)
	m.begin()
	if err := m.world.rename(from, to); err == nil {
		m.dirs[fromDir] = append(m.dirs[fromDir], m.maybeDirs[fromDir])
		if toDir != fromDir {
			m.dirs[toDir] = append(m.dirs[toDir], m.maybeDirs[toDir])
		}
	}
}

func (m *diskModel) remove(t *rapid.T) {
	path, dir, name, id := m.pick(t, "file")
	m.maybeDirs[dir] = m.now(dir).clone()
	delete(m.maybeDirs[dir], name)
	m.begin()
	err := m.world.remove(path)
	switch {
	case errors.Is(err, errDead):
	case id == 0:
		mustBe(t, err, engine.ErrNotExist)
	default:
		must(t, err)
		m.dirs[dir] = append(m.dirs[dir], m.maybeDirs[dir])
	}
}

func (m *diskModel) syncDir(t *rapid.T) {
	dir := rapid.IntRange(0, 1).Draw(t, "dir")
	m.begin()
	if err := m.world.syncDir(modelDirs[dir]); err == nil {
		m.dirs[dir] = []names{m.now(dir)}
	}
}

// reboot checks what a power failure left and goes on from there.
func (m *diskModel) reboot(t *rapid.T) {
	if !m.dead {
		m.d.Crash()
	}
	if m.maybeFile != nil {
		m.maybeFile.contents = append(m.maybeFile.contents, m.maybeContent)
	}
	m.dead, m.handle = false, make(map[uint64]engine.FileID)
	m.d.CrashAt(0, nil)
	for dir, path := range modelDirs {
		if m.maybeDirs[dir] != nil {
			m.dirs[dir] = append(m.dirs[dir], m.maybeDirs[dir])
		}
		found := names{}
		for _, name := range modelNames {
			n := m.d.lookup(join(path, name))
			if n != nil {
				found[name] = n.id
			}
			if !slices.ContainsFunc(m.dirs[dir], func(was names) bool { return was[name] == found[name] }) {
				t.Fatalf("%s never meant file %d", join(path, name), found[name])
			}
		}
		m.dirs[dir] = []names{found}
	}
	for dir, path := range modelDirs {
		for _, name := range modelNames {
			id := m.now(dir)[name]
			if id == 0 {
				continue
			}
			got, ok := m.content(t, join(path, name))
			if why := m.files[id].allows([]byte(got)); !ok || why != "" {
				t.Fatalf("%s: %s; %v", join(path, name), why, m.d.Faults())
			}
			m.files[id].contents = [][]byte{[]byte(got)}
		}
	}
}

// TestModel compares the disk with the model over random operations, crashes in the middle of them, and kills.
func TestModel(t *testing.T) { rapid.Check(t, compare) }

// FuzzModel is TestModel, steered by coverage.
func FuzzModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(compare)) }

func compare(t *rapid.T) {
	cfg := Config{WriteLatency: Span{1, 50}, SyncLatency: Span{1, 100}}
	if rapid.Bool().Draw(t, "faults") {
		cfg.ShortWrite, cfg.WriteError, cfg.Capacity = 100_000, 50_000, 20*SectorSize
	}
	m := newModel(t, cfg)
	act := func(do func(*rapid.T)) func(*rapid.T) {
		return func(t *rapid.T) {
			m.crash = rapid.IntRange(0, 9).Draw(t, "crash") == 0
			m.maybeFile, m.maybeDirs = nil, [2]names{}
			do(t)
			if m.dead {
				m.reboot(t)
			}
			if msg := m.d.invariants(); msg != "" {
				t.Fatal(msg)
			}
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"write": act(m.write), "write again": act(m.write), "truncate": act(m.truncate), "sync": act(m.sync),
		"read": act(m.read), "rename": act(m.rename), "remove": act(m.remove), "syncdir": act(m.syncDir),
		"open":  act(func(t *rapid.T) { path, dir, name, id := m.pick(t, "file"); m.open(t, path, dir, name, id) }),
		"power": act(func(t *rapid.T) { m.reboot(t) }),
		"kill": act(func(t *rapid.T) {
			m.d.Kill()
			m.handle = make(map[uint64]engine.FileID)
		}),
	})
}

// TestModelIsMet checks that the model is not merely wide: what it allows for one small case is what happens.
func TestModelIsMet(t *testing.T) {
	got := outcomes(2000, Config{}, func(w *world) string {
		f := w.put(t, "a", fill('a', 2))
		_, err := w.write(f, 0, []byte(fill('b', 3)))
		must(t, err)
		must(t, w.truncate(f, SectorSize))
		w.d.Crash()
		c, _ := w.content(t, "a")
		return sectors(c)
	})
	mustSee(t, got, "a", "b", "aa", "ab", "a0", "ba", "bb", "b0", "aa0", "aab", "ab0", "abb", "a00", "a0b", "ba0", "bab",
		"bb0", "bbb", "b00", "b0b")
}
