package engine

import (
	"math"
	"strconv"

	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
	"github.com/natsd/natsd/wire"
)

// There are sets of subscriptions that take long to find a subject's receivers among, though it may have none: 2^n patterns with a
// literal or "*" in each of n tokens are all looked at. What takes more than Options.MatchWork is searched for over several turns,
// a piece of each search after another. Its message waits, and its publisher's next ones with it; nobody else does.

// search is one that has not ended.
type search struct {
	in   *account
	subj []byte
	of   *sublist.Search[*subscription] // nil: it is to begin

	msg *fanout // the message that waits for it; nil: a request that nobody got, and c's own subscription on subj is looked for
	c   *conn
	to  []byte // the request's subject

	among *sublist.Result[*subscription] // whom subj reaches, among whom it is looked for from next on; nil: that is to be found
	next  int
}

const (
	// searchShare is which part of a turn all searches get together.
	searchShare = 8
	// searchPieces is how many pieces that is, about.
	searchPieces = 4
	// foundMost is how many subscriptions may have been found by searches that have not ended, before they end one after another:
	// that takes 8 bytes each.
	foundMost = 4 << 20
	// searchesFew is how many there may be before it is looked which are in vain.
	searchesFew = 16
	// foundAtReload is how many turns' work may be spent before a reload on searches that can't wait for it.
	foundAtReload      = 32
	foundAtReloadLeast = 1 << 16
)

// matchWithin is match within Options.MatchWork; nil: it would take more, which is for a search.
func (e *Engine) matchWithin(a *account, subj []byte) *sublist.Result[*subscription] {
	if e.boundless {
		return e.match(a, subj)
	}
	return e.matchUpTo(a, subj, uint64(e.opts.MatchWork)*lookWork)
}

// goOnSearching is Continue, for so much of a turn's work.
func (e *Engine) goOnSearching(a *account, s *sublist.Search[*subscription], work int) *sublist.Result[*subscription] {
	before := a.subs.Steps()
	r := a.subs.Continue(s, uint64(work)*lookWork)
	e.work++
	e.charge(a, before)
	return r
}

// isKnown reports whether a result says whom a message reaches: it does not stand for those who have to be waited or searched for.
func (e *Engine) isKnown(r *sublist.Result[*subscription]) bool {
	return r != e.unknown && r != e.sought
}

// find is matchWithin for a message: the result is e.sought where it has to be searched for.
func (e *Engine) find(a *account, subj []byte) *sublist.Result[*subscription] {
	if r := e.matchWithin(a, subj); r != nil {
		return r
	}
	return e.sought
}

// matchAs is match where no more than so many subscriptions matter: what takes more than Options.MatchWork is left, unless any number
// does.
func (e *Engine) matchAs(a *account, subj []byte, most int) *sublist.Result[*subscription] {
	if most > math.MaxInt/2 {
		return e.match(a, subj)
	}
	return e.matchWithin(a, subj)
}

// mayReach reports whether subj reaches a subscription that f is true of, or one that it would take long to find.
func (e *Engine) mayReach(a *account, subj []byte, f func(*subscription) bool) bool {
	r := e.matchWithin(a, subj)
	return r == nil || r.ContainsFunc(f)
}

// searchFor has a message wait until it is found whom it reaches.
func (e *Engine) searchFor(f *fanout) {
	e.mark(MarkSearch)
	e.addSearch(&search{in: f.msg.awaits, subj: f.msg.subject, msg: f})
}

func (e *Engine) addSearch(x *search) {
	s := &x.in.searches
	if s.empty() {
		e.seekers.push(x.in)
	}
	s.push(x)
	e.searches++
}

// nextSearch is the one to go on with.
func (e *Engine) nextSearch() *search { return e.seekers.front().searches.front() }

