package oracle

import (
	"slices"
	"strings"

	"github.com/natsd/natsd/sim/model"
)

// era is a part of the history in which one configuration is in force. What it means is asked of the model once and
// remembered.
type era struct {
	rules  *model.Rules
	began  position
	users  map[string]seat
	routes map[string][]model.Choice
	may    map[string]bool
}

// seat is a user and the account that it is in.
type seat struct {
	user    *model.User // nil: there is no such user
	account string
}

// memoAsked bounds what is remembered of the answers of a model: reply subjects are new ones all the time.
const memoAsked = 4096

func newEra(rules *model.Rules, at position) *era {
	return &era{
		rules: rules, began: at, users: make(map[string]seat), routes: make(map[string][]model.Choice),
		may: make(map[string]bool),
	}
}

func (e *era) seat(name string) seat {
	s, ok := e.users[name]
	if !ok {
		s.user, s.account = e.rules.User(name)
		e.users[name] = s
	}
	return s
}

// ways are the routes of what is published on subj in an account, or comes there from another one.
func (e *era) ways(account, subj string) []model.Choice {
	key := account + " " + subj
	all, ok := e.routes[key]
	if !ok {
		if len(e.routes) >= memoAsked {
			clear(e.routes)
		}
		all = e.rules.Routes(account, subj)
		e.routes[key] = all
	}
	return all
}

// ask remembers what a question with a yes or no was answered.
func (e *era) ask(key string, answer func() bool) bool {
	yes, ok := e.may[key]
	if !ok {
		if len(e.may) >= memoAsked {
			clear(e.may)
		}
		yes = answer()
		e.may[key] = yes
	}
	return yes
}

func (e *era) mayPublish(user, subj string) bool {
	s := e.seat(user)
	return s.user != nil && (s.user.May == nil || e.ask("p "+user+" "+subj, func() bool { return s.user.MayPublish(subj) }))
}

func (e *era) maySubscribe(user, pattern, queue string) bool {
	s := e.seat(user)
	return s.user != nil && (s.user.May == nil ||
		e.ask("s "+user+" "+pattern+" "+queue, func() bool { return s.user.MaySubscribe(pattern, queue) }))
}

// admits reports whether a connection may have a subscription; what nobody knows of one, it may.
func (e *era) admits(c *Conn, s *sub) bool {
	if s.sid == unknownSID {
		return e.seat(c.opts.User).user != nil
	}
	return e.maySubscribe(c.opts.User, s.pattern, s.queue())
}

func (e *era) mayReceive(user, subj, queue string) bool {
	s := e.seat(user)
	return s.user != nil && (s.user.May == nil || len(s.user.May.Subscribe.Deny) == 0 ||
		e.ask("r "+user+" "+subj+" "+queue, func() bool { return s.user.MayReceive(subj, queue) }))
}

// Govern tells what the server is configured to. Without it there is one account, in which everybody may do everything.
// Call it before anything else.
func (o *Oracle) Govern(rules *model.Rules) {
	o.eras = []*era{newEra(rules, o.now)}
	o.indexes = make(map[string]*index)
	o.bindings, o.asked = make(map[string]*binding), make(map[answer][]*binding)
}

func (o *Oracle) current() *era { return o.eras[len(o.eras)-1] }

// eraAt is the number of the era in force at a position.
func (o *Oracle) eraAt(at position) int {
	i := len(o.eras) - 1
	for i > 0 && o.eras[i].began > at {
		i--
	}
	return i
}

// lastEra is the last era by which the server may have settled whom the publish reaches.
func (o *Oracle) lastEra(by *Conn, r *record) int {
	last := len(o.eras) - 1
	if done := by.doneBy(r); done != 0 {
		last = o.eraAt(done)
	}
	if r.begun != 0 { // somebody had it by then, so nobody gets it whom only a later reload lets have it
		last = max(min(last, o.eraAt(r.begun)), r.era)
	}
	return last
}

