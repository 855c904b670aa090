package model

import (
	"slices"
	"strings"
	"time"
)

// Rules are one configuration.
type Rules struct {
	Accounts []Account
	NoAuth   string // the user that those are who say none; empty: nobody may
}

// Nobody stands, where there is a name of a user, for a client that says none.
const Nobody = "nobody"

// Account is a subject space of its own.
type Account struct {
	Name     string
	Users    []User
	Exports  []Export
	Imports  []Import
	Mappings []Mapping
}

// Kind tells streams from services.
type Kind uint8

// The kinds of exports and imports.
const (
	Stream Kind = iota
	Service
)

// Response is how many messages answer a request to a service.
type Response uint8

// The types of responses. Of Streamed and Chunked, an empty message is the last one.
const (
	Singleton Response = iota
	Streamed
	Chunked
)

// Export is what other accounts may import.
type Export struct {
	Kind     Kind
	Subject  string
	Accounts []string // none: all
	Response Response
	// Threshold is how long an answer is waited for; 0: the default, 2 min.
	Threshold time.Duration
}

// Import makes an export of another account known in this one.
type Import struct {
	Kind    Kind
	Account string
	Subject string // there
	To      string // here, with $1 for the first wildcard and so on; empty: the same
	Prefix  string // before the subject here; only where To is empty
	Share   bool   // of a service: it is told more than the account of who asks
}

// Mapping gives messages another subject when they are published.
type Mapping struct {
	Subject      string
	Destinations []Destination
}

// Destination is where a share of a mapping's messages goes.
type Destination struct {
	Subject string // with $1 and so on
	Weight  int    // percent
}

// User is who may connect.
type User struct {
	Name, Password string
	May            *Permissions // nil: everything
}

// Permissions are what a user may do. An entry of Subscribe may have a queue behind a space: it is for members of that
// group, or of the groups that the pattern matches.
type Permissions struct {
	Publish, Subscribe Lists
	Responses          *ResponseLimit // nil: none beyond Publish
}

// Lists allow and deny. An empty allow list allows everything. Deny wins.
type Lists struct{ Allow, Deny []string }

// ResponseLimit bounds the answers to one request that was received.
type ResponseLimit struct {
	Max     int
	Expires time.Duration
}

// Account finds an account by name; nil if there is none.
func (r *Rules) Account(name string) *Account {
	for i := range r.Accounts {
		if r.Accounts[i].Name == name {
			return &r.Accounts[i]
		}
	}
	return nil
}

// User finds a user and the account that it is in; nil if there is none.
func (r *Rules) User(name string) (*User, string) {
	if name == Nobody {
		name = r.NoAuth
	}
	for i := range r.Accounts {
		for j := range r.Accounts[i].Users {
			if u := &r.Accounts[i].Users[j]; u.Name == name {
				return u, r.Accounts[i].Name
			}
		}
	}
	return nil, ""
}

// exports reports whether the account exports what im imports to the account of that name, and returns the export. Of those that
// cover it, those decide that cover none of the others, and all of them.
func (a *Account) exports(im *Import, to string) *Export {
	var covering []*Export
	for i := range a.Exports {
		if x := &a.Exports[i]; x.Kind == im.Kind && coveredBy(im.Subject, x.Subject) {
			covering = append(covering, x)
		}
	}
	var found *Export
	for _, x := range covering {
		if slices.ContainsFunc(covering, func(y *Export) bool { return y != x && coveredBy(y.Subject, x.Subject) }) {
			continue
		}
		if len(x.Accounts) > 0 && !slices.Contains(x.Accounts, to) {
			return nil
		}
		if found == nil {
			found = x
		}
	}
	return found
}

// ExportOf is the export by which an account has an import; nil if there is none.
func (r *Rules) ExportOf(account string, im *Import) *Export {
	if from := r.Account(im.Account); from != nil {
		return from.exports(im, account)
	}
	return nil
}

// local is the pattern of the imported subjects in the importing account, and how to get there: a template in which $1 is
// the first wildcard of Subject.
func (im *Import) local() (template string) {
	switch {
	case im.To != "":
		return im.To
	case im.Prefix != "":
		return im.Prefix + "." + Numbered(im.Subject)
	}
	return Numbered(im.Subject)
}

// Here is the pattern of the imported subjects in the importing account.
func (im *Import) Here() string {
	tokens := strings.Split(im.local(), ".")
	for i, t := range tokens {
		if _, ok := place(t); ok {
			tokens[i] = "*"
		}
	}
	return strings.Join(tokens, ".")
}

// Clone returns a copy that can be changed without changing r, but for the insides of permissions, which are to be replaced.
func (r *Rules) Clone() *Rules {
	c := &Rules{Accounts: slices.Clone(r.Accounts), NoAuth: r.NoAuth}
	for i := range c.Accounts {
		a := &c.Accounts[i]
		a.Users, a.Exports, a.Imports, a.Mappings = slices.Clone(a.Users), slices.Clone(a.Exports), slices.Clone(a.Imports), slices.Clone(a.Mappings)
	}
	return c
}
