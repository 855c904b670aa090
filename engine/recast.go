package engine

import (
	"math"
	"slices"

	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
)

// Which shadows a subscription has is what the imports of its account call for, and those of the accounts that these bring
// messages from. When imports change, they are in force from one moment on, for everybody, though to give all subscriptions
// their shadows anew takes longer than a turn may:
//
//   - By an import that is no longer there nothing comes from that moment on: its shadows are passed over until they are gone.
//   - What an import brings that is new comes from that moment on: before it is looked up whom a message reaches, those
//     subscriptions get their shadows which it would reach by them. Where they are too many for that, the message waits, and
//     its publisher with it, until all have theirs; nobody else does.
//
// An import that is as it was remains the same one, and so do its shadows: a message that is under way to them arrives.

// recast is a visit to all subscriptions whose shadows may have to change.
type recast struct {
	on       bool
	number   uint32              // of visits so far; a subscription that has been visited has it
	accounts []*account          // whose subscriptions are visited
	feeds    map[*account][]feed // by the account that messages come from

	slot int   // the next connection to visit
	at   *conn // the one that is being visited; nil: none yet
	left int   // of its subscriptions, the first: not visited yet

	again int // times that imports changed again before the visit was over
}

// feed is an import by which messages reach, or go on to, an account whose subscriptions are visited.
type feed struct {
	to *account
	im *streamImport
}

const (
	// recastPerTurn is how many subscriptions are visited in a turn; fewer where that takes longer.
	recastPerTurn = 600
	// castFirstMost is how many subscriptions a message may reach through imports without waiting.
	castFirstMost = 128
	// recastAgainMax is how often imports may change before a visit is over: then messages wait no longer, however many they reach.
	recastAgainMax = 8
)

// takeOver has imports that are as they were remain the same, and those that are no longer there end. It reports whether there
// are any of these, or new ones.
func (r *accountRules) takeOver(old []*streamImport) (changed bool) {
	if len(old)+len(r.streams) == 0 {
		return false
	}
	type key struct {
		from               *account
		subject, local, to string
	}
	before := make(map[key]*streamImport, len(old))
	for _, im := range old {
		im.gone = true
		before[key{im.from, im.subject, im.local, im.to}] = im
	}
	kept := 0
	for i, im := range r.streams {
		k := key{im.from, im.subject, im.local, im.to}
		if same := before[k]; same != nil {
			delete(before, k)
			same.gone, same.trace = false, im.trace
			r.streams[i] = same
			kept++
		}
	}
	return kept < len(old) || kept < len(r.streams)
}

// startRecast has the subscriptions of accounts whose imports have changed visited, and of those that import from them; from
// the first on if others are being visited. It must be called in the turn in which the imports changed.
func (e *Engine) startRecast(changed []*account) {
	r := &e.recast
	if r.on {
		r.again++
	}
	r.number++
	r.on, r.slot, r.at = true, 0, nil
	for _, a := range changed {
		r.add(a)
	}
	for more := true; more; {
		more = false
		e.work += len(e.accounts) / lookWork
		for _, a := range e.accounts {
			if !a.recasting && slices.ContainsFunc(a.def.streams, func(im *streamImport) bool { return im.from.recasting }) {
				r.add(a)
				more = true
			}
		}
	}
	e.findFeeds()
	if r.again > recastAgainMax {
		e.goOnWaiting()
	}
}

func (r *recast) add(a *account) {
	if !a.recasting {
		a.recasting = true
		r.accounts = append(r.accounts, a)
	}
}

// findFeeds finds the imports by which messages come to the subscriptions that are visited.
func (e *Engine) findFeeds() {
	e.recast.feeds = e.feedsOf(e.recast.accounts)
}

// feedsOf are the imports by which messages come to some accounts, by the account that they come from. What is remembered of whom
// subjects reach there no longer counts.
func (e *Engine) feedsOf(accounts []*account) map[*account][]feed {
	feeds := make(map[*account][]feed)
	next, seen := slices.Clone(accounts), make(map[*account]bool)
	for len(next) > 0 {
		a := next[0]
		if next = next[1:]; seen[a] {
			continue
		}
		seen[a] = true
		for _, im := range a.def.streams {
			if feeds[im.from] == nil {
				e.forgetMatches(im.from)
			}
			feeds[im.from] = append(feeds[im.from], feed{to: a, im: im})
			next = append(next, im.from)
		}
	}
	return feeds
}

// forgetMatches has every subject looked up again in an account.
func (e *Engine) forgetMatches(a *account) {
	before := a.subs.Steps()
	a.subs.Forget()
	e.charge(a, before)
}

// stepRecast visits the next subscriptions, and ends the visit behind the last.
func (e *Engine) stepRecast(most int) {
	r := &e.recast
	looks := most * sweepLook
	for ; r.slot < len(e.conns); r.slot++ {
		if looks <= 0 {
			e.mark(MarkRecastSliced)
			return
		}
		looks--
		c := e.conns[r.slot]
		if c == nil || c.gate&gateClosed != 0 || !c.acc.recasting && c.remaking == nil {
			continue
		}
		if r.at != c {
			r.at, r.left = c, len(c.subs)
		}
		// From the last one on: those that come are behind it and have been visited, and so has what takes the place of one that
		// goes, if it was behind.
		for r.left = min(r.left, len(c.subs)); r.left > 0; {
			if most <= 0 {
				e.mark(MarkRecastSliced)
				return
			}
			before := e.work
			r.left--
			e.recastSub(c.subs[r.left])
			most -= 1 + e.work - before
			looks = min(looks, most*sweepLook)
		}
	}
	e.endRecast()
}