func (o *Oracle) indexOf(account string) *index {
	x := o.indexes[account]
	if x == nil {
		n := newIndex()
		x = &n
		o.indexes[account] = x
	}
	return x
}

func (s *sub) queue() string {
	if s.group == nil {
		return ""
	}
	return s.group.name
}

// aliveIn reports whether the server may have had the subscription in that era.
func (s *sub) aliveIn(v int) bool {
	v -= s.era
	return v >= 0 && v < len(s.life) && s.life[v]
}

// Reload tells that another configuration is in force from now on.
func (o *Oracle) Reload(rules *model.Rules) {
	o.step()
	o.eras = append(o.eras, newEra(rules, o.now))
	for _, c := range o.conns {
		for i := c.records.unproven; i < c.records.len(); i++ {
			r := c.records.at(i)
			r.spans, r.want503 = true, false
			if r.grant == NotAnyway { // by what was in force when it was written
				r.grant = Perhaps
			}
		}
		if c.gone == 0 {
			o.reseat(c)
		}
		for _, g := range c.groups {
			g.disturbed(o.now)
		}
	}
	o.wanting = o.wanting[:0]
	for _, b := range o.bound {
		b.renewed(o.current())
	}
}

// reseat moves the subscriptions of a connection to where its user is now, and takes away those that it may not have.
func (o *Oracle) reseat(c *Conn) {
	e := o.current()
	account := e.seat(c.opts.User).account
	kept := c.governed[:0]
	for _, s := range c.governed {
		handled := s.written <= c.processed
		may := e.admits(c, s)
		revoked := !s.life[len(s.life)-1]
		was := !revoked || o.unvisited(s)
		s.life = append(s.life, may && (was || !handled))
		alive := s.life[len(s.life)-1] && s.over == 0
		if !may || !was {
			s.doubtful = true
		}
		if s.at != nil {
			o.unindex(s)
		} else if !revoked {
			continue // it is over
		}
		if alive {
			o.enlist(s, o.indexOf(account))
		}
		if alive || was || !handled {
			kept = append(kept, s)
		}
	}
	clear(c.governed[len(kept):])
	c.governed = kept
}

// unvisited reports that the server need not have come to the connection yet since a reload took the subscription away: if that is
// taken back before, it is as if nothing had happened.
func (o *Oracle) unvisited(s *sub) bool {
	last := len(s.life) - 1
	for last >= 0 && !s.life[last] {
		last--
	}
	return last >= 0 && s.conn.fenced <= o.eras[s.era+last+1].began
}

// governSub notes a new subscription where there are accounts.
func (o *Oracle) governSub(c *Conn, s *sub) {
	e := o.current()
	s.era = len(o.eras) - 1
	may := e.admits(c, s)
	s.life = []bool{may}
	c.governed = append(c.governed, s)
	if !may {
		s.doubtful = true
		return
	}
	o.enlist(s, o.indexOf(e.seat(c.opts.User).account))
	o.interestAppears(s)
}

// mayReach reports whether the publish may reach the subscription.
func (o *Oracle) mayReach(r *record, s *sub) bool {
	if o.eras == nil {
		return reaches(r.subject, s.pattern)
	}
	account := o.current().seat(s.conn.opts.User).account
	for i := range r.choices {
		for j := range r.choices[i].Entries {
			for _, l := range r.choices[i].Entries[j].Leaves {
				if l.Account == account && reaches(l.Subject, s.pattern) {
					return true
				}
			}
		}
	}
	return false
}

// enlist puts a subscription into an index.
func (o *Oracle) enlist(s *sub, in *index) {
	s.in = in
	s.in.add(s)
	s.place = len(s.conn.indexed)
	s.conn.indexed = append(s.conn.indexed, s)
	if s.group != nil {
		s.group.joined()
		if s.conn.ended != 0 && s.conn.gone == 0 {
			s.group.ghosts++
		}
	}
}

// unknown stands in the subjects of a model for a token that only the server knows.
const unknown = "?"

