package netsim

import "github.com/natsd/natsd/engine"

// Conn is one end of a connection.
type Conn struct {
	// Tag is the owner's, for whatever it wants to find again.
	Tag uint64

	link       *link
	host       *Host
	prev, next *Conn // in the host's list
	id         engine.ConnID
	port       int
	side       uint8
	state      state
	listed     bool
	isBound    bool
	paused     bool
	told       bool // Readable was told and reading has not caught up since
	ended      bool // Read has returned the end of the stream
	stirring   bool // an event for Unpause is scheduled
	watched    bool // a keep-alive event is scheduled
}

func (c *Conn) out() *stream { return &c.link.dirs[c.side] }
func (c *Conn) in() *stream  { return &c.link.dirs[1-c.side] }
func (c *Conn) peer() *Conn  { return &c.link.ends[1-c.side] }

// owned reports whether an owner may still be told something of the end.
func (c *Conn) owned() bool { return c.state == stateDialing || c.state == stateOpen }

// sending reports whether the end's kernel still works for the connection.
func (c *Conn) sending() bool { return c.state == stateOpen || c.state == stateShut }

// Host is the machine the end is at.
func (c *Conn) Host() *Host { return c.host }

// Port is the end's local port.
func (c *Conn) Port() int { return c.port }

// Key identifies the end, equally in all runs in which its dialling host made as many dials before: the dialling host,
// which dial, and the side. It is the index of the Link actor of the choices about what this end sends.
func (c *Conn) Key() uint64 { return c.link.key<<1 | uint64(c.side) }

// Bind names the connection for the host's engine.Network methods, until it is closed. For one that is closed already
// those do nothing.
func (c *Conn) Bind(id engine.ConnID) {
	c.host.unbind(c)
	c.id = id
	if c.state == stateOpen {
		c.host.bind(c)
	}
}

// ID is the name given by Bind, zero before.
func (c *Conn) ID() engine.ConnID { return c.id }

// Open reports whether the end is connected and neither closed nor broken.
func (c *Conn) Open() bool { return c.state == stateOpen }

// Send takes bytes from the buffers, in order, as many as the send buffer has room for, and returns how many. If fewer
// than all, Writable follows; several Sends before it share one. A connection that is not open, or whose sending
// direction is closed, takes nothing and no Writable follows. The buffers are borrowed until Send returns.
func (c *Conn) Send(bufs [][]byte) int {
	s := c.out()
	if c.state != stateOpen || s.endAsked {
		return 0
	}
	s.learn()
	room := s.room()
	taken, short := 0, false
	for _, b := range bufs {
		if len(b) > room-taken {
			b, short = b[:room-taken], true
		}
		s.take(b)
		taken += len(b)
		if short {
			break
		}
	}
	n := s.link.net
	n.counters.Sent += uint64(taken)
	n.bytes += taken
	if short {
		s.short = true
		n.counters.ShortSends++
	}
	s.pump(n.queue.Now())
	return taken
}

// Read copies received bytes to buf. eof says that all bytes of the peer have been read and no more will come. Readable
// is told again after a Read with n < len(buf); after one with n == len(buf) there may be more.
func (c *Conn) Read(buf []byte) (n int, eof bool) {
	if c.state != stateOpen {
		return 0, false
	}
	s := c.in()
	n = int(min(s.arrived-s.read, uint64(len(buf))))
	if n > 0 {
		s.buf.get(s.read, buf[:n])
		c.link.net.counters.Read += uint64(n)
		s.advance(s.read + uint64(n))
		s.acknowledge(c.link.net.queue.Now())
	}
	if n < len(buf) {
		c.told = false
		eof = s.endHere
		c.ended = eof
	}
	return n, eof
}

// Unread counts the bytes that Read can give now.
func (c *Conn) Unread() int {
	if c.state != stateOpen {
		return 0
	}
	return int(c.in().arrived - c.in().read)
}

// Pause stops Readable until Unpause. A reader that has been told already checks Paused before it reads.
func (c *Conn) Pause() {
	c.paused = true
	c.told = false
}

// Unpause undoes Pause. Readable follows if there is something to read, also to a reader that was told of it before.
func (c *Conn) Unpause() {
	if !c.paused {
		return
	}
	c.paused = false
	if c.readable() && !c.stirring {
		c.stirring = true
		c.link.net.queue.After(0, c.link, opReadable0+uint64(c.side))
	}
}

// Paused reports whether Pause holds.
func (c *Conn) Paused() bool { return c.paused }

func (c *Conn) readable() bool {
	s := c.in()
	return c.state == stateOpen && (s.arrived > s.read || s.endHere && !c.ended)
}

// notify tells the owner that there is something to read, unless it knows or does not want to.
func (c *Conn) notify() {
	if !c.told && !c.paused && c.readable() {
		c.told = true
		c.host.sink.Readable(c)
	}
}

// stirred is the event that Unpause schedules.
func (c *Conn) stirred() {
	c.stirring = false
	c.notify()
}

// CloseWrite ends the sending direction after what Send took.
func (c *Conn) CloseWrite() {
	if c.state != stateOpen {
		return
	}
	s := c.out()
	s.short = false
	s.endAsked = true
	s.pump(c.link.net.queue.Now())
}

// Close gives up the connection, or the dial. What Send took may still arrive. Nothing more is heard of it.
func (c *Conn) Close() {
	switch {
	case c.state == stateDialing:
		c.drop()
	case c.state != stateOpen:
		return
	case c.link.net.cfg.HardClose && c.Unread() > 0:
		c.Abort()
		return
	default:
		now := c.link.net.queue.Now()
		c.state = stateShut
		c.host.unbind(c)
		c.in().advance(c.in().arrived)
		c.in().acknowledge(now)
		s := c.out()
		s.short = false
		s.endAsked = true
		s.pump(now)
	}
	c.link.settle()
}

// Abort resets the connection: what is not read at the peer by then is lost. Nothing more is heard of it at this end.
func (c *Conn) Abort() {
	switch c.state {
	case stateDialing:
		c.Close()
	case stateOpen:
		c.drop()
		c.out().sendReset(false)
		c.link.settle()
	}
}

// Vanish makes the connection a void: whatever either end sends from here on, or has under way, is lost, and neither
// learns of it but by a timeout.
func (c *Conn) Vanish() {
	if c.state == stateOpen || c.state == stateShut {
		c.link.net.counters.Vanished++
		c.link.vanish()
	}
}

// drop makes the end forget the connection: what it has not sent and what it has not read is lost.
func (c *Conn) drop() {
	if c.state == stateDialing {
		c.link.net.dialling--
	}
	c.state = stateGone
	if c.host == nil {
		return
	}
	c.host.unbind(c)
	c.host.delist(c)
	c.out().truncate()
	c.in().advance(c.in().arrived)
}
