package engine

import (
	"cmp"
	"math"
	"slices"
)

// A user that a reload moves to another account is in that one from the moment of the reload on, though its connections are
// visited, and their subscriptions moved, over turns (sweep.go, remake.go). So before it is looked up whom a message in the
// account reaches, those subscriptions move there that it would reach. Where they are too many for that, the message waits, and
// its publisher with it, until all connections have followed; nobody else does.

// moves are where the connections may be that belong into other accounts: by one reload, before which all have followed those before.
type moves struct {
	on    bool
	from  map[*account][]*account // by the account to which users have moved, those from which
	feeds map[*account][]feed     // imports by which messages reach those to which users have moved

	visiting bool // a connection is
}

// fetchMost is how many subscriptions may move for a message without its waiting.
const fetchMost = 600

// noteMoves notes which users are in other accounts now than before.
func (e *Engine) noteMoves(before *directory) {
	if e.trust != nil {
		return // a JWT names its account for good
	}
	m := &e.moves
	m.from = make(map[*account][]*account)
	e.compare(before)
	e.compareRemaking()
	var to []*account
	for a, from := range m.from { //natsd:orderfree they are sorted
		slices.SortFunc(from, byName)
		m.from[a] = slices.Compact(from)
		to = append(to, a)
	}
	slices.SortFunc(to, byName)
	if m.on = len(to) > 0; m.on {
		m.feeds = e.feedsOf(to)
		for _, a := range to {
			e.forgetMatches(a)
		}
	}
}

func byName(a, b *account) int { return cmp.Compare(a.name, b.name) }

// compare notes where those who could connect before are now.
func (e *Engine) compare(before *directory) {
	now := e.users
	note := func(from, to *account) {
		if from != to {
			e.moves.from[to] = append(e.moves.from[to], from)
		}
	}
	find := func(u *user) {
		switch same := now.same(u); {
		case !now.required():
			u.moved = e.global
		case same != nil:
			u.moved = same.account
		case u.unproved && now.noAuth != nil:
			u.moved = now.noAuth.account
		default:
			u.moved = nil
			return
		}
		note(u.account, u.moved)
	}
	before.each(find)
	if !before.required() { // nobody has proved anything: they may turn out to be anybody
		now.each(func(u *user) { note(e.global, u.account) })
	}
}

// compareRemaking notes where those are whose clients have become other users, while their subscriptions follow.
func (e *Engine) compareRemaking() {
	for _, c := range slices.Concat(e.remaking.swept, e.remaking.asked) {
		if c.remaking == nil {
			continue
		}
		to := c.acc
		if c.user != nil && c.user.moved != nil {
			to = c.user.moved
		}
		if from := c.remaking.from; from != to {
			e.moves.from[to] = append(e.moves.from[to], from)
		}
	}
}

// each calls f for everybody, in no order.
func (d *directory) each(f func(*user)) {
	for _, users := range [...]map[string]*user{d.byName, d.byNkey} {
		for _, u := range users { //natsd:orderfree callers do with each the same
			f(u)
		}
	}
	for _, u := range [...]*user{d.token, d.noAuth} {
		if u != nil {
			f(u)
		}
	}
}

// endMoves ends it once all connections have followed.
func (e *Engine) endMoves() {
	if len(e.remaking.swept) > 0 {
		return
	}
	e.moves = moves{}
	e.goOnWaiting()
}

// fetchAll is fetch as far as a turn goes.
func (e *Engine) fetchAll(a *account, subj []byte) bool {
	left := e.slice(fetchMost)
	if e.suspended >= suspendedMax {
		left = math.MaxInt
	}
	return e.fetch(a, subj, &left, 0)
}

// fetch moves those subscriptions to a, and to the accounts that import from it, which belong there and which a message on subj
// in a would reach. If that takes more than left, not all have moved, and it returns false.
func (e *Engine) fetch(a *account, subj []byte, left *int, hops int) bool {
	for _, from := range e.moves.from[a] {
		r := e.matchAs(from, subj, *left)
		if r == nil || !e.fetchThese(a, r.Plain, left) {
			return false
		}
		for i := range r.Queues {
			if !e.fetchThese(a, r.Queues[i].Members, left) {
				return false
			}
		}
	}
	if hops == hopsMax {
		return true
	}
	for _, f := range e.moves.feeds[a] {
		e.work++
		if local, ok := f.im.brings(subj); ok && !e.fetch(f.to, local, left, hops+1) {
			return false
		}
	}
	return true
}

func (e *Engine) fetchThese(a *account, list []*subscription, left *int) bool {
	for i, s := range list {
		if i%lookWork == 0 {
			e.work++
			*left--
		}
		if !e.belongs(s, a) {
			continue
		}
		if *left <= 0 {
			return false
		}
		e.mark(MarkMoveFirst)
		before, c := e.work, s.conn
		e.visitFirst(c)
		if r := c.remaking; r != nil && c.gate&gateClosed == 0 && !s.dead() && int(s.index) < r.left {
			e.remakeNext(c, int(s.index))
		}
		e.work++
		*left -= e.work - before
	}
	return true
}

// belongs reports whether a subscription that is in another account moves to a when its connection follows; perhaps, where it
// takes a look at its credentials to know.
func (e *Engine) belongs(s *subscription, a *account) bool {
	c := s.conn
	if s.flags&(subInternal|subDead) != 0 || c.epoch == e.epoch || c.gate&gateClosed != 0 || c.home(s) == a {
		return false
	}
	if c.followed != e.epoch {
		switch {
		case c.user == nil:
			return true
		case c.user.moved != nil:
			return c.user.moved == a
		}
	}
	return c.acc == a
}

// awaited reports whether a subscription that belongs into a, or into an account that imports from it, and would be reached by a
// message on subj in a, is not there yet.
func (e *Engine) awaited(a *account, subj []byte, hops int) bool {
	here := func(s *subscription) bool { e.work++; return e.belongs(s, a) }
	for _, from := range e.moves.from[a] {
		if e.mayReach(from, subj, here) {
			return true
		}
	}
	if hops == hopsMax {
		return false
	}
	for _, f := range e.moves.feeds[a] {
		e.work++
		if local, ok := f.im.brings(subj); ok && e.awaited(f.to, local, hops+1) {
			return true
		}
	}
	return false
}
