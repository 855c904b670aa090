package engine

import (
	"time"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/monitor"
)

// addCharter adds what only an account's JWT says to what is told of the account.
func (e *Engine) addCharter(d *monitor.Account, ch *charter) {
	c := ch.claims
	d.Expired = e.ended(ch)
	d.JWT, d.IssuerKey, d.Tags, d.Claim = c.Text, c.Issuer, c.Tags, claims.Shown(c.Text)
	d.Mappings, d.Revoked = mappingInfo(c.Rules.Mappings), momentsOf(c.Revoked)
	for i := range min(len(c.Rules.Exports), len(d.Exports)) { // the system account's own are behind them
		d.Exports[i].TokenReq, d.Exports[i].Revoked = !c.Rules.Exports[i].Public, momentsOf(c.ExportRevoked[i])
	}
	if idle := e.idleImports(ch); len(idle) > 0 {
		d.Complete, d.Imports = false, append(d.Imports, idle...)
	}
}

// momentsOf are moments in seconds, by whose they are.
func momentsOf(list map[string]int64) map[string]time.Time {
	if len(list) == 0 {
		return nil
	}
	all := make(map[string]time.Time, len(list))
	for key, at := range list { //natsd:orderfree each has its own place
		all[key] = monitor.Moment(at)
	}
	return all
}

// idleImports are those imports of an account's JWT that are not in force: nobody exports what they name, or not to this account.
func (e *Engine) idleImports(ch *charter) (idle []monitor.Import) {
	type key struct {
		kind           config.ExportKind
		from, of, name string
	}
	keyOf := func(im *importDraft) key { return key{im.Kind, im.Account, im.Subject, im.named()} }
	at, there := e.trust.rules.byName[ch.claims.Rules.Name]
	if !there {
		return nil
	}
	d := &e.trust.rules.accounts[at]
	inForce := make(map[key]bool, len(d.services)+len(d.streams))
	for _, list := range [...][]importDraft{d.services, d.streams} {
		for i := range list {
			inForce[keyOf(&list[i])] = true
		}
	}
	for i := range ch.claims.Rules.Imports {
		im := importDraft{Import: ch.claims.Rules.Imports[i]}
		if inForce[keyOf(&im)] {
			continue
		}
		info := monitor.Import{Subject: im.Subject, Account: im.Account, Local: im.named(), Type: "stream", Invalid: true}
		if im.Kind == config.Service {
			info.Type, info.To, info.Share = "service", im.named(), im.Share
		}
		idle = append(idle, info)
	}
	return idle
}
