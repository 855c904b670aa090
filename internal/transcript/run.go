package transcript

import (
	"bytes"
	"fmt"
	"time"
)

// World is where a scenario happens.
type World interface {
	// Dial connects a client that takes window bytes without reading them (0: a default). It reports false if the server
	// refuses the connection.
	Dial(window int) (Peer, bool)
	// Advance lets time pass.
	Advance(d time.Duration)
	// Signal tells the server what an operator would: TERM, INT or USR2.
	Signal(name string)
	// Exited waits for the server's end and reports its exit status, or false if it goes on.
	Exited() (status int, ended bool)
}

// Peer is the client's end of a connection.
type Peer interface {
	// Send gives the server these bytes in one piece. Sending on a connection that the server has ended does nothing.
	Send(data []byte)
	// Receive returns what has arrived since the last call, at least one byte if more is to come. It returns nothing when
	// nothing comes: at once in a simulated world that has become idle, after a while in the real one, where patient says
	// that something is expected. Ended says that the server has closed the connection and that this was all.
	Receive(patient bool) (data []byte, ended bool)
	// CloseWrite ends the client's direction only.
	CloseWrite()
	// Close ends the connection.
	Close()
}

// Recording is what one OpRecord step received.
type Recording struct {
	Line  int
	Conn  string
	Data  []byte
	Ended bool
}

// Run plays a scenario as it goes for natsd, or for nats-server if it comes from Scenario.For. Sends are cut into pieces
// of piece bytes, or stay whole if piece is 0. Run returns what OpRecord steps received, up to the first expectation that
// failed.
func Run(sc *Scenario, w World, piece int) ([]Recording, error) {
	r := runner{world: w, piece: piece, conns: map[string]*conn{}}
	defer r.closeAll()
	for i := range sc.Steps {
		step := &sc.Steps[i]
		if step.Only == NatsServer {
			continue
		}
		if err := r.step(step); err != nil {
			return r.recordings, fmt.Errorf("%s:%d: %s: %w", sc.File, step.Line, sc.Name, err)
		}
	}
	return r.recordings, nil
}

type runner struct {
	world      World
	piece      int
	conns      map[string]*conn
	order      []*conn // in the order of dialling
	recordings []Recording
}

// conn is a connection and what it received that no step has accounted for.
type conn struct {
	peer   Peer
	unread []byte
	ended  bool
}

func (r *runner) closeAll() {
	for _, c := range r.order {
		c.peer.Close()
	}
}

func (r *runner) step(s *Step) error {
	switch s.Op {
	case OpDial, OpConnect:
		return r.dial(s)
	case OpRefused:
		if peer, ok := r.world.Dial(0); ok {
			peer.Close()
			return fmt.Errorf("the server accepted the connection")
		}
		return nil
	case OpAdvance:
		r.world.Advance(s.Duration)
		return nil
	case OpSignal:
		r.world.Signal(s.Signal)
		return nil
	case OpExit:
		status, ended := r.world.Exited()
		if !ended {
			return fmt.Errorf("the server goes on")
		}
		if status != s.Status {
			return fmt.Errorf("the server ended with status %d", status)
		}
		return nil
	}
	c := r.conns[s.Conn]
	if c == nil {
		return fmt.Errorf("no connection %s", s.Conn)
	}
	if s.expects() {
		return r.expect(s, c)
	}
	switch s.Op {
	case OpSend:
		r.send(c, s.Data)
	case OpHalfClose:
		c.peer.CloseWrite()
	case OpLeave:
		c.peer.Close()
	}
	return nil
}

func (r *runner) dial(s *Step) error {
	peer, ok := r.world.Dial(s.Window)
	if !ok {
		return fmt.Errorf("connection refused")
	}
	c := &conn{peer: peer}
	r.conns[s.Conn] = c
	r.order = append(r.order, c)
	if s.Op == OpDial {
		return nil
	}
	for {
		if end := bytes.Index(c.unread, []byte("\r\n")); end >= 0 {
			if !bytes.HasPrefix(c.unread, []byte("INFO {")) {
				return fmt.Errorf("first line is %q, not INFO", c.unread[:end])
			}
			c.unread = c.unread[end+2:]
			return nil
		}
		if !c.receive(true) {
			return fmt.Errorf("no INFO, but %q", c.unread)
		}
	}
}

func (r *runner) send(c *conn, data []byte) {
	piece := r.piece
	if piece == 0 {
		piece = len(data)
	}
	for len(data) > piece {
		c.peer.Send(data[:piece])
		data = data[piece:]
	}
	c.peer.Send(data)
}

// receive adds to unread; false if nothing came.
func (c *conn) receive(patient bool) bool {
	if c.ended {
		return false
	}
	data, ended := c.peer.Receive(patient)
	c.unread = append(c.unread, data...)
	c.ended = ended
	return len(data) > 0
}

func (r *runner) expect(s *Step, c *conn) error {
	switch s.Op {
	case OpClosed, OpCut:
		for c.receive(true) {
			if s.Op == OpCut {
				c.unread = c.unread[:0]
			}
		}
		if s.Op == OpCut {
			c.unread = c.unread[:0]
		}
		if len(c.unread) > 0 {
			return fmt.Errorf("not closed yet, but received %s", Quote(c.unread))
		}
		if !c.ended {
			return fmt.Errorf("the connection stays open")
		}
		return nil
	case OpSilent:
		c.receive(false)
		if len(c.unread) > 0 {
			return fmt.Errorf("received %s", Quote(c.unread))
		}
		if c.ended {
			return fmt.Errorf("the connection was closed")
		}
		return nil
	case OpRecord:
		for c.receive(false) {
		}
		r.recordings = append(r.recordings, Recording{s.Line, s.Conn, c.unread, c.ended})
		c.unread = nil
		return nil
	}
	return c.expectBytes(s)
}

func (c *conn) expectBytes(s *Step) error {
	for {
		n, v := s.match(c.unread)
		switch v {
		case fulfilled:
			c.unread = c.unread[n:]
			return nil
		case failed:
			return fmt.Errorf("received %s", Quote(c.unread))
		}
		if c.receive(true) {
			continue
		}
		if c.ended {
			return fmt.Errorf("closed after %s", Quote(c.unread))
		}
		return fmt.Errorf("received only %s", Quote(c.unread))
	}
}
