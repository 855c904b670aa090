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
