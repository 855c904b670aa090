package model

// Choice is one of the ways that a message can take: its mappings leave it to chance.
type Choice struct {
	Weight  int    // percent; what the weights of all choices lack to 100 is lost
	Subject string // in the publisher's account
	Entries []Entry
}

// Entry is an account that the message comes into: that of its publisher first, then those whose services it is a request
// to. In each of them, one member of each queue group gets it, wherever that member is.
type Entry struct {
	Account, Subject string
	Hidden           bool    // the reply subject is one that the server made
	By               *Export // of the service; nil: the publisher's own account
	Shares           bool    // the import by which it comes
	Parent           int     // the entry that it comes from
	Leaves           []Leaf
}

// Leaf is where subscribers are: the account of the entry, and those that import the subject from there.
type Leaf struct{ Account, Subject string }

// hopsMost is how many accounts are passed through one after another.
const hopsMost = 8

// Routes says where a message goes that is published on subj in an account.
func (r *Rules) Routes(account, subj string) []Choice {
	var all []Choice
	for _, c := range r.mapped(account, subj) {
		c.Entries = r.enter(nil, Entry{Account: account, Subject: c.Subject}, 0)
		all = append(all, c)
	}
	return all
}

// Onward is Routes for a message that comes from another account: it is not mapped.
func (r *Rules) Onward(account, subj string) []Entry {
	return r.enter(nil, Entry{Account: account, Subject: subj}, 0)
}

// mapped is what the account's mappings make of a subject.
func (r *Rules) mapped(account, subj string) []Choice {
	for _, m := range r.Account(account).Mappings {
		if !captures(subj, m.Subject) {
			continue
		}
		var all []Choice
		left, itself := 100, false
		for _, d := range m.Destinations {
			itself = itself || d.Subject == m.Subject
			left -= d.Weight
			if d.Weight > 0 {
				to, _ := rewrite(subj, m.Subject, Numbered(d.Subject))
				all = append(all, Choice{Weight: d.Weight, Subject: to})
			}
		}
		if left > 0 && !itself {
			all = append(all, Choice{Weight: left, Subject: subj})
		}
		return all
	}
	return []Choice{{Weight: 100, Subject: subj}}
}

// enter appends the entry, and those that its services lead to.
func (r *Rules) enter(all []Entry, e Entry, hops int) []Entry {
	e.Leaves = r.spread(nil, Leaf{e.Account, e.Subject}, 0)
	at := len(all)
	all = append(all, e)
	if hops == hopsMost {
		return all
	}
	for i := range r.Account(e.Account).Imports {
		im := &r.Account(e.Account).Imports[i]
		if im.Kind != Service {
			continue
		}
		from := r.Account(im.Account)
		x := from.exports(im, e.Account)
		there, ok := undo(e.Subject, im.Subject, im.local())
		if x == nil || !ok {
			continue
		}
		all = r.enter(all, Entry{Account: im.Account, Subject: there, Hidden: true, By: x, Shares: im.Share, Parent: at}, hops+1)
	}
	return all
}

// spread appends the leaf, and those of the accounts that import it.
func (r *Rules) spread(all []Leaf, l Leaf, hops int) []Leaf {
	all = append(all, l)
	if hops == hopsMost {
		return all
	}
	for i := range r.Accounts {
		a := &r.Accounts[i]
		for j := range a.Imports {
			im := &a.Imports[j]
			if im.Kind != Stream || im.Account != l.Account || r.Account(l.Account).exports(im, a.Name) == nil {
				continue
			}
			if here, ok := rewrite(l.Subject, im.Subject, im.local()); ok {
				all = r.spread(all, Leaf{a.Name, here}, hops+1)
			}
		}
	}
	return all
}
