package host

import (
	"context"
	crand "crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/monitor"
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
	// Processors is what HoldProcessors returned; 0 where the process is not the server's own.
	Processors int
	// TLS is for handshakes with clients; required where Engine.TLS is on, or a reload turns it on. Its GetConfigForClient
	// may follow changes.
	TLS *tls.Config
	// OCSPCache tells what is remembered of clients' certificates, for monitoring, from any thread; it may be nil, and return nil.
	OCSPCache func() *monitor.OCSPCache
	// AccountDir is the directory of account JWTs, where Engine.Operators has a resolver with one.
	AccountDir string
	// FetchTLS is for the pages of a URL resolver; nil: the defaults. FetchWith changes it.
	FetchTLS *tls.Config
	// Reload reads the configuration again and has it put into force, or returns why nothing has changed. It is called where an
	// operator asks for it by the system account, on a goroutine of its own. Nil: there is nothing to read.
	Reload func() error
	// Opened is called when the address for clients is open and nobody has been let in yet, with its port, on the loop's thread. On
	// an error the server ends, and Run returns it. It may be nil.
	Opened func(port int) error
}

// Server runs one engine in the real world.
type Server struct {
	opts    Options
	inbox   inbox
	clock   *clock
	e       *engine.Engine
	loop    loop
	jobs    jobs
	answers answers
	process process
	vault   vault
	pages   *pages

	handshakes handshakes

	ready    chan struct{} // closed when listening, or when that failed
	readyOne sync.Once
	done     chan struct{} // closed when Run returns
	addr     engine.Port
	failed   string // why the address could not be opened
	refused  error  // what Opened returned
	crowded  seldom
	stopping bool      // used by the loop only, as the next are
	began    time.Time // when the turn did
	turnCPU  turnCPU
	reloads  []func(*engine.Engine) // that wait, in the order of the calls
}

// loop is what differs between systems.
type loop interface {
	engine.Network
	engine.TLS
	// run drives the engine until it has stopped.
	run() error
	// wake makes the loop look at the inbox soon. It may be called from any thread, before close.
	wake()
	// close gives up what the loop holds, after run, or where run is not to come.
	close()
}

const (
	acceptPerTurn = 64        // connections
	turnBytes     = 512 << 10 // read in one turn, over all connections
)

// acceptPause is how long no connection is accepted after there was no room for one.
const acceptPause = 100 * time.Millisecond

// acceptComplaints is how often the log says that connections can't be accepted.
const acceptComplaints = 10 * time.Second

// ErrNotListening is wrapped by what Run returns when the address could not be opened. It has been logged then.
var ErrNotListening = errors.New("the client port could not be opened")

// New makes a server. Run starts it; Discard gives it up without. It fails without Options.Log, and where the system has no descriptors
// or memory left for an event loop, which Portable does not need. Options.Engine must have been checked: what is wrong with it panics.
func New(o Options) (*Server, error) {
	if o.Log == nil {
		return nil, errors.New("host: Options.Log is required")
	}
	if o.ReadBytes == 0 {
		o.ReadBytes = 64 << 10
	}
	complete(&o.Engine, o.processors())
	s := &Server{opts: o, clock: newClock(), ready: make(chan struct{}), done: make(chan struct{}), handshakes: newHandshakes(o.processors())}
	s.crowded.every = acceptComplaints
	s.process.ocsp = o.OCSPCache
	s.process.processors = o.processors()
	s.vault.s, s.vault.dir = s, o.AccountDir
	s.pages = newPages(s, o.FetchTLS)
	s.answers.waiting = map[engine.QueryID]chan monitor.Answer{}
	var err error
	if o.Portable {
		s.loop = newPortable(s)
	} else if s.loop, err = newLoop(s); err != nil {
		return nil, fmt.Errorf("host: the event loop can't be set up: %w", err)
	}
	s.e = engine.New(s.opts.Engine, s.env())
	return s, nil
}

