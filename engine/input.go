package engine

import (
	"bytes"

	"github.com/natsd/natsd/wire"
)

// gathering is a message whose payload arrives in several pieces.
type gathering struct {
	args   wire.PubArgs // slices into line
	line   []byte
	ck     *chunk
	filled int // bytes of payload and CRLF present
	need   int // bytes of payload and CRLF
}

// gatherFirst bounds the buffer that a message gets before its payload has arrived: a peer that announces much and
// sends nothing costs no more.
const gatherFirst = 128 << 10

// input processes what a connection sent, until the end or until its gate shuts.
func (e *Engine) input(c *conn, data []byte) {
	for len(data) > 0 {
		if c.gate != 0 {
			e.keep(c, data)
			return
		}
		if c.msg != nil {
			data = e.gather(c, data)
			continue
		}
		if len(c.partial) > 0 {
			data = e.continueLine(c, data)
			continue
		}
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			e.keepLine(c, data)
			return
		}
		line := data[:end]
		if end > 0 && line[end-1] == '\r' {
			line = line[:end-1]
		}
		data = e.line(c, line, data[end+1:])
	}
	if c.gate&^gateClosed != 0 {
		e.pause(c)
	}
}

// keep puts aside what can't be processed now.
func (e *Engine) keep(c *conn, data []byte) {
	if c.gate&gateClosed != 0 {
		return
	}
	e.mark(MarkStallStash)
	c.stash = append(c.stash, data...)
	e.pause(c)
}

func (e *Engine) pause(c *conn) {
	if !c.paused {
		c.paused = true
		e.env.Network.PauseReading(c.id)
	}
	if c.gate == gateTurn {
		e.enqueue(c)
	}
}

func (e *Engine) enqueue(c *conn) {
	if !c.queued {
		c.queued = true
		e.run = append(e.run, c)
	}
}

// open removes reasons for which input waits; it goes on in the next turn when none is left.
func (e *Engine) open(c *conn, g gate) {
	if c.gate&g == 0 {
		return
	}
	c.gate &^= g
	if c.gate == 0 {
		e.enqueue(c)
	}
}

// resume processes the input that waited for its gate to open.
func (e *Engine) resume() {
	e.running, e.run = e.run, e.running[:0]
	for i, c := range e.running {
		e.running[i] = nil
		c.queued = false
		if c.gone || c.gate&gateClosed != 0 {
			continue
		}
		c.gate &^= gateTurn
		if c.gate != 0 {
			continue // shut again; whoever opens it enqueues
		}
		if len(c.stash) > 0 {
			held := c.stash
			c.stash = nil
			e.input(c, held)
			if c.gone || c.gate != 0 {
				continue
			}
		}
		if c.sawEOF {
			e.closeConn(c, ReasonClientClosed, "")
			continue
		}
		if c.paused {
			c.paused = false
			e.env.Network.ResumeReading(c.id)
		}
	}
}

// keepLine keeps the beginning of a control line. What can't become one is refused at once, as nats-server does, without
// waiting for its end.
func (e *Engine) keepLine(c *conn, data []byte) {
	if !c.authed && !startsConnect(data) {
		e.authViolation(c)
		return
	}
	verb, n := wire.ParseVerb(data)
	switch verb {
	case wire.VerbUnknown:
		e.protocolError(c, wire.ErrUnknownOp, ReasonParseError)
		return
	case wire.VerbNone:
		e.mark(MarkSplitVerb)
	case wire.VerbPing, wire.VerbPong, wire.VerbOK:
		// Whatever stands between the verb and the end of the line is ignored; keep none of it.
		c.partial = append(c.partial[:0], data[:n]...)
		return
	default:
		args := trimLeft(data[n:])
		counted := len(args)
		if counted > 0 && args[counted-1] == '\r' {
			counted-- // perhaps the line's end
		}
		if counted > e.opts.MaxControlLine {
			e.lineTooLong(c)
			return
		}
		e.markSplit(verb, data)
		c.partial = append(append(c.partial[:0], data[:n]...), args...) // no more is kept than counts
		return
	}
	c.partial = append(c.partial[:0], data...)
}

func (e *Engine) markSplit(verb wire.Verb, data []byte) {
	switch {
	case data[len(data)-1] == '\r':
		e.mark(MarkSplitBeforeLF)
	case verb == wire.VerbConnect:
		e.mark(MarkSplitConnect)
	default:
		e.mark(MarkSplitArgs)
	}
}

