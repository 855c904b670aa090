package engine

import "slices"

// A connection that becomes another user goes through its subscriptions: they move to the user's account, and those that
// it may not have end. With many of them that takes longer than a turn may. Then some are gone through in each turn, while
// what the connection sends waits; and each before it gets a message: nobody gets anything by what was in force before.

// remaking is a connection's way through its subscriptions.
type remaking struct {
	from  *account // where those that are left are
	left  int      // of conn.subs, the first: not gone through yet
	swept bool     // a reload made the connection another user, not its client
}

// remakings are the connections whose subscriptions follow bit by bit, in turns, and perhaps some whose have by now. A reload's are
// served first: what clients ask for does not prolong it.
type remakings struct{ swept, asked []*conn }

func (r *remakings) empty() bool { return len(r.swept)+len(r.asked) == 0 }

const (
	// remakePerTurn is how many subscriptions are gone through in a turn; fewer where that takes longer.
	remakePerTurn = 600
	// remakeAtOnce is how many a connection may have that are gone through at once, not as a part of what a turn goes through.
	remakeAtOnce = 32
	// remakeAsked is how many one of a client counts as that asked for it, by another CONNECT. It may ask as often as it likes:
	// others should not notice. A reload is to be over soon.
	remakeAsked = 8
)

// remake has a connection's subscriptions follow what the connection has become. They are in the account from.
func (e *Engine) remake(c *conn, from *account) {
	if len(c.subs) > e.slice(remakeAtOnce) {
		c.remaking = &remaking{from: from, left: len(c.subs), swept: e.moves.visiting}
		c.gate |= gateRemake
		if e.moves.visiting {
			e.mark(MarkRemakeSliced)
		} else {
			e.mark(MarkRemakeAsked)
		}
		c.epoch = e.epoch - 1 // has deliver look
		if c.remaking.swept {
			e.remaking.swept = append(e.remaking.swept, c)
		} else {
			e.remaking.asked = append(e.remaking.asked, c)
		}
		return
	}
	if !e.moves.visiting {
		e.work += subWork * len(c.subs)
	}
	for _, s := range slices.Clone(c.subs) {
		e.remakeSub(s, from)
	}
}

// remakeSub has one subscription follow.
func (e *Engine) remakeSub(s *subscription, from *account) {
	c := s.conn
	if from != c.acc {
		if s.flags&subShadowed != 0 {
			e.takeShadows(s)
		}
		subj, queue := s.handle.Subject(), s.handle.Queue()
		e.remove(from, s)
		s = c.renewSub(s)
		if err := e.insert(c.acc, []byte(subj), []byte(queue), s); err != nil {
			panic("engine: a subject that was subscribed to: " + subj)
		}
		if len(c.acc.def.streams) > 0 {
			e.castShadows(s)
		}
	} else if e.recast.on {
		e.recastSub(s) // it has changed places with another one, and would perhaps not be visited
	}
	if !e.permit(c, s) {
		e.mark(MarkSubRevoked)
		e.violation(c, []byte(s.handle.Subject()), []byte(s.handle.Queue()), s.appendSID(nil))
		e.endSub(s)
	}
}

// remakeNext goes through one of those that are left, the one at index i.
func (e *Engine) remakeNext(c *conn, i int) {
	r := c.remaking
	r.left--
	c.swapSubs(i, r.left)
	e.remakeSub(c.subs[r.left], r.from)
}

// remakeAll goes through all that are left: something else is to happen to the connection.
func (e *Engine) remakeAll(c *conn) {
	for c.remaking != nil && c.remaking.left > 0 && c.gate&gateClosed == 0 {
		e.work += subWork
		e.remakeNext(c, c.remaking.left-1)
	}
	e.remade(c)
}

// remakeSome goes through those that are left, each for a price and what more it costs, as long as there is something left of a
// budget. It reports whether none are left.
func (e *Engine) remakeSome(c *conn, price int, budget *int) bool {
	for r := c.remaking; r != nil && r.left > 0 && c.gate&gateClosed == 0; {
		if *budget <= 0 {
			return false
		}
		before := e.work
		e.remakeNext(c, r.left-1)
		*budget -= price + e.work - before
	}
	return true
}

// remade ends it, unless the connection is closing: then those that are left are removed from where they are.
func (e *Engine) remade(c *conn) {
	if c.remaking == nil || c.gate&gateClosed != 0 {
		return
	}
	c.remaking = nil
	c.epoch = c.followed
	e.open(c, gateRemake)
}

// stepRemaking goes through the next subscriptions, of all connections in turns.
func (e *Engine) stepRemaking() {
	budget := e.slice(remakePerTurn)
	e.stepRemakings(&e.remaking.swept, true, 1, &budget)
	e.stepRemakings(&e.remaking.asked, false, remakeAsked, &budget)
}

func (e *Engine) stepRemakings(list *[]*conn, swept bool, price int, budget *int) {
	for len(*list) > 0 {
		c := (*list)[0]
		if r := c.remaking; r != nil && r.swept == swept { // else they have followed, or what comes after it
			if !e.remakeSome(c, price, budget) {
				*list = append((*list)[1:], c)
				return
			}
			e.remade(c)
		}
		(*list)[0] = nil
		*list = (*list)[1:]
	}
	*list = nil
}

// follow is called where s.conn.epoch is not e.epoch and a message is to go to s: its connection is visited first. It reports
// whether the message may still be for s: not when that has left the account that the message is in.
func (e *Engine) follow(s *subscription) bool {
	c, acc := s.conn, s.conn.acc
	if e.visitFirst(c); c.acc != acc {
		return false
	}
	r, root := c.remaking, s
	if s.flags&subShadow != 0 {
		root = s.also.root
	}
	if r == nil || c.gate&gateClosed != 0 || root.dead() || int(root.index) >= r.left {
		return true
	}
	e.remakeNext(c, int(root.index))
	return r.from == c.acc
}

// home is the account that a subscription of c is in.
func (c *conn) home(s *subscription) *account {
	if r := c.remaking; r != nil && int(s.index) < r.left {
		return r.from
	}
	return c.acc
}
