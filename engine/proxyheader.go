package engine

import (
	"bytes"
	"errors"
	"time"

	"github.com/natsd/natsd/proxyproto"
	"github.com/natsd/natsd/wire"
)

// proxyHeaderTime is how long a proxy may take to send its header, or a client without a proxy its first bytes, from accept.
const proxyHeaderTime = 5 * time.Second

// proxyAwaited reports whether a proxy's header may still come.
func (c *conn) proxyAwaited() bool { return c.opening == proxyFirst || c.opening == proxyBeforeTLS }

// awaitProxy prepares a new connection for the header of the PROXY protocol, which comes before all else, TLS too. As with
// nats-server it need not come: INFO goes out before, for clients without a proxy wait for it. All other time limits begin
// behind the header.
func (e *Engine) awaitProxy(c *conn) {
	if c.opening == tlsAwaited {
		c.opening = proxyBeforeTLS
	} else {
		c.opening = proxyFirst
	}
	c.proxyHeader = new(proxyproto.Reader)
	c.gate |= gateOpening
	c.authEnd = 0
	c.openingEnd = later(e.now, proxyHeaderTime)
}

// proxyReceived takes the first bytes of a connection, and returns those that are not a proxy's header. Whom the header names is whose
// connection it is from now on.
func (e *Engine) proxyReceived(c *conn, data []byte) (rest []byte) {
	rest, done, err := c.proxyHeader.Take(data)
	switch {
	case errors.Is(err, proxyproto.ErrAbsent):
		e.mark(MarkProxyAbsent)
		rest = data
		if kept := c.proxyHeader.Kept(); len(kept) > 0 {
			rest = append(bytes.Clone(kept), data...)
		}
	case err != nil:
		e.proxyFailed(c, err.Error())
		return nil
	case !done:
		e.mark(MarkProxySplit)
		return nil
	}
	if from, named := c.proxyHeader.Source(); named {
		e.mark(MarkProxyNamed)
		by := c.address()
		c.ip, c.port = from.Addr().String(), int(from.Port())
		if e.debugs(c) {
			e.logf(e.debugLevel(), c.subject(), "Client connection comes by a proxy at "+by)
		}
	}
	e.proxyOver(c)
	return rest
}

// proxyOver has a connection go on behind the header, or without one.
func (e *Engine) proxyOver(c *conn) {
	tls := c.opening == proxyBeforeTLS
	c.opening, c.openingEnd, c.proxyHeader = 0, 0, nil
	if !c.authed {
		c.authEnd = later(e.now, e.opts.AuthTimeout)
	}
	e.open(c, gateOpening)
	if tls {
		c.opening = tlsAwaited
		if c.infoHeld() { // nobody has read it: it can say who the client is
			c.out.drop(&e.pool)
			e.sendInfo(c, func(*wire.Info) {})
		}
		e.demandTLS(c)
	}
	e.arm(c)
}

// proxyFailed closes a connection whose header is wrong. Nothing can be told: what reads there may expect TLS.
func (e *Engine) proxyFailed(c *conn, why string) {
	e.mark(MarkProxyFailed)
	e.complainAt(LevelWarn, c, "Error reading PROXY protocol header: "+why)
	e.closeConn(c, ReasonProtocol, "")
}

// proxyTimeout closes a connection that has not sent a header, nor anything else.
func (e *Engine) proxyTimeout(c *conn) {
	e.mark(MarkProxyTimeout)
	if c.proxyHeader.Begun() {
		e.proxyFailed(c, "timeout")
		return
	}
	e.closeSilent(c, ReasonProtocol, "", "Neither a PROXY protocol header nor anything else has come in time")
}

// proxyEOF takes the end of the stream where a header may have come. Whoever looks whether the port is open ends it at once, as load
// balancers do all the time: that is no mistake.
func (e *Engine) proxyEOF(c *conn) bool {
	if c.gate&gateClosed != 0 {
		return false
	}
	c.sawEOF = true
	if c.proxyHeader.Begun() {
		e.proxyFailed(c, "EOF")
	} else {
		e.closeConn(c, ReasonClientClosed, "")
	}
	return true
}