// env is the world that the engine lives in.
func (s *Server) env() engine.Env {
	env := engine.Env{
		Clock: s.clock, Network: s.loop, TLS: s.loop, Jobs: s, Rand: entropy{}, Log: s.opts.Log, Monitor: &s.answers,
		Process: &s.process, Diagnosis: diagnosis{},
		Web: s.pages, Vault: &s.vault, Zones: &zones{},
	}
	if s.opts.Reload != nil {
		env.Operator = operator{s}
	}
	return env
}

// Identity is the server's name and its id. They never change.
func (s *Server) Identity() (name, id string) { return s.e.Identity() }

// Discard gives up a server instead of Run: nothing is started in order to be ended.
func (s *Server) Discard() {
	s.inbox.close()
	s.loop.close()
	s.markReady()
	close(s.done)
}

// Run serves until the engine has stopped: after Stop, or after lame duck mode has ended, when it returns nil. It may be called once. Its
// error wraps ErrNotListening where the client port could not be opened, is what Options.Opened has returned, or says that the system
// failed the event loop.
func (s *Server) Run() error {
	defer close(s.done)
	defer s.markReady()
	defer s.crashed()
	err := s.loop.run()
	s.inbox.close() // nobody wakes the loop from here on
	s.loop.close()
	s.vault.finish()
	switch {
	case err != nil:
		return err
	case s.failed != "":
		return fmt.Errorf("%w: %s", ErrNotListening, s.failed)
	}
	return s.refused
}

// crashed puts a panic of the engine, a broken invariant most likely, into the log before it ends the process.
func (s *Server) crashed() {
	v := recover()
	if v == nil {
		return
	}
	s.opts.Log.Log(engine.LevelFatal, "", fmt.Sprintf("natsd stops because its own state is broken: %v. It held %+v. %s", v, s.e.Footprint(), debug.Stack()))
	if l, ok := s.opts.Log.(interface{ Close() }); ok {
		l.Close() // writes what waits
	}
	panic(v)
}

// Ready is closed when the server listens, or when it has failed to.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// Done is closed when Run has returned.
func (s *Server) Done() <-chan struct{} { return s.done }

// Port is the client port; 0 when not listening. Valid after Ready.
func (s *Server) Port() int { return s.addr.Port }

// Stop asks the server to close its connections and end. It returns at once. Before Run it makes Run end at once.
func (s *Server) Stop() {
	s.post(func(e *engine.Engine) {
		s.stopping = true
		e.Stop()
	})
}

// LameDuck asks the server to enter lame duck mode. It returns at once.
func (s *Server) LameDuck() { s.post(func(e *engine.Engine) { e.LameDuck() }) }

// NeedRestart returns what of new options can't change without a restart, as Engine.NeedRestart does; nothing when the server has
// ended.
func (s *Server) NeedRestart(o engine.Options) []string {
	answer := make(chan []string, 1)
	s.post(func(e *engine.Engine) { answer <- e.NeedRestart(o) })
	select {
	case names := <-answer:
		return names
	case <-s.done:
		return nil
	}
}

// Reload has the engine take over new options, and returns before it has. Reloads are carried out one at a time, in the order of
// the calls, each when connections have followed the one before: they would all have to in one turn. done is called on the loop's
// thread with the names of what can't change without a restart, for which nothing has changed; never, if the server ends first (Done), or has ended.
func (s *Server) Reload(o engine.Options, done func(needRestart []string)) {
	complete(&o, s.opts.processors())
	p := engine.Prepare(o)
	s.post(func(*engine.Engine) {
		s.reloads = append(s.reloads, func(e *engine.Engine) { done(e.ReloadPrepared(p)) })
	})
}

// reload carries out the next reloads, inside a turn, as far as they need not wait.
func (s *Server) reload() {
	for len(s.reloads) > 0 && !s.e.Following() {
		next := s.reloads[0]
		s.reloads = s.reloads[1:]
		next(s.e)
	}
}

