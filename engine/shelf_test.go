package engine

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
)

// What others put into the directory while the server runs is found: by the next login, and by who asks for it.
func TestWhatIsPutIntoTheDirectoryIsFound(t *testing.T) {
	for _, kind := range []config.ResolverKind{config.FullResolver, config.CacheResolver} {
		a, b := testAccount(2), testAccount(3)
		w := newOperatorWorld(t, kind, nil)
		w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), refusedText)
		w.files[publicOf(a)], w.files[publicOf(b)] = w.account(a, nil), w.account(b, nil)
		w.pass(notFoundSpan)
		w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")
		if got := w.system("$SYS.REQ.CLAIMS.LIST", ""); !strings.Contains(got, publicOf(a)) {
			t.Errorf("listed: %s", got)
		}
		if kind == config.FullResolver {
			if got := w.system("$SYS.REQ.ACCOUNT."+publicOf(b)+".CLAIMS.LOOKUP", ""); strings.TrimSpace(got) != w.files[publicOf(b)] {
				t.Errorf("looked up: %q", got)
			}
		}
	}
}

// A cache that finds more than it may keep forgets what was used longest ago.
func TestACacheForgetsForWhatItFinds(t *testing.T) {
	a, b := testAccount(2), testAccount(3)
	w := newOperatorWorld(t, config.CacheResolver, func(o *Options) { o.Operators.Resolver.Limit = 2 })
	w.files[publicOf(a)], w.files[publicOf(b)] = w.account(a, nil), w.account(b, nil)
	w.pass(1)
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")
	w.pass(1)
	w.wants(w.login(w.user(testUser(2), b, nil), testUser(2)), "PONG")
	w.run()
	if len(w.files) != 2 || w.files[publicOf(b)] == "" {
		t.Errorf("there are %d", len(w.files))
	}
}

// A cache counts the time of what it finds from then on, and anew when that is read or updated. When its time is over it goes; what
// is in force stays.
func TestACacheForgetsInTime(t *testing.T) {
	a, b := testAccount(2), testAccount(3)
	second := Instant(time.Second)
	w := newOperatorWorld(t, config.CacheResolver, nil)
	w.files[publicOf(a)], w.files[publicOf(b)] = w.account(a, nil), w.account(b, nil)
	w.pass(100 * second)
	w.e.opts.Operators.Resolver.TTL = 10 * time.Second
	w.restart()
	w.run()
	there := func(want ...nkeys.KeyPair) {
		t.Helper()
		w.run()
		if len(w.files) != len(want) || len(w.e.trust.shelf.entries) != len(want) {
			t.Errorf("there are %d files and %d entries, want %d", len(w.files), len(w.e.trust.shelf.entries), len(want))
		}
		for _, k := range want {
			if w.files[publicOf(k)] == "" {
				t.Error("one is missing that should be there")
			}
		}
	}
	w.pass(2 * second)
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")
	w.pass(8*second - 1)
	there(a, b, testAccount(1))
	w.pass(1)
	there(a)
	if got := w.system(updates, w.account(a, nil)); !strings.Contains(got, "jwt updated cache") {
		t.Error(got)
	}
	w.pass(2 * second) // when it would go without
	there(a)
	w.wants(w.login(w.user(testUser(2), b, nil), testUser(2)), refusedText)
	w.pass(5 * second)
	there(a)
	w.reloads(func(o *Options) {
		next := *o.Operators
		next.Resolver.TTL = 3 * time.Second
		o.Operators = &next
	})
	there()
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")
}

