package sim

import (
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
)

// Where there are no accounts, reloads change the terms on which a server takes clients: who they must be, and how much of
// everything they may have. See property_terms.go.

// terms are some of them.
type terms struct {
	who    int  // which of the credentials are right
	hashed bool // what is configured is a hash

	payload, line, subscriptions, connections, pending int
}

// The credentials that may be right beside the first ones: another password, or token, and the first one under another name.
const (
	otherName   = "mir"
	otherSecret = "fog-and-frost"
	otherHash   = "$2a$04$vvhGFFtOLnFhMbFNsvXOtu0ZuEst5nUtJMfl6tCwXgfrhxGYdv6Dq"
)

var (
	whoNames   = [...]string{authName, authName, otherName}
	whoSecrets = [...]string{authSecret, otherSecret, authSecret}
	whoHashes  = [...]string{authHash, otherHash, authHash}
)

// termsMost is how many there are at most, and termChoices how many choices each takes.
const (
	termsMost   = 3
	termChoices = 8
)

// agree draws whether reloads change the terms, and to what. What all clients do by right stays within them, once they know.
func (d draw) agree(c *config) {
	if c.tenants != nil || c.auth == authJWT || d.of(cfgTerms, 0, 0, 1) != 1 {
		return
	}
	o := &c.engine
	first := terms{
		hashed: c.auth == authHashedUser || c.auth == authHashedToken, payload: o.MaxPayload, line: o.MaxControlLine,
		subscriptions: o.MaxSubscriptions, connections: o.MaxConnections, pending: o.MaxPending,
	}
	c.terms = []terms{first}
	seats := int64(0)
	if c.listens {
		seats++
	}
	for v := range 1 + uint32(d.source.Below(d.key(cfgTermsCount), termsMost-1)) {
		of := func(choice uint32, values ...int64) int { return int(d.of(cfgTerm+v*termChoices+choice, values...)) }
		t := first
		t.who = min(of(0, 0, 1, 2), c.auth.whos()-1)
		t.hashed = of(1, 0, 1) == 1
		t.payload = of(2, int64(first.payload), int64(c.sizeMax/2+64), int64(c.sizeMax/8+64))
		t.line = of(3, int64(first.line), 200, 1024, 4096)
		t.subscriptions = of(4, int64(first.subscriptions), 0, 2, 10)
		t.connections = of(5, int64(first.connections), 20+seats, 5+seats, 3+seats)
		t.pending = max(of(6, int64(first.pending), 8<<10, 64<<10), 4*c.sizeMax)
		c.terms = append(c.terms, t)
	}
}

// whos is how many credentials may be right.
func (a auth) whos() int {
	switch a {
	case authUser, authHashedUser:
		return len(whoNames)
	case authToken, authHashedToken:
		return 2
	}
	return 1
}

// bring sets them in the options of a server.
func (t *terms) bring(o *engine.Options, a auth) {
	o.MaxPayload, o.MaxControlLine, o.MaxSubscriptions, o.MaxConnections = t.payload, t.line, t.subscriptions, t.connections
	o.MaxPending, o.StallBytes = t.pending, min(o.StallBytes, t.pending)
	secret := whoSecrets[t.who]
	if t.hashed {
		secret = whoHashes[t.who]
	}
	switch a {
	case authUser, authHashedUser:
		o.User, o.Pass = whoNames[t.who], secret
	case authToken, authHashedToken:
		o.Token = secret
	}
}

// versions is how many configurations there are that reloads change between.
func (c *config) versions() int {
	if c.tenants != nil {
		return len(c.tenants.versions)
	}
	return max(len(c.terms), 1)
}

// terms are those in force.
func (n *node) terms() terms {
	if all := n.w.cfg.terms; all != nil {
		return all[n.version]
	}
	o := &n.w.cfg.engine
	return terms{
		payload: o.MaxPayload, line: o.MaxControlLine, subscriptions: o.MaxSubscriptions, connections: o.MaxConnections, pending: o.MaxPending,
	}
}

// leastPending is the least max_pending that there ever is.
func (c *config) leastPending() int {
	least := c.engine.MaxPending
	for i := range c.terms {
		least = min(least, c.terms[i].pending)
	}
	return least
}

// limited reports whether max_subscriptions is ever set, and varies whether reloads change it.
func (c *config) limited() (limited, varies bool) {
	limited = c.engine.MaxSubscriptions > 0
	for i := range c.terms {
		limited = limited || c.terms[i].subscriptions > 0
		varies = varies || c.terms[i].subscriptions != c.engine.MaxSubscriptions
	}
	return limited, varies
}

// termsShown is the purpose of the choice whether a client shows credentials that are not the right ones now, but may have been.
const termsShown = 120

// drawShown draws which credentials a new connection shows.
func (c *client) drawShown() int {
	if c.w.cfg.terms == nil {
		return 0
	}
	who := c.node.terms().who
	k := decision.Key{Kind: decision.SimFault, Actor: c.actor, Purpose: termsShown, N: c.dial}
	if !c.w.faults.over && c.w.source.Chance(k, 150_000) {
		return (who + 1) % c.w.cfg.auth.whos()
	}
	return who
}
