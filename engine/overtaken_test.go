package engine

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
)

// jobsDone lets the jobs end that are under way, in the order in which they began; the vault does nothing meanwhile.
func (w *operatorWorld) jobsDone() {
	for _, id := range slices.Sorted(maps.Keys(w.jobs)) {
		if id < 1<<40 {
			run := w.jobs[id]
			delete(w.jobs, id)
			run()
			turn(w.e, func() { w.e.JobDone(id) })
		}
	}
	if w.wake <= w.now {
		w.ring(w.e)
	}
}

// vaultDoes has the vault do the first of what it was asked for.
func (w *operatorWorld) vaultDoes() {
	w.t.Helper()
	for _, id := range slices.Sorted(maps.Keys(w.jobs)) {
		if id >= 1<<40 {
			run := w.jobs[id]
			delete(w.jobs, id)
			run()
			return
		}
	}
	w.t.Fatal("the vault has nothing to do")
}

// again starts another engine with the same directory.
func (w *operatorWorld) again() {
	w.restart()
	w.run()
}

// startLogin has a client begin to log in.
func (w *operatorWorld) startLogin(user, account nkeys.KeyPair) ConnID {
	c := accept(w.e)
	w.take(c)
	raw, err := user.Sign([]byte(w.e.lookup(c).nonce))
	if err != nil {
		w.t.Fatal(err)
	}
	say(w.e, c, `CONNECT {"verbose":false,"headers":true,"jwt":"`+w.user(user, account, nil)+`","sig":"`+base64.RawURLEncoding.EncodeToString(raw)+`"}`+"\r\nPING\r\n")
	return c
}

// revoking is an account's JWT that revokes users.
func (w *operatorWorld) revoking(a nkeys.KeyPair, users ...nkeys.KeyPair) string {
	return w.account(a, func(c *jwt.AccountClaims) {
		c.Revocations = jwt.RevocationList{}
		for _, u := range users {
			c.Revocations[publicOf(u)] = int64(year2100 / 1e9)
		}
	})
}

// What a login has found in the directory is not what an update has said since, though it arrives later: whom that revokes does
// not get in, however far either was when the other went on.
func TestWhatWasFoundIsNotSaidLater(t *testing.T) {
	a, u := testAccount(2), testUser(1)
	for found := range 2 {
		for read := range 2 {
			w := newOperatorWorld(t, config.FullResolver, nil)
			old, next := w.account(a, nil), w.revoking(a, u)
			w.files[publicOf(a)] = old
			w.again()
			c := w.administrator()
			d := w.startLogin(u, a)
			w.jobsDone() // the user's JWT is verified: the directory is asked for the account's
			if found > 0 {
				w.vaultDoes()
				if read > 0 {
					w.jobsDone()
				}
			}
			turn(w.e, func() { w.e.Received(c, []byte(asks(updates, next))) })
			w.backwards()
			w.wants(c, `"message":"jwt updated"`)
			if ch := w.e.trust.charters[publicOf(a)]; w.files[publicOf(a)] != next || ch == nil || ch.claims.Text != next {
				t.Error("the update is not in force, or not kept")
			}
			if got := w.take(d); !strings.Contains(got, "-ERR") {
				t.Errorf("who is revoked gets %q", got)
			}
			w.wants(w.login(w.user(u, a, nil), u), refusedText)
		}
	}
	w := newOperatorWorld(t, config.FullResolver, nil)
	old, next := w.account(a, nil), w.revoking(a, u)
	w.files[publicOf(a)] = old
	w.again()
	c := w.administrator()
	w.startLogin(u, a)
	w.jobsDone()
	turn(w.e, func() { w.e.Received(c, []byte(asks(updates, next))) })
	w.jobsDone()  // the directory is to keep the update
	w.vaultDoes() // and has read the former
	w.jobsDone()
	w.run()
	w.wants(c, `"message":"jwt updated"`)
	if w.e.trust.charters[publicOf(a)].claims.Text != next {
		t.Error("in force is what was there before")
	}
	w.wants(w.login(w.user(u, a, nil), u), refusedText)
}

