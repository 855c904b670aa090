package oracle

// A queue group spreads its messages evenly: whoever of n members can take a message gets it with a chance of one in n.
// That is judged in two ways. By member, for as long as the same members are there: whatever singles one out is seen. And
// by rank, over all groups with equally many members, however often they change: a pick that goes by the order of the
// members is seen in much fewer messages.

// tally counts which of several got a message.
type tally struct {
	got   []uint32
	total uint32
}

// A tally is judged at tallyFirst and at tallyLast messages for each on average, and then begun anew. With equal chances
// a count is outside of the bounds once in some ten thousand million judgements (the counts are nearly Poisson's).
const (
	tallyFirst      = 24
	tallyFirstLeast = 1
	tallyFirstMost  = 64
	tallyLast       = 64
	tallyLastLeast  = 18
	tallyLastMost   = 124
)

// count notes that the i-th got one more. bad is the index of one that got too few or too many; -1: none.
func (t *tally) count(i, of int) (bad int, judged bool) {
	if len(t.got) != of {
		t.got, t.total = make([]uint32, of), 0
	}
	t.got[i]++
	t.total++
	least, most := uint32(0), uint32(0)
	switch t.total {
	case uint32(tallyFirst * of):
		least, most = tallyFirstLeast, tallyFirstMost
	case uint32(tallyLast * of):
		least, most = tallyLastLeast, tallyLastMost
	default:
		return -1, false
	}
	bad = -1
	for j, n := range t.got {
		if n < least || n > most {
			bad = j
		}
	}
	return bad, true
}

// restart begins anew after the last judgement.
func (t *tally) restart() {
	if t.total >= uint32(tallyLast*len(t.got)) {
		clear(t.got)
		t.total = 0
	}
}

// spread counts who of the members of one group gets the messages of one subject, while the members stay the same.
type spread struct {
	version uint64 // of the group
	members []*sub // in the order of their SUBs
	tally
}

// spreadMembers is the size of the largest group that is judged.
const spreadMembers = 32

// spreadOver is the spread of the subject's messages over the members.
func (g *group) spreadOver(subj string, members []*sub) *spread {
	if sp := g.spreads[subj]; sp != nil {
		return sp
	}
	sp := &spread{version: g.version, members: append([]*sub(nil), members...)}
	for i := 1; i < len(sp.members); i++ { // few, and nearly in order
		for j := i; j > 0 && sp.members[j].written < sp.members[j-1].written; j-- {
			sp.members[j], sp.members[j-1] = sp.members[j-1], sp.members[j]
		}
	}
	g.spreads[subj] = sp
	return sp
}

// count notes who got a message of a group whose members have not changed since it was published.
func (o *Oracle) count(due *groupDue) {
	sp := due.spread
	if sp == nil || sp.version != due.group.version {
		return
	}
	of := len(sp.members)
	for i, s := range sp.members {
		if s != due.by {
			continue
		}
		bad, judged := sp.tally.count(i, of)
		if judged {
			o.stats.Spreads++
		}
		if bad >= 0 {
			o.fail(Spread, "of %d messages to the %d members of queue group %q, sid %d of %v got %d",
				sp.total, of, due.group.name, sp.members[bad].sid, sp.members[bad].conn.id, sp.got[bad])
		}
		sp.restart()
		t := &o.ranks[of]
		bad, judged = t.count(i, of)
		if judged {
			o.stats.Spreads++
		}
		if bad >= 0 {
			o.fail(Spread, "of %d messages to queue groups of %d members, the member that subscribed as number %d got %d",
				t.total, of, bad+1, t.got[bad])
		}
		t.restart()
		return
	}
}
