package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/subject"
)

// The claims services: an operator tells the server of accounts' JWTs in the server's own account. Subjects, fields and texts
// are nats-server's.

// claimsStatus is how an update or a deletion went.
type claimsStatus struct {
	Account     string `json:"account,omitempty"`
	Code        int    `json:"code"`
	Message     string `json:"message,omitempty"`
	Description string `json:"description,omitempty"`
}

type claimsAnswer struct {
	Server json.RawMessage `json:"server"`
	Data   *claimsStatus   `json:"data,omitempty"`
	Error  *claimsStatus   `json:"error,omitempty"`
}

type claimsList struct {
	Data   []string        `json:"data"`
	Server json.RawMessage `json:"server"`
}

// accountToken is the token of $SYS.REQ.ACCOUNT.<id>.… that names the account; in $SYS.ACCOUNT.<id>.… it is the one before.
const accountToken = 3

// offerUpdates subscribes the server to updates of accounts. Without operator mode, none of them is for it.
func (e *Engine) offerUpdates() {
	e.handle(e.system, "$SYS.REQ.ACCOUNT.*.CLAIMS.UPDATE", func(k *call) { e.update(k, k.token(accountToken)) })
	e.handle(e.system, "$SYS.ACCOUNT.*.CLAIMS.UPDATE", func(k *call) { e.update(k, k.token(accountToken-1)) })
}

func (e *Engine) initClaimServices() {
	t, a := e.trust, e.system
	if !t.onShelf() {
		return
	}
	e.handle(a, "$SYS.REQ.CLAIMS.UPDATE", func(k *call) { e.update(k, "") })
	e.handle(a, "$SYS.REQ.CLAIMS.LIST", func(k *call) { e.respondJSON(k, claimsList{t.shelf.keys(), e.identity()}) })
	e.handle(a, "$SYS.REQ.CLAIMS.DELETE", func(k *call) { e.submit(&deleting{call: k, word: t.words.next()}) })
	if t.resolver.Kind == config.FullResolver {
		e.handle(a, "$SYS.REQ.ACCOUNT.*.CLAIMS.LOOKUP", e.lookupService)
		e.handle(a, "$SYS.REQ.CLAIMS.PACK", e.packService)
	}
}

// token is the nth token of the call's subject, from 0 on.
func (k *call) token(n int) string {
	from, to, ok := subject.Token(k.subject, n)
	if !ok {
		return ""
	}
	return k.subject[from:to]
}

func (e *Engine) respondJSON(k *call, answer any) { e.respond(k, nil, mustJSON(answer)) }

// updateName names updates in answers: a cache says that it is one.
func (t *trust) updateName() string {
	if t != nil && t.resolver.Kind == config.CacheResolver {
		return "jwt update cache"
	}
	return "jwt update"
}

// update takes a new JWT of an account; key is empty where the subject does not name one.
func (e *Engine) update(k *call, key string) {
	if len(k.body) == 0 && (e.trust == nil || !e.trust.onShelf()) {
		e.updateRefused(k, key, "jwt update error", "request body is empty")
		return
	}
	r := &reading{key: key, text: strings.TrimSpace(string(k.body)), update: k}
	if e.trust != nil {
		r.word = e.trust.words.next()
	}
	e.submit(r)
}

// updated goes on when the JWT of an update has been read. What is refused changes nothing.
func (e *Engine) updated(r *reading) {
	t := e.trust
	if t == nil {
		if why := e.mistake(r); why != "" {
			e.updateFailed(r, why)
		} else {
			e.updateDone(r, " skipped")
		}
		return
	}
	why := e.mistake(r)
	if why != "" {
		t.words.settled(r.word)
		e.updateFailed(r, why)
		return
	}
	key := r.claims.Rules.Name
	before := t.words.last[key]
	if !t.words.takes(key, r.word) {
		t.words.settled(r.word)
		e.updateFailed(r, "a later word about this account counts already")
		return
	}
	if l := t.lookups[key]; l != nil {
		l.former = true
	}
	if t.resolver.Kind == config.FullResolver {
		e.keepUpdate(r, before)
		return
	}
	t.words.settled(r.word)
	if !t.sought(key) {
		e.updateDone(r, " skipped")
		return
	}
	e.putOnShelf(r.claims)
	e.charter(r.claims)
	e.updateDone(r, "d")
}

