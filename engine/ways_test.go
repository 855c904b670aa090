package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
)

// layers are accounts of which each imports the stream p from so many of the layer below, and the service q from one.
func layers(depth, width int) (accounts []config.Account) {
	for l := range depth {
		for w := range width {
			a := config.Account{Name: fmt.Sprintf("%d.%d", l, w), Exports: append(exports(config.Stream, "p"), exports(config.Service, "q")...)}
			for from := range width {
				if l > 0 {
					a.Imports = append(a.Imports, stream(fmt.Sprintf("%d.%d", l-1, from), "p"))
				}
			}
			if l > 0 {
				a.Imports = append(a.Imports, service(fmt.Sprintf("%d.0", l-1), "q"))
			}
			accounts = append(accounts, a)
		}
	}
	return accounts
}

func wantProblems(t *testing.T, problems []error, want ...string) {
	t.Helper()
	if len(problems) != len(want) {
		t.Fatalf("%d problems, want %d: %v", len(problems), len(want), problems)
	}
	for i, p := range problems {
		if !strings.Contains(p.Error(), want[i]) {
			t.Errorf("%v, want %q", p, want[i])
		}
	}
}

// Imports may follow one another as far as messages are passed on.
func TestImportsInLayers(t *testing.T) {
	wantProblems(t, CheckAccounts(layers(hopsMax+1, 1), config.Located{}))
	wantProblems(t, CheckAccounts(layers(hopsMax+2, 1), config.Located{}),
		`Error adding service import "q": more than 16 imports follow one another`,
		`Error adding stream import "p": more than 16 imports follow one another`)
}

// A message comes once on each way; but the ways must not be many more than the imports. That is found out without going them.
func TestImportsMultiply(t *testing.T) {
	s := withAccounts(t, Options{}, layers(4, 2)...)
	a, b := s.join("0.0", ""), s.join("3.0", "SUB p 1\r\n")
	s.say(a, "PUB p 0\r\n\r\n")
	s.got(b, strings.Repeat("MSG p 1 0\r\n\r\n", 4))

	wantProblems(t, CheckAccounts(layers(4, 8), config.Located{}))
	wantProblems(t, CheckAccounts(layers(4, 9), config.Located{}))
	want := `Error adding stream import "p": account "3.%d" gets streams on 1100 ways by imports that follow one another, most of them through account "2.0"`
	var all []string
	for i := range 10 {
		all = append(all, fmt.Sprintf(want, i))
	}
	wantProblems(t, CheckAccounts(layers(4, 10), config.Located{}), all...)
	wantProblems(t, CheckAccounts(layers(hopsMax+1, 10), config.Located{}), all...)
}

// Who imports from very many accounts, and they from one, or he from one that does, has many ways and as many imports.
func TestManyImportsAreNotTooMany(t *testing.T) {
	common := config.Account{Name: "common", Exports: exports(config.Stream, "news.>")}
	hub, beyond := config.Account{Name: "hub", Exports: exports(config.Stream, ">")}, config.Account{Name: "beyond", Imports: []config.Import{stream("hub", ">")}}
	accounts := []config.Account{common}
	for i := range 2 * waysMax {
		name := fmt.Sprintf("t%d", i)
		accounts = append(accounts, config.Account{Name: name, Exports: exports(config.Stream, ">"), Imports: []config.Import{stream("common", "news.>")}})
		hub.Imports = append(hub.Imports, stream(name, ">", prefixed(name)))
	}
	wantProblems(t, CheckAccounts(append(accounts, hub, beyond), config.Located{}))
}

