package sim

import (
	"slices"
	"strings"

	accounts "github.com/natsd/natsd/config"
	"github.com/natsd/natsd/sim/model"
)

// rendering is a configuration as a server is given it.
type rendering = []accounts.Account

// render makes of a configuration what a file of it is decoded to.
func render(r *model.Rules) (list []accounts.Account) {
	for i := range r.Accounts {
		a := &r.Accounts[i]
		if i > 0 && nothing(r, a) {
			continue // it is not there at all
		}
		out := accounts.Account{Name: a.Name}
		for _, u := range a.Users {
			out.Users = append(out.Users, accounts.User{Name: u.Name, Password: u.Password, Permissions: renderPermissions(u.May)})
		}
		for _, x := range a.Exports {
			out.Exports = append(out.Exports, accounts.Export{
				Kind: renderKind(x.Kind), Subject: x.Subject, Public: len(x.Accounts) == 0, Accounts: x.Accounts,
				ResponseType: accounts.ResponseType(x.Response), ResponseThreshold: x.Threshold,
			})
		}
		for _, im := range a.Imports {
			out.Imports = append(out.Imports, accounts.Import{
				Kind: renderKind(im.Kind), Account: im.Account, Subject: im.Subject, To: im.To, Prefix: im.Prefix, Share: im.Share,
			})
		}
		for _, m := range a.Mappings {
			to := accounts.Mapping{Subject: m.Subject}
			for _, d := range m.Destinations {
				to.Destinations = append(to.Destinations, accounts.Destination{Subject: d.Subject, Weight: d.Weight})
			}
			out.Mappings = append(out.Mappings, to)
		}
		list = append(list, out)
	}
	return list
}

// nothing reports whether an account may as well not be there.
func nothing(r *model.Rules, a *model.Account) bool {
	for i := range r.Accounts {
		for _, x := range r.Accounts[i].Exports {
			if slices.Contains(x.Accounts, a.Name) {
				return false
			}
		}
	}
	return len(a.Users)+len(a.Exports)+len(a.Imports)+len(a.Mappings) == 0
}

func renderKind(k model.Kind) accounts.ExportKind {
	if k == model.Service {
		return accounts.Service
	}
	return accounts.Stream
}

func renderPermissions(p *model.Permissions) *accounts.Permissions {
	if p == nil {
		return nil
	}
	out := &accounts.Permissions{
		Publish:   &accounts.SubjectPermission{Allow: renderRules(p.Publish.Allow), Deny: renderRules(p.Publish.Deny)},
		Subscribe: &accounts.SubjectPermission{Allow: renderRules(p.Subscribe.Allow), Deny: renderRules(p.Subscribe.Deny)},
	}
	if l := p.Responses; l != nil {
		out.AllowResponses = &accounts.ResponsePermission{Max: l.Max, Expires: l.Expires}
	}
	return out
}

func renderRules(rules []string) (list []accounts.Subject) {
	for _, rule := range rules {
		text, queue, _ := strings.Cut(rule, " ")
		list = append(list, accounts.Subject{Text: text, Queue: queue})
	}
	return list
}
