package sim

import (
	"slices"
	"strconv"
	"strings"
	"time"

	accounts "github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/model"
	"github.com/natsd/natsd/sim/schedule"
	"github.com/natsd/natsd/wire"
)

// Some runs have several accounts, with exports, imports, mappings and users with permissions, and more than one
// configuration of them, between which the operator changes. Each is drawn once, as data, and rendered twice: for the
// engine, and for the model that the engine is held against.

// tenants are the configurations of a run; the first is that which it begins and ends with.
type tenants struct {
	versions  []*model.Rules
	rendered  []rendering
	users     []string               // of the first
	open      []bool                 // which of them may do everything
	served    [][]string             // by user: patterns of the services of its account
	asked     [][]string             // and subjects of those that it imports
	heard     [][]string             // patterns of the streams that it imports
	told      [][]string             // subjects of those that it exports
	limits    []*model.ResponseLimit // of its answers; nil: it needs none
	shared    [][]string             // and subjects of those that others import from it, where imports come and go
	services  bool                   // some account imports one
	answerers bool                   // each account has a user who may only answer
	overheard bool                   // many hear the answers that others get
	upheaval  upheaval               // that the last of the versions is
	dice      []share                // none: no account has dice

	words map[string][]wire.Err // what a user may be told of a publish, remembered
}

// A tenant draws what concerns one account, or one change. Purposes of its decisions lie from cfgTenant on: tenantStep for
// each.
const (
	cfgTenant  = 1000
	tenantStep = 1000
)

type tenantDraw struct {
	draw
	base uint32
	next uint32
}

func (d *tenantDraw) below(n int) int {
	d.next++
	return int(d.source.Below(d.key(d.base+d.next), uint64(n)))
}

// at begins a part of the decisions: those before it may become more or fewer without changing it.
func (d *tenantDraw) at(part uint32) { d.next = part * 50 }

var tenantNames = [...]string{"$G", "east", "west", "mill"}

// Patterns of exports, imports and permissions; those of services are narrow: a service of everything answers everything.
var (
	streamPatterns  = [...]string{"a.>", "a", "*.*", "b", "*.b", "*", "b.*", ">", "crowd"}
	servicePatterns = [...]string{"a", "b", "a.*", "*.b", "c", "*.*"}
	rulePatterns    = [...]string{"a", "a.*", ">", "*.b", "a.b", "b.>", "*", "c", "z.>", "_INBOX.>", "im.>", "*.*", "b"}
	groupPatterns   = [...]string{"q1", "*", "crew", "q2", ">"}
)

// tenancy draws whether there are accounts, and which.
func (d draw) tenancy(c *config) {
	if d.of(cfgTenants, 0, 1) != 1 || d.source.Below(d.key(cfgTenantsRare), 3) > 1 {
		return
	}
	garbage := c.kinds[kindGarbage]
	d.settle(c, 3)
	d.nameless(c)
	d.littered(c, garbage)
}

// settle draws accounts, and at most so many configurations of them.
func (d draw) settle(c *config, versions uint64) {
	t := &tenants{}
	first := &model.Rules{}
	for i := range 2 + int(d.source.Below(d.key(cfgTenantCount), 3)) {
		first.Accounts = append(first.Accounts, model.Account{Name: tenantNames[i]})
	}
	for i := range first.Accounts {
		td := &tenantDraw{draw: d, base: cfgTenant + uint32(i)*tenantStep}
		td.exports(first, i)
		td.at(4)
		td.mappings(&first.Accounts[i])
		td.users(first, i)
	}
	backwards := d.source.Below(d.key(cfgTenantBackwards), 2) == 1
	for i := range first.Accounts {
		td := &tenantDraw{draw: d, base: cfgTenant + uint32(i)*tenantStep}
		td.imports(first, i, backwards)
	}
	if d.of(cfgDiamond, 0, 0, 1) == 1 {
		diamond(first)
	}
	if !backwards && d.of(cfgBetween, 0, 0, 1) == 1 { // the first would import services of the second otherwise: a cycle
		t.overheard = versions > 1 && d.of(cfgOverheard, 0, 0, 1) == 1
		between(first, t.overheard)
	}
	t.versions = append(t.versions, first)
	for v := range int(d.source.Below(d.key(cfgTenantVersions), versions)) {
		td := &tenantDraw{draw: d, base: cfgTenant + uint32(8+v)*tenantStep}
		t.versions = append(t.versions, td.changed(first))
	}
	if versions > 1 {
		d.upheave(t, c)
	}
	if t.overheard = t.overheard && t.upheaval == noUpheaval; t.overheard { // which has its own
		d.overhear(c)
	}
	d.answerers(t)
	d.dice(t, c)
	t.finish(c)
	c.tenants = t
	c.auth = authUsers
	c.engine.User, c.engine.Pass, c.engine.Token, c.engine.Users, c.engine.NoAuthUser = "", "", "", nil, accounts.Located{}
	c.engine.Operators = nil
	c.kinds[kindGarbage] = 0
	c.clients = max(c.clients, 8)
}

