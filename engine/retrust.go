package engine

import (
	"maps"
	"slices"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine/assert"
)

// What of operator mode follows a reload: where account JWTs are found, which accounts there may be, what is preloaded, and what
// counts for clients without a JWT. A reload is refused that changes who is trusted, or the directory, which would have to be left and
// another one read while updates come. Accounts that may no longer be have ended; those that are in force otherwise stay so, under the JWT they have.

// retrust takes over new options of operator mode.
func (e *Engine) retrust(o *Options) {
	t, n, old := e.trust, o.Operators, e.opts.Operators
	if (n.PinnedAccounts == nil) != (old.PinnedAccounts == nil) || !slices.EqualFunc(n.PinnedAccounts, old.PinnedAccounts, sameText) {
		t.pin(n.PinnedAccounts)
		e.sweep.charters = true
		e.startSweep()
	}
	other := e.changeResolver(n.Resolver)
	e.preload(n)
	t.failed.clear() // perhaps they are found now
	if other {
		e.seekAnew()
	}
	t.sentinel = n.DefaultSentinel.Text
}

// sameTrust reports whether the same operators are trusted.
func sameTrust(a, b *config.Operators) bool {
	return slices.EqualFunc(a.Operators, b.Operators, sameText) && slices.EqualFunc(a.TrustedKeys, b.TrustedKeys, sameText)
}

// sameShelf reports whether two resolvers have the same directory, or none.
func sameShelf(a, b *config.Resolver) bool {
	if !a.OnShelf() && !b.OnShelf() {
		return true
	}
	return a.Kind == b.Kind && a.Dir == b.Dir
}

func sameText(p, q config.Located) bool { return p.Text == q.Text }

// changeResolver has account JWTs found as another resolver does, which has the same directory, or none as well. It reports whether
// that finds others.
func (e *Engine) changeResolver(r config.Resolver) (other bool) {
	t := e.trust
	if r.Timeout <= 0 {
		r.Timeout = defaultLookupTimeout
	}
	old := t.resolver
	t.resolver = r
	t.shelf.due(e)
	if r.Kind == old.Kind && r.URL == old.URL {
		return false
	}
	assert.That(r.Kind != config.URLResolver || e.env.Web != nil, "a URL resolver without Env.Web")
	for key, ch := range t.charters { //natsd:orderfree each goes or stays for itself
		if ch.deleted {
			delete(t.charters, key)
		}
		if old.Kind == config.URLResolver { // a memory resolver knows what is preloaded only: preload goes on from here
			t.preloaded[key] = true
		}
	}
	return true
}

// seekAnew has accounts looked for where they are found now: what the former resolver finds does not count.
func (e *Engine) seekAnew() {
	t := e.trust
	former := t.lookups
	t.lookups = make(map[string]*lookup)
	for _, key := range slices.Sorted(maps.Keys(former)) {
		l := former[key]
		e.timers.remove(&l.timer)
		e.endInbox(&l.inbox)
		next := e.seek(key)
		if next == nil {
			t.lookups[key] = l // where it ends
			for _, im := range l.imports {
				e.noExporter(im, "account missing")
			}
			e.found(l)
			continue
		}
		for _, w := range l.logins {
			w.wait(next)
		}
		next.imports, next.former = append(next.imports, l.imports...), l.former
		l.logins, l.imports = nil, nil
	}
}

// pin notes which accounts there may be; nil: any.
func (t *trust) pin(accounts []config.Located) {
	t.pinned = nil
	if accounts == nil {
		return
	}
	t.pinned = make(map[string]bool, len(accounts))
	for _, a := range accounts {
		t.pinned[a.Text] = true
	}
}

// mayBe reports whether there may be an account, as far as they are pinned.
func (e *Engine) mayBe(key string) bool {
	t := e.trust
	return t.pinned == nil || t.pinned[key] || key == e.system.name
}

// preload takes over the account JWTs that a reload has preloaded, where nothing else knows better. A memory resolver knows no
// others: an account that is not among them any more has ended; but not the server's own, which it needs. A directory gets those
// that it lacks and that were not preloaded before: who deletes an account need not take it out of the configuration as well.
func (e *Engine) preload(o *config.Operators) {
	t := e.trust
	if t.onShelf() {
		if t.shelf.listed { // else they are put there when it is
			former := make(map[string]string, len(e.opts.Operators.Preload))
			for _, p := range e.opts.Operators.Preload {
				former[p.Account] = p.JWT
			}
			e.shelveMissing(slices.DeleteFunc(slices.Clone(o.Preload), func(p config.PreloadedJWT) bool { return former[p.Account] == p.JWT }))
		}
		return
	}
	former := t.preloaded
	t.preloaded = make(map[string]bool, len(o.Preload))
	for _, p := range o.Preload {
		t.preloaded[p.Account] = true
	}
	gone := slices.DeleteFunc(slices.Sorted(maps.Keys(former)), func(key string) bool { return t.preloaded[key] || key == e.system.name })
	for _, key := range gone {
		delete(t.texts, key)
		if t.resolver.Kind == config.MemoryResolver {
			word := t.words.next()
			t.words.takes(key, word)
			t.words.settled(word)
			if ch := t.charters[key]; ch != nil {
				e.revoke(ch)
			}
			if l := t.lookups[key]; l != nil {
				e.notFound(l, "account missing")
			}
		}
	}
	for _, p := range o.Preload {
		if t.sought(p.Account) && e.mayBe(p.Account) {
			e.submit(&renewing{reading{key: p.Account, text: p.JWT, word: t.words.next()}})
		}
		if t.charters[p.Account] == nil {
			t.texts[p.Account] = p.JWT
		}
	}
}
