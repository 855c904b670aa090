package sim

import (
	"strconv"
	"time"

	"github.com/natsd/natsd/sim/schedule"
	"github.com/natsd/natsd/wire"
)

// Of an account no more is connected, subscribed to or sent at a time than it may have, and no less: from when the server was told so
// what its members do is held against that, the newest connections go where there are too many, and nobody is refused what may be.

// propAllotted is the name of the property.
const propAllotted = "allotted"

// allows reports whether some word may count since then by which f holds.
func (n *node) allows(least int, f func(limits) bool) bool {
	return n.mayCount(allottedPlace, least, func(w *word) bool { return !w.gone && f(w.limits) })
}

// within reports whether one more, or so much, may be where there is a limit.
func within(limit, much int64) bool { return limit < 0 || much <= limit }

// memberAnswered takes a PONG: what was done before it has been done.
func (n *node) memberAnswered(which int) {
	m := &n.members[which]
	what := m.does
	m.does = memberNothing
	o := &n.w.cfg.engine
	switch what {
	case memberComes:
		m.in, m.letInAt, m.turn = true, n.memberActed, n.turns
		for i := range n.members {
			if x := &n.members[i]; i != which && x.in && !x.leaving {
				m.others |= 1 << i
			}
		}
	case memberSubscribes:
		if m.refused {
			return
		}
		m.subs++
		if o.MaxSubscriptions > 0 && m.subs > o.MaxSubscriptions || !n.allows(m.least, func(l limits) bool { return within(l.subs, int64(m.subs)) }) {
			n.failMember(which, "has "+strconv.Itoa(m.subs)+" subscriptions")
		}
	case memberPublishes:
		if m.size > o.MaxPayload || !n.allows(m.least, func(l limits) bool { return within(l.payload, int64(m.size)) }) {
			n.failMember(which, "was let publish "+strconv.Itoa(m.size)+" bytes")
		}
	case memberNothing, memberLeaves, numMemberDoes:
	}
}

// memberRefused takes an error. All but that a subscription is one too many, which may be that as well, is followed by the end.
func (n *node) memberRefused(which int, text string) {
	m := &n.members[which]
	o := &n.w.cfg.engine
	switch err := wire.Err(text); err {
	case wire.ErrAccountConnections:
		n.turnedOut(which)
	case wire.ErrMaxPayload:
		if m.does != memberPublishes || m.size <= o.MaxPayload && !n.allows(m.least, func(l limits) bool { return !within(l.payload, int64(m.size)) }) {
			n.failMember(which, "was not let publish "+strconv.Itoa(m.size)+" bytes")
		}
	case wire.ErrMaxSubscriptions:
		next := m.subs
		if m.does == memberSubscribes {
			next++
			m.refused = true
		}
		if (o.MaxSubscriptions == 0 || next <= o.MaxSubscriptions) && !n.allows(n.lately(claimsIn), func(l limits) bool { return !within(l.subs, int64(next)) }) {
			n.failMember(which, "is refused its subscription "+strconv.Itoa(next))
		}
		if m.refused {
			return
		}
	case wire.ErrAccountExpired:
		if !n.mayCount(allottedPlace, n.lately(claimsIn), func(w *word) bool { return w.over(n, 0) }) {
			n.failMember(which, "is told that the account has expired")
		}
	case wire.ErrAuthorization:
		if n.w.cfg.archive == nil || m.does != memberComes {
			n.failMember(which, "is refused")
		} else if !n.hindered() && n.shelf.failures == m.sick && !n.mayCount(allottedPlace, m.least, func(w *word) bool { return w.gone || w.over(n, 0) }) {
			n.failMember(which, "is refused as an unknown account's")
		}
	}
	m.leaving = true
}

// allottedIn is within which time a server that nothing hinders has its connections follow.
const allottedIn = second

// lately is the first word that may have counted so long ago.
func (n *node) lately(long schedule.Time) int {
	all := n.words[allottedPlace]
	i := len(all) - 1
	for i > 0 && (!all[i].taken || n.w.queue.Now()-all[i].takenAt < long) {
		i--
	}
	return i
}

// turnedOut judges that a member is one too many.
func (n *node) turnedOut(which int) {
	m, others := &n.members[which], int64(0)
	for i := range n.members {
		x := &n.members[i]
		if i == which || x.id == 0 && x.gone != n.turns {
			continue
		}
		if !m.in || x.came <= m.letInAt { // else it is newer
			others++
		}
	}
	least := m.least
	if m.in {
		least = n.lately(claimsIn)
	}
	if !n.hindered() && !n.allows(least, func(l limits) bool { return l.conns >= 0 && others >= l.conns }) {
		n.failMember(which, "is one too many beside "+strconv.FormatInt(others, 10)+" others")
	}
}

// checkMembers looks who was let in, and whether there are too many, for too long.
func (n *node) checkMembers() {
	in, most := int64(0), int64(0)
	for i := range n.members {
		m := &n.members[i]
		if m.turn > 0 {
			others := int64(0)
			for j := range n.members {
				if x := &n.members[j]; m.others>>j&1 == 1 && (x.in || x.gone != m.turn) && !(x.leaving && x.id != 0) {
					others++
				}
			}
			if m.turn = 0; !n.allows(m.least, func(l limits) bool { return within(l.conns, others+1) }) {
				n.failMember(i, "is let in beside "+strconv.FormatInt(others, 10)+" others")
			}
		}
		if m.in && !m.leaving {
			in, most = in+1, max(most, int64(m.subs))
		}
		if took := n.w.queue.Now() - max(m.since, n.sickUntil); m.id != 0 && m.does != memberNothing && !m.leaving && took > claimsIn && !n.hindered() && n.paused == 0 {
			n.failMember(i, "has no answer after "+time.Duration(took).String())
		}
	}
	if n.hindered() || n.paused > 0 || n.w.queue.Now()-n.sickUntil < allottedIn {
		return
	}
	least := n.lately(allottedIn)
	if in > 0 && !n.mayCount(allottedPlace, least, func(w *word) bool { return !w.over(n, expiredIn) }) {
		n.w.fail(propAllotted, strconv.FormatInt(in, 10)+" members of an account whose JWT has expired are still there")
	}
	if in > 0 && !n.allows(least, func(l limits) bool { return within(l.conns, in) }) {
		n.w.fail(propAllotted, strconv.FormatInt(in, 10)+" members are still there, which no word says from "+strconv.Itoa(least)+" on")
	}
	if n.w.cfg.archive != nil && most > 0 && !n.allows(least, func(l limits) bool { return within(l.subs, most) }) {
		n.w.fail(propAllotted, "a member still has "+strconv.FormatInt(most, 10)+" subscriptions, which no word says from "+strconv.Itoa(least)+" on")
	}
}

func (n *node) failMember(which int, what string) {
	all := n.words[allottedPlace]
	n.w.fail(propAllotted, "member "+strconv.Itoa(which)+" "+what+", which no word says from "+strconv.Itoa(n.members[which].least)+" of "+
		strconv.Itoa(len(all)-1)+" on")
}