// continueLine adds to a control line that began earlier.
func (e *Engine) continueLine(c *conn, data []byte) (rest []byte) {
	end := bytes.IndexByte(data, '\n')
	more := data
	if end >= 0 {
		more = data[:end]
	}
	line := append(c.partial, more...)
	c.partial = nil
	if end < 0 {
		e.keepLine(c, line)
		return nil
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return e.line(c, line, data[end+1:])
}

func startsConnect(data []byte) bool { return data[0] == 'C' || data[0] == 'c' }

// line carries out one complete control line and returns what is left of rest, the bytes behind it.
func (e *Engine) line(c *conn, line, rest []byte) []byte {
	if !c.authed && (len(line) == 0 || !startsConnect(line)) {
		e.authViolation(c)
		return nil
	}
	if e.opts.Trace {
		e.traceIn(c, line)
	}
	heard := c.lastIn
	c.lastIn = e.now
	if len(line) > 4 && line[0]|0x20 == 'p' && line[1]|0x20 == 'u' && line[2]|0x20 == 'b' && (line[3] == ' ' || line[3] == '\t') {
		return e.pub(c, line[4:], rest, false)
	}
	verb, n := wire.ParseVerb(line)
	args := trimLeft(line[n:])
	if len(args) > e.opts.MaxControlLine && verb != wire.VerbPing && verb != wire.VerbPong && verb != wire.VerbOK {
		e.lineTooLong(c)
		return nil
	}
	switch verb {
	case wire.VerbPub:
		return e.pub(c, args, rest, false)
	case wire.VerbHPub:
		return e.pub(c, args, rest, true)
	case wire.VerbSub:
		e.subscribe(c, args)
	case wire.VerbUnsub:
		e.unsubscribe(c, args)
	case wire.VerbPing:
		e.pinged(c)
	case wire.VerbPong:
		c.lastIn = heard // an answer is no sign of activity: the next ping is due as before
		e.ponged(c)
	case wire.VerbConnect:
		e.connect(c, args)
	case wire.VerbInfo:
		e.clientInfo(c, args)
	case wire.VerbOK:
	case wire.VerbErr:
		e.closeConn(c, ReasonClientClosed, "")
	default:
		e.protocolError(c, wire.ErrUnknownOp, ReasonParseError)
	}
	return rest
}

// trimLeft removes the spaces and tabs between a verb and its arguments: max_control_line does not count them.
func trimLeft(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}

func (e *Engine) lineTooLong(c *conn) {
	e.mark(MarkMaxLine)
	e.protocolError(c, wire.ErrMaxControlLine, ReasonMaxLine)
}

// pub reads the arguments of a PUB or HPUB and its payload, or what of it is there.
func (e *Engine) pub(c *conn, line, rest []byte, header bool) []byte {
	line = trimLeft(line)
	if len(line) > e.opts.MaxControlLine {
		e.lineTooLong(c)
		return nil
	}
	a := &e.args
	if header {
		if !c.headers {
			e.protocolError(c, wire.ErrNoHeaders, ReasonProtocol)
			return nil
		}
		if !a.ParseHPub(line) {
			e.protocolError(c, wire.ErrParser, ReasonParseError)
			return nil
		}
	} else if !a.ParsePub(line) {
		e.protocolError(c, wire.ErrParser, ReasonParseError)
		return nil
	}
	if a.Size > e.opts.MaxPayload && e.opts.MaxPayload > 0 {
		e.mark(MarkMaxPayload)
		e.protocolError(c, wire.ErrMaxPayload, ReasonMaxPayload)
		return nil
	}
	need := a.Size + 2
	if len(rest) < need {
		e.startGathering(c, line, header, rest)
		return nil
	}
	if rest[a.Size] != '\r' || rest[a.Size+1] != '\n' {
		e.protocolError(c, wire.ErrUnknownOp, ReasonParseError)
		return nil
	}
	e.publish(c, a, rest[:need], nil)
	return rest[need:]
}

func (e *Engine) startGathering(c *conn, line []byte, header bool, data []byte) {
	g := &gathering{line: append([]byte(nil), line...)}
	if header {
		g.args.ParseHPub(g.line)
	} else {
		g.args.ParsePub(g.line)
	}
	g.need = g.args.Size + 2
	g.ck = e.pool.get(min(g.need, gatherFirst))
	c.msg = g
	if len(data) > 0 {
		e.gather(c, data)
	}
}

// gather adds to a message that began earlier and publishes it when it is whole.
func (e *Engine) gather(c *conn, data []byte) (rest []byte) {
	g := c.msg
	c.lastIn = e.now
	n := min(g.need-g.filled, len(data))
	if g.filled+n > len(g.ck.data) {
		bigger := e.pool.get(min(g.need, max(2*len(g.ck.data), g.filled+n)))
		copy(bigger.data, g.ck.data[:g.filled])
		e.pool.release(g.ck)
		g.ck = bigger
	}
	copy(g.ck.data[g.filled:], data[:n])
	g.filled += n
	size := g.args.Size
	if g.filled > size && g.ck.data[size] != '\r' || g.filled == g.need && g.ck.data[size+1] != '\n' {
		e.protocolError(c, wire.ErrUnknownOp, ReasonParseError)
		return nil
	}
	if g.filled < g.need {
		if g.filled > size {
			e.mark(MarkSplitPayloadEnd)
		} else {
			e.mark(MarkSplitPayload)
		}
		return nil
	}
	c.msg = nil
	e.publish(c, &g.args, g.ck.data[:g.need], g.ck)
	e.pool.release(g.ck)
	return data[n:]
}