func (d *tenantDraw) exports(r *model.Rules, i int) {
	a := &r.Accounts[i]
	for k := range 1 + d.below(3) {
		d.at(1 + uint32(k))
		x := model.Export{Kind: model.Stream, Subject: streamPatterns[d.below(len(streamPatterns))]}
		if d.below(2) == 1 {
			x.Kind, x.Subject = model.Service, servicePatterns[d.below(len(servicePatterns))]
			x.Response = [...]model.Response{model.Singleton, model.Singleton, model.Streamed, model.Chunked}[d.below(4)]
			x.Threshold = [...]time.Duration{0, 0, 2 * time.Second, 300 * time.Millisecond}[d.below(4)]
		}
		if d.below(4) == 3 { // for one account only
			x.Accounts = []string{r.Accounts[d.below(len(r.Accounts))].Name}
		}
		if !exported(a, x) {
			a.Exports = append(a.Exports, x)
		}
	}
}

// exported reports whether the account exports the subject already: of two exports of one subject, nobody says which counts.
func exported(a *model.Account, x model.Export) bool {
	for _, y := range a.Exports {
		if y.Kind == x.Kind && y.Subject == x.Subject {
			return true
		}
	}
	return false
}

// imports makes an account import from those before it, so that there are no cycles; services perhaps from those behind it.
func (d *tenantDraw) imports(r *model.Rules, i int, backwards bool) {
	a := &r.Accounts[i]
	for j := range r.Accounts {
		for k, x := range r.Accounts[j].Exports {
			d.at(5 + uint32(j)*3 + uint32(k))
			before := j < i
			if x.Kind == model.Service && backwards {
				before = j > i
			}
			if !before || d.below(4) == 3 {
				continue
			}
			im := model.Import{Kind: x.Kind, Account: r.Accounts[j].Name, Subject: x.Subject}
			if im.Subject == ">" {
				im.Subject = streamPatterns[d.below(len(streamPatterns))]
			}
			switch d.below(3) {
			case 1:
				if x.Kind == model.Stream {
					im.Prefix = "im"
				} else {
					im.To = "im." + model.Numbered(im.Subject)
				}
			case 2:
				im.To = "z." + model.Numbered(im.Subject)
				if im.Subject == "*.*" {
					im.To = "$2.$1"
				}
			}
			im.Share = d.below(2) == 1 && im.Kind == model.Service
			if r.ExportOf(a.Name, &im) != nil && !imported(a, &im) {
				a.Imports = append(a.Imports, im)
			}
		}
	}
}

// imported reports whether the account imports something of the same name here. Services of several accounts may have one.
func imported(a *model.Account, im *model.Import) bool {
	for i := range a.Imports {
		if o := &a.Imports[i]; o.Kind == im.Kind && (im.Kind == model.Stream || o.Account == im.Account) && model.Meet(o.Here(), im.Here()) {
			return true
		}
	}
	return false
}

// diamondSubjects are what a diamond is about, relayedSubjects one of services.
const (
	diamondSubjects = "d.d.*"
	relayedSubjects = "r.r.*"
)

// diamond has the third account import from the first what it imports by the second, too: it gets that twice. Its requests go to
// services of both, and from the second to the first.
func diamond(r *model.Rules) {
	for _, x := range [...]model.Export{{Kind: model.Stream, Subject: diamondSubjects}, {Kind: model.Service, Subject: relayedSubjects}} {
		if len(r.Accounts) < 3 || exported(&r.Accounts[0], x) || exported(&r.Accounts[1], x) {
			continue
		}
		for i := range 2 {
			r.Accounts[i].Exports = append(r.Accounts[i].Exports, x)
			for j := i + 1; j < 3; j++ {
				im := model.Import{Kind: x.Kind, Account: r.Accounts[i].Name, Subject: x.Subject}
				r.Accounts[j].Imports = append(r.Accounts[j].Imports, im)
			}
		}
	}
}