// isSubject reports whether a subject is the one of the model.
func isSubject(got, model string) bool {
	if got == model || !strings.Contains(model, unknown) {
		return got == model
	}
	g, m := strings.Split(got, sep), strings.Split(model, sep)
	if len(g) != len(m) {
		return false
	}
	for i := range g {
		if m[i] != unknown && g[i] != m[i] {
			return false
		}
	}
	return true
}

// Exists reports whether the configuration in force has the user.
func (o *Oracle) Exists(user string) bool { return o.current().seat(user).user != nil }

// Refused are the subjects that publishes of the user on subj are given by mappings and may not have, by the lists of the
// configuration in force. accepted reports whether some of them may be lost, or go on, all the same.
func (o *Oracle) Refused(user, subj string) (refused []string, accepted bool) {
	e := o.current()
	s := e.seat(user)
	if s.user == nil || s.user.May == nil {
		return nil, true
	}
	left := 100
	for _, c := range e.ways(s.account, subj) {
		left -= c.Weight
		if e.mayPublish(user, c.Subject) {
			accepted = true
		} else {
			refused = append(refused, c.Subject)
		}
	}
	return refused, accepted || left > 0
}

// MaySubscribe reports whether the configuration in force lets the user subscribe.
func (o *Oracle) MaySubscribe(user, pattern, queue string) bool {
	return o.current().maySubscribe(user, pattern, queue)
}

// Responses is the limit of answers in the configuration in force; nil if there is none.
func (o *Oracle) Responses(user string) *model.ResponseLimit {
	if u := o.current().seat(user).user; u != nil {
		return u.Responses()
	}
	return nil
}

// Names are the subjects that publish n of the connection may have got from the mappings of its account: subj, where there
// are none.
func (o *Oracle) Names(c *Conn, n uint64, subj string) []string {
	r := c.records.find(n)
	if o.eras == nil || r == nil {
		return []string{subj}
	}
	var names []string
	for v := r.era; v <= o.lastEra(c, r); v++ {
		for _, x := range o.choices(c, r, v) {
			names = append(names, x.Subject)
		}
	}
	if names == nil {
		return []string{subj}
	}
	return names
}

// Ways is by how many ways a publish may come to the account of a user, by any configuration that it may have been judged by: so
// many copies may there be for one subscription. At least one.
func (o *Oracle) Ways(from ID, n uint64, user string) int {
	by := o.byID[from]
	if by == nil {
		return 1
	}
	r := by.records.find(n)
	if r == nil {
		return 1
	}
	if r.unknown {
		return manyWays
	}
	most := 1
	for v := r.era; v <= o.lastEra(by, r); v++ {
		account := o.eras[v].seat(user).account
		for _, x := range o.choices(by, r, v) {
			ways := 0
			for _, entry := range x.Entries {
				for _, l := range entry.Leaves {
					if l.Account == account {
						ways++
					}
				}
			}
			most = max(most, ways)
		}
	}
	return most
}

// EntryOf is the number of the entry by which a publish comes to the account of a user. ok is false if there are several, or it is
// not known.
func (o *Oracle) EntryOf(from ID, n uint64, user string) (entry int, ok bool) {
	by := o.byID[from]
	if by == nil {
		return 0, false
	}
	r := by.records.find(n)
	if r == nil || r.unknown {
		return 0, false
	}
	for v := r.era; v <= o.lastEra(by, r); v++ {
		account := o.eras[v].seat(user).account
		for _, x := range o.choices(by, r, v) {
			for j := range x.Entries {
				if !slices.ContainsFunc(x.Entries[j].Leaves, func(l model.Leaf) bool { return l.Account == account }) {
					continue
				}
				if ok && j != entry {
					return 0, false
				}
				entry, ok = j, true
			}
		}
	}
	return entry, ok
}

// manyWays is more than there are.
const manyWays = 1 << 20

// HasAllowed reports whether the configuration in force lists what the user may subscribe to.
func (o *Oracle) HasAllowed(user string) bool {
	u := o.current().seat(user).user
	return u != nil && u.May != nil && len(u.May.Subscribe.Allow) > 0
}
