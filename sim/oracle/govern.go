package oracle

import (
	"math/bits"
	"strings"

	"github.com/natsd/natsd/sim/model"
)

// What a publish means where there are accounts and permissions: it takes one of several ways, by which it comes into
// accounts, in each of which it is offered to subscriptions.

// Grant says why a connection may publish what the lists of its user do not allow.
type Grant uint8

// The grants.
const (
	ByLists   Grant = iota // only if the lists allow it
	Perhaps                // it may be an answer that it may give, or not
	AsReply                // it is an answer that it may certainly give
	NotAnyway              // it may not, whatever the lists say
)

// hiddenReply begins the reply subjects that the server makes.
const hiddenReply = "_R_."

// govern notes what a publish means, and who is owed it.
func (o *Oracle) govern(c *Conn, r *record, grant Grant) {
	r.era, r.grant, r.at = len(o.eras)-1, grant, o.time()
	o.answering(c, r)
	r.choices = o.choices(c, r, r.era)
	o.offerAll(c, r)
}

// offerAll notes who is owed a publish that is judged by the configuration in force.
func (o *Oracle) offerAll(c *Conn, r *record) {
	if r.grant == Perhaps && !o.current().mayPublish(c.opts.User, r.subject) {
		r.spans = true // nothing is certain
	}
	loss, listened := 100, false
	for i := range r.choices {
		loss -= r.choices[i].Weight
	}
	o.offers = o.offers[:0]
	for i := range r.choices {
		for j := range r.choices[i].Entries {
			listened = o.offer(c, r, i, j, loss > 0 || r.spans || len(r.choices) > 1) || listened
		}
	}
	if r.spans || loss > 0 || len(r.choices) == 0 {
		return
	}
	for i, x := range o.offers {
		if x.choice == 0 && o.offeredAlways(i, len(r.choices)) {
			pairOf(c, x.sub.conn).owe(r.n, x.sub)
		}
	}
	if r.reply != "" && c.opts.NoResponders && !listened {
		o.await503(c, r)
	}
}

// offer is a plain subscription that gets a message if it takes that choice.
type offer struct {
	choice int
	sub    *sub
}

// offeredAlways reports whether the subscription of an offer of the first choice gets the message by the others too: as many
// times.
func (o *Oracle) offeredAlways(at, choices int) bool {
	if choices == 1 {
		return true
	}
	s := o.offers[at].sub
	nth := 0
	for _, x := range o.offers[:at] {
		if x.choice == 0 && x.sub == s {
			nth++
		}
	}
	for k := 1; k < choices; k++ {
		n := 0
		for _, x := range o.offers {
			if x.choice == k && x.sub == s {
				n++
			}
		}
		if n <= nth {
			return false
		}
	}
	return true
}

// offer collects to whom an entry of a choice offers a message, which by chance goes there or not. It reports whether somebody might get it.
func (o *Oracle) offer(c *Conn, r *record, choice, entry int, chance bool) (listened bool) {
	e := o.current()
	x := &r.choices[choice].Entries[entry]
	all := &o.reached
	all.reset()
	for i := range x.Leaves {
		l := &x.Leaves[i]
		in := o.indexes[l.Account]
		if in == nil {
			continue
		}
		m := in.find(l.Subject, &o.matched)
		for _, s := range m.plain {
			if (s.conn != c || c.opts.Echo) && e.mayReceive(s.conn.opts.User, l.Subject, "") {
				listened = true
				if s.conn.ended == 0 && s.certain(c) && (s.conn != c || s.written < r.written) {
					o.offers = append(o.offers, offer{choice, s})
				}
			}
		}
		for j := range m.groups {
			for _, s := range m.groups[j].members {
				if e.mayReceive(s.conn.opts.User, l.Subject, s.group.name) {
					all.add(s)
					listened = listened || s.conn != c || c.opts.Echo
				}
			}
		}
	}
	if chance {
		return listened
	}
	for i := range all.groups {
		g := &all.groups[i]
		g.entry = entry
		o.owe(r, c, g, x.Account+" "+x.Subject)
	}
	return listened
}

// choices are the ways of a publish in an era: none, if it is not allowed.
func (o *Oracle) choices(by *Conn, r *record, v int) []model.Choice {
	e := o.eras[v]
	s := e.seat(by.opts.User)
	if s.user == nil || r.grant == NotAnyway {
		return nil
	}
	if r.answers != nil {
		if r.grant == ByLists && !e.mayPublish(by.opts.User, r.subject) {
			return nil
		}
		return o.answerWays(s.account, r, v)
	}
	all := e.ways(s.account, r.subject)
	if r.grant != ByLists || s.user.May == nil {
		return all
	}
	for i := range all {
		if e.mayPublish(by.opts.User, all[i].Subject) {
			continue
		}
		kept := append([]model.Choice(nil), all[:i]...)
		for _, x := range all[i+1:] {
			if e.mayPublish(by.opts.User, x.Subject) {
				kept = append(kept, x)
			}
		}
		return kept
	}
	return all
}

