package linearizability

import (
	"math/rand/v2"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// server is a machine with an engine on it, or none: the least that turns, pauses and crashes.
type server struct {
	w      *world
	host   *netsim.Host
	eng    *engine.Engine // nil: no process
	rng    *rand.Rand
	life   uint64 // counts processes
	paused uint64 // counts reasons to stand still
	off    bool

	ready   []happening // what the next turn is told
	accepts []engine.ConnInfo
	turns   uint64
	due     bool // a turn is
	wakeAt  engine.Instant
	live    []served
	saboteur
}

// served is a connection that the engine has.
type served struct {
	id   engine.ConnID
	conn *netsim.Conn
}

// happening is what a turn tells the engine. conn alone: it can be read.
type happening struct {
	kind happeningKind
	conn *netsim.Conn
	job  engine.JobID
}

type happeningKind uint8

const (
	canRead happeningKind = iota
	canWrite
	broke
	accepted
	started
	listens
	timer
	jobEnded
)

const serverTurn, serverWake, serverBoot, serverResume = 0, 1, 2, 3

func newServer(w *world) *server {
	s := &server{w: w}
	s.saboteur.forget()
	s.host = w.net.AddHost(0, s)
	return s
}

func (s *server) after(d schedule.Time, op uint64) { s.w.queue.After(d, s, op|s.life<<2) }

// Fire runs one of the server's events, unless its process is gone.
func (s *server) Fire(now schedule.Time, arg uint64) {
	op, life := arg&3, arg>>2
	switch {
	case op == serverResume:
		s.paused--
		s.poke()
	case life != s.life:
	case op == serverTurn:
		s.turn()
	case op == serverWake:
		if now, _ := s.Now(); s.wakeAt <= now {
			s.wakeAt = engine.Never
			s.tell(happening{kind: timer})
		}
	case op == serverBoot:
		s.boot()
	}
}

func (s *server) boot() {
	if s.eng != nil || s.off {
		return
	}
	s.life++
	s.due, s.wakeAt = false, engine.Never
	s.rng = rand.New(rand.NewPCG(s.w.seed, s.life))
	s.eng = engine.New(s.w.options, engine.Env{Clock: s, Network: s, Jobs: s, Rand: s, Log: s})
	s.tell(happening{kind: started})
}

// die ends the process: all connections are given up at this moment.
func (s *server) die() {
	if s.eng == nil {
		return
	}
	s.eng = nil
	s.life++
	for _, l := range s.live {
		s.w.gaveUp(l.conn)
	}
	s.live, s.ready, s.accepts = nil, nil, nil
	s.saboteur.forget()
	s.w.seen.restarts++
}

func (s *server) tell(h happening) {
	if s.eng != nil {
		s.ready = append(s.ready, h)
		s.poke()
	}
}

func (s *server) poke() {
	if s.eng == nil || s.due || s.paused > 0 || len(s.ready) == 0 {
		return
	}
	s.due = true
	s.turns++
	s.after(schedule.Time(s.w.number(purposeTurn, s.turns, 1000, int64(s.w.turnMax))), serverTurn)
}

func (s *server) turn() {
	s.due = false
	if s.paused > 0 {
		return
	}
	s.eng.BeginTurn()
	count, did := len(s.ready), 0
	for did < count && !s.eng.TurnFull() {
		did++
		s.hand(s.ready[did-1])
	}
	s.ready = append(s.ready[:0], s.ready[did:]...)
	s.eng.EndTurn()
	s.poke()
}

func (s *server) hand(h happening) {
	id := engine.ConnID(0)
	if h.conn != nil {
		id = h.conn.ID()
	}
	switch h.kind {
	case started:
		s.eng.Start()
	case listens:
		s.eng.ListenerUp(1, 4222)
	case accepted:
		id := s.eng.Accepted(1, s.accepts[0])
		s.accepts = s.accepts[1:]
		s.live = append(s.live, served{id, h.conn})
		h.conn.Bind(id)
	case canRead:
		s.read(h.conn)
	case canWrite:
		if s.host.Conn(id) == h.conn {
			s.eng.Writable(id)
		}
	case broke:
		if s.kind == endUntold {
			s.lose(h.conn)
		} else if s.at(h.conn) >= 0 {
			s.eng.Closed(id, "connection reset by peer")
			s.lose(h.conn)
		}
	case timer:
		s.eng.TimerDue()
	case jobEnded:
		s.eng.JobDone(h.job)
	}
}

// read hands over what one turn takes of what arrived.
func (s *server) read(c *netsim.Conn) {
	id := c.ID()
	if c.Paused() || s.host.Conn(id) != c {
		return
	}
	buf := make([]byte, s.w.readMax)
	n, eof := c.Read(buf)
	if data := s.tamper(id, buf[:n]); len(data) > 0 {
		s.eng.Received(id, data)
	}
	switch {
	case eof:
		s.eng.EOF(id)
	case n == len(buf):
		s.tell(happening{conn: c})
	}
}

func (s *server) at(c *netsim.Conn) int {
	for i, l := range s.live {
		if l.conn == c {
			return i
		}
	}
	return -1
}

// lose is the end of a connection for the engine.
func (s *server) lose(c *netsim.Conn) {
	if i := s.at(c); i >= 0 {
		s.live = append(s.live[:i], s.live[i+1:]...)
		s.w.gaveUp(c)
	}
}

// What the machine tells.

func (s *server) ListenerUp(engine.ListenerID, string, int)     { s.tell(happening{kind: listens}) }
func (s *server) ListenerFailed(_ engine.ListenerID, why error) { s.w.t.Fatal(why) }
func (s *server) Connected(*netsim.Conn)                        {}
func (s *server) DialFailed(*netsim.Conn, error)                {}
func (s *server) Readable(c *netsim.Conn)                       { s.tell(happening{conn: c}) }
func (s *server) Writable(c *netsim.Conn)                       { s.tell(happening{kind: canWrite, conn: c}) }
func (s *server) Closed(c *netsim.Conn, _ error)                { s.tell(happening{kind: broke, conn: c}) }
func (s *server) Accepted(c *netsim.Conn, _ engine.ListenerID, info engine.ConnInfo) {
	s.accepts = append(s.accepts, info)
	s.tell(happening{kind: accepted, conn: c})
	s.tell(happening{conn: c}) // told again once it has a name
}

// What the engine asks for.

func (s *server) Now() (engine.Instant, engine.WallTime) {
	t := s.w.queue.Now()
	return engine.Instant(t + 1), engine.WallTime(t)
}

func (s *server) Wake(at engine.Instant) {
	s.wakeAt = at
	if at != engine.Never {
		now, _ := s.Now()
		s.after(schedule.Time(max(at-now, 0)), serverWake)
	}
}

func (s *server) Listen(l engine.ListenerID, addr string)  { s.host.Listen(l, addr) }
func (s *server) StopListening(l engine.ListenerID)        { s.host.StopListening(l) }
func (s *server) Send(id engine.ConnID, bufs [][]byte) int { return s.host.Send(id, bufs) }
func (s *server) PauseReading(id engine.ConnID)            { s.host.PauseReading(id) }
func (s *server) ResumeReading(id engine.ConnID)           { s.host.ResumeReading(id) }
func (s *server) CloseWrite(id engine.ConnID)              { s.host.CloseWrite(id) }
func (s *server) Log(_ engine.Level, subject, text string) {}
func (s *server) Uint64() uint64                           { return s.rng.Uint64() }
func (s *server) Submit(id engine.JobID, run func()) {
	run()
	s.tell(happening{kind: jobEnded, job: id})
}
func (s *server) Close(id engine.ConnID) {
	c := s.host.Conn(id)
	s.host.Close(id)
	if c != nil {
		s.lose(c)
	}
}

// What goes wrong with it.

// strike does the harm chosen for a quarter of a second.
func (s *server) strike(slot uint64) {
	w := s.w
	how := decision.Key{Kind: decision.SimFault, Actor: decision.Of(decision.Node, 0), N: slot}
	long := func(most int64) schedule.Time { return schedule.Time(w.number(purposeFault, slot, 0, most)) }
	switch w.source.Pick(how, w.harms[:]) {
	case harmPause:
		w.note("stands still")
		s.paused++
		s.after(long(400e6), serverResume)
	case harmCrash:
		w.note("crashes")
		s.die()
		s.host.Kill()
		s.after(long(300e6), serverBoot)
	case harmPower:
		w.note("loses power")
		s.die()
		s.host.PowerOff()
		s.off = true
	case harmSuspend:
		w.note("is suspended")
		s.host.Suspend()
	case harmNone: // and what is wrong ends
		s.host.Resume()
		s.host.PowerOn()
		if s.off {
			w.note("has power again")
			s.off = false
			s.boot()
		}
	}
}

const (
	harmNone = iota
	harmPause
	harmCrash
	harmPower
	harmSuspend
	numHarms
)