// A deletion is of what others have put into the directory, too, and counts though the file can't be removed, until there is another
// JWT.
func TestDeletedThoughItIsStillThere(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.FullResolver, nil)
	ask := func() string {
		c := w.login(w.user(testUser(9), testAccount(1), nil), testUser(9))
		say(w.e, c, "SUB R 1\r\n"+asks("$SYS.REQ.CLAIMS.DELETE", w.deletion(publicOf(a))))
		w.run()
		return w.take(c)
	}
	lets := func(want string) {
		t.Helper()
		w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), want)
	}
	w.files[publicOf(a)] = w.account(a, nil)
	if got := ask(); !strings.Contains(got, "deleted 1 accounts") || w.files[publicOf(a)] != "" {
		t.Errorf("%q, and there is %q", got, w.files[publicOf(a)])
	}
	w.files[publicOf(a)] = w.account(a, nil)
	w.full = true
	if got, want := ask(), `"error":{"code":500,"description":"deleted 0 accounts, failed for 1 - `+publicOf(a)+`: the disk is full"}`; !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	lets(refusedText)
	w.full = false
	w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(a, nil))
	lets("PONG")
}

// A deletion counts against what was looked for before and is found after it.
func TestDeletedWhileItIsLookedFor(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.FullResolver, nil)
	w.files[publicOf(a)] = w.account(a, nil)
	sys := w.login(w.user(testUser(9), testAccount(1), nil), testUser(9))
	w.wants(sys, "PONG")
	for rounds := range 6 {
		w.files[publicOf(a)] = w.account(a, nil)
		c := accept(w.e)
		w.take(c)
		say(w.e, c, `CONNECT {"verbose":false,"jwt":"`+w.user(testUser(1), a, func(c *jwt.UserClaims) { c.BearerToken = true })+`"}`+"\r\nPING\r\n")
		for range rounds {
			w.round()
		}
		say(w.e, sys, asks("$SYS.REQ.CLAIMS.DELETE", w.deletion(publicOf(a))))
		w.run()
		if got := w.take(c); strings.HasSuffix(got, "PONG\r\n") || w.files[publicOf(a)] != "" {
			t.Errorf("after %d rounds: %q", rounds, got)
		}
		w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), refusedText)
		if ch := w.e.trust.charters[publicOf(a)]; ch != nil && !ch.deleted {
			t.Error("it is in force")
		}
		w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(a, nil))
		w.system("$SYS.REQ.CLAIMS.DELETE", w.deletion(publicOf(a)))
	}
}

// Whoever names accounts that there are none of does not have the directory asked for one over and over; but what is told of
// meanwhile is there at once.
func TestTheDirectoryIsNotAskedAgainAtOnce(t *testing.T) {
	a, u := testAccount(2), testUser(1)
	w := newOperatorWorld(t, config.FullResolver, nil)
	ops := func(f func()) VaultID { before := w.e.vaultID; f(); return w.e.vaultID - before }
	enter := func() { w.wants(w.login(w.user(u, a, nil), u), refusedText) }
	if n := ops(enter); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if n := ops(func() { enter(); enter() }); n != 0 {
		t.Errorf("asked %d times again", n)
	}
	w.pass(notFoundSpan)
	if n := ops(enter); n != 1 {
		t.Errorf("asked %d times later", n)
	}
	w.system(updates, w.account(a, nil))
	w.wants(w.login(w.user(u, a, nil), u), "PONG")
}

// The log is told of so many imports without an account only, and of the number of the others.
func TestLinesOfImportsAreBounded(t *testing.T) {
	w := newOperatorWorld(t, config.FullResolver, nil)
	a := w.account(testAccount(2), func(c *jwt.AccountClaims) {
		for i := range missedLines + 7 {
			c.Imports.Add(&jwt.Import{Account: publicOf(testAccount(1000 + i)), Subject: "s", LocalSubject: jwt.RenamingSubject("s" + strconv.Itoa(i)), Type: jwt.Stream})
		}
	})
	w.system(updates, a)
	w.wants(w.login(w.user(testUser(1), testAccount(2), nil), testUser(1)), "PONG")
	w.pass(Instant(hushedSpan))
	w.e.BeginTurn()
	w.e.EndTurn()
	n := 0
	for _, line := range w.log {
		if strings.Contains(line, "Can't locate account") {
			n++
		}
	}
	if n != missedLines || !w.logged("7 imports whose accounts can't be located were not logged") {
		t.Errorf("%d lines", n)
	}
}
