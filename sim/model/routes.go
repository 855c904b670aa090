package model

import "slices"

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
	Shares           bool    // the import by which the message has left the publisher's own account
	Parent           int     // the entry that it comes from
	Leaves           []Leaf
}

// Leaf is where subscribers are: the account of the entry and, of the publisher's own, those that import the subject from there.
type Leaf struct{ Account, Subject string }

// hopsMost is how many accounts are passed through one after another.
const hopsMost = 8

// Routes says where a message goes that is published on subj in an account, or comes there from another one: in every account that
// it comes into, its mappings apply.
func (r *Rules) Routes(account, subj string) []Choice {
	var all []Choice
	for _, c := range r.mapped(account, subj) {
		all = append(all, r.enter(c, Entry{Account: account, Subject: c.Subject}, 0)...)
	}
	return all
}

// Answer says where an answer goes that comes to subj in an account from another one: to who is there.
func (r *Rules) Answer(account, subj string) []Choice {
	all := r.mapped(account, subj)
	for i := range all {
		all[i].Entries = []Entry{{Account: account, Subject: all[i].Subject, Leaves: []Leaf{{account, all[i].Subject}}}}
	}
	return all
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

// enter gives a choice the entry, and those that its services lead to: it is several choices then, where the mappings there leave
// that to chance.
func (r *Rules) enter(c Choice, e Entry, hops int) []Choice {
	if e.Leaves = []Leaf{{e.Account, e.Subject}}; hops == 0 {
		e.Leaves = r.spread(nil, e.Leaves[0], 0)
	}
	at := len(c.Entries)
	c.Entries = append(slices.Clip(c.Entries), e)
	all := []Choice{c}
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
		shared := im.Share && hops == 0 || e.Shares
		ways := r.mapped(im.Account, there)
		before := all
		all = nil
		for _, c := range before {
			shares := Shared(c.Weight, ways)
			for k, w := range ways {
				c.Weight = shares[k]
				all = append(all, r.enter(c, Entry{Account: im.Account, Subject: w.Subject, Hidden: true, By: x, Shares: shared, Parent: at}, hops+1)...)
			}
			if lost := shares[len(ways)]; lost > 0 {
				c.Weight = lost
				all = append(all, c)
			}
		}
	}
	return all
}

// Shared divides a weight among choices, and what they lack to 100, which comes last. Nothing of it is lost, though of what can't be
// divided the last one there is has more.
func Shared(weight int, choices []Choice) []int {
	shares, left, lack, last := make([]int, len(choices)+1), weight, 100, 0
	for i, c := range choices {
		shares[i] = weight * c.Weight / 100
		left -= shares[i]
		lack -= c.Weight
		last = i
	}
	if lack > 0 {
		last = len(choices)
	}
	shares[last] += left
	return shares
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
