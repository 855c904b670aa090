package host

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/natsd/natsd/engine"
)

// portable is the loop for systems without one of their own: a net.Conn and two goroutines for each connection. They
// leave what they have to tell in the connection and put it on the ready list, which the loop works off as the epoll loop
// does its own. It is slower than epoll and does the same.
type portable struct {
	s     *Server
	bell  chan struct{}
	conns []*pconn // by slot; used by the loop only
	lns   map[engine.ListenerID]net.Listener
	room  chan struct{} // has a place for each connection that was accepted and not yet told
	came  []arrival     // of these, used by the loop only

	mu    sync.Mutex
	ready []*pconn // to be looked at by the loop, in order of arrival
}

// arrival is a connection of which the engine was not told yet.
type arrival struct {
	listener engine.ListenerID
	net      net.Conn
}

const (
	readFirst = 4 << 10 // bytes of a connection's first read buffer; it grows to Options.ReadBytes where that is used
	// portableWrite is how many bytes Send takes ahead of the writer, which writes them in pieces: a slow peer shows some
	// progress long before it has taken all of them.
	portableWrite = 256 << 10
	portablePiece = 32 << 10
	// portableFlush is how long a connection that was closed may take what Send took.
	portableFlush = 2 * time.Second
	// portableQuiet is for how long no goroutine must have found anything until there is nothing to find.
	portableQuiet = 20 * time.Millisecond
)

func newPortable(s *Server) loop {
	s.clock.pause = portableQuiet
	return &portable{
		s: s, bell: make(chan struct{}, 1), lns: map[engine.ListenerID]net.Listener{},
		room: make(chan struct{}, acceptPerTurn),
	}
}

func (p *portable) wake() {
	select {
	case p.bell <- struct{}{}:
	default: // it is ringing
	}
}

func (p *portable) run() error {
	p.s.start()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !p.s.e.Stopped() {
		p.wait(timer)
		p.s.turn(p.deliver)
	}
	return nil
}

// wait returns when there is something to do.
func (p *portable) wait(timer *time.Timer) {
	p.mu.Lock()
	left := len(p.ready) > 0
	p.mu.Unlock()
	if left {
		select {
		case <-p.bell:
		default:
		}
		return
	}
	if d := p.s.clock.timeout(); d >= 0 {
		timer.Reset(d)
	} else {
		timer.Stop()
	}
	select {
	case <-p.bell:
	case <-timer.C:
	}
}

// deliver tells the engine what the connections' goroutines have found, up to a turn's worth. It returns whether it was
// anything.
func (p *portable) deliver(e *engine.Engine) (busy bool) {
	p.admit(e)
	p.mu.Lock()
	looking := p.ready
	p.ready = nil
	p.mu.Unlock()
	left := turnBytes
	for i, c := range looking {
		if left <= 0 || e.TurnFull() {
			p.mu.Lock()
			p.ready = append(looking[i:len(looking):len(looking)], p.ready...) // they are still listed, and go first
			p.mu.Unlock()
			return true
		}
		left -= p.look(e, c)
	}
	return len(looking) > 0
}

// list has the loop look at c.
func (p *portable) list(c *pconn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.listed {
		return
	}
	c.listed = true
	p.ready = append(p.ready, c)
	if len(p.ready) == 1 {
		p.wake()
	}
}

// look tells the engine what is new about c and returns the number of bytes handed over.
func (p *portable) look(e *engine.Engine, c *pconn) int {
	p.mu.Lock()
	c.listed = false
	p.mu.Unlock()
	if p.conn(c.id) != c {
		return 0
	}
	c.mu.Lock()
	in, eof, failed, writable, up := c.in, c.eof, c.failed, c.writable, c.upgrade.up
	c.writable, c.upgrade.up = false, nil
	c.mu.Unlock()
	if failed != nil {
		p.conns[c.id.Slot()] = nil
		c.end(0)
		e.Closed(c.id, failed.Error())
		return 0
	}
	if up != nil {
		e.TLSUp(c.id, *up)
	}
	if writable {
		e.Writable(c.id)
	}
	if c.paused {
		return 0 // ResumeReading lists it again
	}
	if len(in) > 0 {
		c.handing = true
		e.Received(c.id, in)
		c.handing = false
		c.handedOver()
	} else if eof {
		e.EOF(c.id) // the engine minds the first one only
	}
	return len(in)
}

// Listen implements engine.Network.
func (p *portable) Listen(l engine.ListenerID, addr string) {
	ln, err := open(addr)
	if err != nil {
		p.s.listening(l, 0, err)
		return
	}
	p.lns[l] = ln
	p.s.listening(l, ln.Addr().(*net.TCPAddr).Port, nil)
	go p.accept(l, ln)
}

// accept hands over connections until the listener is closed.
func (p *portable) accept(l engine.ListenerID, ln net.Listener) {
	for {
		c, err := ln.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			p.s.notAccepted(err)
			time.Sleep(acceptPause) // there is no room: asking again at once would only say so again
			continue
		}
		select {
		case p.room <- struct{}{}:
		case <-p.s.done:
			c.Close()
			return
		}
		told := p.s.post(func(*engine.Engine) { p.came = append(p.came, arrival{l, c}) })
		if !told {
			c.Close()
			return
		}
	}
}

// admit tells the engine of those who came, as far as it wants them now.
func (p *portable) admit(e *engine.Engine) {
	n := 0
	for ; n < len(p.came) && e.Admits(); n++ {
		<-p.room
		p.accepted(e, p.came[n].listener, p.came[n].net)
	}
	p.came = slices.Delete(p.came, 0, n)
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
	go c.read(p)
	go c.write(p)
}

// conn finds a connection; nil for one that was closed, or that Accepted has not returned yet.
func (p *portable) conn(id engine.ConnID) *pconn {
	if slot := id.Slot(); int(slot) < len(p.conns) && p.conns[slot] != nil && p.conns[slot].id == id {
		return p.conns[slot]
	}
	return nil
}

// StopListening implements engine.Network.
func (p *portable) StopListening(l engine.ListenerID) {
	if ln := p.lns[l]; ln != nil {
		ln.Close()
		delete(p.lns, l)
	}
}

func (p *portable) close() {
	for l := range p.lns {
		p.StopListening(l)
	}
	for _, c := range p.conns {
		if c != nil {
			c.end(0)
		}
	}
	for _, c := range p.came {
		c.net.Close()
	}
	p.conns = nil
}

// Send implements engine.Network.
func (p *portable) Send(id engine.ConnID, bufs [][]byte) int {
	if c := p.conn(id); c != nil {
		return c.send(bufs)
	}
	return 0
}

// PauseReading implements engine.Network.
func (p *portable) PauseReading(id engine.ConnID) {
	if c := p.conn(id); c != nil {
		c.paused = true
	}
}

// ResumeReading implements engine.Network.
func (p *portable) ResumeReading(id engine.ConnID) {
	if c := p.conn(id); c != nil {
		c.paused = false
		p.list(c) // there may be something that waited
	}
}

// CloseWrite implements engine.Network.
func (p *portable) CloseWrite(id engine.ConnID) {
	if c := p.conn(id); c != nil {
		c.closeWrite()
	}
}

// Close implements engine.Network.
func (p *portable) Close(id engine.ConnID) {
	if c := p.conn(id); c != nil {
		p.conns[id.Slot()] = nil
		c.end(portableFlush)
	}
}
