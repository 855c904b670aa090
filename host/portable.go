package host

import (
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/natsd/natsd/engine"
)

// portable is the loop for systems without one of their own: net.Conn and two goroutines a connection, which exchange
// bytes with the loop through the inbox. It is slower than epoll and does the same.
type portable struct {
	s     *Server
	bell  chan struct{}
	conns []*pconn // by slot; used by the loop only
	lns   map[engine.ListenerID]net.Listener
}

const (
	portableRead  = 32 << 10
	portableWrite = 256 << 10 // bytes that Send takes ahead of the writer
	// portableFlush is how long a connection that was closed may take what Send took.
	portableFlush = 2 * time.Second
)

// pconn is one connection. The goroutines and the loop share what mu guards.
type pconn struct {
	id  engine.ConnID // used by the loop only
	net net.Conn

	mu     sync.Mutex
	change sync.Cond
	out    []byte // taken by Send, not yet by the writer
	owed   bool   // a Send was cut short: Writable is due
	busy   bool   // the reader's buffer is with the loop
	paused bool
	fin    bool // CloseWrite
	closed bool // Close, or the connection failed
}

func newPortable(s *Server) loop {
	return &portable{s: s, bell: make(chan struct{}, 1), lns: map[engine.ListenerID]net.Listener{}}
}

func (p *portable) wake() {
	select {
	case p.bell <- struct{}{}:
	default: // it is ringing
	}
}

func (p *portable) run() error {
	p.s.turn(func(e *engine.Engine) { e.Start() })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !p.s.e.Stopped() {
		if d := p.s.clock.timeout(); d >= 0 {
			timer.Reset(d)
		} else {
			timer.Stop()
		}
		select {
		case <-p.bell:
		case <-timer.C:
		}
		p.s.turn(func(*engine.Engine) {})
	}
	return nil
}

// Listen implements engine.Network.
func (p *portable) Listen(l engine.ListenerID, addr string) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		p.s.listening(l, 0, err)
		return
	}
	p.lns[l] = ln
	p.s.listening(l, ln.Addr().(*net.TCPAddr).Port, nil)
	go p.accept(l, ln)
}

func (p *portable) accept(l engine.ListenerID, ln net.Listener) {
	for {
		c, err := ln.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			p.s.opts.Log.Log(engine.LevelError, "", "A connection could not be accepted: "+err.Error())
			time.Sleep(acceptPause) // there is no room: asking again at once would only say so again
			continue
		}
		p.s.post(func(e *engine.Engine) { p.accepted(e, l, c) })
	}
}

func (p *portable) accepted(e *engine.Engine, l engine.ListenerID, nc net.Conn) {
	info := engine.ConnInfo{IP: "unknown"}
	if host, port, err := net.SplitHostPort(nc.RemoteAddr().String()); err == nil {
		info.IP = host
		info.Port, _ = strconv.Atoi(port) // a number, where SplitHostPort finds one
	}
	id := e.Accepted(l, info)
	if id == 0 {
		nc.Close()
		return
	}
	c := &pconn{id: id, net: nc}
	c.change.L = &c.mu
	for int(id.Slot()) >= len(p.conns) {
		p.conns = append(p.conns, nil)
	}
	p.conns[id.Slot()] = c
	go p.read(c)
	go p.write(c)
}

// conn finds a connection; nil for one that was closed, or that Accepted has not returned yet.
func (p *portable) conn(id engine.ConnID) *pconn {
	if slot := id.Slot(); int(slot) < len(p.conns) && p.conns[slot] != nil && p.conns[slot].id == id {
		return p.conns[slot]
	}
	return nil
}

