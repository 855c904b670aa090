package engine

import (
	"strconv"

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

// gatherMin is the smallest buffer of a message being gathered. A larger one is at most four times what has arrived (twice,
// rounded up to a class): a peer that announces much and sends nothing costs no more.
const gatherMin = 1 << minChunkClass

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
			e.protocolError(c, wire.ErrParser, ReasonProtocol)
			return nil
		}
	} else if !a.ParsePub(line) {
		e.protocolError(c, wire.ErrParser, ReasonProtocol)
		return nil
	}
	if a.Size > c.payloadMax {
		e.mark(MarkMaxPayload)
		e.complain(c, "maximum payload exceeded: "+strconv.Itoa(a.Size)+" vs "+strconv.Itoa(c.payloadMax))
		e.closeConn(c, ReasonMaxPayload, wire.ErrMaxPayload)
		return nil
	}
	need := a.Size + 2
	if len(rest) < need {
		e.startGathering(c, line, header, rest)
		return nil
	}
	if rest[a.Size] != '\r' || rest[a.Size+1] != '\n' {
		e.protocolError(c, wire.ErrUnknownOp, ReasonProtocol)
		return nil
	}
	if e.publish(c, a, rest[:need], nil); c.again || c.granted {
		c.again, c.granted = false, false // this was the message that is read again
	}
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
	g.ck = e.pool.get(min(g.need, max(gatherMin, 2*len(data))))
	c.msg = g
	if len(data) > 0 {
		e.gather(c, data)
	}
}

// gather adds to a message that began earlier and publishes it when it is whole. It returns what is behind it.
func (e *Engine) gather(c *conn, data []byte) (rest []byte) {
	g := c.msg
	c.lastIn, c.lastActive = e.now, e.now
	n := min(g.need-g.filled, len(data))
	if g.filled+n > len(g.ck.data) {
		bigger := e.pool.get(min(g.need, 2*(g.filled+n)))
		copy(bigger.data, g.ck.data[:g.filled])
		e.pool.release(g.ck)
		g.ck = bigger
	}
	copy(g.ck.data[g.filled:], data[:n])
	g.filled += n
	size := g.args.Size
	if g.filled > size && g.ck.data[size] != '\r' || g.filled == g.need && g.ck.data[size+1] != '\n' {
		e.protocolError(c, wire.ErrUnknownOp, ReasonProtocol)
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
	if e.publish(c, &g.args, g.ck.data[:g.need], g.ck); c.again || c.granted {
		c.again, c.granted = false, false
	}
	e.pool.release(g.ck)
	return data[n:]
}
