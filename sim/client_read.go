package sim

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/schedule"
	"github.com/natsd/natsd/wire"
)

// Names of the properties of what a client reads.
const (
	propProtocol = "protocol" // a server says nothing that is against the protocol
	propInfo     = "info"     // INFO comes first, and says what the server is configured to
)

// Readable implements netsim.Sink.
func (c *client) Readable(conn *netsim.Conn) {
	if conn != c.conn || c.state <= clientDialling || c.stalled {
		return
	}
	if c.traits.pace > 0 && c.hostile {
		c.readSlowly()
		return
	}
	c.readAll()
}

// readAll reads until nothing is left.
func (c *client) readAll() {
	conn := c.conn
	for c.conn == conn && c.state > clientDialling && !c.stalled {
		n, eof := conn.Read(c.w.scratch)
		c.take(c.w.scratch[:n])
		if eof && c.conn == conn {
			c.endOfStream()
			return
		}
		if n < len(c.w.scratch) {
			return
		}
	}
}

// readSlowly reads what the pace allows for one tick, and comes back for the rest.
func (c *client) readSlowly() {
	if c.tick || c.stalled || c.state <= clientDialling {
		return
	}
	if !c.hostile {
		c.readAll()
		return
	}
	size, wait := c.traits.pace/10, readTick
	if size == 0 {
		size, wait = 1, second/schedule.Time(c.traits.pace)
	}
	n, eof := c.conn.Read(c.w.scratch[:min(size, len(c.w.scratch))])
	c.take(c.w.scratch[:n])
	if eof {
		c.endOfStream()
		return
	}
	if c.state > clientDialling {
		c.tick = true
		c.later(clientTick, wait)
	}
}

// stall stops reading for a while.
func (c *client) stall(d schedule.Time) {
	if c.state <= clientDialling || c.stalled {
		return
	}
	c.stalled, c.lazy = true, true
	c.later(clientUnstall, d)
}

func (c *client) unstall() {
	if !c.stalled || c.state <= clientDialling {
		return
	}
	c.stalled = false
	c.tick = false
	if c.traits.pace > 0 && c.hostile {
		c.readSlowly()
	} else {
		c.readAll()
	}
}

// take handles bytes that were read.
func (c *client) take(b []byte) {
	if len(b) == 0 {
		return
	}
	data := b
	if len(c.input.rest) > 0 {
		c.input.rest = append(c.input.rest, b...)
		data = c.input.rest
	}
	dial := c.dial
	var in inbound
	for len(data) > 0 {
		left, ok, wrong := c.input.next(data, &in)
		if wrong != "" {
			c.w.fail(propProtocol, c.name()+" read "+wrong)
			return
		}
		if !ok {
			break
		}
		c.said(&in)
		if c.w.failure != nil || c.dial != dial || c.state <= clientDialling {
			return
		}
		data = left
	}
	if len(c.input.rest) > 0 {
		c.input.rest = c.input.rest[:copy(c.input.rest, data)]
	} else if len(data) > 0 {
		c.input.rest = append(c.input.rest, data...)
	}
	c.flush()
}

// said handles one thing that the server said.
func (c *client) said(in *inbound) {
	if !c.greeted && in.verb != saidInfo {
		c.w.fail(propInfo, c.name()+" was not greeted with an INFO")
		return
	}
	switch in.verb {
	case saidInfo:
		c.info(in.args)
	case saidMsg:
		c.deliver(in)
	case saidPing:
		if !c.mute {
			c.out = append(c.out, "PONG\r\n"...)
		}
	case saidPong:
		c.pong()
	case saidOK:
		if _, ok := c.takeAnswer(saidOK, nil); !ok && !c.garbage {
			c.w.fail(propReplies, c.name()+" read +OK, due was "+c.ledger.unanswered())
		}
	case saidErr:
		c.refused(in.args)
	}
}

// serverInfo is what a client looks at in an INFO.
type serverInfo struct {
	Version      string `json:"version"`
	Headers      bool   `json:"headers"`
	AuthRequired bool   `json:"auth_required"`
	MaxPayload   int    `json:"max_payload"`
	ClientID     uint64 `json:"client_id"`
	ClientIP     string `json:"client_ip"`
	LameDuckMode bool   `json:"ldm"`
	Port         int    `json:"port"`
}

func (c *client) info(args []byte) {
	var i serverInfo
	if err := json.Unmarshal(bytes.TrimSpace(args), &i); err != nil {
		c.w.fail(propInfo, c.name()+" read an INFO that is no JSON: "+err.Error())
		return
	}
	o := &c.w.cfg.engine
	if !c.tells(i.MaxPayload) || i.Headers == o.NoHeaders || !c.demands(i.AuthRequired) ||
		i.ClientIP != c.whereabouts() || i.ClientID == 0 || i.Port != serverPort || i.LameDuckMode && !c.node.stopping && c.life == c.node.life {
		c.w.fail(propInfo, c.name()+" read an INFO that is not true: "+quote(args))
		return
	}
	c.cid = i.ClientID
	c.duckTold = c.duckTold || i.LameDuckMode
	c.maxPayload, c.headers = i.MaxPayload, i.Headers && c.traits.headers
	if !c.greeted {
		c.greeted = true
		c.greet()
	}
}

// pong takes a PONG.
func (c *client) pong() {
	d, ok := c.takeAnswer(saidPong, nil)
	if !ok {
		if !c.garbage {
			c.w.fail(propReplies, c.name()+" read PONG, due was "+c.ledger.unanswered())
		}
		return
	}
	if c.told != nil {
		c.node.oracle.Pong(c.told)
		c.w.judged(c.node)
	}
	c.checkTold(&d)
	c.proven = d.sent
	c.pongAt = c.w.queue.Now()
	c.prompt(c.pongAt-d.at, d.behind)
	c.fenced(d.n)
	c.letIn(d.n)
	if c.state == clientOpening {
		c.state, c.readyAt = clientReady, c.w.queue.Now()
		if l := &c.node.listener; l.listens() && c.life == c.node.life {
			l.letIn[c.cid] = true
		}
		c.tries = 0
		c.w.noteClient(c, "is connected")
	}
}

// refused takes an -ERR.
func (c *client) refused(text []byte) {
	if c.executed(text) {
		c.w.noteClient(c, "was told "+string(text))
		return
	}
	c.ambiguous(text)
	if c.isRevoked(text, true) {
		return
	}
	if !c.traits.verbose {
		if c.ledger.certain(text) {
			c.w.noteClient(c, "was told "+string(text))
			return
		}
		if c.isRevoked(text, false) { // comes before what is answered to a SUB that waited behind the reload
			return
		}
	}
	if _, ok := c.takeAnswer(saidErr, text); ok {
		c.w.noteClient(c, "was told "+string(text))
		return
	}
	if c.isRevoked(text, false) {
		return
	}
	switch err := wire.Err(text); err {
	case wire.ErrStaleConnection, wire.ErrMaxConnections, wire.ErrAuthTimeout:
		c.w.noteClient(c, "was told "+string(text)) // whether that is just is judged at the server's end
		return
	}
	if c.lapsed(wire.Err(text)) {
		c.w.noteClient(c, "was told "+string(text))
		return
	}
	if c.garbage || c.expelled && wire.Err(text) == wire.ErrAuthorization {
		return
	}
	c.w.fail(propReplies, c.name()+" read -ERR "+strconv.Quote(string(text))+", due was "+c.ledger.unanswered())
}
