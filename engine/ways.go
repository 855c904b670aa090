package engine

import (
	"strconv"

	"github.com/natsd/natsd/subject"
)

// Where accounts import streams from accounts that import them too, and each from several, the ways on which a message comes
// multiply from one account to the next; and it comes once on each. A subscription has a shadow for every way, so their number
// is bounded by that of the imports, but for the first waysMax. What counts is ways behind the first import: an account may
// import from as many others as it likes.
const (
	waysMax       = 1000
	waysPerImport = 4
)

// tooMany reports whether imports multiply: there are so many ways by so many imports.
func tooMany(ways, imports int) bool { return ways > waysMax && ways > waysPerImport*imports }

// checkWays refuses stream imports that multiply. There must be no cycles.
func (s *ruleSet) checkWays() {
	w := ways{s: s, known: make(map[*importDraft]int)}
	if s.round {
		w.most = waysMax
		for i := range s.accounts {
			w.most += waysPerImport * len(s.accounts[i].streams)
		}
	}
	over := make([]int, len(s.accounts))
	for i := range s.accounts {
		n := 0
		for j := range s.accounts[i].streams {
			n = min(n+w.after(&s.accounts[i].streams[j]), waysCounted)
		}
		if n > waysMax && tooMany(n, w.imports(i)) {
			over[i] = n
		}
	}
	for i := range s.accounts {
		a := &s.accounts[i]
		if over[i] == 0 {
			continue
		}
		most, again := &a.streams[0], false
		for j := range a.streams {
			im := &a.streams[j]
			again = again || over[s.byName[im.Account]] > 0
			if w.known[im] > w.known[most] {
				most = im
			}
		}
		if !again { // else it is enough to say it of the account that it imports from
			s.wrong(most.Pos, "Error adding stream import %q: account %q gets streams on %s ways by imports that follow one another, most of them through account %q",
				most.Subject, a.Name, counted(over[i]), most.Account)
		}
	}
}

// waysCounted is as many ways as are counted.
const waysCounted = 1 << 40

func counted(n int) string {
	if n == waysCounted {
		return "more than " + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// ways counts on how many ways stream imports lead on, without going each.
type ways struct {
	s     *ruleSet
	known map[*importDraft]int
	// most is, where imports lead back to accounts, how many ways behind an import are gone at most: more are too many. 0: they do not.
	most int
}

// after is the number of ways that begin with the import and go on.
func (w *ways) after(im *importDraft) int {
	if w.most == 0 {
		return w.behind(im)
	}
	n := 0
	w.known[im] = w.gone(im, im.Subject, &n)
	return n
}

// gone goes each way on which a subject that an import is of goes on, and adds them to n, up to the most.
func (w *ways) gone(im *importDraft, subj string, n *int) int {
	list := w.s.accounts[w.s.byName[im.Account]].streams
	for i := 0; i < len(list) && *n <= w.most; i++ {
		if there, ok := list[i].takes(subj); ok && &list[i] != im {
			*n++
			w.gone(&list[i], there, n)
		}
	}
	return *n
}

// behind is after without going each way: the imports of no account may lead back to it.
func (w *ways) behind(im *importDraft) int {
	if n, ok := w.known[im]; ok {
		return n
	}
	n := 0
	w.next(im, func(next *importDraft) { n = min(n+1+w.behind(next), waysCounted) })
	w.known[im] = n
	return n
}

// next calls f for the imports that may follow upon one.
func (w *ways) next(im *importDraft, f func(*importDraft)) {
	list := w.s.accounts[w.s.byName[im.Account]].streams
	for i := range list {
		if &list[i] != im && subject.Collide(list[i].local, im.Subject) {
			f(&list[i])
		}
	}
}

// imports is how many imports follow, on whatever way, upon those of an account.
func (w *ways) imports(account int) int {
	seen := make(map[*importDraft]bool)
	var follow func(im *importDraft)
	follow = func(im *importDraft) {
		w.next(im, func(next *importDraft) {
			if !seen[next] {
				seen[next] = true
				follow(next)
			}
		})
	}
	list := w.s.accounts[account].streams
	for i := range list {
		follow(&list[i])
	}
	return len(seen)
}

// casting counts the ways on which one subscription is given shadows. A configuration has been checked for how many there are;
// accounts that are described by JWTs come one by one, and what one does to others is seen only here.
type casting struct {
	number  uint32 // of the subscription
	ways    int    // behind the first import
	imports int    // on these
	told    bool   // that they are too many
}

// begin starts to count for another subscription.
func (c *casting) begin() { *c = casting{number: c.number + 1} }

// tooMany counts another way, by im, and reports whether those are too many.
func (c *casting) tooMany(im *streamImport) bool {
	c.ways++
	if im.casting != c.number {
		im.casting = c.number
		c.imports++
	}
	return tooMany(c.ways, c.imports)
}

// tellMultiplied logs that a subscription does not get its messages on all ways that there are.
func (e *Engine) tellMultiplied(s *subscription) {
	if !e.casting.told && e.heeds(s.conn) {
		e.complainAt(LevelWarn, s.conn, "Subscription to "+quoted(s.handle.Subject())+" in account "+e.described(s.conn.acc.name)+
			" does not get all streams: more than "+strconv.Itoa(waysMax)+" ways lead to it by imports that follow one another")
	}
	e.casting.told = true
}

// tellCrossings logs that a request does not go to all services that imports bring it to: each account on its way may import
// several that its subject matches, and so may those that they come from.
func (e *Engine) tellCrossings(im *serviceImport) {
	m, c := &e.out, e.out.from
	told := m.multiplied
	m.multiplied = true
	if told || c == e.self || !e.heeds(c) {
		return
	}
	e.complainAt(LevelWarn, c, "Request on "+quoted(string(m.subject))+" in account "+e.described(im.account.name)+" does not reach all services: imports lead to more than "+
		strconv.Itoa(waysMax)+" of other accounts, the next of account "+e.described(im.export.account.name))
}
