package sim

import (
	"strconv"

	"github.com/nats-io/nkeys"

	settings "github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// In some runs in operator mode there are two accounts more, of which one exports a stream and a service to those that show an
// activation token, and the other imports them by one: a right one, one that soon expires, or begins, one that is revoked … Each has one
// user, on the server's own machine, and messages flow between the two all the time. What follows is property_activation.go.

// lenders are the keys of such a run.
type lenders struct {
	operator, giver, taker signer // accounts
	giverUser, takerUser   signer
}

// activationKind is what is wrong with the token. Numbers stand in logs: new kinds go to the end.
type activationKind uint8

const (
	activationRight   activationKind = iota
	activationLapses                 // it expires seconds after a reload brought it
	activationRevoked                // by the exporter
	activationExpired                // long ago
	activationEarly                  // it begins seconds after a reload brought it
	activationNone                   // there is none
	numActivations
)

var activationNames = [numActivations]string{"right", "about to expire", "revoked", "expired", "about to begin", "missing"}

// Purposes of decisions about it: of SimDetail for servers.
const (
	lendKind = 112
	lendLong = 113
)

// lend draws whether there are such accounts in a run with trustees.
func (d draw) lend(c *config) {
	if c.trustees == nil || d.source.Below(d.key(cfgLend), 4) == 0 {
		return
	}
	c.lenders = &lenders{
		operator: newSigner(nkeys.PrefixByteOperator, 5),
		giver:    newSigner(nkeys.PrefixByteAccount, 11), taker: newSigner(nkeys.PrefixByteAccount, 12),
		giverUser: newSigner(nkeys.PrefixByteUser, 13), takerUser: newSigner(nkeys.PrefixByteUser, 14),
	}
	c.engine.Operators.Preload = append(c.engine.Operators.Preload, c.lenders.accounts(activationRight, 0)...)
	c.engine.MaxConnections += numLocalLenders
	c.faults[faultStep], c.faults[faultFrost] = 0, 0 // when a token expires is read off the wall clock
}

// lent are the subjects that the taker imports, each from a stream or a service of the same name.
var lent = [...]string{"stream", "service"}

// accounts are the JWTs of the two, with tokens of that kind that expire, or begin, at that moment, s since the Unix epoch.
func (l *lenders) accounts(kind activationKind, turns int64) []settings.PreloadedJWT {
	var exports, imports []any
	for _, what := range lent {
		x := map[string]any{"subject": what + ".>", "type": what, "token_req": true}
		t := token{Subject: l.taker.public, Issued: 2}
		switch kind {
		case activationRevoked:
			x["revocations"] = map[string]int64{l.taker.public: 2}
		case activationExpired:
			t.Expires = 3
		case activationLapses:
			t.Expires = turns
		case activationEarly:
			t.NotBefore = turns
		case activationRight, activationNone, numActivations:
		}
		t.Nats = map[string]any{"subject": what + ".>", "kind": what, "type": "activation", "version": 2}
		im := map[string]any{"subject": what + ".>", "account": l.giver.public, "type": what}
		if kind != activationNone {
			im["token"] = l.giver.sign(t)
		}
		exports, imports = append(exports, x), append(imports, im)
	}
	account := func(s signer, key string, list []any) settings.PreloadedJWT {
		limits := map[string]any{"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1}
		return settings.PreloadedJWT{Account: s.public, JWT: l.operator.sign(token{Subject: s.public, Issued: 1, Nats: map[string]any{
			"limits": limits, key: list, "type": "account", "version": 2,
		}})}
	}
	return []settings.PreloadedJWT{account(l.giver, "exports", exports), account(l.taker, "imports", imports)}
}

// drawActivation makes the options of a reload those of accounts with another token, whose kind the nth second says.
func (n *node) drawActivation(o *engine.Options, nth uint64) {
	if n.w.cfg.lenders == nil {
		return
	}
	k := decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: lendKind, N: nth}
	kind := activationKind(n.w.source.Pick(k, []uint32{5, 4, 3, 2, 3, 3}))
	k.Purpose = lendLong
	n.bringActivation(o, kind, 2*second+schedule.Time(n.w.source.Below(k, 6))*second)
}

// bringActivation is drawActivation for a kind; a token that is about to expire, or to begin, does so after that time.
func (n *node) bringActivation(o *engine.Options, kind activationKind, long schedule.Time) {
	l, x := n.w.cfg.lenders, activation{kind: kind}
	if l == nil {
		return
	}
	turns := int64(0)
	if kind == activationLapses || kind == activationEarly {
		_, wall := n.Now()
		turns = int64(wall+engine.WallTime(long)) / int64(second)
		x.turns = engine.WallTime(turns) * engine.WallTime(second)
	}
	operators := *o.Operators
	operators.Preload = append(operators.Preload[:1:1], l.accounts(kind, turns)...)
	o.Operators = &operators
	n.lending.next = x
}

// lendingLocal is one of the two.
type lendingLocal struct {
	local
	ready bool // it was let in, and its subscription is there
}

const (
	lendsGiver = iota
	lendsTaker
	numLocalLenders
)

// What the two do: events of a node.
const (
	lendSend  uint64 = iota // each sends a message to the other
	lendLeave               // both leave
	lendPong                // + which
)

// lendEvery is how often messages flow.
const lendEvery = 150 * millisecond

// comeToLend connects both, inside a turn.
func (n *node) comeToLend() {
	l := n.w.cfg.lenders
	if l == nil || n.w.heardAll || n.stopping {
		return
	}
	n.lending = lending{at: n.w.queue.Now()}
	for i := range n.lending.locals {
		x := &n.lending.locals[i]
		user, by, hears := l.giverUser, l.giver, "service.>"
		if i == lendsTaker {
			user, by, hears = l.takerUser, l.taker, "stream.>"
		}
		u := userToken(nil)
		u.Bearer = true
		hello := `CONNECT {"verbose":false,"pedantic":false,"jwt":"` + by.sign(token{Subject: user.public, Issued: 1, Nats: u}) + `"}`
		hello += "\r\nSUB " + hears + " 1\r\nPING\r\n"
		if !n.connectLocal(&x.local, 3+i, propActivation, "the first connections are turned away", hello) {
			return
		}
	}
	n.after(nodeLend, lendSend, lendEvery)
}

// lendDoes has them do something, inside a turn.
func (n *node) lendDoes(what uint64) {
	g := &n.lending
	switch what {
	case lendSend:
		n.lendsOn()
	case lendLeave:
		for i := range g.locals {
			n.localEnds(&g.locals[i].local)
		}
	default:
		n.localPongs(&g.locals[what-lendPong].local)
	}
}

// lender is which of the two has that connection; nil: it is neither's.
func (n *node) lender(id engine.ConnID) (x *lendingLocal, which int) {
	for i := range n.lending.locals {
		if x := &n.lending.locals[i]; x.id == id && id != 0 {
			return x, i
		}
	}
	return nil, 0
}

// lendLog is told of log lines about connections that are closed; it reports whether this one is about one of the two.
func (n *node) lendLog(subject string) bool {
	for i := range n.lending.locals {
		if x := &n.lending.locals[i]; n.localClosed(&x.local, subject) {
			x.ready = false
			return true
		}
	}
	return false
}

// lendSends takes what the server sends to one of them.
func (n *node) lendSends(x *lendingLocal, which int, bufs [][]byte) (taken int) {
	return n.localSends(&x.local, "somebody on the server's machine", bufs, func(in *inbound) {
		switch in.verb {
		case saidPing:
			n.tell(ready{kind: readyLend, n: lendPong + uint64(which)})
		case saidPong:
			x.ready = true
		case saidMsg:
			n.crossed(lent[1-which], string(in.subject))
		case saidInfo, saidOK, saidErr:
		}
	})
}

// publishLent has the giver publish to the stream, and the taker ask the service.
func (n *node) publishLent(number uint64) {
	for i := range n.lending.locals {
		subj := lent[i] + "." + strconv.FormatUint(number, 10)
		n.eng.Received(n.lending.locals[i].id, []byte("PUB "+subj+" 0\r\n\r\n"))
	}
}
