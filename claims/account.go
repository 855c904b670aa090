package claims

import (
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/jwt/v2"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/permission"
)

// Account is what an account JWT says. It never changes and may be shared.
type Account struct {
	Span
	// Rules are its exports, imports, mappings and limits. Name and NKey are its public key.
	Rules  config.Account
	Label  string   // its name for people
	Tags   []string // "key:value", lower case
	Issuer string   // public key of the operator, or of the operator's signing key, that signed it

	Signers  map[string]*Powers // signing keys; nil: one without a scope. The account's own key is not among them
	Revoked  map[string]int64   // user keys, or "*": JWTs issued up to that moment (s) don't count
	NoBearer bool               // users must prove their key
	Defaults *permission.Spec   // of users whose JWT says nothing about permissions; nil: none
	Callout  *Callout           // nil: users are who their JWT says

	// Tokens are the activation tokens of the imports, by their place in Rules.Imports; nil where there is none.
	Tokens []*Activation
	// ExportRevoked says by place in Rules.Exports which importing accounts' tokens don't count: as Revoked.
	ExportRevoked []map[string]int64

	Text string // the JWT
}

// Span is when a JWT counts, in seconds since the Unix epoch; 0 is no bound.
type Span struct{ IssuedAt, NotBefore, Expires int64 }

// Callout says that a service decides who the account's users are.
type Callout struct {
	Users    []string // public keys of users that are let in by their JWT: the service itself
	Accounts []string // that users may be placed in besides the account itself; "*": any
	XKey     string   // requests are encrypted to it; empty: not
}

// Activation is a token by which an account lets another one import.
type Activation struct {
	Span
	Issuer  string // the exporting account or one of its signing keys
	Account string // the exporting account where a signing key signed; else empty
	Subject string // what may be imported
	Kind    config.ExportKind
}

// IsAccount says why a text is no account JWT, signed by its issuer; nil: it is one. What DecodeAccount refuses besides is known
// only then.
func IsAccount(text string) error {
	_, err := jwt.DecodeAccountClaims(text)
	return err
}

// DecodeAccount reads an account JWT and verifies that its issuer signed it.
func DecodeAccount(text string) (*Account, error) {
	c, err := jwt.DecodeAccountClaims(text)
	if err != nil {
		return nil, err
	}
	if err := check(func(vr *jwt.ValidationResults) { c.Account.Validate(c, vr) }); err != nil {
		return nil, &Invalid{c.Subject, err}
	}
	a, err := account(c, text)
	if err != nil {
		return nil, &Invalid{c.Subject, err}
	}
	return a, nil
}

// account is what a JWT says that is one by its form.
func account(c *jwt.AccountClaims, text string) (a *Account, err error) {
	a = &Account{
		Span: span(&c.ClaimsData), Label: c.Name, Tags: c.Tags, Issuer: c.Issuer, Text: text,
		Revoked: c.Revocations, NoBearer: c.Limits.DisallowBearer, Defaults: spec(&c.DefaultPermissions),
		Signers: make(map[string]*Powers, len(c.SigningKeys)),
	}
	a.Rules = config.Account{Name: c.Subject, NKey: c.Subject}
	a.Rules.Limits = config.Limits{
		MaxConnections: bound(c.Limits.Conn), MaxSubscriptions: bound(c.Limits.Subs),
		MaxPayload: bound(c.Limits.Payload), MaxLeafNodes: bound(c.Limits.LeafNodeConn),
	}
	for _, key := range slices.Sorted(maps.Keys(c.SigningKeys)) {
		a.Signers[key] = nil
		if scope, ok := c.SigningKeys[key].(*jwt.UserScope); ok && scope != nil {
			if a.Signers[key], err = powers(&scope.Template); err != nil {
				return nil, err
			}
		}
	}
	if x := &c.Authorization; x.IsEnabled() {
		a.Callout = &Callout{Users: x.AuthUsers, Accounts: x.AllowedAccounts, XKey: x.XKey}
	}
	if t := c.Trace; t != nil && t.Destination != "" {
		a.Rules.MsgTrace = &config.MsgTrace{Dest: string(t.Destination), Sampling: t.Sampling}
	}
	a.exports(c)
	a.mappings(c)
	return a, a.imports(c)
}

// Invalid is the error about an account's JWT that is one, and says what can't be.
type Invalid struct {
	Account string // public key
	Err     error  // Issues, or of one thing
}

func (i *Invalid) Error() string { return i.Err.Error() }

func (i *Invalid) Unwrap() error { return i.Err }

// Issues are what prevents the use of a claim.
type Issues []string

func (i Issues) Error() string { return strings.Join(i, "; ") }