// passTurn has others be gone on with, until it is the turn of this search again. Where much has been found and is held until a search
// ends, one goes on until it does.
func (e *Engine) passTurn() {
	if e.foundSoFar >= foundMost {
		return
	}
	a := e.seekers.pop()
	a.searches.push(a.searches.pop())
	e.seekers.push(a)
}

// stepSearches goes on with the searches.
func (e *Engine) stepSearches() {
	e.dropSearches()
	limit := e.work + max(e.opts.TurnWork/searchShare, 1)
	for e.searches > 0 && e.work < limit {
		x := e.nextSearch()
		if e.inVain(x) {
			e.endSearch()
			e.goWithout(x)
			continue
		}
		piece := e.opts.TurnWork / (searchShare * searchPieces)
		if x.among != nil {
			if !e.goOnLooking(x, piece) {
				e.passTurn()
			}
			continue
		}
		if x.of == nil {
			x.of = x.in.subs.Search(x.subj)
		}
		found := x.of.Found()
		r := e.goOnSearching(x.in, x.of, piece)
		if e.foundSoFar += x.of.Found() - found; r == nil {
			e.mark(MarkSearchSliced)
			e.passTurn()
			continue
		}
		e.endSearch()
		if x.msg == nil {
			e.open(x.c, gateSearch)
			e.tellNobody(x.c, x.to, x.subj, r)
			continue
		}
		e.goOnWith(x.msg, r)
	}
}

// goOnWith has a message go on of which it has been found whom it reaches.
func (e *Engine) goOnWith(f *fanout, r *sublist.Result[*subscription]) {
	f.msg.found = r
	e.addFanout(f)
}

// endSearch forgets the one whose turn it is.
func (e *Engine) endSearch() {
	a := e.seekers.pop()
	if e.uncount(a.searches.pop()); a.searches.empty() {
		a.searches = queue[*search]{}
		return
	}
	e.seekers.push(a)
}

// uncount has a search not be one of those that there are.
func (e *Engine) uncount(x *search) {
	if x.of != nil {
		e.foundSoFar -= x.of.Found()
	}
	e.searches--
}

// dropSearches ends those that are in vain, however many others come first, where too much waits or they have become many.
func (e *Engine) dropSearches() {
	if e.suspended < suspendedMax && e.searches < e.searchesDrop {
		return
	}
	for _, a := range e.seekers.all() {
		e.work += a.searches.len() / lookWork
		a.searches.deleteFunc(func(x *search) bool {
			vain := e.inVain(x)
			if vain {
				e.uncount(x)
				e.goWithout(x)
			}
			return vain
		})
	}
	e.seekers.deleteFunc(func(a *account) bool { return a.searches.empty() })
	e.searchesDrop = 2*e.searches + searchesFew // so that each is looked at twice or so
}

// allSearches is a list of them.
func (e *Engine) allSearches() (all []*search) {
	for _, a := range e.seekers.all() {
		all = append(all, a.searches.all()...)
	}
	return all
}

// inVain reports whether nobody waits for what a search finds, who asked having gone: it is a 503's, or too many messages wait.
// Those of who is there are one each.
func (e *Engine) inVain(x *search) bool {
	if x.msg == nil {
		return x.c.gate&gateClosed != 0
	}
	from := x.msg.msg.from
	return e.suspended >= suspendedMax && (from == e.self || from.gate&gateClosed != 0)
}

// forgo forgets a message that nobody has been given.
func (e *Engine) forgo(f *fanout) {
	f.msg.trace, f.msg.awaits = nil, nil
	e.letGo(&f.msg) // an answer that a trace keeps from crossing is held all the same
	e.takeUp(f)
	e.keepFanout(f)
}

// readLater has a message not be read yet, though its publisher waits for it: it is neither counted nor confirmed.
func (e *Engine) readLater(c *conn) {
	m := &e.out
	m.unread = true
	c.stats.inMsgs--
	c.stats.inBytes -= uint64(m.size)
	c.acc.traffic.inMsgs--
	c.acc.traffic.inBytes -= uint64(m.size)
}

