package engine

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine/assert"
)

// trust is operator mode: accounts and users are what JWTs say, signed by operators that are trusted. Where an account's JWT is
// found is lookup.go, what follows from it charter.go, who a client is login.go and judge.go.
type trust struct {
	operators []*claims.Operator
	keys      []string        // trusted besides
	pinned    map[string]bool // the accounts that there may be; nil: any
	sentinel  string          // the JWT of clients that present none; empty: they are refused
	resolver  config.Resolver

	preloaded map[string]bool     // the accounts whose JWTs the configuration has
	texts     map[string]string   // account JWTs at hand, by public key: preloaded, or told by an update
	charters  map[string]*charter // by public key
	lookups   map[string]*lookup
	rules     *ruleSet
	importers map[string][]int // places in rules of the accounts that import from another, by its public key, in order
	shelf     shelf
	failed    recall[string] // accounts that were not found lately
	words     words
	missed    missed
}

// sought reports whether the account's JWT is in force, or looked for to be.
func (t *trust) sought(key string) bool { return t.charters[key] != nil || t.lookups[key] != nil }

// Zones knows the time zones of the world. The engine asks when a user's JWT has windows of the day in one.
type Zones interface {
	// Zone returns the zone with that name in the IANA database; nil: there is none.
	Zone(name string) *time.Location
}

const (
	defaultLookupTimeout = 2 * time.Second
	notFoundSpan         = Instant(time.Second)
	notFoundMax          = 4096
)

// operatorMode reports whether JWTs say who clients are.
func (o *Options) operatorMode() bool {
	return o.Operators != nil && (len(o.Operators.Operators) > 0 || len(o.Operators.TrustedKeys) > 0)
}

// CheckOperators returns everything that is wrong with operator mode, each a *conf.Error. It verifies signatures, so it takes
// longer than a turn. The operators must be JWTs, not names of files.
func CheckOperators(o *Options) []error {
	_, problems := readOperators(o)
	return problems
}

func readOperators(o *Options) (all []*claims.Operator, problems []error) {
	if !o.operatorMode() {
		return nil, nil
	}
	wrong := func(p config.Pos, format string, args ...any) {
		problems = append(problems, conf.Errorf(p, format, args...))
	}
	for _, x := range o.Operators.Operators {
		op, err := claims.DecodeOperator(x.Text)
		if err != nil {
			wrong(x.Pos, "operator JWT: %v", err)
			continue
		}
		if err := checkVersion(op); err != nil {
			wrong(x.Pos, "%v", err)
		}
		all = append(all, op)
	}
	if len(o.Operators.Operators) > 0 && len(o.Operators.TrustedKeys) > 0 {
		wrong(o.Operators.TrustedKeys[0].Pos, "conflicting options for 'TrustedKeys' and 'TrustedOperators'")
	}
	for i := range o.Accounts {
		if a := &o.Accounts[i]; a.Name != globalAccount || len(a.Users) > 0 {
			wrong(a.Pos, "accounts are described by JWTs in operator mode: account %q can't be described here", a.Name)
		}
	}
	if len(o.Users) > 0 {
		wrong(o.Users[0].Pos, "users are described by JWTs in operator mode: they can't be described here")
	}
	if o.NoAuthUser.Text != "" {
		wrong(o.NoAuthUser.Pos, "no_auth_user not compatible with Trusted Operator")
	}
	r := &o.Operators.Resolver
	if r.Kind == config.NoResolver {
		p := r.Pos
		if len(o.Operators.Operators) > 0 {
			p = o.Operators.Operators[0].Pos
		}
		wrong(p, "operator mode needs a resolver")
	}
	if r.Kind == config.URLResolver {
		if u, err := url.Parse(r.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			wrong(r.Pos, "resolver: %q is not the URL of a page by http or https", r.URL)
		}
	}
	for _, p := range o.Operators.Preload {
		if !nkeys.IsValidPublicAccountKey(p.Account) {
			wrong(p.Pos, "resolver_preload: %q is not a public account key", p.Account)
		} else if err := claims.IsAccount(p.JWT); err != nil {
			wrong(p.Pos, "resolver_preload: invalid account JWT of %s: %v", p.Account, err)
		}
	}
	if s := o.SystemAccount; s.Text != "" && !nkeys.IsValidPublicAccountKey(s.Text) {
		wrong(s.Pos, "system_account: %q is not a public account key", s.Text)
	} else if len(problems) == 0 {
		checkSystem(o, all, wrong)
	}
	if s := o.Operators.DefaultSentinel; s.Text != "" {
		u, err := claims.DecodeUser(s.Text)
		if err != nil {
			wrong(s.Pos, "default_sentinel: %v", err)
		} else if !u.Powers.Bearer && !u.Empty {
			wrong(s.Pos, "default_sentinel must be a bearer token")
		}
	}
	return all, problems
}

// chooseSystem takes the operator's word for which account is the server's own, where the configuration has none.
func (o *Options) chooseSystem(operators []*claims.Operator) {
	for _, op := range operators {
		if o.SystemAccount.Text == "" {
			o.SystemAccount.Text = op.SystemAccount
		}
	}
}

