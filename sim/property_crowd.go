package sim

import (
	"bytes"
	"strconv"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/oracle"
)

// Who waits for an answer is written to before all the receivers of a message to a crowd: within the end of one turn, none
// that gets a PONG and nothing else comes behind one that gets such a message and nothing else.

// propCrowd is the name of the property.
const propCrowd = "crowd"

// crowdOf is how many receivers make a crowd.
const crowdOf = 64

// crowdWatch follows the writes at the ends of turns. That a message has many receivers shows when so many copies of it have
// been written, which may be later than the turn in question.
type crowdWatch struct {
	messages map[messageKey]*crowdMessage
	before   []*crowdMessage // written alone in this turn so far, a message for each connection
}

// messageKey names a message by its publisher's connection and number, and by the way it has come: whom it reaches is found out anew
// for each service that it is a request to, and there may be a crowd at one of them only.
type messageKey struct {
	from  oracle.ID
	n     uint64
	entry int
}

type crowdMessage struct {
	copies int
	jumped string // who was written to behind one of its receivers, in the same turn
}

// crowdMost is how many messages are remembered.
const crowdMost = 4096

// endTurn forgets what only counts within a turn.
func (c *crowdWatch) endTurn() {
	clear(c.before)
	c.before = c.before[:0]
}

// wroteOne is told of every write.
func (n *node) wroteOne(id engine.ConnID, bufs [][]byte, offered, taken int) {
	nc := n.slot(id)
	if nc == nil {
		return
	}
	plain := n.turnWatch.ending && !nc.mixed && taken == offered
	// Another reason to be written to than a message or an answer may have come first, and decides the order.
	nc.mixed = taken < offered || !n.turnWatch.ending
	if !plain || offered == 0 || n.w.cfg.clients < 4 {
		return
	}
	if offered == len(pongLine) && string(bufs[0]) == pongLine {
		n.crowds.answered(n, nc)
		return
	}
	if b := bufs[0]; b[0] == 'M' || b[0] == 'H' {
		n.crowds.delivered(n, nc.client, bufs)
	}
}

const pongLine = "PONG\r\n"

// answered is a write of nothing but an answer.
func (c *crowdWatch) answered(n *node, nc *nodeConn) {
	for _, m := range c.before {
		if m.jumped == "" {
			m.jumped = nc.who()
			m.judge(n)
		}
	}
}

// delivered is a write of nothing but messages.
func (c *crowdWatch) delivered(n *node, to *client, bufs [][]byte) {
	key, copies, ok := copiesOfOne(bufs)
	if !ok {
		return
	}
	if n.w.cfg.tenants != nil {
		if to == nil {
			return
		}
		if key.entry, ok = n.oracle.EntryOf(key.from, key.n, to.user); !ok {
			return
		}
	}
	m := c.messages[key]
	if m == nil {
		if c.messages == nil || len(c.messages) >= crowdMost {
			c.messages = make(map[messageKey]*crowdMessage)
		}
		m = &crowdMessage{}
		c.messages[key] = m
	}
	m.copies += copies
	c.before = append(c.before, m)
	m.judge(n)
}

func (m *crowdMessage) judge(n *node) {
	if m.copies >= crowdOf {
		n.w.crowded++
		if m.jumped != "" {
			n.w.fail(propCrowd, "the PONG for "+m.jumped+" was written behind a message to "+strconv.Itoa(m.copies)+" receivers at least")
		}
	}
}

// copiesOfOne reads a write that consists of whole copies of one message, and counts them. ok is false if it does not, or if
// the message is too small to carry its name.
func copiesOfOne(bufs [][]byte) (key messageKey, copies int, ok bool) {
	b := bufs[0]
	if len(bufs) > 1 {
		b = bytes.Join(bufs, nil)
	}
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			return key, 0, false
		}
		f := bytes.Fields(b[:end])
		if len(f) < 4 || string(f[0]) != "MSG" && string(f[0]) != "HMSG" {
			return key, 0, false
		}
		size, err := strconv.Atoi(string(f[len(f)-1]))
		header := 0
		if f[0][0] == 'H' && err == nil {
			header, err = strconv.Atoi(string(f[len(f)-2]))
		}
		if err != nil || header > size || len(b) < end+1+size+len("\r\n") {
			return key, 0, false
		}
		from, n, _, stamped := readStamp(b[end+1+header : end+1+size])
		k := messageKey{from: from, n: n}
		if !stamped || copies > 0 && k != key {
			return key, 0, false
		}
		key = k
		copies++
		b = b[end+1+size+len("\r\n"):]
	}
	return key, copies, copies > 0
}
