package sim

import (
	"strconv"
	"time"

	"github.com/nats-io/nkeys"

	settings "github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
	"github.com/natsd/natsd/wire"
)

// In operator mode users lose their right to be connected while they are: an operator revokes the user of every other client by
// another JWT of the account, and takes that back; JWTs of the rest may expire seconds after they were shown. Such connections
// are closed soon, and nobody else's is.

// propLapsed is the name of the property.
const propLapsed = "lapsed"

// trustees are the keys of such a run, and the JWTs of its account.
type trustees struct {
	account         signer
	steady, lapsing signer // users
	plain, revoking string
}

// lapseIn is within which time a connection must be closed whose user was revoked, or whose JWT has expired, by a server that
// nothing hinders.
const lapseIn = 3 * second

// Purposes of decisions about it: of SimDetail for clients, of SimOperation and SimDetail for servers.
const (
	lapsesSoon  = 110
	lapseRevoke = 111
	lapseAgain  = 114
)

// lapseAgainMost is how long after an operator has revoked a user, or taken that back, it is changed again at the latest, if
// that is soon: while the server reads the JWT that it was shown first.
const lapseAgainMost = 40 * millisecond

// lapse draws whether users lose their rights.
func (d draw) lapse(c *config) {
	if c.auth != authJWT || d.of(cfgLapse, 0, 1) != 1 {
		return
	}
	operator := newSigner(nkeys.PrefixByteOperator, 5)
	t := &trustees{
		account: newSigner(nkeys.PrefixByteAccount, 6), steady: newSigner(nkeys.PrefixByteUser, 7), lapsing: newSigner(nkeys.PrefixByteUser, 8),
	}
	account := func(revoked map[string]int64) string {
		limits := map[string]any{"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1}
		return operator.sign(token{Subject: t.account.public, Issued: 1, Nats: map[string]any{
			"limits": limits, "revocations": revoked, "type": "account", "version": 2,
		}})
	}
	t.plain, t.revoking = account(nil), account(map[string]int64{t.lapsing.public: 2})
	c.trustees = t
	self := operator.sign(token{Subject: operator.public, Issued: 1, Nats: map[string]any{"type": "operator", "version": 2}})
	c.engine.Operators = t.operators(self, false)
}

// operators are the options of operator mode, with the lapsing user revoked or not.
func (t *trustees) operators(self string, revoked bool) *settings.Operators {
	text := t.plain
	if revoked {
		text = t.revoking
	}
	return &settings.Operators{
		Operators: []settings.Located{{Text: self}}, Resolver: settings.Resolver{Kind: settings.MemoryResolver},
		Preload: []settings.PreloadedJWT{{Account: t.account.public, JWT: text}}, // bringActivation adds to it
	}
}

// lapses is what a server's operator has done about it.
type lapses struct {
	revoked, next bool
	at            schedule.Time // of the last change
	changes       uint64
}

// revocable reports whether the client's user is the one that is revoked now and then.
func (c *client) revocable() bool { return c.w.cfg.trustees != nil && c.index%2 == 1 }

// showJWT appends the JWT that the client shows.
func (c *client) showJWT(b []byte) []byte {
	t, u := c.w.cfg.trustees, userToken(nil)
	u.Bearer = true
	x := token{Subject: t.steady.public, Issued: 1, Nats: u}
	if c.revocable() {
		x.Subject = t.lapsing.public
	}
	c.expires = 0
	k := decision.Key{Kind: decision.SimFault, Actor: c.actor, Purpose: lapsesSoon, N: c.dial}
	if !c.revocable() && !c.w.faults.over && c.w.source.Chance(k, 200_000) {
		_, wall := c.node.Now()
		c.expires = wall + 4*engine.WallTime(second)
		x.Expires, c.short = int64(c.expires)/int64(second), true
	}
	return append(append(append(b, `,"jwt":"`...), t.account.sign(x)...), '"')
}

// mayLapse reports whether the client may be turned away, or out, for its JWT.
func (c *client) mayLapse() bool {
	n := c.node
	return c.short || c.revocable() && (n.lapses.revoked || n.hindered() || n.lapses.at > 0 && c.w.queue.Now()-n.lapses.at < lapseIn)
}

// lapsed reports whether the client was closed for what it is told now. Whether that was just was judged when the server closed
// it, which may have been in a former life of the server: bad links carry its last words long after another one came.
func (c *client) lapsed(err wire.Err) bool {
	switch err {
	case wire.ErrUserExpired:
		return c.closedFor == engine.ReasonAuthExpired
	case wire.ErrUserRevoked:
		return c.closedFor == engine.ReasonAuthRevoked
	}
	return false
}

// mayRevoke draws whether the operator revokes the user, or takes that back, in the nth second.
func (n *node) mayRevoke(nth uint64) bool {
	if n.w.cfg.trustees == nil {
		return false
	}
	k := decision.Key{Kind: decision.SimOperation, Actor: n.actor, Purpose: lapseRevoke, N: nth}
	return n.w.source.Chance(k, 100_000)
}

// drawRevocation makes the options of a reload those of an account whose user is revoked, or is not.
func (n *node) drawRevocation(o *engine.Options, revoke bool) {
	if t := n.w.cfg.trustees; t != nil {
		n.lapses.next = revoke
		o.Operators = t.operators(o.Operators.Operators[0].Text, revoke)
	}
}

// revoked is told that a reload is carried out.
func (n *node) revoked() {
	if n.lapses.revoked != n.lapses.next {
		n.lapses.revoked, n.lapses.at = n.lapses.next, n.w.queue.Now()
		n.w.note(n.index, "a user is revoked: "+strconv.FormatBool(n.lapses.revoked))
		n.lapses.changes++
		k := decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: lapseAgain, N: n.lapses.changes}
		if again := n.w.source.Below(k, 2*uint64(lapseAgainMost)); again < uint64(lapseAgainMost) && again > 0 && !n.w.faults.over {
			n.after(nodeRevoke, 0, schedule.Time(again))
		}
	}
}