// read hands over what arrives, one buffer at a time.
func (p *portable) read(c *pconn) {
	buf := make([]byte, portableRead)
	for {
		n, err := c.net.Read(buf)
		if n > 0 {
			c.mu.Lock()
			c.busy = true
			c.mu.Unlock()
			p.s.post(func(e *engine.Engine) {
				if p.conn(c.id) == c {
					e.Received(c.id, buf[:n])
				}
				c.mu.Lock()
				c.busy = false
				c.change.Broadcast()
				c.mu.Unlock()
			})
			c.mu.Lock()
			for (c.busy || c.paused) && !c.closed {
				c.change.Wait()
			}
			closed := c.closed
			c.mu.Unlock()
			if closed {
				return
			}
		}
		if errors.Is(err, io.EOF) {
			p.s.post(func(e *engine.Engine) {
				if p.conn(c.id) == c {
					e.EOF(c.id)
				}
			})
			return
		}
		if err != nil {
			p.failed(c, err)
			return
		}
	}
}

// write sends what Send took.
func (p *portable) write(c *pconn) {
	var spare []byte
	for {
		c.mu.Lock()
		for len(c.out) == 0 && !c.fin && !c.closed {
			c.change.Wait()
		}
		b, fin, closed := c.out, c.fin, c.closed
		c.out, c.fin = spare[:0], false
		owed := c.owed
		c.owed = false
		c.mu.Unlock()
		if owed {
			p.s.post(func(e *engine.Engine) {
				if p.conn(c.id) == c {
					e.Writable(c.id)
				}
			})
		}
		if len(b) > 0 {
			if _, err := c.net.Write(b); err != nil {
				p.failed(c, err)
				c.net.Close()
				return
			}
		}
		spare = b
		if fin {
			if t, ok := c.net.(*net.TCPConn); ok {
				_ = t.CloseWrite() // fails only where the peer is gone: reading will tell
			}
		}
		if closed {
			c.net.Close()
			return
		}
	}
}

// failed tells the engine that the connection is broken, unless the engine closed it.
func (p *portable) failed(c *pconn, err error) {
	p.s.post(func(e *engine.Engine) {
		if p.conn(c.id) != c {
			return
		}
		p.conns[c.id.Slot()] = nil
		c.end(0)
		e.Closed(c.id, err.Error())
	})
}

// end lets the goroutines go; the writer gets the given time for what is left.
func (c *pconn) end(d time.Duration) {
	c.mu.Lock()
	c.closed = true
	c.change.Broadcast()
	c.mu.Unlock()
	_ = c.net.SetReadDeadline(time.Now())         // on a connection that is gone already there is nothing
	_ = c.net.SetWriteDeadline(time.Now().Add(d)) // to hurry
}

// StopListening implements engine.Network.
func (p *portable) StopListening(l engine.ListenerID) {
	if ln := p.lns[l]; ln != nil {
		ln.Close()
		delete(p.lns, l)
	}
}

// Send implements engine.Network.
func (p *portable) Send(id engine.ConnID, bufs [][]byte) int {
	c := p.conn(id)
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := 0
	for _, b := range bufs {
		room := portableWrite - len(c.out)
		if len(b) > room {
			c.out = append(c.out, b[:room]...)
			taken += room
			c.owed = true
			break
		}
		c.out = append(c.out, b...)
		taken += len(b)
	}
	c.change.Broadcast()
	return taken
}

// PauseReading implements engine.Network.
func (p *portable) PauseReading(id engine.ConnID) { p.setPaused(id, true) }

// ResumeReading implements engine.Network.
func (p *portable) ResumeReading(id engine.ConnID) { p.setPaused(id, false) }

func (p *portable) setPaused(id engine.ConnID, paused bool) {
	if c := p.conn(id); c != nil {
		c.mu.Lock()
		c.paused = paused
		c.change.Broadcast()
		c.mu.Unlock()
	}
}

// CloseWrite implements engine.Network.
func (p *portable) CloseWrite(id engine.ConnID) {
	if c := p.conn(id); c != nil {
		c.mu.Lock()
		c.fin = true
		c.change.Broadcast()
		c.mu.Unlock()
	}
}

// Close implements engine.Network.
func (p *portable) Close(id engine.ConnID) {
	if c := p.conn(id); c != nil {
		p.conns[id.Slot()] = nil
		c.end(portableFlush)
	}
}
