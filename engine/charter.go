package engine

import (
	"slices"
	"strings"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/wire"
)

// charter is an account's JWT, in force.
type charter struct {
	claims  *claims.Account
	account *account
	deleted bool // by a request of the operator: nobody is its user any more
	lapsed  bool // expired, and its connections were told
	timer   timer
}

// charter puts an account's JWT, which counts, into force: its rules in this turn, what follows for connections by a sweep,
// and for each before it does anything else.
func (e *Engine) charter(a *claims.Account) {
	t := e.trust
	key := a.Rules.Name
	ch := t.charters[key]
	if ch != nil && ch.claims.Text == a.Text && !ch.deleted {
		return
	}
	if ch == nil {
		ch = &charter{}
		ch.timer.who = ch
		t.charters[key] = ch
	}
	ch.claims, ch.deleted, ch.lapsed = a, false, false
	delete(t.texts, key)
	e.amend(key)
	ch.account = e.byAccount[key]
	ch.account.label = a.Label
	e.watch(ch)
	e.shrink(ch.account)
	if ch.account.conns > 0 {
		e.sweep.charters = true
		e.startSweep()
	}
	for i := range a.Rules.Imports {
		if im := &a.Rules.Imports[i]; t.charters[im.Account] == nil {
			e.seekExporter(im)
		}
	}
}

// charterOf is the account's; nil: it has none.
func (e *Engine) charterOf(a *account) *charter {
	if e.trust == nil {
		return nil
	}
	return e.trust.charters[a.name]
}

// revoke ends an account: its connections are closed.
func (e *Engine) revoke(ch *charter) {
	ch.deleted = true
	e.timers.remove(&ch.timer)
	if ch.account.conns > 0 {
		e.sweep.charters = true
		e.startSweep()
	}
}

// ended reports whether nobody may be the account's user.
func (e *Engine) ended(ch *charter) bool {
	return ch.deleted || ch.claims.Expired(e.seconds()) || !e.mayBe(ch.claims.Rules.Name)
}

// watch sets the charter's timer to the next moment at which something begins or ends.
func (e *Engine) watch(ch *charter) {
	now, next := e.seconds(), int64(0)
	sooner := func(at int64) {
		if at > now && (next == 0 || at < next) {
			next = at
		}
	}
	sooner(ch.claims.Expires)
	for _, token := range ch.claims.Tokens {
		if token != nil {
			sooner(token.Expires)
			sooner(token.NotBefore)
		}
	}
	if next == 0 {
		e.timers.remove(&ch.timer)
		return
	}
	e.timers.set(&ch.timer, e.moment(wallOf(next)))
}

// due is the moment at which something of the charter may have begun or ended. An account that may not be now may be again after
// a reload: it is watched all the same.
func (ch *charter) due(e *Engine) {
	if ch.claims.Expired(e.seconds()) {
		if !ch.lapsed && ch.account.conns > 0 {
			e.sweep.charters = true
			e.startSweep()
		}
		ch.lapsed = true
		return
	}
	if slices.ContainsFunc(ch.claims.Tokens, func(t *claims.Activation) bool { return t != nil }) {
		e.amend(ch.claims.Rules.Name)
	}
	e.watch(ch)
}

// amendWork is what it counts as in a turn to make one account's rules anew.
const amendWork = 64

// amend makes the rules of an account anew from its JWT, and those of the accounts that import from it.
func (e *Engine) amend(key string) {
	s := e.trust.rules
	if _, there := s.byName[key]; !there {
		s.byName[key] = len(s.accounts)
		s.accounts = append(s.accounts, draft{Account: config.Account{Name: key}})
	}
	s.problems = nil
	at := s.byName[key]
	which := []int{at}
	if key == e.system.name {
		for i := range s.accounts {
			if i != at {
				which = append(which, i)
			}
		}
	} else {
		which = append(which, e.trust.importers[key]...)
	}
	e.work += amendWork * len(which)
	a := e.chartered(key)
	e.trust.noteImporter(at, a.Imports)
	s.accounts[at].describe(a)
	s.checkExports(&s.accounts[at])
	s.accounts[at].mappings = nil
	s.draftMappings(&s.accounts[at])
	e.sayProblems(LevelError, key, s) // updates are refused that have such
	for _, i := range which {
		a := &s.accounts[i]
		e.activate(a)
		a.streams, a.services = nil, nil
		s.draftImports(a)
	}
	for _, i := range which { // those of others may be there anew
		s.dropCycles(i)
	}
	e.enforceSome(s, which)
	if e.debugsIn(e.byAccount[key]) {
		e.sayProblems(e.debugLevel(), key, s)
	}
	s.problems = nil
}