// reloadSoon has another turn come, behind one, if a reload no longer has to wait. While connections follow, the engine has the
// turns come in which they do.
func (s *Server) reloadSoon() {
	if len(s.reloads) > 0 && !s.e.Following() {
		s.loop.wake()
	}
}

// complete adds what the host decides.
func complete(o *engine.Options, processors int) {
	o.GoVersion = runtime.Version()
	if o.Checks == 0 {
		o.Checks = besides(processors) + 1 // one waits here, the others in the engine, which knows whose turn it is
	}
}

// Footprint counts what the engine holds, for leak checks. It is all zero when the server has ended.
func (s *Server) Footprint() engine.Footprint {
	answer := make(chan engine.Footprint, 1)
	s.post(func(e *engine.Engine) { answer <- e.Footprint() })
	select {
	case f := <-answer:
		return f
	case <-s.done:
		return engine.Footprint{}
	}
}

// post has f called inside a turn. It returns false when the server has ended, and f is not called.
func (s *Server) post(f func(*engine.Engine)) bool { return s.inbox.put(f, s.loop.wake) }

// Submit implements engine.Jobs.
func (s *Server) Submit(id engine.JobID, run func()) { s.jobs.submit(s, id, run) }

// start runs the first turn.
func (s *Server) start() {
	s.e.BeginTurn()
	s.e.Start()
	s.e.EndTurn()
}

// turn runs one turn of the engine and measures it.
//
// body tells the engine what has arrived, and returns whether there may be more.
func (s *Server) turn(body func(*engine.Engine) (busy bool)) {
	s.began = time.Now()
	s.e.BeginTurn()
	for _, f := range s.inbox.take() {
		f(s.e)
	}
	s.reload()
	busy := body(s.e)
	if s.clock.due(s.began, busy) { // after what has arrived
		s.e.TimerDue()
	}
	s.e.EndTurn()
	s.reloadSoon()
	took := time.Since(s.began)
	s.e.TurnTook(int64(took), int64(s.turnCPU.most(took)))
}

// listening tells the engine the outcome of a Listen, in the next turn.
func (s *Server) listening(l engine.ListenerID, port int, err error) {
	s.post(func(e *engine.Engine) {
		switch {
		case s.stopping: // before it was up
			s.loop.StopListening(l)
		case err != nil:
			s.failed = err.Error()
			e.ListenerFailed(l, s.failed)
		case s.refuses(port):
			s.loop.StopListening(l)
			s.stopping = true
			e.Stop()
		default:
			e.ListenerUp(l, port)
			s.addr = e.Addr()
		}
		s.markReady()
	})
}

// refuses reports whether Opened does.
func (s *Server) refuses(port int) bool {
	if s.opts.Opened != nil {
		s.refused = s.opts.Opened(port)
	}
	return s.refused != nil
}

// open opens an address for clients. Dead peers are found by pings, as the protocol has them, not by TCP's keepalive.
// Sockets are plain TCP: what the epoll loop believes about edges and short reads is known to hold for those.
func open(addr string) (*net.TCPListener, error) {
	lc := net.ListenConfig{KeepAlive: -1}
	lc.SetMultipathTCP(false)
	ln, err := lc.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	return ln.(*net.TCPListener), nil
}

// notAccepted logs that a connection could not be accepted, for want of descriptors most likely. As long as that lasts, it
// is so every acceptPause.
func (s *Server) notAccepted(err error) {
	if text := s.crowded.say(time.Now(), "A connection could not be accepted: "+err.Error()); text != "" {
		s.opts.Log.Log(engine.LevelError, "", text)
	}
}

func (s *Server) markReady() { s.readyOne.Do(func() { close(s.ready) }) }

// entropy is the operating system's.
type entropy struct{}

func (entropy) Uint64() uint64 {
	var b [8]byte
	crand.Read(b[:]) // never fails, as documented since Go 1.24
	return binary.LittleEndian.Uint64(b[:])
}
