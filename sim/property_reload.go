package sim

import (
	"slices"
	"strings"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
)

// A reload that changes nothing, or only times, disturbs nobody: no connection is closed for it, and no INFO comes that
// says anything new. The properties of connections see to the first, that of INFO to the second.

// propReload is the name of the property.
const propReload = "reload"

// reloadFactor is by how much a reload may lengthen times. It never shortens any below what the run began with.
const reloadFactor = 2

// reloadVersion is the purpose of the choice of a configuration of accounts, or of terms; those below it lengthen times.
const reloadVersion = 6

// drawReload draws the options of the reload in the nth second.
func (n *node) drawReload(nth uint64) engine.Options {
	n.nextVersion = n.version
	if all := n.w.cfg.versions(); all > 1 {
		k := decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: reloadVersion, N: nth}
		n.nextVersion = (n.version + 1 + int(n.w.source.Below(k, uint64(all)))) % all
	}
	o := n.w.cfg.options(n.nextVersion)
	longer := func(which uint32) bool {
		k := decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: which, N: nth}
		return n.w.source.Below(k, 3) == 2
	}
	if longer(1) {
		o.PingInterval *= reloadFactor
	}
	if longer(2) {
		o.WriteDeadline *= reloadFactor
	}
	if longer(3) {
		o.AuthTimeout *= reloadFactor
	}
	if longer(4) {
		o.StallMax *= reloadFactor
	}
	if longer(5) {
		o.MaxPending *= reloadFactor
	}
	n.drawRevocation(&o, !n.lapses.revoked)
	n.drawActivation(&o, nth)
	return o
}

// mayReload has the reload carried out; a patient host waits, turn for turn, until connections have followed the one before.
func (n *node) mayReload() {
	if !n.hasty && n.eng.Following() {
		n.tell(ready{kind: readyQuery, n: uint64(askReload)})
		return
	}
	n.reload()
}

// reload tells the engine, inside a turn.
func (n *node) reload() {
	n.w.trace.event(n.index, EventReload, 0, 0)
	n.reloaded = true
	n.tryForbidden()
	n.reconfigured()
	n.revoked()
	n.activated()
	n.reallot()
	n.askers[modest].excused = true
	n.regrant()
	if stuck := n.eng.Reload(n.nextOptions); len(stuck) > 0 {
		n.w.fail(propReload, "options that did not change need a restart: "+strings.Join(stuck, ", "))
	}
	n.askForRestart()
	n.checkRestart()
	n.reloadOnceMore()
}

// askForRestart has the engine refuse a reload that needs a restart, and would let everybody in: nothing of it is in force.
func (n *node) askForRestart() {
	o := n.nextOptions
	o.Accounts, o.Users, o.User, o.Pass, o.Token, o.Operators = nil, nil, "", "", "", nil
	o.ServerName, o.MaxPayload = o.ServerName+" anew", 1
	if names := n.eng.Reload(o); !slices.Contains(names, "server_name") {
		n.w.fail(propReload, "a reload with another name was not refused, but for "+strings.Join(names, ", "))
	}
}
