package sim

import (
	"slices"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/model"
)

// A configuration in which an account imports what is exported to others only is refused: an operator who tries it is told,
// and nothing changes.

// propForbidden is the name of the property.
const propForbidden = "forbidden"

// tryForbidden has the engine check a configuration that it must refuse: the next one with an import too many, for each
// export that is for some accounts only.
func (n *node) tryForbidden() {
	t := n.w.cfg.tenants
	if t == nil {
		return
	}
	r := t.versions[n.nextVersion]
	for i := range r.Accounts {
		for _, x := range r.Accounts[i].Exports {
			j := i + 1
			if len(x.Accounts) == 0 || j == len(r.Accounts) || slices.Contains(x.Accounts, r.Accounts[j].Name) {
				continue
			}
			bad := r.Clone()
			a := &bad.Accounts[j]
			a.Imports = []model.Import{{Kind: x.Kind, Account: r.Accounts[i].Name, Subject: x.Subject, To: "forbidden." + model.Numbered(x.Subject)}}
			if len(engine.CheckAccounts(render(bad), n.w.cfg.engine.SystemAccount)) == 0 {
				n.w.fail(propForbidden, a.Name+" may import "+x.Subject+" of "+r.Accounts[i].Name+", which is exported to others only")
			}
		}
	}
}

// askReconfigure is the purpose of the choice whether an operator tries another configuration of the accounts.
const askReconfigure = 1

// mayReconfigure draws whether the operator changes the configuration of accounts in the nth second.
func (n *node) mayReconfigure(nth uint64) bool {
	if n.w.cfg.versions() < 2 {
		return false
	}
	k := decision.Key{Kind: decision.SimOperation, Actor: n.actor, Purpose: askReconfigure, N: nth}
	chance := uint32(250_000)
	if n.w.cfg.tenants == nil {
		return n.w.source.Chance(k, chance)
	}
	switch n.w.cfg.tenants.upheaval {
	case noUpheaval:
		if n.w.cfg.tenants.overheard {
			chance = 800_000
		}
	case permitted: // which has many ways to come about
		chance = 800_000
	case unshared, unserved, moved, numUpheavals:
		chance = 400_000
	}
	return n.w.source.Chance(k, chance)
}