// fit is how a message came to a subscription.
type fit struct {
	choice, entry int
	hidden        bool
	copies        int    // of it that the subscription may get
	vague         bool   // it fits several choices, or several configurations
	could         uint64 // the entries that it fits, as bits
	blurred       bool   // entries of several choices that it fits have the same number, though they are not alike
}

// single is the entry by which a message came, if there is only one. Where the publish may have been handled by one of several
// configurations, entries but the first have no number that means the same in each.
func (f *fit) single() (entry int, certain bool) {
	entry = bits.TrailingZeros64(f.could)
	return entry, f.could == 1<<entry && entry < 63 && (entry == 0 || !f.vague)
}

// fits finds the ways by which the message may have come. It fails, and returns false, if there is none.
func (o *Oracle) fits(c, by *Conn, r *record, s *sub, m *Message) (fit, bool) {
	if r.unknown {
		return fit{copies: manyWays, vague: true}, true
	}
	f, found := fit{}, false
	here, named, wanted, allowed := false, false, false, false
	last := o.lastEra(by, r)
	for v := r.era; v <= last; v++ {
		e := o.eras[v]
		account := e.seat(c.opts.User).account
		choices := r.choices
		if v != r.era {
			choices = o.choices(by, r, v)
		}
		for i := range choices {
			if r.chosen != 0 && r.chosen != i+1 && v == r.era && !r.spans {
				continue
			}
			copies := 0
			for j := range choices[i].Entries {
				x := &choices[i].Entries[j]
				for k := range x.Leaves {
					l := &x.Leaves[k]
					here = here || l.Account == account
					if l.Account == account && reaches(l.Subject, s.pattern) {
						copies++
					}
					if l.Account != account || !isSubject(string(m.Subject), l.Subject) || !isReply(x, r, m) || c.opts.Headers && !e.informs(by, choices[i].Entries, j, m.Info) {
						continue
					}
					named = true
					if hasEmptyToken(string(m.Subject)) || !reaches(string(m.Subject), s.pattern) {
						continue
					}
					wanted = true
					if !s.aliveIn(v) || !e.mayReceive(c.opts.User, string(m.Subject), s.queue()) {
						continue
					}
					allowed = true
					if !found {
						f.choice, f.entry, f.hidden, found = i, j, x.Hidden, true
					}
					f.could |= 1 << min(j, 63)
					f.blurred = f.blurred || j == f.entry && i != f.choice && v == r.era && !alike(choices[i].Entries, choices[f.choice].Entries, j)
					f.vague = f.vague || f.choice != i || v != r.era
				}
			}
			f.copies = max(f.copies, copies)
		}
	}
	if !found {
		o.misfit(c, by, r, s, m, last > r.era, here, named, wanted || allowed)
		return f, false
	}
	if f.vague = f.vague || r.moved || last > r.era; len(r.choices) > 1 && !f.vague {
		r.chosen = f.choice + 1
	}
	return f, true
}

// alike reports whether a message comes to an entry of one choice by the same accounts as to that of another.
func alike(a, b []model.Entry, at int) bool {
	for {
		x, y := &a[at], &b[at]
		if x.Account != y.Account || x.By != y.By || x.Shares != y.Shares || x.Parent != y.Parent {
			return false
		}
		if x.By == nil {
			return true
		}
		at = x.Parent
	}
}

// misfit fails for a message that came by no lawful way.
func (o *Oracle) misfit(c, by *Conn, r *record, s *sub, m *Message, atomic, here, named, wanted bool) {
	property, why := Permissions, "which its user may not have"
	switch {
	case atomic:
		property, why = Atomic, "by neither the configuration before a reload nor the one after it"
	case len(r.choices) == 0:
		why = "which its publisher may not publish"
	case !here:
		property, why = Isolation, "which no export and import leads there"
	case !named && len(r.choices) > 1:
		property, why = Mapped, "but other messages of the same publish take another way"
	case !named:
		property, why = Intact, "under a name, with a reply or with words on who asked that it cannot have there"
	case !wanted:
		property, why = Matching, "which that does not match"
	}
	o.fail(property, "sid %d (%q) of %v, user %q, got message %d of %v, user %q, published on %q with reply %q, as %q with reply %q, %s",
		s.sid, s.pattern, c.id, c.opts.User, r.n, by.id, by.opts.User, r.subject, r.reply, m.Subject, m.Reply, why)
}

// informs reports whether a message that comes by an entry tells what it is to tell of who asked.
func (e *era) informs(by *Conn, entries []model.Entry, at int, got *Info) bool {
	x := &entries[at]
	if x.By == nil || got == nil {
		return x.By == nil && got == nil
	}
	service := ""
	if parent := &entries[x.Parent]; parent.By != nil {
		service = parent.Account
	}
	asks, name := e.seat(by.opts.User), ""
	if x.Shares && asks.user != nil {
		name = asks.user.Name
	}
	return got.Account == asks.account && got.Service == service && got.User == name && x.Shares == (got.Host != "")
}

// isReply reports whether the reply of a message is what it is by that entry.
func isReply(x *model.Entry, r *record, m *Message) bool {
	if !x.Hidden || r.reply == "" {
		return string(m.Reply) == r.reply
	}
	if !strings.HasPrefix(string(m.Reply), hiddenReply) {
		return false
	}
	return true
}
