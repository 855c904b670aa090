package engine

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"

	"github.com/natsd/natsd/config"
)

// retrusts reloads with other options of operator mode, and checks what is said to need a restart.
func (w *operatorWorld) retrusts(needRestart string, change func(o *config.Operators)) {
	w.t.Helper()
	o := w.e.opts
	next := *o.Operators
	next.Preload = slices.Clone(next.Preload)
	change(&next)
	o.Operators = &next
	if got := strings.Join(reload(w.e, o), " "); got != needRestart {
		w.t.Errorf("%q need a restart, want %q", got, needRestart)
	}
	w.run()
}

// fetch answers all questions for pages.
func (w *operatorWorld) fetch() {
	for _, id := range slices.Sorted(maps.Keys(w.waiting)) {
		url := w.waiting[id]
		delete(w.waiting, id)
		text, why := w.pages[url], ""
		if text == "" {
			why = "404"
		}
		turn(w.e, func() { w.e.Fetched(id, text, why) })
	}
	w.run()
}

// lets connects as the user n of account n, and checks the outcome.
func (w *operatorWorld) lets(n int, want string) ConnID {
	w.t.Helper()
	c := w.login(w.user(testUser(n), testAccount(n), nil), testUser(n))
	w.fetch()
	w.wants(c, want)
	return c
}

func (w *operatorWorld) preloaded(n int) config.PreloadedJWT {
	a := testAccount(n)
	return config.PreloadedJWT{Account: publicOf(a), JWT: w.account(a, nil)}
}

// A reload changes where account JWTs are found. Who is connected stays, unless the account can't be found any more.
func TestResolverFollowsAReload(t *testing.T) {
	w := newOperatorWorld(t, config.MemoryResolver, nil)
	for n := 2; n < 5; n++ {
		w.pages["http://b/"+publicOf(testAccount(n))] = w.account(testAccount(n), nil)
	}
	w.retrusts("", func(o *config.Operators) { o.Preload = append(o.Preload, w.preloaded(2)) })
	c := w.lets(2, "PONG")
	w.lets(3, refusedText)
	w.retrusts("", func(o *config.Operators) {
		o.Resolver.Kind, o.Resolver.URL, o.Preload = config.URLResolver, "http://a/", nil
	})
	say(w.e, c, "PING\r\n")
	w.wants(c, "PONG")
	w.lets(3, refusedText)
	w.retrusts("", func(o *config.Operators) { o.Resolver.URL = "http://b/" })
	d := w.lets(3, "PONG") // at once, though it was not found a moment ago
	w.retrusts("", func(o *config.Operators) {
		o.Resolver.Kind, o.Preload = config.MemoryResolver, []config.PreloadedJWT{w.preloaded(2)}
	})
	say(w.e, c, "PING\r\n")
	w.wants(c, "PONG")
	w.wants(d, "-ERR 'Account Authentication Expired'")
	w.lets(3, refusedText)
	w.retrusts("", func(o *config.Operators) { o.Resolver.Kind = config.URLResolver })
	w.lets(3, "PONG")
	w.lets(4, "PONG")
	w.administrator()
}

// Accounts that are not pinned any more have ended, and come back.
func TestPinnedAccountsFollowAReload(t *testing.T) {
	w := newOperatorWorld(t, config.MemoryResolver, nil)
	w.retrusts("", func(o *config.Operators) { o.Preload = append(o.Preload, w.preloaded(2), w.preloaded(3)) })
	pin := func(all ...int) {
		w.retrusts("", func(o *config.Operators) {
			o.PinnedAccounts = []config.Located{}
			for _, n := range all {
				o.PinnedAccounts = append(o.PinnedAccounts, config.Located{Text: publicOf(testAccount(n))})
			}
		})
	}
	for range 2 {
		c, d := w.lets(2, "PONG"), w.lets(3, "PONG")
		pin(2)
		say(w.e, c, "PING\r\n")
		w.wants(c, "PONG")
		w.wants(d, "-ERR 'Account Authentication Expired'")
		w.lets(3, refusedText)
		pin(3)
		w.wants(c, "-ERR 'Account Authentication Expired'")
		w.lets(2, refusedText)
		w.lets(3, "PONG")
		pin()
		w.lets(3, refusedText)
		w.administrator()
		w.retrusts("", func(o *config.Operators) { o.PinnedAccounts = nil })
	}
	if w.logged("can't be used") {
		t.Error("the log complains of accounts that may not be")
	}
}