// mistake says why an update is refused; empty: it is not.
func (e *Engine) mistake(r *reading) string {
	if r.err != nil {
		return r.err.Error()
	}
	if why := e.grounds(r.claims, cmp.Or(r.key, r.claims.Rules.Name)); why != "" || r.defect == nil {
		return why
	}
	r.err = &claims.Invalid{Account: r.claims.Rules.Name, Err: r.defect}
	return r.err.Error()
}

// keepUpdate goes on with an update that counts, and before did until then, when it is in the directory. What can't be kept does not
// count, but what was kept last does. What is kept comes into force though a later one is to be kept already, which may fail: that
// one follows, as the directory keeps them in this order. After a deletion it does not: the account's entry is another.
func (e *Engine) keepUpdate(r *reading, before uint64) {
	t, key := e.trust, r.claims.Rules.Name
	var x *shelfEntry // nil: there is no room for it
	e.shelve(key, r.claims.Text, func(v VaultResult) {
		if x != nil {
			before = x.keeping.done(r.word, v.Err == "")
		}
		if v.Err != "" {
			t.words.withdraw(key, r.word, before)
			e.updateFailed(r, v.Err)
		} else {
			delete(t.texts, key)
			if t.sought(key) && t.shelf.entries[key] == x {
				e.charter(r.claims)
			}
			e.updateDone(r, "d")
		}
		t.words.settled(r.word)
		if x != nil {
			x.keeping.follow()
		}
	})
	if x = t.shelf.entries[key]; x != nil {
		x.keeping.begin(before)
	}
}

func (e *Engine) updateDone(r *reading, what string) {
	name := e.trust.updateName() + what
	if name == "jwt update cached" {
		name = "jwt updated cache"
	}
	if e.debugsIn(e.byAccount[r.claims.Rules.Name]) {
		e.logf(e.debugLevel(), "", name+" - "+r.claims.Rules.Name)
	}
	e.respondJSON(r.update, claimsAnswer{Server: e.identity(), Data: &claimsStatus{Account: r.claims.Rules.Name, Code: 200, Message: name}})
}

func (e *Engine) updateFailed(r *reading, why string) {
	var invalid *claims.Invalid
	if errors.As(r.err, &invalid) {
		var issues claims.Issues
		if errors.As(invalid.Err, &issues) {
			why = "validation errors: [" + strings.Join(issues, " ") + "]"
		}
		e.updateRefused(r.update, invalid.Account, "jwt validation failed", why)
		return
	}
	account := r.key
	if account == "" && r.claims != nil {
		account = r.claims.Rules.Name
	}
	if t := e.trust; t != nil && t.resolver.Kind == config.FullResolver && r.claims == nil {
		account = "n/a"
	}
	e.updateRefused(r.update, account, e.trust.updateName()+" resulted in error", why)
}

func (e *Engine) updateRefused(k *call, account, what, why string) {
	e.logf(LevelError, "", what+" - "+printable([]byte(account))+" - "+printable([]byte(why)))
	e.respondJSON(k, claimsAnswer{Server: e.identity(), Error: &claimsStatus{Account: account, Code: 500, Description: what + " - " + why}})
}

// lookupService answers with an account's JWT, or with nothing.
func (e *Engine) lookupService(k *call) {
	key := k.token(accountToken)
	if k.conn == 0 {
		return // the server's own question
	}
	if !nkeys.IsValidPublicAccountKey(key) || e.trust.shelf.doomed[key] {
		e.respond(k, nil, nil)
		return
	}
	e.env.Vault.Load(e.vault(func(r VaultResult) { e.respond(k, nil, []byte(r.Text)) }), key)
}

// packService sends all JWTs, "key|JWT" each, and an empty message at the end; only the latter to who has the same already.
func (e *Engine) packService(k *call) {
	s := &e.trust.shelf
	if sum := s.sum(); string(k.body) == string(sum[:]) {
		e.respond(k, nil, nil)
		return
	}
	e.packNext(k, s.keys())
}

