package sim

import (
	"fmt"
	"strconv"

	"github.com/nats-io/nkeys"

	settings "github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// In some runs there is an account more that may have only so much of everything: connections, subscriptions of each, bytes of a
// message. How much, reloads change, or, where the server keeps account JWTs, the registrar does. Its members are on the server's own
// machine: they come and go, subscribe and publish, more than they may now and then. What follows is property_allotted.go.

// allotted is the configuration of such a run.
type allotted struct {
	member signer // in operator mode
	sizes  []int  // of what members publish
}

// numMembers is how many members there can be at a time.
const numMembers = 4

// The account and its user, where there is no operator.
const (
	allottedAccount = "NARROW"
	allottedUser    = "member"
)

// allottedPlace is its place among the accounts of which words are said.
const allottedPlace = archiveAccounts

// allot draws whether there is such an account.
func (d draw) allot(c *config) {
	if c.archive == nil && (c.tenants == nil || c.callout != nil) || d.of(cfgAllotted, 0, 0, 1) != 1 {
		return
	}
	x := &allotted{sizes: []int{0, 60, 200, 1000}}
	if c.archive != nil {
		x.member = newSigner(nkeys.PrefixByteUser, 40)
	}
	o := &c.engine
	o.MaxConnections = 65536 + numMembers + numArchiveLocals
	c.allotted = x
}

// limits are what members may have; below zero: as much as they want.
type limits struct{ conns, subs, payload int64 }

// drawLimits draws the nth ones.
func (n *node) drawLimits(nth int) limits {
	of := func(purpose uint32, values ...int64) int64 {
		k := decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: purpose, N: uint64(nth)}
		return values[n.w.source.Below(k, uint64(len(values)))]
	}
	return limits{of(allotConns, -1, 0, 1, 2, 3), of(allotSubs, -1, 0, 1, 3), of(allotPayload, -1, 0, 100, 500)}
}

// bringLimits makes options those of a server with the account, where reloads say what it may have.
func (n *node) bringLimits(o *engine.Options) {
	if n.w.cfg.allotted == nil || n.w.cfg.archive != nil {
		return
	}
	all := n.words[allottedPlace]
	l := all[len(all)-1].limits
	set := func(v int64) settings.Limit { return settings.Limit{Set: v >= 0, N: v} }
	o.Accounts = append(o.Accounts, settings.Account{
		Name: allottedAccount, Users: []settings.User{{Name: allottedUser, Password: authSecret}},
		Limits: settings.Limits{MaxConnections: set(l.conns), MaxSubscriptions: set(l.subs), MaxPayload: set(l.payload)},
	})
}

// reallot has a reload that is being carried out change what they may have.
func (n *node) reallot() {
	if n.w.cfg.allotted == nil || n.w.cfg.archive != nil {
		return
	}
	all := &n.words[allottedPlace]
	w := word{limits: n.drawLimits(len(*all)), taken: true, takenAt: n.w.queue.Now()}
	*all = append(*all, w)
	n.w.note(n.index, fmt.Sprintf("members may have %+v", w.limits))
	n.bringLimits(&n.nextOptions)
}

// member is a connection of the account.
type member struct {
	local
	in      bool // it was let in
	leaving bool
	came    uint64 // what all of them had done when it came
	letInAt uint64 // … when it knew that it was let in
	subs    int
	does    memberDoes    // what it waits for; nothing: it doesn't
	size    int           // of what it has published
	refused bool          // the subscription that it waits for
	least   int           // the word that certainly counted when it did that
	since   schedule.Time // when
	sick    uint64        // operations of the directory that had failed

	gone uint64 // the turn in which its connection last ended

	others uint64 // who was in, as bits, when it was let in, in that turn
	turn   uint64
}

// memberDoes is what a member does. Numbers stand in logs.
type memberDoes uint8

const (
	memberNothing memberDoes = iota
	memberComes
	memberSubscribes
	memberPublishes
	memberLeaves
	numMemberDoes
)

var memberMix = [numMemberDoes]uint32{memberSubscribes: 3, memberPublishes: 4, memberLeaves: 2}

// Events of the members: one does something, or pongs.
const (
	membersAct  uint64 = iota
	membersEnd         // all leave
	memberPongs        // + which
)

// Purposes of decisions about them, of a server's SimDetail.
const (
	allotConns   = 130
	allotSubs    = 131
	allotPayload = 132
	allotWho     = 133
	allotWhat    = 134
	allotSize    = 135
	allotWaits   = 136 // ms
)

const allotWaitsMost = 60 // ms

// comeToAllot begins with the members of a process.
func (n *node) comeToAllot() {
	if n.w.cfg.allotted == nil || n.w.heardAll || n.stopping {
		return
	}
	n.members = [numMembers]member{}
	n.after(nodeMembers, membersAct, allotWaitsMost*millisecond)
}

// membersDo has them do something, inside a turn.
func (n *node) membersDo(what uint64) {
	switch what {
	case membersAct:
		n.memberActs()
	case membersEnd:
		for i := range n.members {
			n.localEnds(&n.members[i].local)
		}
	default:
		n.localPongs(&n.members[what-memberPongs].local)
	}
}

