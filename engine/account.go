package engine

import (
	"math"

	"github.com/natsd/natsd/sublist"
)

// The accounts that are always there: globalAccount is that of everybody who names none, systemAccount that of the server's
// own events and services.
const (
	globalAccount = "$G"
	systemAccount = "$SYS"
)

// account is a subject space of its own: what is published in it reaches its subscriptions and no others, but for what it
// exports and others import.
type account struct {
	name  string
	label string // its name for people, that its JWT gives it; empty: it has none
	subs  *sublist.Sublist[*subscription]
	def   *accountRules // in force; replaced as a whole

	replyToken string            // the second token of the reply subjects that stand for requests from other accounts
	replies    map[string]*reply // by these subjects

	inboxPrefix string // of the subjects on which the server itself gets answers; empty: it asks nothing there

	internal      int     // subscriptions that are no connection's own
	leaving       int     // subscriptions of connections that have closed
	filtered      int     // subscriptions of connections, and shadows of those, that may not get all that they match
	standing      int     // of those in internal, the server's own
	conns         int     // connections that are here and are not closing
	members       members // they, in the order in which they came
	total         uint64  // connections that ever came here
	traffic       traffic // of all that were ever here
	slowConsumers uint64
	updated       WallTime       // when its rules were last set; 0: at the start
	absent        bool           // the configuration does not name it any more
	searches      queue[*search] // of messages in it, that have not ended; the first is the one whose turn it is
	recasting     bool           // its subscriptions are visited: other imports call for other shadows

	beat    timer // when its connections are told of again
	telling bool  // they are about to be
	wish    wish  // that somebody made about its connections
}

func (e *Engine) newAccount(name string) *account {
	a := &account{
		name: name, def: &accountRules{},
		subs: sublist.New[*subscription](sublist.Options{CacheSize: e.opts.MatchCache, Seed: e.env.Rand.Uint64()}),
	}
	if e.secrets != nil { // else: seedSecrets makes up for it
		a.replyToken = string(e.appendID(nil, replyTokenLen))
	}
	a.beat.acc = a
	e.accounts = append(e.accounts, a)
	e.byAccount[name] = a
	return a
}

// title is how people call the account.
func (a *account) title() string {
	if a.label != "" {
		return a.label
	}
	return a.name
}

// described is how the log names the account.
func (a *account) described() string {
	if a.label != "" {
		return a.name + "/" + a.label
	}
	return a.name
}

// subscriptions counts those of connections. What stands for imports and services does not count, nor do shadows.
func (e *Engine) subscriptions() int {
	n := 0
	for _, a := range e.accounts {
		n += a.subscriptions()
	}
	return n
}

func (a *account) subscriptions() int { return a.subs.Count() - a.internal - a.leaving }

// lookWork is how many steps of the index, or looks at something that lies at hand, are one unit of a turn's work.
const lookWork = 8

// charge counts towards the turn what the index of an account has done since it had taken so many steps: there are subscriptions that
// make it much.
func (e *Engine) charge(a *account, before uint64) {
	if steps := a.subs.Steps() - before; steps > 0 {
		e.work += int(steps / lookWork)
	}
}

// match is what subj reaches, however long that takes to find.
func (e *Engine) match(a *account, subj []byte) *sublist.Result[*subscription] {
	return e.matchUpTo(a, subj, math.MaxUint64)
}

// matchUpTo is match if that takes no more than so many steps of the index, else nil.
func (e *Engine) matchUpTo(a *account, subj []byte, steps uint64) *sublist.Result[*subscription] {
	before := a.subs.Steps()
	r := a.subs.MatchWithin(subj, steps)
	e.charge(a, before)
	return r
}

// insert adds s to an account's subscriptions, and counts what it costs.
func (e *Engine) insert(a *account, subj, queue []byte, s *subscription) error {
	before := a.subs.Steps()
	h, err := a.subs.Insert(subj, queue, s)
	e.charge(a, before)
	if s.handle = h; err == nil {
		a.count(s, 1)
	}
	return err
}

// remove undoes insert.
func (e *Engine) remove(a *account, s *subscription) {
	before := a.subs.Steps()
	if a.subs.Remove(s.handle) {
		a.count(s, -1)
	}
	e.charge(a, before)
}

// recount is count for a connection's subscription whose flags change, and for its shadows.
func (a *account) recount(s *subscription, by int) {
	a.count(s, by)
	if s.flags&subShadowed != 0 {
		for _, sh := range s.also.shadows {
			sh.also.stream.from.count(sh, by)
		}
	}
}

// count notes that s has come, or gone.
func (a *account) count(s *subscription, by int) {
	if s.flags&subInternal != 0 {
		a.internal += by
		if s.flags&subShadow == 0 {
			return
		}
		s = s.also.root
	}
	if s.flags&subFiltered != 0 {
		a.filtered += by
	}
}

// subscription is one SUB of one connection, or stands in an account for something that happens with what is published
// there. What a delivery needs lies in its first 64 bytes.
type subscription struct {
	conn      *conn
	sidLen    uint8
	flags     subFlags
	sidShort  [sidShort]byte
	delivered uint64
	max       uint64 // ends after so many deliveries; 0: never

	sidLong string // a sid that does not fit into sidShort
	also    *also  // what few subscriptions have

	handle sublist.Handle[*subscription]
	index  int32  // in conn.subs
	cast   uint32 // the recast.number for which it has its shadows
}

// subFlags is why a delivery is not simply one.
type subFlags uint8

const (
	subDead     subFlags = 1 << iota // ended, though a match made earlier may still name it
	subShadow                        // stands in another account for a subscription there: also.root
	subService                       // an import of a service: also.service
	subShadowed                      // has shadows: also.shadows
	subFiltered                      // its connection may not get all that it matches
	subTracked                       // its connection may answer what it gets
	subHandler                       // the server itself: also.handle

	subInternal = subShadow | subService | subHandler
	subSpecial  = subDead | subInternal | subFiltered | subTracked
)

// also is what few subscriptions have.
type also struct {
	shadows []*subscription // in the accounts that what it is to get comes from
	root    *subscription   // whose shadow it is
	stream  *streamImport   // by which it is one
	behind  *subscription   // the shadow, nearer to root, that it continues in another account; nil: root itself
	service *serviceImport
	handle  func(*call)
	answers string // what the subjects begin with on which the server gets answers, a token behind it; empty: it is asked
}

// sidShort is the length up to which sids, mostly small numbers, lie in the subscription itself.
const sidShort = 14

func newSubscription(c *conn, sid []byte) *subscription {
	s := &subscription{conn: c}
	if len(sid) <= sidShort {
		s.sidLen = uint8(copy(s.sidShort[:], sid))
	} else {
		s.sidLong = string(sid)
	}
	return s
}

// dead reports whether the subscription has ended.
func (s *subscription) dead() bool { return s.flags&subDead != 0 }

// appendSID appends the sid.
func (s *subscription) appendSID(b []byte) []byte {
	if s.sidLong != "" {
		return append(b, s.sidLong...)
	}
	return append(b, s.sidShort[:s.sidLen]...)
}

// sid is the sid as text; it allocates.
func (s *subscription) sid() string { return string(s.appendSID(nil)) }

func (s *subscription) hasSID(sid []byte) bool {
	if s.sidLong != "" {
		return s.sidLong == string(sid)
	}
	return string(s.sidShort[:s.sidLen]) == string(sid)
}
