package engine

import (
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
)

// administrator is connected to the server's own account, with a subscription R for answers.
func (w *operatorWorld) administrator() ConnID {
	w.t.Helper()
	c := w.login(w.user(testUser(99), testAccount(1), nil), testUser(99))
	w.wants(c, "PONG")
	say(w.e, c, "SUB R 1\r\n")
	return c
}

func asks(subj, body string) string {
	return "PUB " + subj + " R " + strconv.Itoa(len(body)) + "\r\n" + body + "\r\n"
}

func (w *operatorWorld) deletion(accounts ...any) string {
	g := jwt.NewGenericClaims(publicOf(w.op))
	g.Data = map[string]any{"accounts": accounts}
	text, err := g.Encode(w.op)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

const updates = "$SYS.REQ.CLAIMS.UPDATE"

// A directory without the system account's JWT does not lock out who has that account's key and would store it there; one that can't be
// read, or holds something else, does. The JWT counts as soon as it is there.
func TestSystemAccountIsBootstrapped(t *testing.T) {
	sys, a := testAccount(1), testAccount(2)
	without := func(o *Options) { o.Operators.Preload = nil }
	w := newOperatorWorld(t, config.FullResolver, without)
	if !w.logged("Using bootstrapping system account") {
		t.Error("the log does not say so")
	}
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), refusedText)
	w.wants(w.login(w.user(testUser(1), a, func(c *jwt.UserClaims) { c.IssuerAccount = publicOf(sys) }), testUser(1)), refusedText)
	c := w.administrator()
	say(w.e, c, asks(updates, w.account(a, nil)))
	w.run()
	w.wants(c, "jwt updated")
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")
	say(w.e, c, asks(updates, w.account(sys, func(c *jwt.AccountClaims) {
		c.Revocations = jwt.RevocationList{publicOf(testUser(99)): int64(year2100 / 1e9)}
	})))
	w.run()
	w.wants(c, "-ERR 'User Authentication Revoked'")

	for _, holds := range []string{"nonsense", w.account(a, nil)} {
		w := newOperatorWorldWithout(t, map[string]string{publicOf(sys): holds})
		w.wants(w.login(w.user(testUser(99), sys, nil), testUser(99)), refusedText)
	}
}

// What can't be kept does not count: neither against what was said before and is read later, nor in what is said of the directory.
func TestWhatCanNotBeKeptDoesNotCount(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.FullResolver, nil)
	c := w.administrator()
	first, second := w.account(a, nil), w.account(a, func(c *jwt.AccountClaims) { c.Limits.Conn = 0 })
	turn(w.e, func() { w.e.Received(c, []byte(asks(updates, first)+asks(updates, second))) })
	if len(w.jobs) != 2 {
		t.Fatalf("%d jobs", len(w.jobs))
	}
	said, last := w.jobs, w.e.jobID
	read := func(id JobID) {
		w.jobs = map[JobID]func(){}
		said[id]()
		turn(w.e, func() { w.e.JobDone(id) })
		w.run()
	}
	w.full = true
	read(last)
	w.wants(c, "jwt update resulted in error - the disk is full")
	if got := w.system("$SYS.REQ.CLAIMS.LIST", ""); !strings.Contains(got, `"data":["`+w.sys+`"]`) {
		t.Error(got)
	}
	w.full = false
	w.take(c)
	read(last - 1)
	w.wants(c, `"message":"jwt updated"`)
	if w.files[publicOf(a)] != first {
		t.Error("the JWT that was said to be kept is not")
	}
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")
}

// A deletion that is read behind an update which was said later waits until it is known whether that is kept: if not, the account
// goes, as whoever asked for that is told, and if it is, it stays.
func TestADeletionIsNotOvertakenByWhatCanNotBeKept(t *testing.T) {
	a := testAccount(2)
	for _, full := range []bool{true, false} {
		w := newOperatorWorld(t, config.FullResolver, nil)
		first, second := w.account(a, nil), w.account(a, func(c *jwt.AccountClaims) { c.Limits.Conn = 1 })
		w.system(updates, first)
		c := w.administrator()
		turn(w.e, func() {
			w.e.Received(c, []byte(asks("$SYS.REQ.CLAIMS.DELETE", w.deletion(publicOf(a)))+asks(updates, second)))
		})
		said, deletion := w.jobs, w.e.jobID-1
		read := func(id JobID) {
			w.jobs = map[JobID]func(){}
			said[id]()
			turn(w.e, func() { w.e.JobDone(id) })
		}
		w.full = full
		read(deletion + 1)
		w.full = false
		kept := w.jobs
		read(deletion)
		if len(w.jobs) > 0 || w.take(c) != "" {
			t.Error("the deletion does not wait")
		}
		w.jobs = kept
		w.run()
		answers, want := w.take(c), second
		if full {
			want = ""
		}
		if got := w.files[publicOf(a)]; got != want || !strings.Contains(answers, `"deleted 1 accounts"`) || strings.Contains(answers, "jwt updated") == full {
			t.Errorf("%v: the directory holds %q, answered was %q", full, got, answers)
		}
		if full {
			w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), refusedText)
		} else {
			w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")
		}
	}
}

