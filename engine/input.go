package engine

import (
	"bytes"

	"github.com/natsd/natsd/wire"
)

// What a line costs in units of TurnWork, where a message parsed or delivered is one.
const (
	lineWork    = 1
	subWork     = 16 // maps and memory that are cold
	madeWork    = 32 // a subscription is made: these grow besides
	madeFar     = 64 // … in an account that has very many
	connectWork = 16 // besides jsonWork
	answerWork  = 3  // an error or a 503, besides what it answers
	lineBytes   = 64 // of a line that count as another message: a line is read several times
)

// jsonWork is what it costs to read JSON.
func jsonWork(text []byte) int { return len(text) / 8 }

// input processes what a connection sent, until the end, until its gate shuts, or until its share of the turn is used up.
// held is the chunk that data lies in, if it was put aside before.
func (e *Engine) input(c *conn, data []byte, held *chunk) {
	share := e.share()
	before := e.work
	stop := min(e.limit, before+share)
	for len(data) > 0 {
		if c.gate != 0 {
			e.keep(c, data, held)
			return
		}
		if e.opts.Check {
			e.mayGoOn(before, share)
		}
		switch {
		case c.msg != nil:
			data = e.gather(c, data)
		case len(c.partial) > 0:
			data = e.continueLine(c, data)
		default:
			end := bytes.IndexByte(data, '\n')
			if end > 0 && data[end-1] != '\r' {
				end = lineEnd(data, end)
			}
			if end < 0 {
				e.beginLine(c, data)
				return
			}
			data = e.line(c, withoutCR(data[:end]), data[end+1:])
		}
		if len(data) > 0 && e.work >= stop && c.gate&gateClosed == 0 {
			e.yield(c)
		}
	}
	if c.gate != 0 {
		e.pause(c)
	}
}

// lineEnd returns where the line feed is that ends the control line at the beginning of data, in which the first one is at end; -1
// if it is not there.
func lineEnd(data []byte, end int) int {
	if !startsArgs(data[:end]) {
		return end
	}
	next := bytes.IndexByte(data[end+1:], '\n')
	if next < 0 {
		return -1
	}
	return end + 1 + next
}

// startsArgs reports whether a line feed behind line is the first byte of a verb's arguments: nothing but blanks stands between
// them, and no carriage return. There it is a blank, for nats-server too, and the next one ends the line. (To nats-server it
// belongs to the subject of a PUB, and to the lines that others get. Here it ends that line, from which something is missing.)
func startsArgs(line []byte) bool {
	verb, n := wire.ParseVerb(line)
	return takesArgs(verb) && verb != wire.VerbPub && verb != wire.VerbHPub && len(trimLeft(line[n:])) == 0
}

func withoutCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// line carries out one complete control line and returns what is left of rest, the bytes behind it.
func (e *Engine) line(c *conn, line, rest []byte) []byte {
	if !c.authed && !startsConnect(line) {
		e.authViolation(c)
		return nil
	}
	if !c.told && !startsConnect(line) {
		e.announce(c)
	}
	if e.traces && !c.again && e.tracesOf(c) {
		e.traceIn(c, line)
	}
	e.work += len(line) / lineBytes
	heard, active := c.lastIn, c.lastActive
	c.lastIn, c.lastActive = e.now, e.now
	if len(line) > 4 && line[0]|0x20 == 'p' && line[1]|0x20 == 'u' && line[2]|0x20 == 'b' && (line[3] == ' ' || line[3] == '\t') {
		return e.pub(c, line[4:], rest, false)
	}
	verb, n := wire.ParseVerb(line)
	args := trimLeft(line[n:])
	if len(args) > e.opts.MaxControlLine && takesArgs(verb) {
		e.lineTooLong(c)
		return nil
	}
	e.work += lineWork
	switch verb {
	case wire.VerbPub:
		return e.pub(c, args, rest, false)
	case wire.VerbHPub:
		return e.pub(c, args, rest, true)
	case wire.VerbSub:
		e.work += c.acc.madeWork() - lineWork
		e.subscribe(c, args)
	case wire.VerbUnsub:
		e.work += subWork - lineWork
		e.unsubscribe(c, args)
	case wire.VerbPing:
		c.lastActive = active
		e.pinged(c)
	case wire.VerbPong:
		c.lastIn, c.lastActive = heard, active // an answer is no sign of activity: the next ping is due as before
		e.ponged(c)
	case wire.VerbConnect:
		e.work += connectWork + jsonWork(args) - lineWork
		e.connect(c, args)
	case wire.VerbInfo:
		e.work += connectWork + jsonWork(args) - lineWork
		e.clientInfo(c, args)
	case wire.VerbOK:
	case wire.VerbErr:
		e.closeConn(c, ReasonParseError, "")
	default: // unknown, or nothing but the beginning of a verb
		e.protocolError(c, wire.ErrUnknownOp, ReasonProtocol)
	}
	return rest
}

// startsConnect reports whether an unauthenticated peer may go on: CONNECT is all that it may send.
func startsConnect(data []byte) bool { return len(data) > 0 && data[0]|0x20 == 'c' }

// takesArgs reports whether what follows the verb means something. Otherwise it may be of any length.
func takesArgs(v wire.Verb) bool {
	switch v {
	case wire.VerbNone, wire.VerbUnknown, wire.VerbPing, wire.VerbPong, wire.VerbOK:
		return false
	default:
		return true
	}
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
