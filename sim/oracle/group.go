package oracle

import "math/bits"

// group is the queue groups of one name. Which subscriptions are one group for a message depends on its subject; what
// may excuse a missing delivery is noted for the name.
type group struct {
	name    string
	members int      // subscriptions in the index
	ghosts  int      // members whose connections have ended while the server may not know
	doubt   position // of what was written before, a message may have gone to a connection that ended
	spreads map[string]*spread
	version uint64 // changes when a member comes or goes
}

func (o *Oracle) groupOf(name string) *group {
	g := o.groups[name]
	if g == nil {
		g = &group{name: name, spreads: make(map[string]*spread)}
		o.groups[name] = g
	}
	return g
}

func (g *group) joined() { g.members++; g.changed() }

func (g *group) left() { g.members--; g.changed() }

func (g *group) changed() {
	g.version++
	clear(g.spreads)
}

// disturbed notes that a member's connection ended, and with it perhaps a message that had gone to it.
func (g *group) disturbed(at position) {
	g.doubt = at
	g.changed()
}

// owe notes what a group owes of a publish.
func (o *Oracle) owe(r *record, publisher *Conn, m *groupMatch, place string) {
	due := groupDue{group: m.group, entry: m.entry}
	all := true
	for _, s := range m.members {
		if s.conn == publisher && !publisher.opts.Echo {
			all = false
			continue
		}
		if !s.certain(publisher) || s.leastMax != 0 || s.conn.ended != 0 {
			all = false
			continue
		}
		// The one that has been there longest is the least likely to leave.
		if due.sure == nil || s.written < due.sure.written {
			due.sure = s
		}
	}
	if n := len(m.members); all && n > 1 && (o.eras == nil || !twice(m.members)) && n <= spreadMembers && m.group.ghosts == 0 {
		due.spread = m.group.spreadOver(place, m.members)
	}
	r.groups = append(r.groups, due)
}

// take notes that a member got the message, by one of the entries that could says. Which of them it was may show only later.
func (o *Oracle) take(publisher *Conn, r *record, s *sub, could uint64) {
	tried := uint64(0)
	if r.place(s, could, &tried) {
		return
	}
	due := r.due(s.group, bits.TrailingZeros64(could))
	if due.by == s {
		o.fail(Once, "%v message %d on %q reached sid %d of %v twice", publisher.id, r.n, r.subject, s.sid, s.conn.id)
		return
	}
	o.fail(Queue, "%v message %d on %q reached two members of queue group %q: sid %d of %v and sid %d of %v",
		publisher.id, r.n, r.subject, s.group.name, due.by.sid, due.by.conn.id, s.sid, s.conn.id)
}

// place finds an entry for a delivery to a member of a group, moving others to other entries if need be.
func (r *record) place(s *sub, could uint64, tried *uint64) bool {
	for left := could &^ *tried; left != 0; left &^= *tried {
		entry := bits.TrailingZeros64(left)
		*tried |= 1 << entry
		if d := r.due(s.group, entry); d.by != nil && !r.place(d.by, d.could, tried) {
			continue
		}
		d := r.due(s.group, entry)
		if d.by, d.could = s, could; could&(could-1) != 0 {
			d.spread = nil // it may not be this one that it counts for
		}
		return true
	}
	return false
}

// due is what the group owes of the publish by that entry.
func (r *record) due(g *group, entry int) *groupDue {
	for i := range r.groups {
		if d := &r.groups[i]; d.group == g && d.entry == entry {
			return d
		}
	}
	r.groups = append(r.groups, groupDue{group: g, entry: entry}) // who joined after the publish was written
	return &r.groups[len(r.groups)-1]
}

// settle judges a publish of which nothing more can come.
func (o *Oracle) settle(publisher *Conn, r *record) {
	for i := range r.groups {
		due := &r.groups[i]
		if due.by != nil {
			if due.sure != nil {
				o.stats.MustGroup++
			}
			o.count(due)
			continue
		}
		if r.proven == 0 || o.unsure(r) || due.sure == nil || due.group.ghosts > 0 || r.written < due.group.doubt ||
			due.sure.mayHaveEnded(r, publisher) || due.sure.firstMax != 0 && due.sure.firstMax < r.proven {
			continue
		}
		o.fail(Queue, "%v message %d on %q reached no member of queue group %q, of which sid %d of %v is one",
			publisher.id, r.n, r.subject, due.group.name, due.sure.sid, due.sure.conn.id)
	}
}

// twice reports whether some member is there twice, by two ways.
func twice(members []*sub) bool {
	for i, s := range members {
		for _, other := range members[:i] {
			if s == other {
				return true
			}
		}
	}
	return false
}