func (d *tenantDraw) mappings(a *model.Account) {
	to := func(subj string, weight int) model.Destination {
		return model.Destination{Subject: subj, Weight: weight}
	}
	switch d.below(6) {
	case 1:
		a.Mappings = []model.Mapping{{Subject: "a", Destinations: []model.Destination{to("b", 100)}}}
	case 2:
		a.Mappings = []model.Mapping{{Subject: "*.b", Destinations: []model.Destination{to("z.$1", 50), to("$1.c", 50)}}}
	case 3: // what is left is lost
		a.Mappings = []model.Mapping{{Subject: "a", Destinations: []model.Destination{to("b", 50), to("a", 0)}}}
	case 4: // what is left stays
		a.Mappings = []model.Mapping{{Subject: "*.*", Destinations: []model.Destination{to("$2.$1", 40)}}}
	}
}

func (d *tenantDraw) users(r *model.Rules, i int) {
	a := &r.Accounts[i]
	for k := range 3 {
		u := model.User{Name: "user-" + strconv.Itoa(i) + strconv.Itoa(k), Password: "secret-" + strconv.Itoa(i) + strconv.Itoa(k)}
		if k > 0 {
			d.at(16 + uint32(k))
			u.May = d.permissions()
		}
		a.Users = append(a.Users, u)
	}
}

func (d *tenantDraw) permissions() *model.Permissions {
	p := &model.Permissions{
		Publish:   model.Lists{Allow: d.rules(false), Deny: d.rules(false)},
		Subscribe: model.Lists{Allow: d.rules(true), Deny: d.rules(true)},
	}
	if len(p.Subscribe.Allow) > 0 && d.below(4) > 0 {
		p.Subscribe.Allow = append(p.Subscribe.Allow, "_INBOX.>")
	}
	if len(p.Publish.Allow) > 0 && d.below(3) > 0 {
		p.Publish.Allow = append(p.Publish.Allow, "_INBOX.>", "_R_.>")
	}
	if d.below(3) == 2 {
		p.Responses = &model.ResponseLimit{Max: 1 + d.below(2), Expires: [...]time.Duration{time.Second, 300 * time.Millisecond}[d.below(2)]}
	}
	return p
}

// rules draws one list.
func (d *tenantDraw) rules(queues bool) (list []string) {
	for range [...]int{0, 1, 0, 2, 3}[d.below(5)] {
		rule := rulePatterns[d.below(len(rulePatterns))]
		if queues && d.below(3) == 2 {
			rule += " " + groupPatterns[d.below(len(groupPatterns))]
		}
		list = append(list, rule)
	}
	return list
}

// changed draws another configuration: the first with a few changes.
func (d *tenantDraw) changed(first *model.Rules) *model.Rules {
	r := first.Clone()
	for k := range 1 + d.below(4) {
		d.at(1 + uint32(k))
		a := &r.Accounts[d.below(len(r.Accounts))]
		switch d.below(9) {
		case 0:
			a.Exports = without(a.Exports, d.below(3))
		case 7: // what somebody may be asking at that moment
			if im, _ := requested(r, d.below(3)); im != nil {
				a = r.Account(im.Account)
				a.Exports = without(a.Exports, slices.IndexFunc(a.Exports, func(x model.Export) bool { return x.Subject == im.Subject }))
			}
		case 8:
			gone(r, d.below(len(r.Accounts)))
		case 1:
			a.Imports = without(a.Imports, d.below(3))
		case 2:
			a.Users = without(a.Users, 1+d.below(2))
		case 3:
			if n := d.below(3); n < len(a.Users) {
				a.Users[n].May = d.permissions()
			}
		case 4:
			if n := d.below(3); n < len(a.Users) {
				u := a.Users[n]
				to := &r.Accounts[d.below(len(r.Accounts))]
				a.Users = without(a.Users, n)
				to.Users = append(to.Users, u)
			}
		case 5:
			a.Mappings = nil
			d.mappings(a)
		case 6:
			if n := d.below(3); n < len(a.Exports) {
				a.Exports[n].Accounts = []string{r.Accounts[d.below(len(r.Accounts))].Name}
			}
		}
	}
	d.at(6)
	for n := range 3 {
		if im, by := requested(r, n); im != nil && d.below(2) == 1 {
			if x := r.ExportOf(by, im); x != nil {
				x.Threshold = [...]time.Duration{0, time.Second, 3 * time.Second, 300 * time.Millisecond}[d.below(4)]
			}
		}
	}
	if !slices.ContainsFunc(r.Accounts, func(a model.Account) bool { return len(a.Users) > 0 }) { // everybody would be let in
		r.Accounts[0].Users = slices.Clone(first.Accounts[0].Users)
	}
	for i := range r.Accounts { // what nobody exports any more is not imported
		a := &r.Accounts[i]
		for j := len(a.Imports) - 1; j >= 0; j-- {
			if r.ExportOf(a.Name, &a.Imports[j]) == nil {
				a.Imports = without(a.Imports, j)
			}
		}
	}
	return r
}