func (n *node) memberActs() {
	if n.w.heardAll || n.stopping {
		return
	}
	n.memberActed++
	at := n.life<<32 | n.memberActed
	draw := func(purpose uint32, below uint64) uint64 {
		return n.w.source.Below(decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: purpose, N: at}, below)
	}
	n.after(nodeMembers, membersAct, schedule.Time(1+draw(allotWaits, allotWaitsMost))*millisecond)
	n.checkMembers()
	which := int(draw(allotWho, numMembers))
	m := &n.members[which]
	switch {
	case m.does != memberNothing || m.leaving:
	case m.id == 0 && m.name == "":
		n.memberComes(which)
	case m.in:
		k := decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: allotWhat, N: at}
		n.memberDoes(m, memberDoes(n.w.source.Pick(k, memberMix[:])), int(draw(allotSize, uint64(len(n.w.cfg.allotted.sizes)))))
	}
}

// memberComes connects one of them.
func (n *node) memberComes(which int) {
	a := n.w.cfg.archive
	if a != nil && len(n.words[allottedPlace]) == 1 {
		return // there is no account yet
	}
	credentials := `"user":"` + allottedUser + `","pass":"` + authSecret + `"`
	if a != nil {
		u := userToken(nil)
		u.Bearer = true
		credentials = `"jwt":"` + a.accounts[allottedPlace].sign(token{Subject: n.w.cfg.allotted.member.public, Issued: 1, Nats: u}) + `"`
	}
	m := &n.members[which]
	*m = member{gone: m.gone, came: n.memberActed}
	n.waits(m, memberComes)
	hello := `CONNECT {"verbose":false,"pedantic":false,` + credentials + "}\r\nPING\r\n"
	n.connectLocal(&m.local, 20+which, propAllotted, "a member is turned away though the server has room", hello)
}

// waits notes that a member is to be answered.
func (n *node) waits(m *member, what memberDoes) {
	m.does, m.least, m.since, m.sick, m.refused = what, n.least(allottedPlace), n.w.queue.Now(), n.shelf.failures, false
}

// memberDoes has one that is in do something.
func (n *node) memberDoes(m *member, what memberDoes, nth int) {
	switch what {
	case memberNothing, memberComes, numMemberDoes:
	case memberSubscribes:
		n.waits(m, what)
		n.eng.Received(m.id, []byte("SUB narrow "+strconv.FormatUint(n.memberActed, 10)+"\r\nPING\r\n"))
	case memberPublishes:
		n.waits(m, what)
		m.size = n.w.cfg.allotted.sizes[nth]
		b := append([]byte("PUB wide "+strconv.Itoa(m.size)+"\r\n"), make([]byte, m.size)...)
		n.eng.Received(m.id, append(b, "\r\nPING\r\n"...))
	case memberLeaves:
		m.leaving = true
		n.eng.EOF(m.id)
	}
}

// member is which of them has that connection; -1: none.
func (n *node) memberOf(id engine.ConnID) int {
	for i := range n.members {
		if n.members[i].id == id && id != 0 {
			return i
		}
	}
	return -1
}

// membersLog is told of log lines about connections that are closed; it reports whether this one is about one of them.
func (n *node) membersLog(subject string) bool {
	for i := range n.members {
		if m := &n.members[i]; n.localClosed(&m.local, subject) {
			m.leaving = true
			return true
		}
	}
	return false
}

// memberClosed is the end of the connection of one of them.
func (n *node) memberClosed(which int) {
	m := &n.members[which]
	*m = member{local: local{name: m.name}, gone: n.turns}
}

// memberSends takes what the server sends to one of them.
func (n *node) memberSends(which int, bufs [][]byte) (taken int) {
	m := &n.members[which]
	return n.localSends(&m.local, "a member", bufs, func(in *inbound) {
		switch in.verb {
		case saidPing:
			n.tell(ready{kind: readyMembers, n: memberPongs + uint64(which)})
		case saidPong:
			n.memberAnswered(which)
		case saidErr:
			n.memberRefused(which, string(in.args))
		case saidInfo, saidOK, saidMsg:
		}
	})
}

// allottedWords tells what a decision about the members is; empty: it is none.
func allottedWords(r decision.Record) string {
	if r.Actor.Class() != decision.Node || r.Kind != decision.SimDetail {
		return ""
	}
	switch r.Purpose {
	case allotConns:
		return fmt.Sprintf("what members may have, for the %dth time: connections: choice %d", r.N, r.Value)
	case allotSubs:
		return fmt.Sprintf("what members may have, for the %dth time: subscriptions: choice %d", r.N, r.Value)
	case allotPayload:
		return fmt.Sprintf("what members may have, for the %dth time: payload: choice %d", r.N, r.Value)
	case allotWho:
		return fmt.Sprintf("member %d does, for the %dth time, something", r.Value, r.N&0xffffffff)
	case allotWhat:
		return "  … it " + nameOf(memberNames[:], r.Value)
	case allotSize:
		return fmt.Sprintf("  … of size %d", r.Value)
	case allotWaits:
		return fmt.Sprintf("  … %d ms before the next", 1+r.Value)
	}
	return ""
}

var memberNames = [numMemberDoes]string{"does nothing", "comes", "subscribes", "publishes", "leaves"}
