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
	o := w.e.opts
	w.fakeWorld = newFakeWorld()
	env := w.env()
	env.Clock, env.Web, env.Vault = w, w, w
	w.e = New(o, env)
	turn(w.e, w.e.Start)
	turn(w.e, func() { w.e.ListenerUp(clientListener, 4222) })
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
