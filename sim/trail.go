package sim

import (
	"cmp"
	"slices"
)

// An -ERR about a subject may tell a client that a reload took it a subscription, or answer a SUB of the same subject: the words are
// the same. A verbose client finds out which by the answers that follow, for each thing that it sends has one. So it takes such an
// -ERR for an answer at first, notes what it reads from then on up to the next PONG, and takes it otherwise if something does not fit.

// trail is what a verbose client has read since an -ERR that can be taken in two ways, and that one.
type trail []heard

// heard is an answer, or what looks like one.
type heard struct {
	verb inboundVerb
	text string
	told *revoked // it was taken for word of this; nil: for an answer
}

// ambiguous notes that an -ERR can be taken in two ways, if it can.
func (c *client) ambiguous(text []byte) {
	if c.traits.verbose && c.ledger.fits(text) && slices.ContainsFunc(c.revoked, func(r revoked) bool { return r.text == string(text) }) {
		c.ledger.keep()
	}
}

// note adds to the trail, if there is one.
func (c *client) note(verb inboundVerb, text []byte, told *revoked) {
	if c.ledger.kept {
		c.trail = append(c.trail, heard{verb, string(text), told})
	}
}

// takeAnswer takes what was read off the ledger. ok is false if it is not what is due, however that which was read before is taken.
func (c *client) takeAnswer(verb inboundVerb, text []byte) (d due, ok bool) {
	if d, ok = c.ledger.answer(verb, text, c.traits.verbose); !ok {
		d, ok = c.reconsider(verb, text)
	} else {
		c.note(verb, text, nil)
	}
	if ok && verb == saidPong {
		c.trail = c.trail[:0]
		c.ledger.release()
	}
	return d, ok
}

// reconsider looks for another way to take all that was read since the trail began, so that the last fits, too.
func (c *client) reconsider(verb inboundVerb, text []byte) (d due, ok bool) {
	if !c.ledger.kept {
		return due{}, false
	}
	all := append(slices.Clone(c.trail), heard{verb: verb, text: string(text)})
	pool := slices.Clone(c.revoked)
	for i := range all {
		if r := all[i].told; r != nil {
			pool, all[i].told = append(pool, *r), nil
		}
	}
	slices.SortStableFunc(pool, func(a, b revoked) int { // what it must be told comes first
		switch {
		case a.certain == b.certain:
			return 0
		case a.certain:
			return -1
		}
		return 1
	})
	taken := make([]bool, len(pool))
	last, n := c.explain(all, pool, taken, c.ledger.mark)
	if n == 0 {
		return due{}, false
	}
	for i := range c.trail {
		if r := c.trail[i].told; r != nil {
			c.recall(r.sub)
		}
	}
	c.revoked = c.revoked[:0]
	for i := range pool {
		if taken[i] {
			c.forget(pool[i].sub)
		} else {
			c.revoked = append(c.revoked, pool[i])
		}
	}
	c.trail = all
	if all[len(all)-1].told == nil {
		d = c.ledger.items[last]
	}
	c.ledger.move(n)
	return d, true
}

// explain finds what each answer answers, beginning with the due at that place: or what of the pool it tells of, which it marks
// taken. It returns the place of the last due that was answered, and the first behind; 0: there is no such way.
func (c *client) explain(all []heard, pool []revoked, taken []bool, at int) (last, next int) {
	if len(all) == 0 {
		return at - 1, at
	}
	h := &all[0]
	for i := at; i < len(c.ledger.items); i++ {
		front := &c.ledger.items[i]
		if front.fits(h.verb, []byte(h.text), true) {
			if last, next = c.explain(all[1:], pool, taken, i+1); next > 0 {
				return last, next
			}
		}
		if front.kind != dueOption {
			break
		}
	}
	if h.verb != saidErr {
		return 0, 0
	}
	for i := range pool {
		if taken[i] || pool[i].text != h.text {
			continue
		}
		taken[i], h.told = true, &pool[i]
		if last, next = c.explain(all[1:], pool, taken, at); next > 0 {
			return last, next
		}
		taken[i], h.told = false, nil
		return 0, 0 // another with the same words makes no difference
	}
	return 0, 0
}

// recall puts a subscription back on the client's list: that it is over was a mistake.
func (c *client) recall(s *subscription) {
	at, there := slices.BinarySearchFunc(c.subs, s.sid, func(x *subscription, sid uint64) int { return cmp.Compare(x.sid, sid) })
	if !there {
		c.subs = slices.Insert(c.subs, at, s)
	}
}
