package host

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/natsd/natsd/engine"
)

// pconn is one connection of the portable loop. Its reader waits until the loop has taken what it read before; its writer
// writes what Send took. Both end when the connection fails or end is called.
type pconn struct {
	id        engine.ConnID
	net       net.Conn
	paused    bool      // used by the loop only
	handing   bool      // used by the loop only: in is being handed over
	transport transport // of tls
	listed    bool      // in portable.ready, whose lock guards it

	mu       sync.Mutex // guards what follows
	change   sync.Cond  // broadcast when something below changes that a goroutine may wait for
	in       []byte     // read, not yet handed over
	eof      bool       // the peer ended its sending side, behind in
	failed   error      // the connection is broken
	writable bool       // there is room again after a Send that was cut short
	out      []byte     // taken by Send, not yet by the writer
	flying   int        // bytes that the writer has taken and not yet written
	owed     bool       // a Send was cut short
	fin      bool       // CloseWrite
	closed   bool       // end
	upgrade  upgrade
	tls      *tls.Conn // nil: plaintext
}

// shrinkAfter is after how many reads in a row that need no more than the first buffer the large one is given up.
const shrinkAfter = 16

// read leaves what arrives to the loop, one buffer at a time.
func (c *pconn) read(p *portable) {
	most := p.s.opts.ReadBytes
	least := min(readFirst, most)
	buf := make([]byte, least)
	small := 0
	for {
		if !c.changeToTLS(p) {
			return
		}
		n, err := c.source().Read(buf)
		if n > 0 && !c.handOver(p, buf[:n]) {
			return
		}
		if n > least {
			small = 0
		} else {
			small++
		}
		switch {
		case n == len(buf) && n < most:
			buf = make([]byte, most)
		case small >= shrinkAfter && len(buf) > least:
			buf = make([]byte, least)
		}
		switch {
		case err == nil, c.interrupted(err):
		case errors.Is(err, io.EOF):
			c.mu.Lock()
			c.eof = true
			c.mu.Unlock()
			p.list(c)
			return
		default:
			c.fail(p, err)
			return
		}
	}
}

// handOver waits until the loop has taken b. It returns false when the connection has ended.
func (c *pconn) handOver(p *portable, b []byte) bool {
	c.mu.Lock()
	if c.tookForTLS(b) {
		c.mu.Unlock()
		return true
	}
	c.in = b
	c.mu.Unlock()
	p.list(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.in != nil && !c.closed {
		c.change.Wait()
	}
	return !c.closed
}

// source is what to read from, and to write to: the socket or, after a handshake, TLS.
func (c *pconn) source() stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tls != nil {
		return c.tls
	}
	return c.net
}

// handedOver lets the reader go on.
func (c *pconn) handedOver() {
	c.mu.Lock()
	c.in = nil
	c.change.Broadcast()
	c.mu.Unlock()
}

// fail has the engine told that the connection is broken. Nobody asks once the engine has closed it.
func (c *pconn) fail(p *portable, err error) {
	c.mu.Lock()
	if c.failed == nil {
		c.failed = err
	}
	c.mu.Unlock()
	p.list(c)
}

// write writes what Send took, then what CloseWrite and end ask for.
func (c *pconn) write(p *portable) {
	defer c.net.Close()
	for {
		b, fin, closed := c.takeOut()
		for len(b) > 0 {
			n, err := c.source().Write(b[:min(len(b), portablePiece)])
			if err != nil {
				c.fail(p, err)
				return
			}
			b = b[n:]
			if c.wrote(n) {
				p.list(c)
			}
		}
		if fin {
			if t, ok := c.source().(*tls.Conn); ok {
				_ = t.CloseWrite() // fails where the peer is gone: reading will tell
			}
			if t, ok := c.net.(*net.TCPConn); ok {
				_ = t.CloseWrite() // fails only where the peer is gone: reading will tell
			}
		}
		if closed {
			return
		}
	}
}

// takeOut waits until there is something for the writer to do.
func (c *pconn) takeOut() (b []byte, fin, closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.out) == 0 && !c.fin && !c.closed {
		c.change.Wait()
	}
	b, fin, closed = c.out, c.fin, c.closed
	c.out, c.fin, c.flying = nil, false, len(b)
	return b, fin, closed
}

// wrote takes note of n bytes written and reports whether the engine must be told that there is room.
func (c *pconn) wrote(n int) (tell bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flying -= n; c.flying == 0 && c.upgrade.asked {
		c.change.Broadcast()
	}
	if !c.owed || len(c.out)+c.flying > portableWrite-portablePiece {
		return false
	}
	c.owed, c.writable = false, true
	return true
}

// send takes what there is room for.
func (c *pconn) send(bufs [][]byte) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return 0
	}
	taken := 0
	for _, b := range bufs {
		n := min(len(b), portableWrite-len(c.out)-c.flying)
		c.out = append(c.out, b[:n]...)
		taken += n
		if n < len(b) {
			c.owed = true
			break
		}
	}
	c.change.Broadcast()
	return taken
}

func (c *pconn) closeWrite() {
	c.mu.Lock()
	c.fin = true
	c.change.Broadcast()
	c.mu.Unlock()
}

// end lets the goroutines go; the writer gets the given time for what is left.
func (c *pconn) end(d time.Duration) {
	c.mu.Lock()
	c.closed = true
	c.change.Broadcast()
	if c.upgrade.giveUp != nil {
		c.upgrade.giveUp()
	}
	c.mu.Unlock()
	_ = c.net.SetReadDeadline(time.Now())         // on a connection that is gone already there is nothing
	_ = c.net.SetWriteDeadline(time.Now().Add(d)) // to hurry
}
