package host

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/natsd/natsd/engine"
)

// In the portable loop the reader of a connection carries out its handshake. From then on reader and writer use crypto/tls's
// connection instead of the socket.

// upgrade is how far the change to TLS is.
type upgrade struct {
	asked  bool
	head   []byte // received before
	giveUp func() // ends what the handshake waits for besides the socket
	up     *engine.TLSInfo
}

// StartTLS implements engine.TLS.
func (p *portable) StartTLS(id engine.ConnID, head []byte) {
	c := p.conn(id)
	if c == nil {
		return
	}
	c.paused = false
	c.mu.Lock()
	defer c.mu.Unlock()
	c.upgrade.asked = true
	c.upgrade.head = append(c.upgrade.head, head...)
	if c.in != nil && !c.handing {
		c.upgrade.head = append(c.upgrade.head, c.in...) // it had been read when the engine paused reading
		c.in = nil
	}
	c.change.Broadcast()
	_ = c.net.SetReadDeadline(time.Now()) // the reader has to begin; a connection that is gone will tell it so
}

// tookForTLS keeps what was read when a handshake has been asked for meanwhile. The lock is held.
func (c *pconn) tookForTLS(b []byte) bool {
	if c.upgrade.asked {
		c.upgrade.head = append(c.upgrade.head, b...)
	}
	return c.upgrade.asked
}

// interrupted reports whether reading failed only because a handshake is to begin.
func (c *pconn) interrupted(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.upgrade.asked && !c.closed
}

// changeToTLS carries out the handshake if one was asked for. It returns false when the connection has ended.
func (c *pconn) changeToTLS(p *portable) bool {
	c.mu.Lock()
	if !c.upgrade.asked {
		c.mu.Unlock()
		return true
	}
	for (len(c.out) > 0 || c.flying > 0) && !c.closed && c.failed == nil {
		c.change.Wait() // what was sent in plaintext comes first
	}
	head, over := c.upgrade.head, c.closed || c.failed != nil
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	c.upgrade.head, c.upgrade.giveUp = nil, giveUp
	c.mu.Unlock()
	if over {
		return false
	}
	if err := c.net.SetReadDeadline(time.Time{}); err != nil {
		c.fail(p, err)
		return false
	}
	conn, rest, err := p.s.shake(ctx, c.id, &c.transport, c.net, head)
	if err != nil {
		c.fail(p, errors.New(handshakeError(err)))
		return false
	}
	c.transport.now = &prefixed{rest, c.net}
	info := tlsInfo(conn.ConnectionState())
	c.mu.Lock()
	c.tls, c.upgrade = conn, upgrade{up: &info}
	c.mu.Unlock()
	p.list(c)
	return true
}

// prefixed is a stream of which a part was read already.
type prefixed struct {
	head []byte
	stream
}

// Read implements stream.
func (r *prefixed) Read(b []byte) (int, error) {
	if len(r.head) > 0 {
		n := copy(b, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	return r.stream.Read(b)
}
