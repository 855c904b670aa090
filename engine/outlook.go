package engine

import (
	"slices"

	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
)

// outlook is what is found out before a reload about those whom a subject reaches in an account: to whom of them a message that is
// under way may not be delivered, which could not be told any more afterwards, and which services it goes on to. Who may no longer
// get it then is another matter. It is the same for all messages on the subject.
type outlook struct {
	of       *sublist.Result[*subscription] // whom it reaches
	to       *sublist.Result[*subscription] // of these, to whom it may be delivered
	denied   []int                          // the places in of, as fan counts, that are not in to: a group's if none of its members may
	services []int                          // their places in of
}

// outlooks are those found out so far.
type outlooks map[outlookKey]*outlook

type outlookKey struct {
	of      *sublist.Result[*subscription]
	subject string
}

// outlook finds out about those whom e.out reaches in an account.
func (e *Engine) outlook(known outlooks, a *account, r *sublist.Result[*subscription]) *outlook {
	subj := e.out.subject
	if o := known[outlookKey{r, string(subj)}]; o != nil {
		return o
	}
	o := &outlook{of: r, to: r}
	known[outlookKey{r, string(subj)}] = o
	if a.filtered > 0 || len(e.remaking.asked) > 0 { // of whose subscriptions some may not know yet that they are
		e.sift(o)
	}
	if slices.ContainsFunc(a.def.services, func(im *serviceImport) bool { return subject.Match(subj, im.local) }) {
		o.services = places(r.Plain, func(s *subscription) bool { return s.flags&subService != 0 })
	}
	return o
}

// sift finds out to whom e.out may be delivered.
func (e *Engine) sift(o *outlook) {
	denied := func(s *subscription) bool { return !e.mayGetOut(s) }
	o.denied = places(o.of.Plain, denied)
	to, some := &sublist.Result[*subscription]{Plain: without(o.of.Plain, o.denied)}, len(o.denied) > 0
	for i, q := range o.of.Queues {
		if d := places(q.Members, denied); len(d) > 0 {
			q.Members, some = without(q.Members, d), true
		}
		if len(q.Members) > 0 {
			to.Queues = append(to.Queues, q)
		} else {
			o.denied = append(o.denied, len(o.of.Plain)+i)
		}
	}
	if some {
		e.mark(MarkUnderwayDenied)
		o.to = to
	}
}

// mayGetOut reports whether the permissions in force let e.out be delivered to a subscription.
func (e *Engine) mayGetOut(s *subscription) bool {
	if s.flags&(subService|subHandler) != 0 {
		return true
	}
	if s.conn.epoch != e.epoch && !e.follow(s) {
		return false
	}
	subj := e.out.subject
	if s.flags&subShadow != 0 {
		for x := s; x != nil && subj != nil; x = x.also.behind {
			subj = x.also.stream.toLocal(subj)
		}
		s = s.also.root
	}
	return subj == nil || !s.denied(subj)
}

// goOn is the place in o.to of a message that has come to a place in o.of. Of a queue group that is being served, those members are
// left to be tried that were before, without those who are denied it.
func (o *outlook) goOn(m *outgoing, at int) int {
	before, all := slices.BinarySearch(o.denied, at)
	next := at - before
	switch {
	case m.untried == 0 || o.to == o.of:
		return next
	case all:
		m.untried = 0
		return next
	}
	members, kept := o.of.Queues[at-len(o.of.Plain)].Members, o.to.Queues[next-len(o.to.Plain)].Members
	first, end := keptOf(members[:m.member], kept), m.member+m.untried
	if end <= len(members) {
		m.untried = keptOf(members[:end], kept) - first
	} else {
		m.untried = len(kept) - first + keptOf(members[:end-len(members)], kept)
	}
	if m.untried == 0 {
		return next + 1
	}
	m.member = first % len(kept)
	return next
}

// places is where in a list those are that f is true of.
func places(list []*subscription, f func(*subscription) bool) (at []int) {
	for i, s := range list {
		if f(s) {
			at = append(at, i)
		}
	}
	return at
}

// without is a list without what is at some places, in order.
func without(list []*subscription, at []int) []*subscription {
	if len(at) == 0 {
		return list
	}
	kept, from := make([]*subscription, 0, len(list)-len(at)), 0
	for _, i := range at {
		kept = append(kept, list[from:i]...)
		from = i + 1
	}
	return append(kept, list[from:]...)
}

// keptOf is how many of a list are among those of it, and of what follows it, that were kept.
func keptOf(list, kept []*subscription) (n int) {
	for _, s := range list {
		if n < len(kept) && kept[n] == s {
			n++
		}
	}
	return n
}
