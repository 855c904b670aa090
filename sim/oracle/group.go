package oracle

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

// spread counts which members of a group get the messages of one subject, while the same members are certain of them.
type spread struct {
	version uint64 // of the group
	members []*sub
	got     []uint32
	total   uint32
}

// A spread is judged after spreadEach messages per member on average. With every member equally likely, none is further
// from that than spreadLeast or spreadMost in a thousand million million judgements.
const (
	spreadEach    = 64
	spreadLeast   = 10
	spreadMost    = 160
	spreadMembers = 32 // larger groups are not judged
)

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
func (o *Oracle) owe(r *record, publisher *Conn, m *groupMatch) {
	due := groupDue{group: m.group}
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
	if n := len(m.members); all && n > 1 && n <= spreadMembers && m.group.ghosts == 0 {
		due.spread = m.group.spreadOver(r.subject, m.members)
	}
	r.groups = append(r.groups, due)
}

func (g *group) spreadOver(subj string, members []*sub) *spread {
	if sp := g.spreads[subj]; sp != nil {
		return sp
	}
	sp := &spread{version: g.version, members: append([]*sub(nil), members...), got: make([]uint32, len(members))}
	g.spreads[subj] = sp
	return sp
}

// take notes that a member got the message.
func (o *Oracle) take(publisher *Conn, r *record, s *sub) {
	for i := range r.groups {
		due := &r.groups[i]
		if due.group != s.group {
			continue
		}
		switch {
		case due.by == nil:
			due.by = s
		case due.by == s:
			o.fail(Once, "%v message %d on %q reached sid %d of %v twice", publisher.id, r.n, r.subject, s.sid, s.conn.id)
		default:
			o.fail(Queue, "%v message %d on %q reached two members of queue group %q: sid %d of %v and sid %d of %v",
				publisher.id, r.n, r.subject, s.group.name, due.by.sid, due.by.conn.id, s.sid, s.conn.id)
		}
		return
	}
	// It joined after the publish was written.
	r.groups = append(r.groups, groupDue{group: s.group, by: s})
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
		if r.proven == 0 || due.sure == nil || due.group.ghosts > 0 || r.written < due.group.doubt ||
			due.sure.mayHaveEnded(r, publisher) || due.sure.firstMax != 0 && due.sure.firstMax < r.proven {
			continue
		}
		o.fail(Queue, "%v message %d on %q reached no member of queue group %q, of which sid %d of %v is one",
			publisher.id, r.n, r.subject, due.group.name, due.sure.sid, due.sure.conn.id)
	}
}

// count notes who got a message, and judges the spread when there is enough to judge.
func (o *Oracle) count(due *groupDue) {
	sp := due.spread
	if sp == nil || sp.version != due.group.version {
		return
	}
	for i, s := range sp.members {
		if s == due.by {
			sp.got[i]++
			sp.total++
		}
	}
	if sp.total < uint32(spreadEach*len(sp.members)) {
		return
	}
	o.stats.Spreads++
	for i, n := range sp.got {
		if n < spreadLeast || n > spreadMost {
			o.fail(Spread, "of %d messages to the %d members of queue group %q, sid %d of %v got %d",
				sp.total, len(sp.members), due.group.name, sp.members[i].sid, sp.members[i].conn.id, n)
		}
	}
	clear(sp.got)
	sp.total = 0
}
