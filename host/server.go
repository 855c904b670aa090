package host

import (
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/natsd/natsd/engine"
)

// Options configure a Server.
type Options struct {
	Engine engine.Options
	// Portable runs the portable loop even where a better one exists.
	Portable bool
	// Log takes the engine's lines; required. It is called from the loop's thread and must not block for long.
	Log engine.Log
	// ReadBytes is how much of one connection is read in a turn; default 64 KiB.
	ReadBytes int
}

// Server runs one engine in the real world.
type Server struct {
	opts    Options
	inbox   inbox
	clock   *clock
	e       *engine.Engine
	loop    loop
	answers answers

	ready    chan struct{} // closed when listening, or when that failed
	readyOne sync.Once
	done     chan struct{} // closed when Run returns
	addr     engine.Port
}

// loop is what differs between systems.
type loop interface {
	engine.Network
	// run drives the engine until it has stopped.
	run() error
	// wake makes the loop look at the inbox soon. It may be called from any thread.
	wake()
}

// acceptPause is how long no connection is accepted after there was no room for one.
const acceptPause = 100 * time.Millisecond

// ErrNotListening is returned by Run when the address could not be opened; the log says why.
var ErrNotListening = errors.New("the client port could not be opened (see the log)")

// New makes a server; Run starts it.
func New(o Options) (*Server, error) {
	if o.Log == nil {
		return nil, errors.New("host: Options.Log is required")
	}
	if o.ReadBytes == 0 {
		o.ReadBytes = 64 << 10
	}
	o.Engine.GoVersion = runtime.Version()
	s := &Server{opts: o, clock: newClock(), ready: make(chan struct{}), done: make(chan struct{})}
	s.answers.waiting = map[engine.QueryID]chan any{}
	var err error
	if o.Portable {
		s.loop = newPortable(s)
	} else if s.loop, err = newLoop(s); err != nil {
		return nil, fmt.Errorf("host: the event loop can't be set up: %w", err)
	}
	return s, nil
}

// Run serves until the engine has stopped: after Stop, or after lame duck mode has ended. It may be called once.
func (s *Server) Run() error {
	defer close(s.done)
	defer s.markReady()
	s.e = engine.New(s.opts.Engine, engine.Env{
		Clock: s.clock, Network: s.loop, Jobs: s, Rand: entropy{}, Log: s.opts.Log, Monitor: &s.answers,
	})
	err := s.loop.run()
	s.inbox.close()
	if err == nil && s.addr.Port == 0 {
		err = ErrNotListening
	}
	return err
}

// Ready is closed when the server listens, or when it has failed to.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// Done is closed when Run has returned.
func (s *Server) Done() <-chan struct{} { return s.done }

// Port is the client port; 0 when not listening. Valid after Ready.
func (s *Server) Port() int { return s.addr.Port }

// Stop asks the server to close its connections and end. It returns at once.
func (s *Server) Stop() { s.post(func(e *engine.Engine) { e.Stop() }) }

// LameDuck asks the server to enter lame duck mode. It returns at once.
func (s *Server) LameDuck() { s.post(func(e *engine.Engine) { e.LameDuck() }) }

// Reload has the engine take over new options. done is called on the loop's thread with the names of what can't change
// without a restart.
func (s *Server) Reload(o engine.Options, done func(needRestart []string)) {
	o.GoVersion = runtime.Version()
	s.post(func(e *engine.Engine) { done(e.Reload(o)) })
}

// post has f called inside a turn.
func (s *Server) post(f func(*engine.Engine)) {
	if s.inbox.put(f) {
		s.loop.wake()
	}
}

// Submit implements engine.Jobs with a goroutine per job: they are rare and long.
func (s *Server) Submit(id engine.JobID, run func()) {
	go func() {
		run()
		s.post(func(e *engine.Engine) { e.JobDone(id) })
	}()
}

// turn runs one turn of the engine and measures it.
func (s *Server) turn(body func(*engine.Engine)) {
	began := time.Now()
	s.e.BeginTurn()
	for _, f := range s.inbox.take() {
		f(s.e)
	}
	if s.clock.due() {
		s.e.TimerDue()
	}
	body(s.e)
	s.e.EndTurn()
	s.e.TurnTook(int64(time.Since(began)))
}

// listening tells the engine the outcome of a Listen, in the next turn.
func (s *Server) listening(l engine.ListenerID, port int, err error) {
	s.post(func(e *engine.Engine) {
		if err != nil {
			e.ListenerFailed(l, err.Error())
		} else {
			e.ListenerUp(l, port)
			s.addr = e.Addr()
		}
		s.markReady()
	})
}

func (s *Server) markReady() { s.readyOne.Do(func() { close(s.ready) }) }

// entropy is the operating system's.
type entropy struct{}

func (entropy) Uint64() uint64 {
	var b [8]byte
	crand.Read(b[:]) // never fails, as documented since Go 1.24
	return binary.LittleEndian.Uint64(b[:])
}