func (e *Engine) packNext(k *call, keys []string) {
	if len(keys) == 0 {
		e.respond(k, nil, nil)
		return
	}
	e.env.Vault.Load(e.vault(func(r VaultResult) {
		if r.Text != "" {
			e.respond(k, nil, []byte(keys[0]+"|"+r.Text))
		}
		e.packNext(k, keys[1:])
	}), keys[0])
}

// deleting is a job: it reads a request to delete accounts.
type deleting struct {
	call     *call
	word     uint64
	deletion *claims.Deletion
	err      error

	failed  int    // accounts whose JWTs could not be removed
	problem string // with the first of them
}

func (d *deleting) run() {
	d.deletion, d.err = claims.DecodeDeletion(strings.TrimSpace(string(d.call.body)))
}

func (d *deleting) done(e *Engine) {
	t, x := e.trust, d.deletion
	why := ""
	switch {
	case d.err != nil:
		why = d.err.Error()
	case !x.Self:
		why = "not self signed"
	case t.resolver.Kind == config.FullResolver && !t.resolver.AllowDelete:
		why = "delete must be enabled in server config"
	case !t.trusts(x.Issuer, e.seconds()) && !t.names(x.Issuer):
		why = "not trusted"
	case !x.Current(e.seconds()):
		why = "claim is expired or not valid yet"
	case len(x.Accounts) == 0:
		why = "malformed request"
	case slices.Contains(x.Accounts, e.system.name):
		why = "not allowed to delete system account"
	}
	if why != "" {
		what := "delete accounts request by " + x.Text + " failed - " + why
		e.logf(LevelError, "", printable([]byte(what)))
		e.respondJSON(d.call, claimsAnswer{Server: e.identity(), Error: &claimsStatus{Code: 500, Description: what}})
		t.words.settled(d.word)
		return
	}
	if t.shelf.listed {
		e.deleteNext(d, x.Accounts)
		return
	}
	t.shelf.waiting = append(t.shelf.waiting, func() { e.deleteNext(d, x.Accounts) })
}

// names reports whether key is an operator itself, strict or not.
func (t *trust) names(key string) bool {
	return slices.ContainsFunc(t.operators, func(o *claims.Operator) bool { return o.Key == key })
}

// deleteNext takes the accounts away, one after the other: out of force at once, then out of the directory. An account of which
// something was said later, that counts, stays. One that can't be taken out of the directory stays out of force, but not for certain
// longer than this process: who has it deleted is told that it failed.
func (e *Engine) deleteNext(d *deleting, accounts []string) {
	t := e.trust
	if len(accounts) == 0 {
		t.words.settled(d.word)
		e.deleted(d)
		return
	}
	key := accounts[0]
	if !t.words.takes(key, d.word) {
		if x := t.shelf.entries[key]; x != nil && x.keeping.asked > 0 { // what was said later may fail to be kept
			x.keeping.then = append(x.keeping.then, func() { e.deleteNext(d, accounts) })
			return
		}
		e.deleteNext(d, accounts[1:])
		return
	}
	delete(t.texts, key)
	if ch := t.charters[key]; ch != nil {
		e.revoke(ch)
	}
	if l := t.lookups[key]; l != nil { // what it has found may be what is deleted
		e.notFound(l, "account missing")
	}
	delete(t.shelf.entries, key)
	e.env.Vault.Remove(e.vault(func(r VaultResult) {
		if r.Err != "" {
			e.logf(LevelError, "", "The JWT of account "+key+" can't be removed: "+r.Err)
			t.shelf.doom(key)
			if d.failed++; d.failed == 1 {
				d.problem = key + ": " + r.Err
			}
		}
		e.deleteNext(d, accounts[1:])
	}), key, !t.resolver.HardDelete)
}

// deleted answers a request to delete accounts when that is certain to last, or has failed.
func (e *Engine) deleted(d *deleting) {
	message := "deleted " + strconv.Itoa(len(d.deletion.Accounts)-d.failed) + " accounts"
	a := claimsAnswer{Server: e.identity()}
	if d.failed == 0 {
		a.Data = &claimsStatus{Code: 200, Message: message}
	} else {
		a.Error = &claimsStatus{Code: 500, Description: message + ", failed for " + strconv.Itoa(d.failed) + " - " + d.problem}
	}
	e.respondJSON(d.call, a)
}
