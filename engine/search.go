package engine

import (
	"math"
	"slices"

	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
	"github.com/natsd/natsd/wire"
)

// There are sets of subscriptions that take long to find a subject's receivers among, though it may have none: 2^n patterns with a
// literal or "*" in each of n tokens are all looked at. What takes more than Options.MatchWork is searched for over several, a
// piece of each search in turns. Its message waits, and its publisher's next ones with it; nobody else does.

// search is one that has not ended.
type search struct {
	in   *account
	subj []byte
	of   *sublist.Search[*subscription] // nil: it is to begin

	msg *fanout // the message that waits for it; nil: a request that nobody got, and c's own subscription is looked for
	c   *conn
	to  []byte // the request's subject
}

const (
	// searchShare is which part of a turn all searches get together.
	searchShare = 8
	// searchPieces is how many pieces that is, about.
	searchPieces = 4
	// searchesMost is how many are carried on in turns; others wait for one of these to end: what has been found takes memory.
	searchesMost = 16
)

// matchWithin is match within Options.MatchWork; nil: it would take more, which is for a search.
func (e *Engine) matchWithin(a *account, subj []byte) *sublist.Result[*subscription] {
	if e.boundless {
		return e.match(a, subj)
	}
	before := a.subs.Steps()
	r := a.subs.MatchWithin(subj, uint64(e.opts.MatchWork)*lookWork)
	if steps := a.subs.Steps() - before; steps > 0 {
		e.work += int(steps / lookWork)
	}
	return r
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
	e.searches = append(e.searches, &search{in: f.msg.awaits, subj: f.msg.subject, msg: f})
}

// stepSearches goes on with the searches.
func (e *Engine) stepSearches() {
	e.dropSearches()
	limit := e.work + max(e.opts.TurnWork/searchShare, 1)
	for len(e.searches) > 0 && e.work < limit {
		if e.searching++; e.searching >= min(len(e.searches), searchesMost) {
			e.searching = 0
		}
		x := e.searches[e.searching]
		if e.inVain(x) {
			e.endSearch(x)
			e.giveUp(x)
			continue
		}
		if x.of == nil {
			if x.msg == nil {
				x.in = x.c.acc
			}
			x.of = x.in.subs.Search(x.subj)
		}
		before := x.in.subs.Steps()
		r := x.in.subs.Continue(x.of, uint64(e.opts.TurnWork/(searchShare*searchPieces))*lookWork)
		e.work += 1 + int((x.in.subs.Steps()-before)/lookWork)
		if r == nil {
			e.mark(MarkSearchSliced)
			continue
		}
		e.endSearch(x)
		if x.msg == nil {
			e.open(x.c, gateSearch)
			e.tellNobody(x.c, x.to, x.subj, r)
			continue
		}
		e.goOnWith(x.msg, r)
	}
}

// goOnWith has a message go on of which is known whom it reaches; nil: which is to find out anew.
func (e *Engine) goOnWith(f *fanout, r *sublist.Result[*subscription]) {
	f.msg.found = r
	e.fanouts = append(e.fanouts, f)
	f.msg.from.gate |= gateFanout
}

// endSearch forgets one of the searches.
func (e *Engine) endSearch(x *search) {
	i := slices.Index(e.searches, x)
	e.searches = slices.Delete(e.searches, i, i+1)
	e.searching = i - 1
}

// dropSearches ends those that are in vain, however many others come first, where too much waits or they have become many.
func (e *Engine) dropSearches() {
	if e.suspended < suspendedMax && len(e.searches) < e.searchesDrop {
		return
	}
	kept := e.searches[:0]
	for _, x := range e.searches {
		if e.inVain(x) {
			e.giveUp(x)
		} else {
			kept = append(kept, x)
		}
	}
	clear(e.searches[len(kept):])
	e.searches, e.searchesDrop = kept, 2*len(kept)+searchesMost // so that each is looked at twice or so
}

// inVain reports whether nobody waits for what a search finds, who asked having gone: it is a 503's, or too many messages wait. Such
// a message is as if its publisher had gone before it was read, if it was not confirmed and has not crossed.
func (e *Engine) inVain(x *search) bool {
	f := x.msg
	if f == nil {
		return x.c.gate&gateClosed != 0
	}
	return e.suspended >= suspendedMax && f.msg.unread && f.msg.from.gate&gateClosed != 0 && len(f.msg.cross) == 0
}

// giveUp forgets what a search that has been ended was for.
func (e *Engine) giveUp(x *search) {
	if x.msg != nil {
		e.forgo(x.msg)
	}
}

// forgo forgets a message that nobody has been given.
func (e *Engine) forgo(f *fanout) {
	f.msg.trace, f.msg.awaits = nil, nil
	e.letGo(&f.msg) // an answer that a trace keeps from crossing is held all the same
	e.suspended -= len(f.ck.data)
	e.pool.release(f.ck)
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
	return f.msg.unread && c.gate&gateClosed == 0 && len(f.msg.cross) == 0 && (!c.pedantic || subject.ValidLiteral(f.published))
}

// searchAnew is called before a reload. A message whose receivers are searched for is read again under the new configuration, as if
// it came then, if nothing has come of it yet; the receivers of others are to be found at once.
func (e *Engine) searchAnew() {
	kept := e.searches[:0]
	for _, x := range e.searches {
		switch {
		case x.msg == nil:
			x.of = nil
			kept = append(kept, x)
		case x.msg.untouched():
			e.mark(MarkSearchUnread)
			e.unread(x.msg)
		default:
			e.goOnWith(x.msg, nil)
		}
	}
	clear(e.searches[len(kept):])
	e.searches = kept
}
