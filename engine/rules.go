package engine

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine/assert"
	"github.com/natsd/natsd/mapping"
	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
)

// ruleSet is every account's rules, made from a configuration and checked as a whole before any of it comes into force.
type ruleSet struct {
	accounts []draft
	byName   map[string]int
	problems []error
	round    bool // stream imports lead back to an account without a cycle
}

// draft is the rules of one account, in which other accounts are still names.
type draft struct {
	config.Account
	mappings *mapping.Table
	streams  []importDraft
	services []importDraft
	bridges  []systemBridge // systemBridges, made beforehand; nil: they were not

	index *sublist.Sublist[int] // of Exports, by their subjects; nil: there is none so far. See covering
}

// describe has another description of the account be drafted.
func (d *draft) describe(a config.Account) { d.Account, d.index = a, nil }

type importDraft struct {
	config.Import
	local  string
	there  *mapping.Transform // from here to there; nil: the same
	here   *mapping.Transform // from there to here
	export int                // in the exporting account's Exports
}

// CheckAccounts returns everything that is wrong with a configuration's accounts, and with which of them is the system
// account, each a *conf.Error where it stands.
func CheckAccounts(accounts []config.Account, system config.Located) []error {
	s := draftRules(accounts, system)
	if n := s.byName[systemName(system)]; n >= len(accounts) && systemName(system) != globalAccount && systemName(system) != systemAccount {
		s.wrong(system.Pos, "system_account: there is no account %q", system.Text)
	}
	return s.problems
}

func draftRules(accounts []config.Account, system config.Located) *ruleSet {
	s := &ruleSet{byName: make(map[string]int)}
	for i := range accounts {
		a := &accounts[i]
		if j, twice := s.byName[a.Name]; twice {
			s.wrong(a.Pos, "account %q is there twice, first at %v", a.Name, s.accounts[j].Pos)
			continue
		}
		s.byName[a.Name] = len(s.accounts)
		s.accounts = append(s.accounts, draft{Account: *a})
	}
	for _, name := range []string{globalAccount, systemName(system)} {
		if _, there := s.byName[name]; !there {
			s.byName[name] = len(s.accounts)
			s.accounts = append(s.accounts, draft{Account: config.Account{Name: name}})
		}
	}
	for i := range s.accounts {
		s.checkExports(&s.accounts[i])
		s.draftMappings(&s.accounts[i])
	}
	for i := range s.accounts {
		s.draftImports(&s.accounts[i])
	}
	for i := range s.accounts {
		s.checkCycles(i)
	}
	if len(s.problems) == 0 {
		s.checkWays()
	}
	return s
}

func (s *ruleSet) wrong(p config.Pos, format string, args ...any) {
	s.problems = append(s.problems, conf.Errorf(p, format, args...))
}

func (s *ruleSet) checkExports(a *draft) {
	for i := range a.Exports {
		x := &a.Exports[i]
		if !subject.ValidPattern(x.Subject) {
			s.wrong(x.Pos, "export of %q: invalid subject", x.Subject)
			continue
		}
		if x.Kind == config.Service && x.ResponseThreshold == 0 {
			x.ResponseThreshold = defaultThreshold
		}
		for _, name := range x.Accounts {
			if _, there := s.byName[name]; !there {
				s.wrong(x.Pos, "export of %q to account %q: there is no such account", x.Subject, name)
			}
		}
		if n := x.TokenPosition; n != 0 {
			if from, to, ok := subject.Token(x.Subject, n-1); n < 0 || !ok || x.Subject[from:to] != "*" {
				s.wrong(x.Pos, "export of %q: account_token_position %d must be that of a *", x.Subject, n)
			}
		}
		l := x.Latency
		if l != nil && subject.Check(l.Subject) != subject.Literal {
			s.wrong(l.Pos, "latency of %q: %q is not a subject to publish on", x.Subject, l.Subject)
		}
		if l != nil && (x.Kind != config.Service || x.ResponseType != config.Singleton) {
			s.wrong(l.Pos, "Error adding service latency sampling for %q on subject %q: bad service response type", x.Subject, l.Subject)
		}
	}
}

func (s *ruleSet) draftMappings(a *draft) {
	if len(a.Mappings) == 0 {
		return
	}
	var list []*mapping.Weighted
	for i := range a.Mappings {
		m := &a.Mappings[i]
		var to []mapping.Destination
		for _, d := range m.Destinations {
			to = append(to, mapping.Destination{Subject: d.Subject, Weight: d.Weight, Cluster: d.Cluster})
		}
		w, err := mapping.CompileWeighted(m.Subject, to, "")
		if err != nil {
			of := strconv.Quote(m.Subject)
			if len(to) == 1 {
				of += " to " + strconv.Quote(to[0].Subject)
			}
			s.wrong(m.Pos, "Error adding mapping for %s : %v", of, err)
			continue
		}
		list = append(list, w)
	}
	a.mappings = mapping.NewTable(list)
}