// initTrust puts operator mode into force; it must be called before the first turn. The JWT of the server's own account is
// read at once if it is at hand.
func (e *Engine) initTrust(operators []*claims.Operator) {
	c := e.opts.Operators
	t := &trust{
		operators: operators, sentinel: c.DefaultSentinel.Text, resolver: c.Resolver,
		importers: make(map[string][]int), preloaded: make(map[string]bool), texts: make(map[string]string), charters: make(map[string]*charter), lookups: make(map[string]*lookup),
		failed: newRecall[string](notFoundMax, notFoundSpan), words: newWords(),
	}
	for _, k := range c.TrustedKeys {
		t.keys = append(t.keys, k.Text)
	}
	t.pin(c.PinnedAccounts)
	if t.resolver.Timeout <= 0 {
		t.resolver.Timeout = defaultLookupTimeout
	}
	for _, p := range c.Preload {
		t.texts[p.Account], t.preloaded[p.Account] = p.JWT, true
	}
	e.trust = t
	t.rules = draftRules(nil, e.opts.SystemAccount)
	t.rules.accounts[t.rules.byName[e.system.name]].describe(e.chartered(e.system.name))
	e.enforce(t.rules)
	if text := t.texts[e.system.name]; text != "" {
		if a, err := claims.DecodeAccount(text); err == nil && e.grounds(a, e.system.name) == "" {
			e.charter(a)
		}
	}
	e.initClaimServices()
}

// startTrust asks the world for what operator mode needs.
func (e *Engine) startTrust() {
	t := e.trust
	if t == nil {
		return
	}
	assert.That(t.resolver.Kind != config.URLResolver || e.env.Web != nil, "a URL resolver without Env.Web")
	if t.onShelf() {
		assert.That(e.env.Vault != nil, "a directory resolver without Env.Vault")
		e.listShelf()
	}
	if t.charters[e.system.name] == nil && e.system.name != systemAccount {
		e.seek(e.system.name)
	}
}

// trusts reports whether an account JWT issued by key counts now.
func (t *trust) trusts(key string, now int64) bool {
	return slices.Contains(t.keys, key) ||
		slices.ContainsFunc(t.operators, func(o *claims.Operator) bool { return o.Trusts(key) && o.Current(now) })
}

// vouches reports whether an account JWT issued by key counts at some time.
func (t *trust) vouches(key string) bool {
	return slices.Contains(t.keys, key) || slices.ContainsFunc(t.operators, func(o *claims.Operator) bool { return o.Trusts(key) })
}

// distrust says why an account JWT issued by key does not count now; empty: it does.
func (t *trust) distrust(key string, now int64) string {
	if t.trusts(key, now) {
		return ""
	}
	why := "issuer " + key + " is not trusted"
	for _, o := range t.operators {
		switch {
		case !o.Trusts(key):
		case o.Expired(now):
			why = "the JWT of operator " + o.Key + " has expired"
		default:
			why = "the JWT of operator " + o.Key + " is not valid yet"
		}
	}
	return why
}

// strict reports whether the operator that vouches for an account wants signing keys to sign for everybody.
func (t *trust) strict(issuer string) bool {
	return slices.ContainsFunc(t.operators, func(o *claims.Operator) bool {
		return o.Strict && (o.Key == issuer || slices.Contains(o.SigningKeys, issuer))
	})
}

// grounds says why an account JWT does not count; empty: it does. Whether it has begun or expired is another matter.
func (e *Engine) grounds(a *claims.Account, key string) string {
	t := e.trust
	switch {
	case a.Rules.Name != key:
		return "subject does not match jwt content"
	case t == nil:
		return "" // the JWT will not be used
	case !e.mayBe(key):
		return "account public key not in list of pinned accounts"
	}
	return t.distrust(a.Issuer, e.seconds())
}

// seconds is the time of the turn as JWTs count it.
func (e *Engine) seconds() int64 { return int64(e.wall) / int64(time.Second) }

// momentMin is how soon the clock is asked again at the earliest.
const momentMin = 10 * time.Millisecond

// moment is when the clock will show w: now, if it has shown it already. The clock may be set meanwhile, so it must be asked
// again then, and within a minute; but not at once over and over while it stands still shortly before.
func (e *Engine) moment(w WallTime) Instant {
	if w <= e.wall {
		return max(e.now, 1)
	}
	return later(e.now, min(max(time.Duration(w-e.wall), momentMin), time.Minute))
}

// wallOf is the moment that a JWT names, in its seconds; 0 stays 0.
func wallOf(seconds int64) WallTime {
	const most = int64(1<<63-1) / int64(time.Second)
	return WallTime(min(seconds, most) * int64(time.Second))
}

// described is how the log names an account.
func (e *Engine) described(key string) string {
	if t := e.trust; t != nil {
		if c := t.charters[key]; c != nil && c.claims.Label != "" {
			return key + "/" + c.claims.Label
		}
	}
	return key
}

// isJWT tells a JWT from a name of a file.
func isJWT(s string) bool { return strings.HasPrefix(s, "eyJ") }
