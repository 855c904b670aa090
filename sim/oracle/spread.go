package oracle

// A queue group spreads its messages evenly: whoever of n members can take a message gets it with a chance of one in n.
// That is judged in three ways. By member, for as long as the same members are there: whatever singles one out is seen. By
// rank, over all groups with equally many members, however often they change: a pick that goes by the order of the
// members is seen in much fewer messages. And over all groups together, for whoever came first or last: then a slight
// preference for those is enough.

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
	version uint64   // of the group
	members []*sub   // in the order of their SUBs
	oldest  [2]*Conn // with a member, and the youngest
	of      [2]int   // how many members those have
	tally
}

// lean sums up, over many messages, how often a member of some sort got one beyond what was to be expected. Its numbers
// are in units of 1/leanUnit: a message adds 1 or 0, less the chance.
type lean struct {
	beyond, variance int64
	messages         uint64
}

const (
	leanUnit  = 4096
	leanEvery = 64 // messages between two judgements
)

// add notes a message that went to one of k members of that sort, or not, of n. bad reports that it is too many or too few.
func (l *lean) add(hit bool, k, n int64) (bad, judged bool) {
	if hit {
		l.beyond += leanUnit
	}
	l.beyond -= leanUnit * k / n
	l.variance += leanUnit * k * (n - k) / (n * n)
	l.messages++
	if l.messages%leanEvery != 0 {
		return false, false
	}
	t := max(l.beyond, -l.beyond) // as in unlikely, times leanUnit squared
	return t*t > 46*l.variance*leanUnit+16*t*leanUnit, true
}

// leans are what is judged over all groups.
type leans struct {
	bySub, byConn [2]lean // those who came first, and those who came last
}

var sorts = [2]string{"first", "last"}

// count notes who got a message; it is the i-th of the members.
func (l *leans) count(o *Oracle, sp *spread, i int) {
	n := int64(len(sp.members))
	for which := range sorts {
		place := 0
		if which == 1 {
			place = len(sp.members) - 1
		}
		bad, judged := l.bySub[which].add(i == place, 1, n)
		if bad {
			o.fail(Spread, "of %d messages to queue groups, the member that subscribed %s got %d more than its share",
				l.bySub[which].messages, sorts[which], l.bySub[which].beyond/leanUnit)
		}
		if judged {
			o.stats.Spreads++
		}
		if sp.of[which] == len(sp.members) {
			continue
		}
		l := &l.byConn[which]
		if bad, _ := l.add(sp.members[i].conn == sp.oldest[which], int64(sp.of[which]), n); bad {
			o.fail(Spread, "of %d messages to queue groups, the members on the connection that came %s got %d more than their share",
				l.messages, sorts[which], l.beyond/leanUnit)
		}
	}
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
	sp.oldest = [2]*Conn{sp.members[0].conn, sp.members[0].conn}
	for _, s := range sp.members {
		if s.conn.opened < sp.oldest[0].opened {
			sp.oldest[0] = s.conn
		}
		if s.conn.opened > sp.oldest[1].opened {
			sp.oldest[1] = s.conn
		}
	}
	for _, s := range sp.members {
		for which, c := range sp.oldest {
			if s.conn == c {
				sp.of[which]++
			}
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
		o.leans.count(o, sp, i)
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
