package engine

import (
	"fmt"
	"slices"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/mapping"
	"github.com/natsd/natsd/permission"
	"github.com/natsd/natsd/subject"
)

// Explained says what a user may do with a subject and where what is published there goes, and by which rules.
type Explained struct {
	User    string `json:"user,omitempty"`
	Account string `json:"account"`
	Subject string `json:"subject"`
	Queue   string `json:"queue,omitempty"`
	// Types are the kinds of connections that the user may have; none: any.
	Types []string `json:"connection_types,omitempty"`

	// Publish is nil of a subject with wildcards, which none may publish on. With a mapping it is about the messages whose
	// subject stays.
	Publish   *permission.Explanation `json:"publish,omitempty"`
	Subscribe permission.Explanation  `json:"subscribe"`
	// Responses is set if what Publish refuses may be published as the answer to a request.
	Responses *permission.ResponseLimit `json:"responses,omitempty"`

	Mapping *ExplainedMapping `json:"mapping,omitempty"`
	// Goes is how what is published crosses to other accounts, Comes how what others publish gets here.
	Goes  []Crossing `json:"goes,omitempty"`
	Comes []Crossing `json:"comes,omitempty"`

	by *importDraft // that has been followed last, while this is found out: it is not followed again at once
}

// ExplainedMapping is the mapping of the account that a subject falls under, and what it makes of it.
type ExplainedMapping struct {
	Source string          `json:"source"`
	At     config.Pos      `json:"-"`
	To     []MappedSubject `json:"to"`
	Kept   int             `json:"kept,omitempty"` // percent of the messages whose subject stays
	Lost   int             `json:"lost,omitempty"` // percent that are dropped
}

// MappedSubject is one outcome of a mapping.
type MappedSubject struct {
	Template string                 `json:"template"`
	Subject  string                 `json:"subject"` // of one message; where chance has a part in it, others may get another
	Weight   int                    `json:"weight"`  // percent
	Cluster  string                 `json:"cluster,omitempty"`
	Publish  permission.Explanation `json:"publish"` // of Subject
}

// Crossing is one step from an account to another, by an export of one and an import of the other.
type Crossing struct {
	Kind      string     `json:"kind"` // stream or service
	From      string     `json:"from"` // the account in which it is published
	Subject   string     `json:"subject"`
	To        string     `json:"to"` // and that in which it is received
	ToSubject string     `json:"to_subject"`
	Export    string     `json:"export"`
	Import    string     `json:"import"`
	Exported  config.Pos `json:"-"`
	Imported  config.Pos `json:"-"`
	Depth     int        `json:"depth"` // steps before it
	// Mapping is what the account that it comes into makes of ToSubject; with Comes, of what comes there as ToSubject then.
	Mapping *ExplainedMapping `json:"mapping,omitempty"`
}

// Explain answers for a user of options that were checked: one that exists by name or public key, or anybody where no
// credentials are asked for. queue may be empty. The error says that there is no such user, or that subj is no subject.
func Explain(o *Options, name, subj, queue string) (*Explained, error) {
	if !subject.ValidPattern(subj) {
		return nil, fmt.Errorf("%q is not a subject", subj)
	}
	u, err := explainedUser(o, name)
	if err != nil {
		return nil, err
	}
	return explainAs(o, u, name, subj, queue), nil
}

// explainIn is Explain for a user without permissions of his own, in an account.
func explainIn(o *Options, account, subj, queue string) (*Explained, error) {
	if !subject.ValidPattern(subj) {
		return nil, fmt.Errorf("%q is not a subject", subj)
	}
	if _, there := draftRules(o.Accounts, o.SystemAccount).byName[account]; !there {
		return nil, fmt.Errorf("there is no account %q", account)
	}
	return explainAs(o, o.plainUser("", account), "", subj, queue), nil
}

// listReserved stands for a list where what decides is whose the subject is.
const listReserved = "reserved"

func explainAs(o *Options, u userDraft, name, subj, queue string) *Explained {
	x := &Explained{User: name, Account: u.in, Subject: subj, Queue: queue, Types: u.types}
	literal := subject.ValidLiteral(subj)
	x.Subscribe.Allowed = true
	if literal {
		x.Publish = &permission.Explanation{Allowed: true}
	}
	if u.perms != nil {
		x.Subscribe = u.perms.ExplainSubscribe([]byte(subj), []byte(queue))
		if literal {
			*x.Publish = u.perms.ExplainPublish([]byte(subj))
			if limit, ok := u.perms.Responses(); ok && !x.Publish.Allowed && !u.withholds([]byte(subj)) {
				x.Responses = &limit
			}
		}
	}
	if rule := reserved([]byte(subj), u.in == systemName(o.SystemAccount)); rule != "" && literal {
		*x.Publish, x.Responses = permission.Explanation{List: listReserved, Rule: rule + ">"}, nil
	}
	s := draftRules(o.Accounts, o.SystemAccount)
	at := s.byName[u.in]
	if literal {
		x.goes(s, at, u.perms)
	}
	s.comesTo(x, at, subj, published, 0)
	return x
}

