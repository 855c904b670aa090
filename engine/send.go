package engine

import "github.com/natsd/natsd/wire"

// sendBytes appends control bytes to what waits for c.
func (e *Engine) sendBytes(c *conn, b []byte) {
	if c.gate&gateClosed != 0 || !e.room(c, len(b)) {
		return
	}
	if e.traces && e.tracesOf(c) {
		e.traceOut(c, b)
	}
	copy(c.out.extend(&e.pool, len(b)), b)
	e.touch(c)
}

func (e *Engine) sendString(c *conn, s string) {
	if c.gate&gateClosed != 0 || !e.room(c, len(s)) {
		return
	}
	if e.traces && e.tracesOf(c) {
		e.traceOut(c, []byte(s))
	}
	copy(c.out.extend(&e.pool, len(s)), s)
	e.touch(c)
}

// sendErr appends an error that the connection survives.
func (e *Engine) sendErr(c *conn, err wire.Err) {
	e.work += answerWork
	e.complain(c, printable([]byte(err)))
	e.lineScratch = wire.AppendErr(e.lineScratch[:0], err)
	e.sendBytes(c, e.lineScratch)
}
