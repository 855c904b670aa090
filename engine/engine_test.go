package engine

import (
	"strings"
	"testing"
)

// fakeWorld is the smallest world: a clock set by hand and a network that takes everything.
type fakeWorld struct {
	now  Instant
	wake Instant
	sent map[ConnID]*strings.Builder
	room int // bytes that Send takes at most; -1: all
	fin  map[ConnID]bool
	gone map[ConnID]bool
	jobs map[JobID]func()
	seed uint64
	log  []string
}

func newFakeWorld() *fakeWorld {
	return &fakeWorld{now: 1, room: -1, sent: map[ConnID]*strings.Builder{}, fin: map[ConnID]bool{}, gone: map[ConnID]bool{}, jobs: map[JobID]func(){}}
}

func (w *fakeWorld) Now() (Instant, WallTime)      { return w.now, WallTime(w.now) }
func (w *fakeWorld) Wake(at Instant)               { w.wake = at }
func (w *fakeWorld) Listen(l ListenerID, a string) {}
func (w *fakeWorld) StopListening(l ListenerID)    {}
func (w *fakeWorld) Send(c ConnID, bufs [][]byte) int {
	n := 0
	for _, b := range bufs {
		if w.room >= 0 && n+len(b) > w.room {
			b = b[:w.room-n]
		}
		if w.sent[c] == nil {
			w.sent[c] = &strings.Builder{}
		}
		w.sent[c].Write(b)
		n += len(b)
	}
	return n
}
func (w *fakeWorld) PauseReading(c ConnID)          {}
func (w *fakeWorld) ResumeReading(c ConnID)         {}
func (w *fakeWorld) CloseWrite(c ConnID)            { w.fin[c] = true }
func (w *fakeWorld) Close(c ConnID)                 { w.gone[c] = true }
func (w *fakeWorld) Submit(id JobID, run func())    { w.jobs[id] = run }
func (w *fakeWorld) Uint64() uint64                 { w.seed++; return w.seed * 0x9e3779b97f4a7c15 }
func (w *fakeWorld) Log(l Level, subject, t string) { w.log = append(w.log, subject+" "+t) }

func (w *fakeWorld) env() Env { return Env{Clock: w, Network: w, Jobs: w, Rand: w, Log: w} }

func (w *fakeWorld) take(c ConnID) string {
	b := w.sent[c]
	if b == nil {
		return ""
	}
	s := b.String()
	b.Reset()
	return s
}

func turn(e *Engine, f func()) {
	e.BeginTurn()
	f()
	e.EndTurn()
}

func started(t *testing.T, o Options) (*Engine, *fakeWorld) {
	t.Helper()
	w := newFakeWorld()
	o.Check = true
	e := New(o, w.env())
	turn(e, e.Start)
	turn(e, func() { e.ListenerUp(clientListener, 4222) })
	return e, w
}

func accept(e *Engine) (id ConnID) {
	turn(e, func() { id = e.Accepted(clientListener, ConnInfo{IP: "127.0.0.1", Port: 5}) })
	return id
}

func TestPublishReachesSubscriber(t *testing.T) {
	e, w := started(t, Options{})
	c := accept(e)
	if got := w.take(c); !strings.HasPrefix(got, "INFO {") || !strings.HasSuffix(got, "} \r\n") {
		t.Fatalf("greeting: %q", got)
	}
	turn(e, func() {
		e.Received(c, []byte("CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB foo 1\r\nPUB foo 2\r\nhi\r\nPING\r\n"))
	})
	if got, want := w.take(c), "MSG foo 1 2\r\nhi\r\nPONG\r\n"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestBytewiseIsTheSame(t *testing.T) {
	e, w := started(t, Options{})
	c := accept(e)
	w.take(c)
	for _, b := range []byte("connect {\"verbose\":false,\"headers\":true}\r\nSub foo q 1\r\nhpub\tfoo bar  12 14\r\nNATS/1.0\r\n\r\nhi\r\nPING\r\n") {
		turn(e, func() { e.Received(c, []byte{b}) })
	}
	if got, want := w.take(c), "HMSG foo 1 bar 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPONG\r\n"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	turn(e, func() { e.EOF(c) })
	if !w.gone[c] {
		t.Fatal("not closed after EOF")
	}
	if f := e.Footprint(); f != (Footprint{Slots: 1}) {
		t.Fatalf("left behind: %+v", f)
	}
}