// readNow makes up for it.
func (e *Engine) readNow(m *outgoing) {
	m.unread = false
	m.from.stats.inMsgs++
	m.from.stats.inBytes += uint64(m.size)
	m.awaits.traffic.inMsgs++
	m.awaits.traffic.inBytes += uint64(m.size)
	if m.from.gate&gateClosed == 0 {
		e.ok(m.from)
	}
}

// unread puts a message back to what its publisher has sent that waits to be read.
func (e *Engine) unread(f *fanout) {
	c, m := f.msg.from, &f.msg
	var line []byte
	if m.header > 0 {
		line = append(line, "HPUB "...)
	} else {
		line = append(line, "PUB "...)
	}
	line = append(append(line, f.published...), ' ')
	if len(f.reply) > 0 {
		line = append(append(line, f.reply...), ' ')
	}
	if m.header > 0 {
		line = append(wire.AppendUint(line, m.header), ' ')
	}
	line = append(wire.AppendUint(line, m.size), '\r', '\n')
	c.again, c.granted = e.traces && e.tracesOf(c), f.granted
	all := [...][]byte{line, m.body, c.stash}
	size := 0
	for _, part := range all {
		size += len(part)
	}
	ck := e.pool.get(size)
	data := ck.data[:0]
	for _, part := range all {
		data = append(data, part...)
	}
	e.unstash(c)
	c.stash, c.held = data, ck
	e.forgo(f)
	e.open(c, gateFanout)
}

// untouched reports whether nothing has come of a message that its publisher, who is there, could see: no +OK, no -ERR about a subject
// with wildcards, nothing on its way to another account.
func (f *fanout) untouched() bool {
	c := f.msg.from
	return f.msg.unread && c.gate&gateClosed == 0 && len(f.msg.cross) == 0 && f.published != nil && (!c.pedantic || subject.ValidLiteral(f.published))
}

// searchAnew is called before a reload. A message whose receivers are searched for is read again under the new configuration, as if
// it came then, if nothing has come of it yet; the receivers of others are found at once, as far as a few turns' work goes.
func (e *Engine) searchAnew() {
	limit := e.work + max(foundAtReload*e.opts.TurnWork, foundAtReloadLeast)
	all := e.allSearches()
	for _, a := range e.seekers.all() {
		a.searches = queue[*search]{}
	}
	e.seekers, e.searches, e.foundSoFar = queue[*account]{}, 0, 0
	for _, x := range all {
		switch {
		case x.msg == nil:
			x.in, x.of, x.among, x.next = x.c.acc, nil, nil, 0
			e.addSearch(x)
		case x.msg.untouched():
			e.mark(MarkSearchUnread)
			e.unread(x.msg)
		default:
			e.findNow(x, limit)
		}
	}
}

// findNow ends a search before a reload. If the turn has taken too long for that, nobody gets the message where it is searched for.
func (e *Engine) findNow(x *search, limit int) {
	if x.of == nil {
		x.of = x.in.subs.Search(x.subj)
	}
	for e.work < limit {
		if r := e.goOnSearching(x.in, x.of, e.opts.TurnWork); r != nil {
			e.goOnWith(x.msg, r)
			return
		}
	}
	e.goWithout(x)
}

// goWithout has the message of a search that was given up go on: it reaches nobody where its receivers were searched for.
func (e *Engine) goWithout(x *search) {
	if e.work++; x.msg == nil {
		return
	}
	e.mark(MarkSearchGivenUp)
	e.unfound.add(e.now)
	e.goOnWith(x.msg, &e.nobody)
}

// tellGivenUp logs how often that was.
func (e *Engine) tellGivenUp() {
	if n := e.unfound.take(e.now); n > 0 {
		e.logf(LevelWarn, "", strconv.Itoa(n)+" messages were not delivered: it took too long to find whom they reach, and their publishers had gone, or they could not be read again after a reload")
	}
}