// check runs a validation that does not look at the time, and makes one error of what prevents the use of a claim. Some
// validations walk over maps: the sentences are sorted.
func check(validate func(*jwt.ValidationResults)) error {
	vr := jwt.CreateValidationResults()
	validate(vr)
	var all Issues
	for _, i := range vr.Issues {
		if i.Blocking {
			all = append(all, i.Description)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return all
}

func span(c *jwt.ClaimsData) Span {
	return Span{IssuedAt: c.IssuedAt, NotBefore: c.NotBefore, Expires: c.Expires}
}

// bound is a limit as JWTs have it: only -1 says that there is none. Other negative numbers are a mistake, and allow nothing.
func bound(n int64) config.Limit {
	if n < jwt.NoLimit {
		n = 0
	}
	return config.Limit{Set: true, N: n}
}

func (a *Account) exports(c *jwt.AccountClaims) {
	for _, x := range c.Exports {
		e := config.Export{
			Kind: kind(x.Type), Subject: string(x.Subject), Public: !x.TokenReq, TokenPosition: int(x.AccountTokenPosition),
			ResponseThreshold: x.ResponseThreshold, AllowTrace: x.AllowTrace,
		}
		switch x.ResponseType {
		case jwt.ResponseTypeStream:
			e.ResponseType = config.Streamed
		case jwt.ResponseTypeChunked:
			e.ResponseType = config.Chunked
		}
		if l := x.Latency; l != nil {
			e.Latency = &config.Latency{Sampling: int(l.Sampling), Subject: string(l.Results)}
		}
		a.Rules.Exports = append(a.Rules.Exports, e)
		a.ExportRevoked = append(a.ExportRevoked, x.Revocations)
	}
}

// imports reads what the account imports. The older field "to" is a prefix for streams; for services it is the subject there,
// and "subject" the one here.
func (a *Account) imports(c *jwt.AccountClaims) error {
	for _, x := range c.Imports {
		i := config.Import{
			Kind: kind(x.Type), Account: x.Account, Subject: string(x.Subject), To: string(x.LocalSubject),
			Share: x.Share, AllowTrace: x.AllowTrace,
		}
		if to := x.GetTo(); to != "" && x.LocalSubject == "" {
			if i.Kind == config.Service {
				i.Subject, i.To = to, i.Subject
			} else {
				i.Prefix = to
			}
		}
		var token *Activation
		if x.Token != "" {
			t, err := jwt.DecodeActivationClaims(x.Token)
			if err != nil {
				return err
			}
			token = &Activation{
				Span: span(&t.ClaimsData), Issuer: t.Issuer, Account: t.IssuerAccount,
				Subject: string(t.ImportSubject), Kind: kind(t.ImportType),
			}
		}
		a.Rules.Imports = append(a.Rules.Imports, i)
		a.Tokens = append(a.Tokens, token)
	}
	return nil
}

func (a *Account) mappings(c *jwt.AccountClaims) {
	for _, from := range slices.Sorted(maps.Keys(c.Mappings)) {
		m := config.Mapping{Subject: string(from)}
		for _, d := range c.Mappings[from] {
			m.Destinations = append(m.Destinations, config.Destination{Subject: string(d.Subject), Weight: int(d.GetWeight()), Cluster: d.Cluster})
		}
		a.Rules.Mappings = append(a.Rules.Mappings, m)
	}
}

func kind(t jwt.ExportType) config.ExportKind {
	if t == jwt.Service {
		return config.Service
	}
	return config.Stream
}

// Signs reports whether key may sign for the account, and with which powers its users are; nil: those that they have.
func (a *Account) Signs(key string) (scope *Powers, ok bool) {
	if key == a.Rules.Name {
		return nil, true
	}
	scope, ok = a.Signers[key]
	return scope, ok
}

// Revokes reports whether the JWT of a user that was issued then does not count any more.
func (a *Account) Revokes(user string, issuedAt int64) bool {
	return revoked(a.Revoked, user, issuedAt)
}

func revoked(list map[string]int64, key string, issuedAt int64) bool {
	for _, k := range [...]string{"*", key} {
		if at, there := list[k]; there && issuedAt <= at {
			return true
		}
	}
	return false
}

// Activates reports whether the account, exporting, lets importer import what its ith export covers by token. now is in
// seconds since the Unix epoch. The token says which subjects; that it is the importer's was checked when its JWT was read.
func (a *Account) Activates(i int, importer string, token *Activation, now int64) bool {
	if token == nil || !token.Current(now) || revoked(a.ExportRevoked[i], importer, token.IssuedAt) {
		return false
	}
	_, signs := a.Signs(token.Issuer)
	return signs && token.Kind == a.Rules.Exports[i].Kind && (token.Account == "" || token.Account == a.Rules.Name)
}

// Current reports whether a JWT counts at the moment now, in seconds.
func (s *Span) Current(now int64) bool { return !s.Expired(now) && !s.Early(now) }

// Expired reports whether the JWT no longer counts.
func (s *Span) Expired(now int64) bool { return s.Expires != 0 && now >= s.Expires }

// Early reports whether the JWT does not count yet.
func (s *Span) Early(now int64) bool { return s.NotBefore > 0 && now < s.NotBefore }
