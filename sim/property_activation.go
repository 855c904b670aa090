package sim

import (
	"strconv"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/schedule"
)

// What an account exports to those with an activation token crosses while the importer's is in force, and nothing does when it is
// not: after a reload that took it away or revoked it, before it begins, and from the second on in which it expires. For a short while after a
// reload, as account JWTs are read beside the loop, it is either.

// propActivation is the name of the property.
const propActivation = "activation"

// activationGrace is how long after a token has expired messages may still cross on a server that nothing hinders, and how long
// after it has begun they need not.
const activationGrace = engine.WallTime(second)

// activation is a token, as far as it matters; the zero one is right.
type activation struct {
	kind  activationKind
	turns engine.WallTime // when it expires, or begins; 0: at no time
}

// lending is what goes on between the two on a server.
type lending struct {
	locals    [numLocalLenders]lendingLocal
	was, is   activation // before and after the last reload
	next      activation // what the next one brings
	at        schedule.Time
	sent      uint64 // numbers messages
	sentAt    schedule.Time
	certain   bool // the last one must cross
	forbidden bool // or must not
	came      [2]bool
}

// mustCross reports whether messages cross by a token at that moment.
func (a activation) mustCross(wall engine.WallTime) bool {
	switch a.kind {
	case activationRight:
		return true
	case activationLapses:
		return wall < a.turns
	case activationEarly:
		return wall >= a.turns+activationGrace
	}
	return false
}

// mayCross reports whether they may.
func (a activation) mayCross(wall engine.WallTime) bool {
	switch a.kind {
	case activationLapses:
		return wall < a.turns+activationGrace
	case activationEarly:
		return wall >= a.turns
	}
	return a.mustCross(wall)
}

// activated is told that a reload is carried out.
func (n *node) activated() {
	g := &n.lending
	if n.w.cfg.lenders == nil || g.is == g.next {
		return
	}
	g.was, g.is, g.at = g.is, g.next, n.w.queue.Now()
	n.w.note(n.index, "an activation is "+activationNames[g.is.kind])
}

// lendsSteadily reports whether the last reload is carried out by now, and nothing hinders the server.
func (n *node) lendsSteadily() bool {
	g := &n.lending
	now := n.w.queue.Now()
	return !n.hindered() && n.paused == 0 && now-g.at > lapseIn && now-n.sickUntil > lapseIn && g.locals[lendsGiver].ready && g.locals[lendsTaker].ready
}

// lendsOn sends the next messages, and looks whether the last ones have crossed.
func (n *node) lendsOn() {
	g := &n.lending
	if g.locals[lendsGiver].id == 0 || g.locals[lendsTaker].id == 0 || n.w.heardAll {
		return
	}
	n.after(nodeLend, lendSend, lendEvery)
	if !g.locals[lendsGiver].ready || !g.locals[lendsTaker].ready {
		return
	}
	n.missed()
	_, wall := n.Now()
	steady := n.lendsSteadily()
	g.sent++
	g.came, g.sentAt = [2]bool{}, n.w.queue.Now()
	g.certain = steady && g.is.mustCross(wall)
	g.forbidden = steady && !g.is.mayCross(wall)
	n.publishLent(g.sent)
}

// missed looks for messages that have not crossed.
func (n *node) missed() {
	g := &n.lending
	_, wall := n.Now()
	if !g.certain || !n.lendsSteadily() || !g.is.mustCross(wall) {
		return
	}
	for i, came := range g.came {
		if !came {
			n.w.fail(propActivation, "a message to the "+lent[i]+" has not crossed by an activation that is "+activationNames[g.is.kind])
		}
	}
}

// crossed is told that a message has come across.
func (n *node) crossed(what, subj string) {
	g := &n.lending
	for i := range g.came {
		if lent[i] != what || subj != what+"."+strconv.FormatUint(g.sent, 10) {
			continue
		}
		if g.came[i] {
			n.w.fail(propActivation, subj+" has crossed twice")
		}
		g.came[i] = true
		_, wall := n.Now()
		if g.forbidden || n.impossible(wall) {
			n.w.fail(propActivation, subj+" has crossed by an activation that is "+activationNames[g.is.kind])
		}
		return
	}
}

// impossible reports whether nothing may cross now, even if the last reload is not carried out yet. It brings two JWTs, one
// after the other: between them a new token may be held against the exporter's JWT from before it was revoked, or an old one
// against that by which it no longer is.
func (n *node) impossible(wall engine.WallTime) bool {
	g := &n.lending
	if n.hindered() || n.paused > 0 || n.w.queue.Now()-n.sickUntil <= lapseIn || g.was.kind == activationRevoked || g.is.kind == activationRevoked {
		return false
	}
	return !g.was.mayCross(wall) && !g.is.mayCross(wall)
}
