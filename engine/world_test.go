package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/natsd/natsd/monitor"
)

// fakeWorld is the smallest world: a clock set by hand and a network that takes as much as it is told to. It panics when
// the engine asks for what env.go does not allow.
type fakeWorld struct {
	now     Instant
	wake    Instant
	sent    map[ConnID]*strings.Builder
	room    int            // bytes that one Send takes at most; -1: all
	rooms   map[ConnID]int // bytes that a connection still takes in all; absent: any number
	blocked map[ConnID]bool
	paused  map[ConnID]bool
	fin     map[ConnID]bool
	gone    map[ConnID]bool
	jobs    map[JobID]func()
	seed    uint64
	log     []string
	listens []string
	answers map[QueryID]monitor.Answer
}

func newFakeWorld() *fakeWorld {
	return &fakeWorld{
		now: 1, room: -1, sent: map[ConnID]*strings.Builder{}, rooms: map[ConnID]int{}, blocked: map[ConnID]bool{},
		paused: map[ConnID]bool{}, fin: map[ConnID]bool{}, gone: map[ConnID]bool{}, jobs: map[JobID]func(){},
		answers: map[QueryID]monitor.Answer{},
	}
}

// here panics if the connection was given up before.
func (w *fakeWorld) here(c ConnID, call string) {
	if w.gone[c] {
		panic(fmt.Sprintf("%s(%x) after Close", call, c))
	}
}

func (w *fakeWorld) Now() (Instant, WallTime)      { return w.now, WallTime(w.now) }
func (w *fakeWorld) Wake(at Instant)               { w.wake = at }
func (w *fakeWorld) Listen(l ListenerID, a string) { w.listens = append(w.listens, a) }
func (w *fakeWorld) StopListening(l ListenerID)    { w.listens = append(w.listens, "stop") }

func (w *fakeWorld) Send(c ConnID, bufs [][]byte) int {
	w.here(c, "Send")
	if w.blocked[c] {
		panic("Send before Writable")
	}
	if w.sent[c] == nil {
		w.sent[c] = &strings.Builder{}
	}
	n, room := 0, w.room
	if left, ok := w.rooms[c]; ok && (room < 0 || left < room) {
		room = left
	}
	for _, b := range bufs {
		if len(b) == 0 {
			panic("Send of an empty buffer")
		}
		if room >= 0 && n+len(b) > room {
			w.sent[c].Write(b[:room-n])
			n = room
			w.blocked[c] = true
			break
		}
		w.sent[c].Write(b)
		n += len(b)
	}
	if _, ok := w.rooms[c]; ok {
		w.rooms[c] -= n
	}
	return n
}

func (w *fakeWorld) PauseReading(c ConnID) {
	w.here(c, "PauseReading")
	if w.paused[c] {
		panic("PauseReading twice")
	}
	w.paused[c] = true
}

func (w *fakeWorld) ResumeReading(c ConnID) {
	w.here(c, "ResumeReading")
	if !w.paused[c] {
		panic("ResumeReading of what was not paused")
	}
	delete(w.paused, c)
}

func (w *fakeWorld) CloseWrite(c ConnID) {
	w.here(c, "CloseWrite")
	w.fin[c] = true
}

func (w *fakeWorld) Close(c ConnID) {
	w.here(c, "Close")
	w.gone[c] = true
}

func (w *fakeWorld) Submit(id JobID, run func())         { w.jobs[id] = run }
func (w *fakeWorld) Uint64() uint64                      { w.seed++; return w.seed * 0x9e3779b97f4a7c15 }
func (w *fakeWorld) Log(l Level, subject, t string)      { w.log = append(w.log, subject+" "+t) }
func (w *fakeWorld) Answer(id QueryID, a monitor.Answer) { w.answers[id] = a }

func (w *fakeWorld) env() Env {
	return Env{Clock: w, Network: w, Jobs: w, Rand: w, Log: w, Monitor: w}
}

// take returns what was sent to the connection since it was taken last.
func (w *fakeWorld) take(c ConnID) string {
	b := w.sent[c]
	if b == nil {
		return ""
	}
	s := b.String()
	b.Reset()
	return s
}

// logged reports whether a log line contains the text.
func (w *fakeWorld) logged(text string) bool {
	return slices.ContainsFunc(w.log, func(l string) bool { return strings.Contains(l, text) })
}

func turn(e *Engine, f func()) {
	e.BeginTurn()
	f()
	e.EndTurn()
}

// ring is the wake-up that the engine asked for.
func (w *fakeWorld) ring(e *Engine) {
	w.wake = Never
	turn(e, e.TimerDue)
}

// settle runs turns until nothing is due at this moment.
func (w *fakeWorld) settle(t rapid.TB, e *Engine) {
	t.Helper()
	for n := 0; w.wake <= w.now; n++ {
		if n > 100_000 {
			t.Fatal("there is always something due")
		}
		w.ring(e)
	}
}

// finishJobs runs the jobs that were submitted and tells the engine.
func (w *fakeWorld) finishJobs(e *Engine) {
	for _, id := range slices.Sorted(maps.Keys(w.jobs)) {
		w.jobs[id]()
		delete(w.jobs, id)
		turn(e, func() { e.JobDone(id) })
	}
}

// advance lets time pass.
func (w *fakeWorld) advance(t rapid.TB, e *Engine, d Instant) {
	t.Helper()
	end := w.now + d
	for w.wake <= end {
		w.now = max(w.now, w.wake)
		w.ring(e)
		w.settle(t, e)
	}
	w.now = end
}

// open has the connection take everything from now on, and tells the engine.
func (w *fakeWorld) open(e *Engine, c ConnID) {
	delete(w.rooms, c)
	w.give(e, c, 0)
}

// give has the connection take n more bytes, and tells the engine.
func (w *fakeWorld) give(e *Engine, c ConnID, n int) {
	if _, ok := w.rooms[c]; ok {
		w.rooms[c] += n
	}
	if w.blocked[c] && !w.gone[c] {
		delete(w.blocked, c)
		turn(e, func() { e.Writable(c) })
	}
}

func started(t rapid.TB, o Options) (*Engine, *fakeWorld) {
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

// join adds a connection that has sent a quiet CONNECT and what follows it, and takes away what it was sent for that.
func (w *fakeWorld) join(e *Engine, more string) ConnID {
	c := accept(e)
	say(e, c, "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true}\r\n"+more)
	w.take(c)
	return c
}

// say is a turn in which a connection sends something.
func say(e *Engine, c ConnID, data string) {
	turn(e, func() { e.Received(c, []byte(data)) })
}

// left checks that nothing is left once all connections are gone.
func (w *fakeWorld) left(t rapid.TB, e *Engine) {
	t.Helper()
	w.advance(t, e, 2*Instant(lingerTime))
	f := e.Footprint()
	f.Slots = 0
	if f != (Footprint{}) {
		t.Fatalf("left behind: %+v", f)
	}
}