// A JWT that can't be replaced stays, and the directory is said to hold that one.
func TestWhatCanNotBeReplacedStays(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.FullResolver, nil)
	first, second := w.account(a, nil), w.account(a, func(c *jwt.AccountClaims) { c.Limits.Conn = 0 })
	w.system(updates, first)
	sum := w.e.trust.shelf.sum()
	w.full = true
	if got := w.system(updates, second); !strings.Contains(got, "the disk is full") {
		t.Error(got)
	}
	if w.e.trust.shelf.sum() != sum {
		t.Error("the directory is said to hold what could not be stored")
	}
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")

	c := w.administrator() // both fail, and the second one's outcome comes when the first is forgotten
	turn(w.e, func() { w.e.Received(c, []byte(asks(updates, second)+asks(updates, first))) })
	w.run()
	if w.e.trust.shelf.sum() != sum {
		t.Error("the directory is said to hold what could not be stored")
	}
}

// What is said of accounts before it is known what the directory holds is not lost.
func TestSaidBeforeTheDirectoryIsListed(t *testing.T) {
	a, b := testAccount(2), testAccount(3)
	w := newOperatorWorld(t, config.FullResolver, nil)
	w.files[publicOf(b)] = w.account(b, nil)
	sys := w.files[w.sys]
	w.restart()
	list := w.listed
	w.listed = nil
	c := w.administrator()
	say(w.e, c, asks(updates, w.account(a, nil)))
	w.run()
	say(w.e, c, asks("$SYS.REQ.CLAIMS.DELETE", w.deletion(publicOf(b))))
	w.run()
	w.take(c)
	turn(w.e, func() {
		w.e.VaultDone(list[0], VaultResult{Entries: []VaultEntry{{Account: publicOf(b)}, {Account: w.sys}}})
	})
	w.run()
	w.wants(c, `"message":"deleted 1 accounts"`)
	if w.files[publicOf(a)] == "" || w.files[publicOf(b)] != "" || w.files[w.sys] != sys {
		t.Errorf("the directory holds %d", len(w.files))
	}
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")
	w.wants(w.login(w.user(testUser(1), b, nil), testUser(1)), refusedText)
}

// A preloaded JWT that is read again when its account has ended meanwhile concerns nobody: nothing is logged of it.
func TestNobodyIsToldOfWhatNobodyHolds(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.MemoryResolver, nil, (&operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}).account(a, nil))
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")
	foreign := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 7)}
	preload := func(jwts ...config.PreloadedJWT) {
		o := w.e.opts
		next := *o.Operators
		next.Preload = jwts
		o.Operators = &next
		turn(w.e, func() { w.e.Reload(o) })
	}
	preload(config.PreloadedJWT{Account: publicOf(a), JWT: foreign.account(a, nil)})
	preload()
	w.run()
	if w.logged("can't be used") {
		t.Error("it is logged")
	}
}

// The last word about an account is remembered only as long as there is one before it that could still come to count.
func TestWordsAreForgotten(t *testing.T) {
	w := newWords()
	const many = 100 * wordsKept
	slow := w.next()
	for i := range many {
		n := w.next()
		if !w.takes(strconv.Itoa(i), n) {
			t.Fatal("the first word about an account does not count")
		}
		w.settled(n)
	}
	if w.takes("5", slow) {
		t.Error("what was said first counts though somebody has said more since")
	}
	w.settled(slow)
	if len(w.last) > wordsKept || len(w.open) > 0 {
		t.Errorf("%d words remembered, %d open", len(w.last), len(w.open))
	}
	for i := range many { // one is always open
		n := w.next()
		w.takes(strconv.Itoa(i), n)
		if i > 0 {
			w.settled(n - 1)
		}
		if len(w.last) > 3*wordsKept {
			t.Fatalf("%d words remembered of %d", len(w.last), i)
		}
	}
}

