package engine

import (
	"strconv"
	"time"

	"github.com/natsd/natsd/wire"
)

// lingerTime is how long a connection that the server closes may take to read its last bytes and close too. Closing at
// once would reset it where it still sends, and the reset would destroy the error before it is read.
const lingerTime = 2 * time.Second

// lingerStop is the same for an engine that stops, from when all is written: it is not held up by peers that stay.
const lingerStop = 100 * time.Millisecond

// A peer that ended its sending side may go on reading what waits for it for halfClosedDeadlines write_deadlines in all,
// but no longer than halfClosedMax. (The first write_deadline in which it takes nothing ends it.)
const (
	halfClosedDeadlines = 6
	halfClosedMax       = 10 * time.Minute
)

// protocolError tells the peer what is wrong and closes the connection.
func (e *Engine) protocolError(c *conn, err wire.Err, reason CloseReason) {
	if c.gate&gateClosed != 0 {
		return
	}
	e.complain(c, string(err))
	e.closeConn(c, reason, err)
}

// closeConn stops a connection's input and subscriptions and closes it when what waits for it, err included, is written.
func (e *Engine) closeConn(c *conn, reason CloseReason, err wire.Err) {
	if c.gate&gateClosed != 0 {
		return
	}
	if c.unspoken() {
		e.detach(c, reason)
		e.abandon(c)
		return
	}
	if err != "" {
		e.lineScratch = wire.AppendErr(e.lineScratch[:0], err)
		e.sendBytes(c, e.lineScratch)
		if c.gate&gateClosed != 0 {
			return // it had no room for the error
		}
	}
	e.detach(c, reason)
	if c.paused {
		c.paused = false
		e.env.Network.ResumeReading(c.id) // to be discarded
	}
	c.lingerEnd = later(e.now, lingerTime)
	if c.sawEOF && e.state < stateStopping {
		most := halfClosedMax
		if d := e.opts.WriteDeadline; d > 0 && d < most/halfClosedDeadlines {
			most = halfClosedDeadlines * d
		}
		c.lingerEnd = later(e.now, most)
	}
	e.arm(c)
	e.touch(c)
}

// closeSilent closes a connection whose peer did not say what it had to. That is no error of the server's: the log has text about
// it where debug lines are wanted.
func (e *Engine) closeSilent(c *conn, reason CloseReason, err wire.Err, text string) {
	if e.debugs(c) {
		e.logf(e.debugLevel(), c.subject(), text)
	}
	e.closeConn(c, reason, err)
}

// slowConsumer closes a connection that does not take what waits for it. Its queue is dropped: the peer may be in the
// middle of a message, so nothing more can be told.
func (e *Engine) slowConsumer(c *conn, reason CloseReason) {
	if c.gate&gateClosed != 0 {
		return
	}
	e.totals.slowConsumers++
	c.acc.slowConsumers++
	if c.out.pending > 0 {
		e.mark(MarkSlowDataQueued)
	}
	e.complainAt(LevelInfo, c, "Slow Consumer Detected: "+e.slowness(c, reason))
	e.detach(c, reason)
	e.abandon(c)
}

// slowness is what the log says of a slow consumer, in nats-server's words.
func (e *Engine) slowness(c *conn, reason CloseReason) string {
	if reason == ReasonSlowDeadline {
		return "WriteDeadline of " + e.opts.WriteDeadline.String() + " exceeded with " + strconv.Itoa(c.out.pieces()) + " chunks of " +
			strconv.Itoa(c.out.pending) + " total bytes."
	}
	return "MaxPending of " + strconv.Itoa(e.opts.MaxPending) + " Exceeded"
}

// abandon closes the connection now, whatever waits.
func (e *Engine) abandon(c *conn) {
	e.env.Network.Close(c.id)
	e.forget(c)
}

// detach takes the connection out of everything: it receives no more, its input is discarded, its subscriptions go.
func (e *Engine) detach(c *conn, reason CloseReason) {
	if c.gate&gateClosed != 0 {
		return
	}
	c.gate |= gateClosed
	e.remember(c, reason)
	e.active--
	e.depart(c, reason)
	if e.debugs(c) {
		e.logf(e.debugLevel(), c.subject(), "Client connection closed: "+string(reason))
	}
	e.release(c)
	e.endCheck(c)
	c.signature, c.proxyHeader = nil, nil
	e.endLogin(c)
	e.unstash(c)
	c.partial, c.memo = nil, nil
	if c.msg != nil {
		e.pool.release(c.msg.ck)
		c.msg = nil
	}
	c.acc.leaving += len(c.subs)
	if r := c.remaking; r != nil {
		c.acc.leaving -= r.left
		r.from.leaving += r.left
	}
	if len(c.subs) > 0 || c.requests != nil && c.requests.n > 0 {
		e.reaping = append(e.reaping, c)
	}
}

// settle writes what waits for a connection and, if it is closing, closes it when nothing waits any more.
func (e *Engine) settle(c *conn) {
	if e.flush(c); c.out.pending > 0 && !c.blocked {
		e.touch(c) // goes on in the next turn
	}
	if c.opening != 0 {
		e.tlsWritten(c)
	}
	if c.gone || c.gate&gateClosed == 0 || c.out.pending > 0 {
		return
	}
	if c.sawEOF {
		e.abandon(c)
		return
	}
	if !c.fin {
		c.fin = true
		e.env.Network.CloseWrite(c.id)
	}
	if e.state >= stateStopping {
		e.endLinger(c)
	}
}

// endLinger gives a closing connection no more time than it has when the engine stops.
func (e *Engine) endLinger(c *conn) {
	most := lingerTime
	if c.fin {
		most = lingerStop
	}
	if end := later(e.now, most); c.lingerEnd > end {
		c.lingerEnd = end
		e.arm(c)
	}
}