// explainedUser finds the user among those of o.
func explainedUser(o *Options, name string) (userDraft, error) {
	list, _ := draftUsers(o)
	if o.User != "" && o.Token == "" {
		list = append(list, o.plainUser(o.User, globalAccount))
	}
	if len(list) == 0 {
		return o.plainUser("", globalAccount), nil // nobody is told apart
	}
	if i := slices.IndexFunc(list, func(u userDraft) bool { return u.name == name }); i >= 0 {
		return list[i], nil
	}
	return userDraft{}, fmt.Errorf("there is no user %q", name)
}

// goes explains where a message on x.Subject goes. Permissions judge what mappings make of it.
func (x *Explained) goes(s *ruleSet, at int, may *permission.Set) {
	x.Mapping = s.accounts[at].explainMapping(x.Subject)
	if x.Mapping == nil || x.Mapping.Kept > 0 {
		if x.Publish.Allowed || x.Responses != nil {
			s.goesFrom(x, at, x.Subject, published, 0)
		}
	}
	if x.Mapping == nil {
		return
	}
	for i := range x.Mapping.To {
		m := &x.Mapping.To[i]
		if m.Publish.Allowed = true; may != nil {
			m.Publish = may.ExplainPublish([]byte(m.Subject))
		}
		if m.Publish.Allowed {
			s.goesFrom(x, at, m.Subject, published, 0)
		}
	}
}

// explainMapping finds the mapping that subj falls under; nil if there is none.
func (d *draft) explainMapping(subj string) *ExplainedMapping {
	if d.mappings == nil {
		return nil
	}
	w := d.mappings.Match([]byte(subj))
	if w == nil {
		return nil
	}
	// Of several for one source the last one counts, as for the table.
	i := len(d.Mappings) - 1
	for ; d.Mappings[i].Subject != w.Source(); i-- {
	}
	m := &ExplainedMapping{Source: w.Source(), At: d.Mappings[i].Pos}
	sum := 0
	for _, to := range d.Mappings[i].Destinations {
		t, err := mapping.Compile(w.Source(), to.Subject)
		if err != nil || to.Weight == 0 {
			continue
		}
		got, _ := t.Apply(nil, []byte(subj), 0)
		m.To = append(m.To, MappedSubject{Template: to.Subject, Subject: string(got), Weight: to.Weight, Cluster: to.Cluster})
		if to.Cluster == "" {
			sum += to.Weight
		}
	}
	if rest := 100 - sum; rest > 0 {
		if _, outcome := w.Apply(nil, []byte(subj), 99); outcome == mapping.Lost {
			m.Lost = rest
		} else if outcome == mapping.Kept {
			m.Kept = rest
		}
	}
	return m
}

// published is the kind of what was published in the account that it is in: both kinds of imports may take it to others. What has
// come by an import goes on by those of the same kind only.
const published = config.ExportKind(255)

// goesFrom adds the crossings of a message on subj in an account, which has come by a kind of import, and those that follow from
// them.
func (s *ruleSet) goesFrom(x *Explained, at int, subj string, came config.ExportKind, depth int) {
	for i := range s.accounts[at].services {
		im := &s.accounts[at].services[i]
		if came == config.Stream || depth == hopsMax || len(x.Goes) >= crossingsMax || im == x.by || !subject.Match(subj, im.local) {
			continue
		}
		before := x.by
		x.by = im
		there := changed(im.there, subj)
		x.Goes = s.crossing(x.Goes, at, im, subj, there, depth)
		into := s.byName[im.Account]
		m := s.accounts[into].explainMapping(there)
		x.Goes[len(x.Goes)-1].Mapping = m
		if m == nil || m.Kept > 0 {
			s.goesFrom(x, into, there, config.Service, depth+1)
		}
		for k := 0; m != nil && k < len(m.To); k++ {
			m.To[k].Publish.Allowed = true
			s.goesFrom(x, into, m.To[k].Subject, config.Service, depth+1)
		}
		x.by = before
	}
	for to := range s.accounts {
		for i := range s.accounts[to].streams {
			im := &s.accounts[to].streams[i]
			if came == config.Service || depth == hopsMax || len(x.Goes) >= crossingsMax || im == x.by || s.byName[im.Account] != at || !subject.Match(subj, im.Subject) {
				continue
			}
			before := x.by
			x.by = im
			here := changed(im.here, subj)
			x.Goes = s.crossing(x.Goes, to, im, subj, here, depth)
			s.goesFrom(x, to, here, config.Stream, depth+1)
			x.by = before
		}
	}
}