// revokeAgain has the operator change his mind about the user.
func (n *node) revokeAgain() {
	if n.eng == nil || n.w.faults.over { // he may have meant to before
		return
	}
	n.nextVersion, n.nextOptions = n.version, n.w.cfg.options(n.version)
	n.drawRevocation(&n.nextOptions, !n.lapses.revoked)
	n.bringActivation(&n.nextOptions, activationRight, 0)
	n.tell(ready{kind: readyQuery, n: uint64(askReload)})
}

// pardon takes a revocation back when all is healed.
func (n *node) pardon() {
	if n.w.cfg.trustees == nil || n.eng == nil {
		return
	}
	o := n.w.cfg.options(n.version)
	n.drawRevocation(&o, false)
	n.bringActivation(&o, activationRight, 0)
	n.nextVersion, n.nextOptions = n.version, o
	n.tell(ready{kind: readyQuery, n: uint64(askReload)})
}

// checkLapsed looks for connections that should have been closed.
func (n *node) checkLapsed(now schedule.Time) {
	if n.w.cfg.trustees == nil || n.eng == nil || n.hindered() {
		return
	}
	_, wall := n.Now()
	steps := n.w.cfg.faults[faultStep] > 0 || n.w.cfg.faults[faultFrost] > 0 // looked at within a minute
	for i := range n.conns {
		nc := &n.conns[i]
		c := nc.client
		if nc.id == 0 || nc.over || c == nil || c.dial != nc.dial || c.state != clientReady {
			continue
		}
		switch {
		case c.revocable() && n.lapses.revoked && now-n.lapses.at > lapseIn && c.readyAt < n.lapses.at:
			n.w.fail(propLapsed, nc.who()+" is still connected "+time.Duration(now-n.lapses.at).String()+" after its user was revoked")
		case c.expires > 0 && !steps && wall > c.expires+engine.WallTime(lapseIn):
			n.w.fail(propLapsed, nc.who()+" is still connected "+time.Duration(wall-c.expires).String()+" after its JWT has expired")
		}
	}
}