// All that is said of accounts is settled in the end, however it ends.
func TestWordsAreSettled(t *testing.T) {
	a := testAccount(2)
	foreign := (&operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 7)}).account(a, nil)
	for _, kind := range []config.ResolverKind{config.MemoryResolver, config.FullResolver, config.CacheResolver, config.URLResolver} {
		w := newOperatorWorld(t, kind, nil)
		good := w.account(a, nil)
		w.pages["http://x/"+publicOf(a)] = good
		for _, full := range []bool{false, true} {
			w.full = full
			for _, key := range []nkeys.KeyPair{a, testAccount(3)} {
				for _, text := range []string{"x", foreign, good} {
					w.system("$SYS.REQ.ACCOUNT."+publicOf(key)+".CLAIMS.UPDATE", text)
				}
			}
			w.login(w.user(testUser(1), a, nil), testUser(1))
			o := w.e.opts
			next := *o.Operators
			next.Preload = []config.PreloadedJWT{{Account: publicOf(a), JWT: good}}
			o.Operators = &next
			turn(w.e, func() { w.e.Reload(o) })
			w.run()
			for _, d := range []string{"x", w.deletion(), w.deletion(publicOf(a), publicOf(testAccount(4)))} {
				w.system("$SYS.REQ.CLAIMS.DELETE", d)
			}
		}
		if n := len(w.e.trust.words.open); n != 0 || w.e.trust.words.said == 0 {
			t.Errorf("resolver %v: %d of %d words are open", kind, n, w.e.trust.words.said)
		}
	}
}

// A directory that can't be listed may hold more than is known: what is there stays, and counts before what is preloaded.
func TestDirectoryThatCanNotBeListed(t *testing.T) {
	a, b, c := testAccount(2), testAccount(3), testAccount(4)
	base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	w := newOperatorWorld(t, config.FullResolver, nil, base.account(a, nil), base.account(c, nil))
	next := w.account(a, func(c *jwt.AccountClaims) {
		c.Revocations = jwt.RevocationList{publicOf(testUser(1)): int64(year2100 / 1e9)}
	})
	w.files = map[string]string{publicOf(a): next, publicOf(b): w.account(b, nil)}
	w.restart()
	list := w.listed
	w.listed = nil
	turn(w.e, func() { w.e.VaultDone(list[0], VaultResult{Err: "permission denied"}) })
	w.run()
	w.retrusts("", func(o *config.Operators) { o.Preload = append(o.Preload, w.preloaded(5)) })
	if len(w.files) != 2 || w.files[publicOf(a)] != next {
		t.Errorf("the directory holds %d; what was updated is there: %v", len(w.files), w.files[publicOf(a)] == next)
	}
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), refusedText)
	w.wants(w.login(w.user(testUser(2), a, nil), testUser(2)), "PONG")
	w.wants(w.login(w.user(testUser(1), b, nil), testUser(1)), "PONG")
	w.wants(w.login(w.user(testUser(1), c, nil), testUser(1)), "PONG")
	if got := w.system("$SYS.REQ.CLAIMS.DELETE", w.deletion(publicOf(b))); !strings.Contains(got, "deleted 1") || w.files[publicOf(b)] != "" {
		t.Errorf("%s; it is still there: %v", got, w.files[publicOf(b)] != "")
	}
}

// What was deleted, but could not be removed, is not found again because it can't be replaced either.
func TestDeletedStaysSoOnAFullDisk(t *testing.T) {
	for _, together := range []bool{false, true} {
		a := testAccount(2)
		w := newOperatorWorld(t, config.FullResolver, nil)
		w.system(updates, w.account(a, nil))
		c := w.administrator()
		w.full = true
		remove, update := asks("$SYS.REQ.CLAIMS.DELETE", w.deletion(publicOf(a))), asks(updates, w.account(a, nil))
		if together {
			turn(w.e, func() { w.e.Received(c, []byte(remove+update)) })
		} else {
			say(w.e, c, remove)
			w.run()
			say(w.e, c, update)
		}
		w.run()
		w.wants(c, "the disk is full")
		w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), refusedText)
		w.full = false
		w.system(updates, w.account(a, nil))
		w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")
	}
}