// requested is the nth import of a service, and whose it is; nil: there is none.
func requested(r *model.Rules, nth int) (im *model.Import, by string) {
	for i := range r.Accounts {
		for j := range r.Accounts[i].Imports {
			if im := &r.Accounts[i].Imports[j]; im.Kind == model.Service {
				if nth == 0 {
					return im, r.Accounts[i].Name
				}
				nth--
			}
		}
	}
	return nil, ""
}

// gone takes an account out of a configuration, or as much of it as can be: what is exported to it alone goes to the first.
func gone(r *model.Rules, which int) {
	name := r.Accounts[which].Name
	r.Accounts[which] = model.Account{Name: name}
	for i := range r.Accounts {
		for j := range r.Accounts[i].Exports {
			if x := &r.Accounts[i].Exports[j]; slices.Contains(x.Accounts, name) {
				x.Accounts = []string{r.Accounts[0].Name}
			}
		}
	}
}

func without[T any](list []T, i int) []T {
	if i < 0 || i >= len(list) {
		return list
	}
	return append(list[:i:i], list[i+1:]...)
}

// finish renders the configurations, and lets clients know the names that imports have.
func (t *tenants) finish(c *config) {
	for i := range t.versions[0].Accounts {
		a := &t.versions[0].Accounts[i]
		var served, asked, heard, told []string
		for _, x := range a.Exports {
			if x.Kind == model.Service {
				served = append(served, x.Subject)
			} else {
				told = append(told, sampleOf(x.Subject))
			}
		}
		for j := range a.Imports {
			if a.Imports[j].Kind == model.Service {
				asked = append(asked, sampleOf(a.Imports[j].Here()))
			} else {
				heard = append(heard, a.Imports[j].Here())
			}
		}
		for j := range a.Users {
			t.users, t.open = append(t.users, a.Users[j].Name), append(t.open, a.Users[j].May == nil)
			t.served, t.asked = append(t.served, served), append(t.asked, asked)
			t.heard, t.told = append(t.heard, heard), append(t.told, told)
			t.limits = append(t.limits, a.Users[j].Responses())
		}
		for j := range a.Imports {
			t.services = t.services || a.Imports[j].Kind == model.Service
			if subj := sampleOf(a.Imports[j].Here()); !strings.HasPrefix(subj, "crowd") && len(c.subjects) < 200 {
				c.subjects = append(c.subjects, subj)
			}
		}
	}
	t.share(c)
	if t.services { // requests that reloads find under way are rare otherwise
		c.kinds[kindRequester] += 6
		c.kinds[kindResponder] += 6
	}
	for _, r := range t.versions {
		t.rendered = append(t.rendered, render(r))
	}
}

// sampleOf is a subject that matches a pattern.
func sampleOf(pattern string) string {
	tokens := strings.Split(pattern, ".")
	for i, x := range tokens {
		if x == "*" || x == ">" {
			tokens[i] = tokenTable[i%2]
		}
	}
	return strings.Join(tokens, ".")
}

// options are those of a server that is configured by the nth version.
func (c *config) options(version int) engine.Options {
	o := c.engine
	if c.tenants != nil {
		own := c.tenants.rendered[version]
		o.Accounts = append(own[:len(own):len(own)], o.Accounts...) // behind them the system account, if there is a listener
		allowNobody(&o, c.tenants.versions[version])
	}
	if c.terms != nil {
		c.terms[version].bring(&o, c.auth)
	}
	return o
}

// patience is how long the server may wait for an answer that does not come.
func (c *config) patience() (most schedule.Time) {
	if c.tenants == nil {
		return 0
	}
	for _, r := range c.tenants.versions {
		for i := range r.Accounts {
			for _, x := range r.Accounts[i].Exports {
				if wait := schedule.Time(x.Threshold); x.Kind == model.Service {
					if wait == 0 {
						wait = 2 * 60 * second
					}
					most = max(most, wait+wait/8)
				}
			}
		}
	}
	return most
}
