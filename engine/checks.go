package engine

import "time"

// Passwords that are compared with a bcrypt hash take some 60 ms of processor time each, and anybody may ask for that. So
// few are compared at a time, and the others wait here, in the engine: what nobody waits for any more costs nothing. Whose
// turn it is does not depend on who asks most:
//
//   - Connections that are held against new credentials come first, then addresses without recent failures, then the others;
//     every fourth time the other way round, so that nobody waits for ever.
//   - Addresses take turns. At one address, users that failed there recently and others take turns, and among equals chance
//     decides: with more of them than can be served in time, the first would all be served too late.
//   - Those that sent the same wait for one comparison. Its outcome is remembered for a time, under a digest: who was let in
//     before is let in without delay whatever goes on, and who goes on trying the same wrong password costs nothing.

// What is remembered, at most.
const (
	verdictsMax  = 4096
	failuresMax  = 4096
	rightSpan    = Instant(10 * time.Minute) // from when it was last used
	wrongSpan    = Instant(time.Minute)
	failuresSpan = Instant(time.Minute)
)

// verdictsTurn is how many connections are told the outcome of their checks in a turn.
const verdictsTurn = 256

// checkRank is the order of sources.
type checkRank uint8

const (
	rankAgain  checkRank = iota // connections that are in already
	rankClean                   // addresses without recent failures
	rankFailed                  // addresses with some
	numRanks
)

// rankOrder is which rank is served first, in turns.
var rankOrder = [4][numRanks]checkRank{
	{rankAgain, rankClean, rankFailed}, {rankClean, rankAgain, rankFailed},
	{rankAgain, rankClean, rankFailed}, {rankFailed, rankClean, rankAgain},
}

// checks are the password checks that wait, are under way, or have an outcome that their connections don't know yet.
type checks struct {
	seed    [16]byte
	sources map[string]*checkSource // that have checks waiting, by address; "" for connections that are in
	ranks   [numRanks]checkRing
	turn    int // of rankOrder
	waiting int
	running int // comparisons
	same    map[digest]*sameCheck
	decided []*passwordCheck

	right, wrong recall[digest]
	failedFrom   recall[string] // addresses
	failedAs     recall[digest] // addresses and users
}

// checkSource is where checks come from.
type checkSource struct {
	address    string
	rank       checkRank
	waiting    [2][]*passwordCheck // [1]: of users that failed there
	next       int                 // of waiting
	prev, succ *checkSource        // in the ring
}

// sameCheck is one comparison, and who waits for it.
type sameCheck struct {
	wanted  []*passwordCheck
	running bool
}

// passwordCheck is a connection's wish to have its password compared with a hash.
type passwordCheck struct {
	conn           *conn
	answer         bool  // a +OK is due
	who            *user // nil: there is no such user
	user           string
	hash, password string
	known          bool // the user's name is right
	ok             bool // the outcome, once it is there

	key    digest
	same   *sameCheck // nil: the outcome is there
	nth    int        // in same
	source *checkSource
	class  int // of source.waiting
	place  int // in it
}

// over reports whether nobody waits for the check any more.
func (p *passwordCheck) over() bool { return p.conn.check != p }

func (e *Engine) initChecks() {
	for i := 0; i < len(e.checks.seed); i += 8 {
		v := e.env.Rand.Uint64()
		for j := range 8 {
			e.checks.seed[i+j] = byte(v >> (8 * j))
		}
	}
	q := &e.checks
	q.sources, q.same = make(map[string]*checkSource), make(map[digest]*sameCheck)
	q.right, q.wrong = newRecall[digest](verdictsMax, rightSpan), newRecall[digest](verdictsMax, wrongSpan)
	q.failedFrom, q.failedAs = newRecall[string](failuresMax, failuresSpan), newRecall[digest](failuresMax, failuresSpan)
}

// check has the connection's password compared, or decides at once if the outcome is known.
func (e *Engine) check(p *passwordCheck) {
	q, c := &e.checks, p.conn
	p.key = e.digest(p.user, p.hash, p.password)
	if right := q.right.has(p.key, e.now); right || q.wrong.has(p.key, e.now) {
		e.mark(MarkAuthKnown)
		if right {
			q.right.add(p.key, e.now)
		}
		e.decide(c, p.who, right, p.answer)
		return
	}
	e.mark(MarkAuthJob)
	c.gate |= gateAuth
	c.check = p
	if p.same = q.same[p.key]; p.same == nil {
		p.same = &sameCheck{}
		q.same[p.key] = p.same
	} else {
		e.mark(MarkAuthShared)
	}
	p.nth = len(p.same.wanted)
	p.same.wanted = append(p.same.wanted, p)
	if !p.same.running {
		e.enqueueCheck(p)
		e.startChecks()
	}
}

// enqueueCheck has the check wait for its turn.
func (e *Engine) enqueueCheck(p *passwordCheck) {
	q := &e.checks
	address := network(p.conn.ip)
	if p.conn.connected {
		address = ""
	}
	s := q.sources[address]
	if s == nil {
		s = &checkSource{address: address, rank: q.rank(address, e.now)}
		q.sources[address] = s
		q.ranks[s.rank].push(s)
	}
	p.class = 0
	if q.failedAs.has(e.digest(p.user, address), e.now) {
		p.class = 1
	}
	p.source, p.place = s, len(s.waiting[p.class])
	s.waiting[p.class] = append(s.waiting[p.class], p)
	q.waiting++
}

