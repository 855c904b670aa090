package sim

import (
	"strconv"

	"github.com/natsd/natsd/wire"
)

// Other terms are in force from one moment on, for everybody who is connected. Whoever showed what is no longer right is told so
// and closed; what it sent and the server had not read goes nowhere, and nothing that is published from then on reaches it, or, where
// it has to be held against a hash, from when that was done: who is in order must miss nothing while that lasts. All
// others stay, even if there are more than would be let in now, or have more subscriptions than they could make. What a client
// sends is held against the limits then in force, whether it knows of them or not, and of max_payload it is told before anything
// that it asks for later is answered.

// propTerms is the name of the property.
const propTerms = "terms"

// retermed tells everybody that a reload brings other terms.
func (n *node) retermed() {
	was := n.terms()
	n.version = n.nextVersion
	is := n.terms()
	n.w.note(n.index, "terms "+strconv.Itoa(n.version)+" come into force")
	n.termsAt = n.w.queue.Now()
	if is.pending < was.pending {
		n.loweredAt, _ = n.Now()
	}
	for _, c := range n.w.clients {
		if c != nil && c.node == n {
			c.retermed(was, is)
		}
	}
}

// handedOf is how many bytes of the client's connection the engine was given; -1: it has given the connection up.
func (n *node) handedOf(c *client) int64 {
	for i := range n.conns {
		if nc := &n.conns[i]; nc.id != 0 && nc.client == c && nc.dial == c.dial {
			return nc.handed
		}
	}
	return -1
}

// retermed is told of other terms.
func (c *client) retermed(was, is terms) {
	for _, n := range c.barred {
		c.published[n].barred = false // it may be read under these
	}
	c.barred = c.barred[:0]
	if c.state < clientOpening || c.garbage {
		return
	}
	if c.fatal {
		c.drop("other terms")
		return
	}
	handed := c.node.handedOf(c)
	if handed < 0 {
		return
	}
	if c.w.cfg.auth.required() && c.shown != is.who {
		c.expelled = true
		c.sentenced(wire.ErrAuthorization)
		if is.hashed {
			c.weighing, c.node.weighing = weighTurns(len(c.w.clients)), true
		}
		for n := len(c.published) - 1; n > 0 && c.published[n].epoch == c.id.Epoch() && c.published[n].end > handed; n-- {
			c.bar(n)
		}
		return
	}
	if is.payload < was.payload && c.oversized(handed, is.payload) {
		return
	}
	if is.subscriptions == was.subscriptions {
		return
	}
	c.ledger.loosen()
	for _, s := range c.subs {
		if s.pinged >= c.answeredPings() && !s.doubtful {
			s.doubtful = true
			c.node.oracle.Doubt(c.told, s.sid)
		}
	}
}

// oversized looks for messages under way that are too large now, and reports whether it has found one. The server has not looked at
// those whose first line it has not been given: it must close the connection. Of others it is not known.
func (c *client) oversized(handed int64, most int) bool {
	for n := max(c.proven, 1); n < len(c.published); n++ {
		p := &c.published[n]
		size := int64(p.size) + int64(p.header)
		if p.epoch != c.id.Epoch() || size <= int64(most) {
			continue
		}
		if handed >= p.end-size-2 {
			c.drop("other terms")
			return true
		}
		c.sentenced(wire.ErrMaxPayload)
		for ; n < len(c.published); n++ {
			c.bar(n)
		}
		return true
	}
	return false
}

// bar notes that a publish must reach nobody.
func (c *client) bar(n int) {
	c.published[n].barred = true
	c.barred = append(c.barred, uint64(n))
}

// sentenced notes that the server must close the connection for a reload, with these words.
func (c *client) sentenced(err wire.Err) {
	c.sentence, c.fatal, c.sentencedAt = err, true, c.w.queue.Now()
	c.later(clientCloseBy, patienceClose)
}

// weighTurns is how many turns without a job it takes the server at most to come to everybody, to have passwords compared, and to
// come to everybody with the outcome, if it comes to one of them in a turn.
func weighTurns(clients int) int { return 4*clients + 16 }

// weighed counts, at the end of a turn, those after which clients have been held against a hash.
func (n *node) weighed() {
	if !n.weighing || n.working > 0 {
		return
	}
	n.weighing = false
	for _, c := range n.w.clients {
		if c == nil || c.node != n || c.weighing == 0 {
			continue
		}
		if c.weighing--; c.weighing == 0 {
			c.sentencedAt = n.w.queue.Now()
		}
		n.weighing = n.weighing || c.weighing > 0
	}
}

// executed takes the last words to a connection that a reload has doomed.
func (c *client) executed(text []byte) bool {
	if c.sentence == "" || string(text) != string(c.sentence) {
		return false
	}
	c.wordsRead = true
	return true
}

// acknowledgedUnlessMany is acknowledged for a subscription that a reload may leave no room for.
func (c *client) acknowledgedUnlessMany() {
	kind := dueSilent
	if c.traits.verbose {
		kind = dueOK
	}
	c.ledger.add(due{kind: kind, err: wire.ErrMaxSubscriptions})
}

// checkTold is told of a PONG: to a client that has asked after a reload the server must have said what max_payload is now.
func (c *client) checkTold(d *due) {
	if c.w.cfg.terms == nil || c.garbage || d.n < 2 || d.at <= c.node.termsAt || c.traits.late && c.silentAtFirst() {
		return
	}
	if most := c.node.terms().payload; c.maxPayload != most {
		c.w.fail(propTerms, c.name()+" was last told that max_payload is "+strconv.Itoa(c.maxPayload)+", and not that it is "+
			strconv.Itoa(most)+" after a reload")
	}
}

// tells reports whether an INFO may say so of max_payload.
func (c *client) tells(most int) bool {
	for _, t := range c.w.cfg.terms {
		if t.payload == most {
			return true
		}
	}
	return most == c.w.cfg.engine.MaxPayload
}

// judgeTerms is told of a message of another, or of itself, that the client has read.
func (c *client) judgeTerms(from *client, p *published) {
	switch {
	case p.barred:
		c.w.fail(propTerms, c.name()+" read a message of "+from.name()+" that the server must refuse")
	case c.sentencedAt > 0 && c.weighing == 0 && p.at > c.sentencedAt:
		c.w.fail(propTerms, c.name()+" read a message of "+from.name()+" that was published after a reload which it must not outlive")
	}
}
