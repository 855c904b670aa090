package engine

import (
	"github.com/natsd/natsd/mapping"
	"github.com/natsd/natsd/sublist"
	"github.com/natsd/natsd/wire"
)

// memo is what a connection published last, and where that went: the next message often goes there too.
type memo struct {
	subject []byte
	to      []byte // what the account maps subject to; empty: nothing
	result  *sublist.Result[*subscription]
}

// route finds whom a message reaches, with the subject that its account gives it. It returns nil if the message goes nowhere:
// refused, and the publisher told, or lost by a mapping that says so.
func (e *Engine) route(c *conn, a *wire.PubArgs) *sublist.Result[*subscription] {
	m := c.memo
	if m == nil || string(m.subject) != string(a.Subject) {
		return e.routeAnew(c, a)
	}
	if !m.result.Valid() {
		e.mark(MarkMemoStale)
		return e.routeAnew(c, a)
	}
	e.mark(MarkMemoHit)
	if len(m.to) > 0 {
		a.Subject = m.to
	}
	return m.result
}

// routeAnew is route without what is remembered; it remembers what it finds, unless chance had a part in it. Permissions judge
// the subject that a message has behind the mappings.
func (e *Engine) routeAnew(c *conn, a *wire.PubArgs) *sublist.Result[*subscription] {
	m := c.memo
	if m == nil {
		m = &memo{}
	}
	c.memo = m
	m.subject = append(m.subject[:0], a.Subject...)
	m.to = m.to[:0]
	if t := c.acc.def.mappings; t != nil {
		to, outcome, chance := e.mapped(t, m.to, a.Subject)
		if outcome == mapping.Lost {
			e.mark(MarkMappingLost)
			c.memo, a.Subject = nil, nil
			e.ok(c)
			return nil
		}
		if m.to = to; outcome == mapping.Mapped {
			a.Subject = to
		}
		if chance {
			c.memo = nil
		}
	}
	allowed, lasting := c.mayStillAnswer(a.Subject), false
	if !allowed {
		allowed, lasting = e.mayPublish(c, a.Subject)
	}
	if !allowed || !lasting {
		c.memo = nil
	}
	if !allowed {
		return nil
	}
	if m.result = e.reach(c.acc, a.Subject); !e.isKnown(m.result) {
		c.memo, e.waits, e.granted = nil, m.subject, !lasting
	}
	return m.result
}

// mapped appends to dst what the account's mappings make of subj.
func (e *Engine) mapped(t *mapping.Table, dst, subj []byte) (to []byte, outcome mapping.Outcome, chance bool) {
	e.work += t.Len() / lookWork
	w := t.Match(subj)
	if w == nil {
		return dst, mapping.Unmatched, false
	}
	draw := uint64(0)
	if chance = w.NeedsRandom(); chance {
		draw = e.rng.Uint64()
	}
	to, outcome = w.Apply(dst, subj, draw)
	return to, outcome, chance
}