// A request goes to all services that it matches, and so on from account to account; but to so many and no more.
func TestRequestsMultiply(t *testing.T) {
	patterns := []string{"a.b.c", "*.b.c", "a.*.c", "a.b.*", "*.*.c", "*.b.*", "a.*.*", "*.*.*"}
	var accounts []config.Account
	for l := range 6 {
		for w := range patterns {
			a := config.Account{Name: fmt.Sprintf("%d.%d", l, w), Exports: exports(config.Service, ">")}
			for from, p := range patterns {
				if l > 0 {
					a.Imports = append(a.Imports, service(fmt.Sprintf("%d.%d", l-1, from), p))
				}
			}
			accounts = append(accounts, a)
		}
	}
	s := withAccounts(t, Options{}, accounts...)
	near, far, asks := s.join("2.0", "SUB > 1\r\n"), s.join("0.0", "SUB > 1\r\n"), s.join("3.0", "SUB r 1\r\n")
	s.say(asks, "PUB a.b.c r 0\r\n\r\n")
	if n, m := strings.Count(s.w.take(near), "MSG"), strings.Count(s.w.take(far), "MSG"); n != 1 || m != 64 {
		t.Errorf("%d and %d requests, want 1 and 64", n, m)
	}
	asks = s.join("5.0", "SUB r 1\r\n")
	s.say(asks, "PUB a.b.c r 0\r\n\r\n")
	if n := len(s.e.byAccount["0.0"].replies); n > waysMax {
		t.Errorf("%d answers are waited for", n)
	}
	if n := strings.Count(s.w.take(near), "MSG"); n != 64 {
		t.Errorf("%d requests came through two accounts, want 64", n)
	}
	if !s.w.logged(`Request on "a.b.c" in account 2.1 does not reach all services: imports lead to more than 1000 of other accounts`) || len(s.w.log) != 3 {
		t.Errorf("%q", s.w.log)
	}
}

// Where JWTs come one by one, a subscription is given so many shadows and no more, and the log says so.
func TestImportsMultiplyByJWT(t *testing.T) {
	const depth, width = 5, 8
	w := newOperatorWorld(t, config.FullResolver, nil)
	key := func(layer, i int) nkeys.KeyPair { return testAccount(100 + layer*width + i) }
	for l := range depth {
		for i := range width {
			w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(key(l, i), func(c *jwt.AccountClaims) {
				c.Exports.Add(&jwt.Export{Subject: "p", Type: jwt.Stream})
				for from := range width {
					if l > 0 {
						c.Imports.Add(&jwt.Import{Account: publicOf(key(l-1, from)), Subject: "p", Type: jwt.Stream})
					}
				}
			}))
		}
	}
	c := w.login(w.user(testUser(1), key(depth-1, 0), nil), testUser(1))
	w.wants(c, "PONG")
	bottom := w.e.byAccount[publicOf(key(0, 0))].subs
	before := bottom.Count()
	say(w.e, c, "SUB p 1\r\nSUB p 2\r\n")
	w.run()
	if bottom.Count() == before {
		t.Error("nothing leads to the first account")
	}
	for _, s := range w.e.lookup(c).subs {
		if n := len(s.also.shadows); n < waysMax || n > waysMax+width {
			t.Errorf("%d shadows", n)
		}
	}
	if !w.logged("does not get all streams: more than 1000 ways lead to it") {
		t.Error("the log does not say so")
	}
	say(w.e, c, "UNSUB 1\r\nUNSUB 2\r\n")
	w.run()
	if n := bottom.Count() - before; n != 0 {
		t.Errorf("%d shadows are left", n)
	}
}

// A cycle is found whichever of its accounts comes last, and again when one that they import from changes.
func TestCycleByJWT(t *testing.T) {
	a, b, c := testAccount(2), testAccount(3), testAccount(4)
	w := newOperatorWorld(t, config.FullResolver, nil)
	update := func(key nkeys.KeyPair, description string, from ...nkeys.KeyPair) {
		w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(key, func(c *jwt.AccountClaims) {
			c.Description = description
			c.Exports.Add(&jwt.Export{Subject: "p", Type: jwt.Stream})
			for _, k := range from {
				c.Imports.Add(&jwt.Import{Account: publicOf(k), Subject: "p", Type: jwt.Stream})
			}
		}))
	}
	imports := func(k nkeys.KeyPair) int { return len(w.e.byAccount[publicOf(k)].def.streams) }
	for i, k := range []nkeys.KeyPair{a, b, c} { // an account that nobody uses is not there
		update(k, "")
		w.wants(w.login(w.user(testUser(i), k, nil), testUser(i)), "PONG")
	}
	update(a, "", b)
	update(b, "", a, c)
	if imports(a) != 1 || imports(b) != 1 {
		t.Fatalf("a has %d imports, b %d", imports(a), imports(b))
	}
	update(c, "again")
	if imports(a) != 1 || imports(b) != 1 {
		t.Fatalf("when c has changed, a has %d imports, b %d", imports(a), imports(b))
	}
}