func (s *ruleSet) draftImports(a *draft) {
	twins := make(map[twinKey]*config.Import, len(a.Imports))
	for i := range a.Imports {
		im := importDraft{Import: a.Imports[i]}
		if !s.draftImport(a, &im, twins) {
			continue
		}
		twins[im.twinKey()] = &a.Imports[i]
		if im.Kind == config.Service {
			a.services = append(a.services, im)
		} else {
			a.streams = append(a.streams, im)
		}
	}
}

func (s *ruleSet) draftImport(a *draft, im *importDraft, twins map[twinKey]*config.Import) bool {
	what := "stream"
	if im.Kind == config.Service {
		what = "service"
	}
	bad := func(format string, args ...any) bool {
		s.wrong(im.Pos, "Error adding "+what+" import %q: "+format, append([]any{im.Subject}, args...)...)
		return false
	}
	if !subject.ValidPattern(im.Subject) {
		return bad("invalid subject")
	}
	n, there := s.byName[im.Account]
	if !there {
		return bad("account missing: %q", im.Account)
	}
	from := &s.accounts[n]
	if im.export = from.exported(a, im); im.export < 0 {
		return bad(what+" import not authorized: account %q exports nothing to %q that covers it", from.Name, a.Name)
	}
	if err := im.build(); err != nil {
		return bad("%v", err)
	}
	if twin := twins[im.twinKey()]; twin != nil { // each request, or message, would go the same way twice
		return bad("Duplicate "+what+" import subject %q, previously used in import for account %q, subject %q", im.local, twin.Account, twin.Subject)
	}
	return true
}

// twinKey is the same for imports that bring the same here: services of one account under one name, the same messages of streams. A
// request may go to services of several accounts.
type twinKey struct {
	kind                   config.ExportKind
	account, name, subject string
}

func (im *importDraft) twinKey() twinKey {
	if im.Kind == config.Service {
		return twinKey{im.Kind, im.Account, im.named(), ""}
	}
	return twinKey{im.Kind, im.Account, im.local, im.Subject}
}

// named is what the import is called here, as it is written.
func (im *importDraft) named() string {
	switch {
	case im.To != "":
		return im.To
	case im.Prefix != "":
		return im.Prefix + "." + im.Subject
	}
	return im.Subject
}

// build says what the imported subject is in the importing account, and how to get from one to the other.
func (im *importDraft) build() (err error) {
	to := im.named()
	im.local = im.Subject
	if to == im.Subject {
		return nil
	}
	if subject.ValidLiteral(im.Subject) && subject.ValidPattern(to) && !subject.ValidLiteral(to) {
		return fmt.Errorf("%q has wildcards, and what is imported has none to take their place", to)
	}
	if im.here, err = mapping.CompileImport(im.Subject, to); err != nil {
		return err
	}
	im.local = im.here.Pattern()
	im.there, err = im.here.Reverse()
	return err
}

// setAccounts puts the accounts of a configuration that was checked into force.
func (e *Engine) setAccounts(s *ruleSet) {
	assert.Thatf(len(s.problems) == 0, "accounts that were not checked: %v", s.problems)
	e.enforce(s)
}

// enforce puts a rule set into force: all of it in this turn. Accounts that are no longer named lose their rules; their
// connections are the caller's business.
func (e *Engine) enforce(s *ruleSet) {
	for i := range s.accounts {
		if e.byAccount[s.accounts[i].Name] == nil {
			e.newAccount(s.accounts[i].Name)
		}
	}
	next := make(map[*account]*accountRules, len(s.accounts))
	for i := range s.accounts {
		d := &s.accounts[i]
		a := e.byAccount[d.Name]
		r := &accountRules{mappings: d.mappings, limits: d.Limits, trace: d.MsgTrace}
		for j := range d.Exports {
			r.exports = append(r.exports, e.newExport(a, &d.Exports[j]))
		}
		next[a] = r
	}
	for i := range s.accounts {
		d := &s.accounts[i]
		a := e.byAccount[d.Name]
		next[a].link(e, a, d, func(name string) *accountRules { return next[e.byAccount[name]] })
	}
	asked := next[e.system].exportSystem(e)
	for i := range s.accounts {
		if a := e.byAccount[s.accounts[i].Name]; a != e.system {
			next[a].importSystem(a, asked, s.accounts[i].bridges)
		}
	}
	var changed []*account
	for _, a := range e.accounts {
		r := next[a]
		a.absent, a.updated = r == nil, e.wall
		if r == nil {
			r = &accountRules{}
		}
		if r.takeOver(a.def.streams) {
			changed = append(changed, a)
		}
		e.replace(a, r, func(b *account) *accountRules { return next[b] })
	}
	for _, a := range e.accounts {
		e.answerImports(a)
		e.shrink(a)
	}
	if len(changed) > 0 {
		e.startRecast(changed)
	}
}