func (e *Engine) endRecast() {
	r := &e.recast
	for _, a := range r.accounts {
		a.recasting = false
	}
	e.goOnWaiting()
	e.recast = recast{number: r.number}
}

// recastAll visits all that are left, at once.
func (e *Engine) recastAll() {
	for e.recast.on {
		e.stepRecast(1 << 30)
	}
}

// recastSub gives a subscription the shadows that the imports call for now, unless it has been visited.
func (e *Engine) recastSub(s *subscription) {
	c := s.conn
	if s.cast == e.recast.number || c.gate&gateClosed != 0 {
		return
	}
	s.cast = e.recast.number
	a := c.home(s)
	if !a.recasting {
		return
	}
	if s.flags&subShadowed != 0 {
		e.mark(MarkShadowRecast)
		e.dropCut(s)
	}
	if len(a.def.streams) > 0 {
		var known []*subscription
		if s.also != nil {
			known = s.also.shadows
		}
		e.castFrom(s, a, s.handle.Subject(), nil, known, 0)
	}
}

// dropCut removes those shadows of a subscription by which nothing comes any more.
func (e *Engine) dropCut(s *subscription) {
	kept := s.also.shadows[:0]
	for _, sh := range s.also.shadows {
		if e.work++; !sh.cut() {
			kept = append(kept, sh)
			continue
		}
		sh.flags |= subDead
		e.remove(sh.also.stream.from, sh)
	}
	clear(s.also.shadows[len(kept):])
	if s.also.shadows = kept; len(kept) == 0 {
		s.also.shadows = nil
		s.flags &^= subShadowed
	}
}

// cut reports whether nothing comes by a shadow any more.
func (s *subscription) cut() bool {
	for x := s; x != nil; x = x.also.behind {
		if x.also.stream.gone {
			return true
		}
	}
	return false
}

// reach is match for a message that is published in an account: nobody misses it whom imports bring it to, or a reload has moved
// to where it goes. The result is e.sought where the message has to be searched for, e.unknown where it has to wait. It does not
// wait where too much waits, nor where it would wait for ever because imports change again and again: it takes as long as it has
// receivers then, as it would to deliver it at once.
func (e *Engine) reach(a *account, subj []byte) *sublist.Result[*subscription] {
	r := &e.recast
	if !e.fetched(a, subj) {
		return e.unknown
	}
	if r.on && len(r.feeds[a]) > 0 {
		left := e.slice(castFirstMost)
		if e.suspended >= suspendedMax || r.again > recastAgainMax {
			e.mark(MarkRecastHurried)
			left = math.MaxInt
		}
		if !e.castFirst(a, subj, &left, 0) {
			return e.unknown
		}
	}
	return e.find(a, subj)
}

// arrive is reach for a message that comes into an account from another one, which imports of streams bring no further.
func (e *Engine) arrive(a *account, subj []byte) *sublist.Result[*subscription] {
	if !e.fetched(a, subj) {
		return e.unknown
	}
	return e.find(a, subj)
}

// fetched has those be in an account whom a message on subj there would reach; false: it has to wait for that.
func (e *Engine) fetched(a *account, subj []byte) bool { return !e.moves.on || e.fetchAll(a, subj) }

// castFirst visits the subscriptions that what is published on subj in a reaches through imports. If more than left are
// reached, not all are visited, and it returns false.
func (e *Engine) castFirst(a *account, subj []byte, left *int, hops int) bool {
	if hops == hopsMax {
		return true
	}
	for _, f := range e.recast.feeds[a] {
		e.work++
		local, ok := f.im.brings(subj)
		if !ok {
			continue
		}
		if !e.castFirst(f.to, local, left, hops+1) {
			return false
		}
		r := e.matchAs(f.to, local, *left)
		if r == nil {
			return false
		}
		*left -= len(r.Plain)
		for i := range r.Queues {
			*left -= len(r.Queues[i].Members)
		}
		if *left < 0 {
			return false
		}
		e.castThese(r.Plain)
		for i := range r.Queues {
			e.castThese(r.Queues[i].Members)
		}
	}
	return true
}

func (e *Engine) castThese(list []*subscription) {
	for _, s := range list {
		e.work++
		if s.flags&subShadow != 0 {
			s = s.also.root
		}
		if s.flags&(subDead|subService|subHandler) == 0 && s.cast != e.recast.number {
			e.mark(MarkRecastFirst)
			e.recastSub(s)
		}
	}
}

// brings is what a subject of the exporting account is here. Other than toLocal it remembers nothing, and looks whether the
// import covers the subject.
func (im *streamImport) brings(subj []byte) (local []byte, ok bool) {
	if im.bridge == nil {
		return subj, subject.Match(subj, im.subject)
	}
	return im.bridge.Apply(nil, subj, 0)
}

// listensBehind reports whether a subscription that imports bring subj in a to is listened on: it may be without its shadow.
func (e *Engine) listensBehind(a *account, subj []byte, hops int) bool {
	if hops == hopsMax {
		return false
	}
	here := func(s *subscription) bool { e.work++; return s.flags&(subService|subHandler) == 0 && s.listening() }
	for _, f := range e.recast.feeds[a] {
		e.work++
		local, ok := f.im.brings(subj)
		if !ok {
			continue
		}
		if e.mayReach(f.to, local, here) || e.listensBehind(f.to, local, hops+1) {
			return true
		}
	}
	return false
}
