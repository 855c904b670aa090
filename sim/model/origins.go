package model

import "slices"

// Origin is where a message may have been published.
type Origin struct{ Account, Subject string }

// Origins are the places from which a message can have come to a subject in an account: Routes backwards. A subject in a publisher's
// account is one behind its mappings.
func (r *Rules) Origins(account, subj string) []Origin {
	return r.streamedFrom(r.requestedFrom(nil, Origin{account, subj}, 0), Origin{account, subj}, 0)
}

// streamedFrom follows imports of streams: what they bring was published there, or came by others.
func (r *Rules) streamedFrom(all []Origin, at Origin, hops int) []Origin {
	if hops == hopsMost || r.Account(at.Account) == nil {
		return all
	}
	for i := range r.Account(at.Account).Imports {
		im := &r.Account(at.Account).Imports[i]
		if im.Kind != Stream || r.ExportOf(at.Account, im) == nil {
			continue
		}
		if there, ok := undo(at.Subject, im.Subject, im.local()); ok {
			all = r.streamedFrom(append(all, Origin{im.Account, there}), Origin{im.Account, there}, hops+1)
		}
	}
	return all
}

// requestedFrom follows those of services backwards: who asks one published the request, or was asked it.
func (r *Rules) requestedFrom(all []Origin, at Origin, hops int) []Origin {
	all = append(all, at)
	if hops == hopsMost {
		return all
	}
	for i := range r.Accounts {
		a := &r.Accounts[i]
		for j := range a.Imports {
			im := &a.Imports[j]
			if im.Kind != Service || im.Account != at.Account || r.ExportOf(a.Name, im) == nil {
				continue
			}
			for _, there := range r.before(at) {
				if here, ok := rewrite(there, im.Subject, im.local()); ok {
					all = r.requestedFrom(all, Origin{a.Name, here}, hops+1)
				}
			}
		}
	}
	return all
}

// before are the subjects of which the account's mappings may make this one.
func (r *Rules) before(at Origin) (all []string) {
	add := func(subj string) {
		makes := func(c Choice) bool { return c.Subject == at.Subject }
		if !slices.Contains(all, subj) && slices.ContainsFunc(r.mapped(at.Account, subj), makes) {
			all = append(all, subj)
		}
	}
	add(at.Subject)
	for _, m := range r.Account(at.Account).Mappings {
		for _, d := range m.Destinations {
			if subj, ok := undo(at.Subject, m.Subject, Numbered(d.Subject)); ok {
				add(subj)
			}
		}
	}
	return all
}