// answerImports has the services that an account imports found in it, as far as they are not.
func (e *Engine) answerImports(a *account) {
	for _, im := range a.def.services {
		if im.sub != nil {
			continue
		}
		im.sub = &subscription{flags: subService, also: &also{service: im}}
		if err := e.insert(a, []byte(im.local), nil, im.sub); err != nil {
			panic("engine: a subject that was checked: " + im.local)
		}
	}
}

func (e *Engine) newExport(a *account, x *config.Export) *export {
	n := &export{Export: *x, account: a}
	n.timer.of = n
	return n
}

// link fills in the imports of a. rules are what an account's will be.
func (r *accountRules) link(e *Engine, a *account, d *draft, rules func(name string) *accountRules) {
	for i := range d.streams {
		im := &d.streams[i]
		r.streams = append(r.streams, &streamImport{from: e.byAccount[im.Account], subject: im.Subject, local: im.local, to: im.To, bridge: im.here, back: im.there, trace: im.AllowTrace})
	}
	for i := range d.services {
		im := &d.services[i]
		r.services = append(r.services, &serviceImport{
			account: a, local: im.local, export: rules(im.Account).exports[im.export],
			subject: im.Subject, bridge: im.there, share: im.Share,
		})
	}
}

// replace gives an account new rules. Requests under way of exports that are still there go on; those of others end.
func (e *Engine) replace(a *account, r *accountRules, rules func(*account) *accountRules) {
	old := a.def
	r.takeOverServices(old.services)
	for _, im := range old.services {
		if im.sub.also.service == im {
			im.sub.flags |= subDead
			e.remove(a, im.sub)
		}
	}
	for _, x := range old.exports {
		e.inherit(x, r.exports, rules)
	}
	a.def = r
}

// takeOverServices has what stands in the account for a service stand for it from now on, too, where the import is as it was: a
// request that is under way to it arrives. Mostly all are.
func (r *accountRules) takeOverServices(old []*serviceImport) {
	type key struct {
		local, subject string
		from           *account
	}
	keyOf := func(im *serviceImport) key { return key{im.local, im.subject, im.export.account} }
	takeOver := func(im, before *serviceImport) bool {
		if before == nil || keyOf(before) != keyOf(im) || before.sub.also.service != before { // or another one has taken it over
			return false
		}
		im.sub = before.sub
		im.sub.also.service = im
		return true
	}
	var known map[key]*serviceImport
	for i, im := range r.services {
		if i < len(old) && takeOver(im, old[i]) {
			continue
		}
		if known == nil {
			known = make(map[key]*serviceImport, len(old))
			for _, before := range old {
				known[keyOf(before)] = before
			}
		}
		takeOver(im, known[keyOf(im)])
	}
}

// inherit moves the requests that wait for an answer from an export to what it has become. Those that could not be made any
// more end: an answer must not cross where nothing does.
func (e *Engine) inherit(old *export, exports []*export, rules func(*account) *accountRules) {
	var heir *export
	for _, x := range exports {
		if x.Kind == old.Kind && x.Subject == old.Subject && x.waiting.head == nil {
			heir = x
			break
		}
	}
	var next *reply
	for r := old.waiting.head; r != nil; r = next {
		if next = r.next; heir == nil || !rules(r.importer).imports(heir) {
			e.mark(MarkReplyRevoked)
			e.dropReply(r)
		}
	}
	if heir == nil || old.waiting.head == nil {
		return
	}
	e.mark(MarkReplyInherited)
	heir.waiting, old.waiting = old.waiting, replyList{}
	e.timers.remove(&old.timer)
	latest := later(e.now, heir.ResponseThreshold) // none ends after those to come: the list stays in order
	for r := heir.waiting.head; r != nil; r = r.next {
		r.export, r.ends = heir, min(r.ends, latest)
	}
	e.timers.set(&heir.timer, heir.waiting.head.ends)
}

// imports reports whether the account imports the service; r may be nil, of an account that is gone.
func (r *accountRules) imports(x *export) bool {
	return r != nil && slices.ContainsFunc(r.services, func(im *serviceImport) bool { return im.export == x })
}