// What counts for clients without a JWT follows a reload.
func TestSentinelFollowsAReload(t *testing.T) {
	w := newOperatorWorld(t, config.MemoryResolver, nil)
	w.retrusts("", func(o *config.Operators) { o.Preload = append(o.Preload, w.preloaded(2)) })
	anonymous := func(want string) {
		t.Helper()
		c := accept(w.e)
		w.take(c)
		say(w.e, c, "CONNECT {\"verbose\":false}\r\nPING\r\n")
		w.run()
		w.wants(c, want)
	}
	anonymous(refusedText)
	w.retrusts("", func(o *config.Operators) {
		o.DefaultSentinel.Text = w.user(testUser(2), testAccount(2), func(c *jwt.UserClaims) { c.BearerToken = true })
	})
	anonymous("PONG")
	w.retrusts("", func(o *config.Operators) { o.DefaultSentinel.Text = "" })
	anonymous(refusedText)
}

// A directory stays, and with it what is preloaded; what is allowed with it follows, and it gets the preloaded JWTs that it lacks.
func TestDirectoryAtAReload(t *testing.T) {
	w := newOperatorWorld(t, config.FullResolver, func(o *Options) { o.Operators.Resolver.Dir = "d"; o.Operators.Resolver.AllowDelete = false })
	ask := func(subj, body, want string) {
		t.Helper()
		if got := w.system(subj, body); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	w.retrusts("", func(o *config.Operators) { o.Preload = append(o.Preload, w.preloaded(2)) })
	w.lets(2, "PONG")
	if w.files[publicOf(testAccount(2))] == "" {
		t.Error("what was preloaded is not in the directory")
	}
	for _, change := range []func(o *config.Operators){
		func(o *config.Operators) { o.Resolver.Dir = "other" },
		func(o *config.Operators) { o.Resolver.Kind = config.CacheResolver },
		func(o *config.Operators) { o.Resolver.Kind = config.MemoryResolver },
		func(o *config.Operators) { o.Resolver.Kind, o.Resolver.URL = config.URLResolver, "http://b/" },
	} {
		w.retrusts("resolver", change)
		w.retrusts("resolver", func(o *config.Operators) {
			change(o)
			o.Preload = append(o.Preload, w.preloaded(3))
		})
		w.lets(2, "PONG")
		w.lets(3, refusedText)
	}
	remove := w.deletion(publicOf(testAccount(2)))
	const deletes = "$SYS.REQ.CLAIMS.DELETE"
	ask(deletes, remove, "delete must be enabled")
	w.retrusts("", func(o *config.Operators) { o.Resolver.AllowDelete, o.Resolver.Limit = true, 2 })
	ask(updates, w.account(testAccount(3), nil), "jwt store is full")
	ask(deletes, remove, `"message":"deleted 1 accounts"`)
	ask(updates, w.account(testAccount(3), nil), `"message":"jwt updated"`)
	w.lets(2, refusedText)
	w.lets(3, "PONG")
}

// An account that was not among the pinned ones for a while is watched as before when it is again: it expires.
func TestPinnedAgainExpires(t *testing.T) {
	for _, unpinned := range []Instant{0, 61e9} {
		a := testAccount(2)
		w := newOperatorWorld(t, config.MemoryResolver, nil)
		text := w.account(a, func(c *jwt.AccountClaims) { c.Expires = int64(year2100/1e9) + 600 })
		w.retrusts("", func(o *config.Operators) {
			o.Preload = append(o.Preload, config.PreloadedJWT{Account: publicOf(a), JWT: text})
		})
		c := w.lets(2, "PONG")
		w.retrusts("", func(o *config.Operators) { o.PinnedAccounts = []config.Located{} })
		w.wants(c, "-ERR 'Account Authentication Expired'")
		w.pass(unpinned)
		w.lets(2, refusedText)
		w.retrusts("", func(o *config.Operators) { o.PinnedAccounts = nil })
		c = w.lets(2, "PONG")
		w.pass(700e9)
		w.wants(c, "-ERR 'Account Authentication Expired'")
	}
}

// Where a reload names another resolver, the former one's answers that are on their way do not count: the new one is asked.
func TestPageUnderWayAtAReload(t *testing.T) {
	a := testAccount(3)
	world := func() (*operatorWorld, ConnID) {
		w := newOperatorWorld(t, config.URLResolver, nil)
		w.pages["http://x/"+publicOf(a)] = w.account(a, nil)
		c := w.login(w.user(testUser(3), a, nil), testUser(3))
		if len(w.waiting) != 1 {
			t.Fatal("no page asked for")
		}
		return w, c
	}
	w, c := world()
	w.retrusts("", func(o *config.Operators) { o.Resolver.Kind = config.MemoryResolver })
	w.wants(c, refusedText)
	w.fetch()
	w.lets(3, refusedText)
	w.retrusts("", func(*config.Operators) {})
	w.lets(3, refusedText)

	w, c = world() // it is preloaded
	w.retrusts("", func(o *config.Operators) {
		o.Resolver.Kind, o.Preload = config.MemoryResolver, append(o.Preload, w.preloaded(3))
	})
	w.wants(c, "PONG")
	w.fetch()
	w.retrusts("", func(o *config.Operators) { o.Preload = o.Preload[:1] })
	w.wants(c, "-ERR")

	w, c = world() // it is found elsewhere
	revoked := w.revoking(a, testUser(3))
	w.pages["http://b/"+publicOf(a)] = revoked
	w.retrusts("", func(o *config.Operators) { o.Resolver.URL = "http://b/" })
	w.fetch()
	w.wants(c, refusedText)
	if w.e.trust.charters[publicOf(a)].claims.Text != revoked {
		t.Error("what the former resolver found counts")
	}
}

// An account is not in force whose JWT was being read when a reload took it away.
func TestReadWhenAReloadTakesItAway(t *testing.T) {
	a, u := testAccount(2), testUser(2)
	w := newOperatorWorld(t, config.MemoryResolver, nil)
	w.retrusts("", func(o *config.Operators) { o.Preload = append(o.Preload, w.preloaded(2)) })
	c := w.startLogin(u, a)
	w.jobsDone() // the account's JWT is read
	if l := w.e.trust.lookups[publicOf(a)]; l == nil || !l.read {
		t.Fatal("it is not read")
	}
	w.retrusts("", func(o *config.Operators) { o.Preload = o.Preload[:1] })
	w.wants(c, refusedText)
	w.lets(2, refusedText)
}

// An account that was deleted stays so though it is still preloaded, until it is preloaded anew.
func TestDeletedStaysSoAtAReload(t *testing.T) {
	w := newOperatorWorld(t, config.FullResolver, nil)
	key, first := publicOf(testAccount(2)), w.preloaded(2)
	preload := func(all ...config.PreloadedJWT) {
		w.retrusts("", func(o *config.Operators) { o.Preload = append(o.Preload[:1:1], all...) })
	}
	remove := func() {
		t.Helper()
		if got := w.system("$SYS.REQ.CLAIMS.DELETE", w.deletion(key)); !strings.Contains(got, "deleted 1") {
			t.Fatal(got)
		}
		w.lets(2, refusedText)
	}
	preload(first)
	w.lets(2, "PONG")
	remove()
	preload(first)
	if w.files[key] != "" {
		t.Error("a reload that changes nothing has brought back what was deleted")
	}
	w.lets(2, refusedText)
	for _, anew := range []config.PreloadedJWT{first, {Account: key, JWT: w.account(testAccount(2), func(c *jwt.AccountClaims) { c.Limits.Conn = 5 })}} {
		if anew == first {
			preload()
		}
		preload(anew)
		if w.files[key] != anew.JWT {
			t.Error("what is preloaded anew is not in the directory")
		}
		w.lets(2, "PONG")
		remove()
	}
}

// A URL resolver that can't be asked is refused before anything starts.
func TestResolverURL(t *testing.T) {
	for url, right := range map[string]bool{"http://a/": true, "https://a:1/jwt/": true, "a/": false, "/": false, "ftp://a/": false, "http:///x": false, "http://[a/": false} { //natsd:orderfree each is tried for itself
		w := newOperatorWorld(t, config.URLResolver, nil)
		o := w.e.opts
		o.Operators = &config.Operators{Operators: o.Operators.Operators, Preload: o.Operators.Preload, Resolver: config.Resolver{Kind: config.URLResolver, URL: url}}
		if problems := CheckOperators(&o); (len(problems) == 0) != right {
			t.Errorf("%s: %v", url, problems)
		}
	}
}
