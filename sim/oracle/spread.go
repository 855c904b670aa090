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

// When a tally is judged: at so many messages for each on average. It is begun anew after the last time.
var tallyJudged = [...]uint32{24, 64, 256}

// count notes that the i-th got one more. bad is the index of one that got too few or too many; -1: none.
func (t *tally) count(i, of int) (bad int, judged bool) {
	if len(t.got) != of || t.total >= tallyJudged[len(tallyJudged)-1]*uint32(of) {
		t.got, t.total = make([]uint32, of), 0
	}
	t.got[i]++
	t.total++
	bad = -1
	for _, each := range tallyJudged {
		if t.total != each*uint32(of) {
			continue
		}
		for j, n := range t.got {
			if n == 0 || unlikely(int64(n), int64(t.total), int64(of)) {
				bad = j
			}
		}
		return bad, true
	}
	return -1, false
}

// unlikely reports whether a count is further from the expected total/n than it is once in ten thousand million cases.
// By Bernstein's inequality a deviation of t or more has at most the probability exp(-t²/(2v+2t/3)), v being the
// variance, total·(n-1)/n²; that is below 10⁻¹⁰ for t² > 46·v + 16·t.
func unlikely(count, total, n int64) bool {
	t := max(count*n-total, total-count*n) // n times the deviation
	return t*t > 46*total*(n-1)+16*t*n
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
		t := &o.ranks[of]
		bad, judged = t.count(i, of)
		if judged {
			o.stats.Spreads++
		}
		if bad >= 0 {
			o.fail(Spread, "of %d messages to queue groups of %d members, the member that subscribed as number %d got %d",
				t.total, of, bad+1, t.got[bad])
		}
		return
	}
}
