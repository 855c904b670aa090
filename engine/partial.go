package engine

import (
	"bytes"

	"github.com/natsd/natsd/wire"
)

// A control line may arrive in any number of pieces. conn.partial is what of it has arrived: the verb with the blank
// that ends it, and the arguments without the blanks before them, so that it is no longer than what max_control_line
// counts. Each byte is looked at once, however small the pieces are. What can't become a lawful line is refused at once,
// as nats-server does, without waiting for the line's end.

// beginLine takes the beginning of a control line, data, of which the end is missing.
func (e *Engine) beginLine(c *conn, data []byte) {
	if !c.authed && !startsConnect(data) {
		e.authViolation(c)
		return
	}
	c.partial = make([]byte, 0, min(len(data)+32, 512)) // more only for a longer line
	e.addToLine(c, data)
}

// continueLine takes more of the control line in c.partial, and carries it out when it is complete. It returns what is
// behind it.
func (e *Engine) continueLine(c *conn, data []byte) (rest []byte) {
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		e.addToLine(c, data)
		return nil
	}
	e.addToLine(c, data[:end])
	if c.gate&gateClosed != 0 {
		return nil
	}
	if startsArgs(c.partial) {
		e.mark(MarkSplitArgs)
		c.partial = append(c.partial, '\n')
		return data[end+1:]
	}
	line := c.partial
	c.partial = nil
	return e.line(c, withoutCR(line), data[end+1:])
}

// addToLine appends more of a control line to c.partial.
func (e *Engine) addToLine(c *conn, more []byte) {
	verb, n := wire.ParseVerb(c.partial)
	for verb == wire.VerbNone && len(more) > 0 {
		c.partial = append(c.partial, more[0])
		more = more[1:]
		verb, n = wire.ParseVerb(c.partial)
	}
	switch {
	case verb == wire.VerbNone:
		e.mark(MarkSplitVerb)
		return
	case verb == wire.VerbUnknown:
		e.protocolError(c, wire.ErrUnknownOp, ReasonProtocol)
		return
	case !takesArgs(verb):
		return // kept is the verb alone
	case len(c.partial) == n:
		more = trimLeft(more)
	}
	counted := len(c.partial) - n + len(more)
	last := byte(0)
	if len(more) > 0 {
		last = more[len(more)-1]
	} else {
		last = c.partial[len(c.partial)-1]
	}
	if last == '\r' {
		counted-- // perhaps the line's end
	}
	if counted > e.opts.MaxControlLine {
		e.lineTooLong(c)
		return
	}
	switch {
	case last == '\r':
		e.mark(MarkSplitBeforeLF)
	case verb == wire.VerbConnect:
		e.mark(MarkSplitConnect)
	default:
		e.mark(MarkSplitArgs)
	}
	c.partial = append(c.partial, more...)
}