// An update that is told of while an account's page is on its way counts, and the page does not.
func TestAPageIsNotSaidLater(t *testing.T) {
	a, u := testAccount(2), testUser(1)
	w := newOperatorWorld(t, config.URLResolver, nil)
	w.pages["http://x/"+publicOf(a)] = w.account(a, nil)
	c := w.administrator()
	d := w.login(w.user(u, a, nil), u)
	say(w.e, c, asks("$SYS.REQ.ACCOUNT."+publicOf(a)+".CLAIMS.UPDATE", w.revoking(a, u)))
	w.run()
	w.wants(c, `"message":"jwt updated"`)
	w.fetch()
	w.wants(d, refusedText)
	w.wants(w.login(w.user(u, a, nil), u), refusedText)
}

// What another server answers is not kept in place of an update that was told of since the question.
func TestAnAnswerIsNotKeptOverAnUpdate(t *testing.T) {
	a, u := testAccount(2), testUser(1)
	w := newOperatorWorld(t, config.FullResolver, nil)
	old, next := w.account(a, nil), w.revoking(a, u)
	c := w.administrator()
	say(w.e, c, "SUB $SYS.REQ.ACCOUNT.*.CLAIMS.LOOKUP 2\r\n")
	d := w.login(w.user(u, a, nil), u)
	_, rest, _ := strings.Cut(w.take(c), "CLAIMS.LOOKUP 2 ")
	reply, _, _ := strings.Cut(rest, " ")
	turn(w.e, func() {
		w.e.Received(c, []byte(asks(updates, next)+"PUB "+reply+" "+strconv.Itoa(len(old))+"\r\n"+old+"\r\n"))
	})
	w.run()
	w.wants(c, `"message":"jwt updated"`)
	if w.files[publicOf(a)] != next {
		t.Error("the update is not kept")
	}
	w.wants(d, "-ERR")
}

// An update that was kept is in force, though the next one can't be; and what was never kept counts against none that is read later.
func TestKeptUpdateIsInForceThoughTheNextFails(t *testing.T) {
	a, u := testAccount(2), testUser(1)
	w := newOperatorWorld(t, config.FullResolver, nil)
	c := w.administrator()
	say(w.e, c, asks(updates, w.account(a, nil)))
	w.run()
	d := w.login(w.user(u, a, nil), u)
	w.wants(d, "PONG")
	first, second := w.revoking(a, u), w.revoking(a, u, testUser(2))
	for i, text := range []string{first, second} {
		w.full = i == 1
		turn(w.e, func() { w.e.Received(c, []byte(asks(updates, text))) })
		w.jobsDone() // it is to be kept
	}
	w.full = false
	w.run()
	if w.files[publicOf(a)] != first || w.e.trust.charters[publicOf(a)].claims.Text != first {
		t.Error("the update that was kept is not in force")
	}
	w.wants(d, "-ERR 'User Authentication Revoked'")
}

// After updates that all failed the one that was kept before them counts, and what is read later, though it was said before them.
func TestFailedUpdatesDoNotCount(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.FullResolver, nil)
	c := w.administrator()
	none := w.account(a, func(c *jwt.AccountClaims) { c.Limits.Conn = 0 })
	w.full = true
	turn(w.e, func() {
		w.e.Received(c, []byte(asks(updates, w.account(a, nil))+asks(updates, none)+asks(updates, none)))
	})
	said := slices.Sorted(maps.Keys(w.jobs))
	slow := w.jobs[said[0]]
	delete(w.jobs, said[0])
	w.jobsDone()
	w.run()
	w.full = false
	w.take(c)
	slow()
	turn(w.e, func() { w.e.JobDone(said[0]) })
	w.run()
	w.wants(c, `"message":"jwt updated"`)
}

// An update that was to be kept when the account was deleted does not come into force.
func TestUpdateBeforeADeletionIsNotInForce(t *testing.T) {
	a, u := testAccount(2), testUser(1)
	w := newOperatorWorld(t, config.FullResolver, nil)
	c := w.administrator()
	say(w.e, c, asks(updates, w.account(a, nil)))
	w.run()
	w.wants(w.login(w.user(u, a, nil), u), "PONG")
	turn(w.e, func() { w.e.Received(c, []byte(asks(updates, w.revoking(a, testUser(2))))) })
	w.jobsDone() // it is to be kept
	turn(w.e, func() { w.e.Received(c, []byte(asks("$SYS.REQ.CLAIMS.DELETE", w.deletion(publicOf(a))))) })
	w.jobsDone()
	w.vaultDoes()
	if !w.e.trust.charters[publicOf(a)].deleted {
		t.Error("it is in force again")
	}
	w.run()
	w.wants(w.login(w.user(u, a, nil), u), refusedText)
}
