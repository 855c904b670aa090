package diskfault

import (
	"errors"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// errDead is what every operation of a process that has died returns.
var errDead = errors.New("the process is dead")

// failer is what testing.T and rapid.T have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// world runs a disk and, for tests that read like ordinary programs, waits for each operation.
type world struct {
	q    *schedule.Queue
	src  *decision.Source
	d    *Disk
	id   engine.OpID
	got  map[engine.OpID]engine.DiskResult
	seq  []engine.OpID // completions in order
	dead bool          // the process died; Reboot starts another
}

func newWorld(src *decision.Source, cfg Config) *world {
	w := &world{q: &schedule.Queue{}, src: src, got: make(map[engine.OpID]engine.DiskResult)}
	w.d = New(w.q, src, decision.Of(decision.Disk, 1), cfg)
	w.d.Attach(w)
	return w
}

func seeded(seed uint64, cfg Config) *world { return newWorld(decision.FromSeed(seed), cfg) }

// DiskDone implements Sink.
func (w *world) DiskDone(r engine.DiskResult) {
	w.got[r.Op] = r
	w.seq = append(w.seq, r.Op)
}

func (w *world) next() engine.OpID {
	w.id++
	return w.id
}

// wait runs the world until the operation is done or the process is dead.
func (w *world) wait(id engine.OpID) engine.DiskResult {
	for !w.dead {
		if r, ok := w.got[id]; ok {
			delete(w.got, id)
			return r
		}
		if !w.q.Step(1 << 62) {
			panic("diskfault: an operation never completed")
		}
	}
	return engine.DiskResult{Op: id, Err: errDead}
}

// run runs until nothing waits.
func (w *world) run() {
	for w.q.Step(1 << 62) {
	}
}

func (w *world) open(name string, mode engine.OpenMode) (engine.FileID, int64, error) {
	id := w.next()
	w.d.Open(id, name, mode)
	r := w.wait(id)
	return r.File, r.Size, r.Err
}

func (w *world) read(f engine.FileID, off int64, n int) ([]byte, error) {
	id, p := w.next(), make([]byte, n)
	w.d.Read(id, f, off, p)
	r := w.wait(id)
	return p[:r.N], r.Err
}

func (w *world) write(f engine.FileID, off int64, p []byte) (int, error) {
	id := w.next()
	w.d.Write(id, f, off, p)
	r := w.wait(id)
	return r.N, r.Err
}

func (w *world) sync(f engine.FileID) error {
	id := w.next()
	w.d.Sync(id, f)
	return w.wait(id).Err
}

func (w *world) truncate(f engine.FileID, size int64) error {
	id := w.next()
	w.d.Truncate(id, f, size)
	return w.wait(id).Err
}

func (w *world) allocate(f engine.FileID, size int64) error {
	id := w.next()
	w.d.Allocate(id, f, size)
	return w.wait(id).Err
}

func (w *world) close(f engine.FileID) error {
	id := w.next()
	w.d.Close(id, f)
	return w.wait(id).Err
}

func (w *world) rename(from, to string) error {
	id := w.next()
	w.d.Rename(id, from, to)
	return w.wait(id).Err
}

func (w *world) remove(name string) error {
	id := w.next()
	w.d.Remove(id, name)
	return w.wait(id).Err
}

func (w *world) mkdir(name string) error {
	id := w.next()
	w.d.Mkdir(id, name)
	return w.wait(id).Err
}

func (w *world) list(name string) ([]engine.DirEntry, error) {
	id := w.next()
	w.d.List(id, name)
	r := w.wait(id)
	return r.Entries, r.Err
}

func (w *world) syncDir(name string) error {
	id := w.next()
	w.d.SyncDir(id, name)
	return w.wait(id).Err
}

// put makes a file with that content, synced together with its name.
func (w *world) put(t failer, name, content string) engine.FileID {
	t.Helper()
	f, _, err := w.open(name, engine.OpenOrCreate)
	must(t, err)
	_, err = w.write(f, 0, []byte(content))
	must(t, err)
	must(t, w.sync(f))
	must(t, w.syncDir(""))
	return f
}

// content reads a whole file; ok is false if there is none.
func (w *world) content(t failer, name string) (content string, ok bool) {
	t.Helper()
	f, size, err := w.open(name, engine.OpenExisting)
	if errors.Is(err, engine.ErrNotExist) {
		return "", false
	}
	must(t, err)
	p, err := w.read(f, 0, int(size))
	must(t, err)
	must(t, w.close(f))
	return string(p), true
}

func (w *world) names(t failer, dir string) []string {
	t.Helper()
	entries, err := w.list(dir)
	must(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name)
	}
	return out
}

func must(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustBe(t failer, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}