// noteImporter notes from which accounts one imports from now on; at is its place in t.rules.
func (t *trust) noteImporter(at int, imports []config.Import) {
	a := &t.rules.accounts[at]
	for i := range a.Imports {
		key := a.Imports[i].Account
		list := t.importers[key]
		if n, there := slices.BinarySearch(list, at); there {
			t.importers[key] = slices.Delete(list, n, n+1)
		}
		if len(t.importers[key]) == 0 {
			delete(t.importers, key)
		}
	}
	for i := range imports {
		key := imports[i].Account
		list := t.importers[key]
		if n, there := slices.BinarySearch(list, at); !there && key != a.Name {
			t.importers[key] = slices.Insert(list, n, at)
		}
	}
}

// sayProblems tells the log of what is left out of an account's rules.
func (e *Engine) sayProblems(level Level, key string, s *ruleSet) {
	for _, p := range s.problems {
		e.logf(level, "", "Account "+e.described(key)+": "+printable([]byte(strings.TrimPrefix(p.Error(), "-: "))))
	}
	s.problems = nil
}

// chartered is what an account's JWT says, and what the system account exports by itself, ready to be changed.
func (e *Engine) chartered(key string) config.Account {
	a := config.Account{Name: key}
	if ch := e.trust.charters[key]; ch != nil {
		a = ch.claims.Rules
		a.Imports = slices.Clone(a.Imports)
		a.Exports = slices.Clone(a.Exports)
	}
	if key == e.system.name {
		a.Exports = exportToJWTs(a.Exports)
	}
	return a
}

// activate notes which of the account's imports an activation token allows now.
func (e *Engine) activate(d *draft) {
	t := e.trust
	ch := t.charters[d.Name]
	for i := range d.Imports {
		im := &d.Imports[i]
		im.Activated = nil
		from := t.charters[im.Account]
		if ch == nil || from == nil || ch.claims.Tokens[i] == nil {
			continue
		}
		token, by := ch.claims.Tokens[i], &t.rules.accounts[t.rules.byName[im.Account]]
		if !subject.IsSubset(im.Subject, token.Subject) {
			continue
		}
		for _, j := range by.covering(im) {
			// What the system account exports by itself is behind what its JWT says, and needs no token.
			if j < len(from.claims.Rules.Exports) && from.claims.Activates(j, d.Name, token, e.seconds()) {
				im.Activated = append(im.Activated, by.Exports[j].Subject)
			}
		}
	}
}

// enforceSome puts the rules of some accounts into force, all in this turn. Those that import from one of them must be among
// them.
func (e *Engine) enforceSome(s *ruleSet, which []int) {
	next := make(map[*account]*accountRules, len(which))
	rules := func(name string) *accountRules {
		a := e.byAccount[name]
		if r := next[a]; r != nil {
			return r
		}
		return a.def
	}
	for _, i := range which {
		d := &s.accounts[i]
		if e.byAccount[d.Name] == nil {
			e.newAccount(d.Name)
		}
		a := e.byAccount[d.Name]
		r := &accountRules{mappings: d.mappings, limits: d.Limits, trace: d.MsgTrace}
		for j := range d.Exports {
			r.exports = append(r.exports, e.newExport(a, &d.Exports[j]))
		}
		next[a] = r
	}
	asked := e.system.def.asked
	if r := next[e.system]; r != nil {
		asked = r.exportSystem(e)
	}
	var changed []*account
	for _, i := range which {
		d := &s.accounts[i]
		a := e.byAccount[d.Name]
		next[a].link(e, a, d, rules)
		if a != e.system {
			next[a].importSystem(a, asked, nil)
		}
		a.absent, a.updated = false, e.wall
		if next[a].takeOver(a.def.streams) {
			changed = append(changed, a)
		}
	}
	for _, i := range which {
		a := e.byAccount[s.accounts[i].Name]
		e.replace(a, next[a], func(b *account) *accountRules { return rules(b.name) })
	}
	for _, i := range which {
		e.answerImports(e.byAccount[s.accounts[i].Name])
	}
	if len(changed) > 0 {
		e.startRecast(changed)
	}
}

// expel closes a connection that is no longer who it was.
func (e *Engine) expel(c *conn, err wire.Err, reason CloseReason) {
	if reason == ReasonAuthFailed {
		e.turnAway(c, reason, nil, "")
		return
	}
	if e.debugs(c) {
		e.complainAt(e.debugLevel(), c, string(err))
	}
	e.closeConn(c, reason, err)
}
