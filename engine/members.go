package engine

import (
	"math"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/wire"
)

// An account's members are its connections, in the order in which they joined. When it may have fewer than it has, the newest
// have to go: which ones is decided at once, a sweep closes them.

// members is the list of an account's connections.
type members struct {
	first, last *conn
	joined      uint64 // the number that the last one to join got
	// Those with numbers from surplusFrom to surplusTo are to be closed; numbers begin at 1.
	surplusFrom, surplusTo uint64
}

// enter puts a connection on its account's books.
func (a *account) enter(c *conn) {
	a.conns++
	m := &a.members
	m.joined++
	c.memberNo = m.joined
	if c.memberPrev = m.last; m.last != nil {
		m.last.memberNext = c
	} else {
		m.first = c
	}
	m.last = c
}

// quit undoes enter.
func (a *account) quit(c *conn) {
	a.conns--
	m := &a.members
	if c.memberPrev != nil {
		c.memberPrev.memberNext = c.memberNext
	} else {
		m.first = c.memberNext
	}
	if c.memberNext != nil {
		c.memberNext.memberPrev = c.memberPrev
	} else {
		m.last = c.memberPrev
	}
	c.memberPrev, c.memberNext, c.memberNo = nil, nil, 0
}

// full reports whether no connection more may join. The server's own account has no bound.
func (e *Engine) full(a *account) bool {
	l := a.def.limits.MaxConnections
	return l.Set && l.N >= 0 && int64(a.conns) >= l.N && a != e.system
}

// shrink decides which connections have to go if the account has more than it may have.
func (e *Engine) shrink(a *account) {
	l := a.def.limits.MaxConnections
	if !l.Set || l.N < 0 || int64(a.conns) <= l.N || a == e.system {
		return
	}
	c := a.members.last
	for n := int64(a.conns) - l.N; n > 1; n-- {
		c = c.memberPrev
	}
	m := &a.members
	m.surplusFrom, m.surplusTo = c.memberNo, m.joined
	e.sweep.members = true
	e.startSweep()
}

// surplus reports whether the connection is one of those that have to go.
func (c *conn) surplus() bool {
	m := &c.acc.members
	return m.surplusTo > 0 && c.memberNo >= m.surplusFrom && c.memberNo <= m.surplusTo
}

// tooMany closes a connection that an account has no room for, and tells the account.
func (e *Engine) tooMany(c *conn, a *account) {
	if a != c.acc {
		c.turnedAway = &turnedAway{by: a}
	}
	e.refusedIn(a, c, string(ReasonAuthFailed))
	e.protocolError(c, wire.ErrAccountConnections, ReasonAccountConns)
}

// bound takes over what bounds the connection: the least of what the server, its account and its user say.
func (e *Engine) bound(c *conn) {
	c.subsMax, c.payloadMax = math.MaxInt, math.MaxInt
	if m := e.opts.MaxSubscriptions; m > 0 {
		c.subsMax = m
	}
	if m := e.opts.MaxPayload; m > 0 {
		c.payloadMax = m
	}
	least := func(p *int, l config.Limit) {
		if l.Set && l.N >= 0 && l.N < int64(*p) {
			*p = int(l.N)
		}
	}
	l := &c.acc.def.limits
	least(&c.subsMax, l.MaxSubscriptions)
	least(&c.payloadMax, l.MaxPayload)
	if u := c.user; u != nil && u.powers != nil {
		least(&c.subsMax, u.powers.Subscriptions)
		least(&c.payloadMax, u.powers.Payload)
	}
}