// comesTo adds how what others publish reaches subj in an account, and goes on from there by a kind of import.
func (s *ruleSet) comesTo(x *Explained, at int, subj string, goes config.ExportKind, depth int) {
	for i := range s.accounts[at].streams {
		im := &s.accounts[at].streams[i]
		both, ok := subject.Intersect(subj, im.local)
		if !ok || goes == config.Service || im == x.by || depth == hopsMax || len(x.Comes) >= crossingsMax {
			continue
		}
		before := x.by
		x.by = im
		there := changed(im.there, both)
		x.Comes = s.crossing(x.Comes, at, im, there, both, depth)
		s.comesTo(x, s.byName[im.Account], there, config.Stream, depth+1)
		x.by = before
	}
	if goes == config.Stream {
		return // it was published there
	}
	for _, b := range s.accounts[at].before(subj) {
		s.requestsTo(x, at, b, depth)
	}
}

// requestsTo adds how requests reach what mappings, if any, make something of in an account.
func (s *ruleSet) requestsTo(x *Explained, at int, b beforeMapping, depth int) {
	for from := range s.accounts {
		for i := range s.accounts[from].services {
			im := &s.accounts[from].services[i]
			both, ok := subject.Intersect(b.subject, im.Subject)
			if !ok || im == x.by || s.byName[im.Account] != at || depth == hopsMax || len(x.Comes) >= crossingsMax {
				continue
			}
			before := x.by
			x.by = im
			here := changed(im.here, both)
			x.Comes = s.crossing(x.Comes, from, im, here, changed(b.becomes, both), depth)
			if subject.ValidLiteral(both) {
				m := s.accounts[at].explainMapping(both)
				for k := 0; m != nil && k < len(m.To); k++ {
					m.To[k].Publish.Allowed = true
				}
				x.Comes[len(x.Comes)-1].Mapping = m
			}
			s.comesTo(x, from, here, config.Service, depth+1)
			x.by = before
		}
	}
}

// beforeMapping is a subject, or pattern, of which mappings make another; becomes is nil if it stays as it is.
type beforeMapping struct {
	subject string
	becomes *mapping.Transform
}

// before finds what reaches subj, a subject or pattern, from other accounts: as it is, or by a mapping that can be undone.
func (d *draft) before(subj string) (all []beforeMapping) {
	m := d.explainMapping(subj)
	if m == nil || m.Kept > 0 || slices.ContainsFunc(m.To, func(to MappedSubject) bool { return to.Subject == subj }) {
		all = append(all, beforeMapping{subject: subj})
	}
	for i := range d.Mappings {
		for _, to := range d.Mappings[i].Destinations {
			here, err := mapping.CompileImport(d.Mappings[i].Subject, to.Subject)
			if err != nil || to.Weight == 0 || to.Subject == d.Mappings[i].Subject {
				continue
			}
			both, ok := subject.Intersect(subj, here.Pattern())
			back, err := here.Reverse()
			if !ok || err != nil {
				continue
			}
			b := changed(back, both)
			if m := d.explainMapping(b); m == nil && subject.ValidLiteral(b) || m != nil && m.Source != d.Mappings[i].Subject {
				continue // another mapping comes first
			}
			all = append(all, beforeMapping{subject: b, becomes: here})
		}
	}
	return all
}

// crossingsMax bounds what Explain lists each way.
const crossingsMax = 1000

// crossing appends the step by an import of an account; published is what it takes, received what it gives.
func (s *ruleSet) crossing(list []Crossing, importer int, im *importDraft, published, received string, depth int) []Crossing {
	e := &s.accounts[s.byName[im.Account]].Exports[im.export]
	c := Crossing{
		Kind: "stream", From: im.Account, Subject: published, To: s.accounts[importer].Name, ToSubject: received,
		Export: e.Subject, Exported: e.Pos, Import: im.Subject, Imported: im.Pos, Depth: depth,
	}
	if im.Kind == config.Service {
		c.Kind, c.From, c.To = "service", c.To, c.From
	}
	return append(list, c)
}

// changed is what t makes of a subject or pattern that it matches; a nil t leaves it.
func changed(t *mapping.Transform, subj string) string {
	if t == nil {
		return subj
	}
	b, ok := t.Apply(nil, []byte(subj), 0)
	if !ok {
		return subj
	}
	return string(b)
}