func (q *checks) rank(address string, now Instant) checkRank {
	switch {
	case address == "":
		return rankAgain
	case q.failedFrom.has(address, now):
		return rankFailed
	}
	return rankClean
}

// unqueue takes a check out of those that wait for their turn.
func (q *checks) unqueue(p *passwordCheck) {
	s := p.source
	if s == nil {
		return
	}
	s.take(p)
	p.source = nil
	q.waiting--
	if len(s.waiting[0])+len(s.waiting[1]) == 0 {
		q.ranks[s.rank].remove(s)
		delete(q.sources, s.address)
	}
}

// nextCheck takes out the check whose turn it is; there must be one.
func (e *Engine) nextCheck() *passwordCheck {
	q := &e.checks
	var s *checkSource
	for _, rank := range rankOrder[q.turn%len(rankOrder)] {
		if s = q.ranks[rank].first; s != nil {
			break
		}
	}
	q.turn++
	q.ranks[s.rank].remove(s)
	s.rank = q.rank(s.address, e.now)
	q.ranks[s.rank].push(s)
	s.next ^= 1
	w := s.waiting[s.next]
	if len(w) == 0 {
		w = s.waiting[s.next^1]
	}
	p := w[e.rng.IntN(len(w))]
	for n := 0; n < demotedMost && p.class == 0 && q.failedAs.has(e.digest(p.user, s.address), e.now); n++ {
		s.demote(p)
		if w = s.waiting[0]; len(w) == 0 {
			w = s.waiting[1]
		}
		p = w[e.rng.IntN(len(w))]
	}
	q.unqueue(p)
	return p
}

// demotedMost is how many checks are found to be of users that have failed since, before one is carried out all the same.
const demotedMost = 256

// demote has a check wait with those of users that failed: its user has, since it came.
func (s *checkSource) demote(p *passwordCheck) {
	s.take(p)
	p.class, p.place = 1, len(s.waiting[1])
	s.waiting[1] = append(s.waiting[1], p)
}

// take takes a check out of its list.
func (s *checkSource) take(p *passwordCheck) {
	w := s.waiting[p.class]
	last := w[len(w)-1]
	w[p.place], last.place = last, p.place
	w[len(w)-1] = nil
	s.waiting[p.class] = w[:len(w)-1]
}

// startChecks has as many passwords compared as may be at a time.
func (e *Engine) startChecks() {
	q := &e.checks
	for q.waiting > 0 && q.running < e.opts.Checks {
		p := e.nextCheck()
		if p.same.running {
			continue // it waits for another's comparison from now on
		}
		p.same.running = true
		q.running++
		e.submit(newComparison(p))
	}
}

// endCheck gives up the password check of a connection.
func (e *Engine) endCheck(c *conn) {
	p := c.check
	if p == nil {
		return
	}
	c.check = nil
	e.checks.unqueue(p)
	if s := p.same; s != nil {
		last := s.wanted[len(s.wanted)-1]
		s.wanted[p.nth], last.nth = last, p.nth
		s.wanted[len(s.wanted)-1] = nil
		s.wanted = s.wanted[:len(s.wanted)-1]
		if len(s.wanted) == 0 && !s.running {
			delete(e.checks.same, p.key)
		}
	}
}

// compared notes the outcome of a comparison for all who wait for it.
func (e *Engine) compared(w *comparison) {
	q := &e.checks
	if w.ok {
		q.right.add(w.key, e.now)
	} else {
		q.wrong.add(w.key, e.now)
	}
	s := q.same[w.key]
	delete(q.same, w.key)
	for _, p := range s.wanted {
		q.unqueue(p)
		p.same, p.ok = nil, w.ok
	}
	q.decided = append(q.decided, s.wanted...)
}

// tellDecided tells connections the outcome of their checks, as many as may be in a turn.
func (e *Engine) tellDecided() {
	q := &e.checks
	n := min(e.slice(verdictsTurn), len(q.decided))
	for i, p := range q.decided[:n] {
		q.decided[i] = nil
		c := p.conn
		if !p.over() && c.epoch != e.epoch {
			e.visitFirst(c)
		}
		if p.over() {
			continue // the connection is gone, or the credentials have changed meanwhile
		}
		c.check = nil
		if !p.ok && !c.connected {
			address := network(c.ip)
			q.failedFrom.add(address, e.now)
			q.failedAs.add(e.digest(p.user, address), e.now)
		}
		e.decide(c, p.who, p.ok, p.answer)
		e.openAuth(c)
	}
	if q.decided = q.decided[n:]; len(q.decided) == 0 {
		q.decided = nil
	}
}

// fade forgets what is too long ago.
func (q *checks) fade(now Instant) {
	q.right.fade(now)
	q.wrong.fade(now)
	q.failedFrom.fade(now)
	q.failedAs.fade(now)
}

// checkRing is a ring of sources that take turns.
type checkRing struct{ first *checkSource }

// push puts s behind all others.
func (r *checkRing) push(s *checkSource) {
	if r.first == nil {
		r.first, s.prev, s.succ = s, s, s
		return
	}
	last := r.first.prev
	s.prev, s.succ = last, r.first
	last.succ, r.first.prev = s, s
}

func (r *checkRing) remove(s *checkSource) {
	s.prev.succ, s.succ.prev = s.succ, s.prev
	if r.first == s {
		if r.first = s.succ; r.first == s {
			r.first = nil
		}
	}
}
