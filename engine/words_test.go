package engine

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
)

// backwards ends the engine's jobs in the reverse of the order in which they began, and then lets the rest happen.
func (w *operatorWorld) backwards() {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(w.jobs)), func(id JobID) bool { return id >= 1<<40 })
	for _, id := range slices.Backward(all) {
		run := w.jobs[id]
		delete(w.jobs, id)
		run()
		turn(w.e, func() { w.e.JobDone(id) })
	}
	w.run()
}

// What is said of an account is read by jobs, which end in any order; what was said last counts.
func TestLastWordCounts(t *testing.T) {
	a, user := testAccount(2), testUser(1)
	base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	plain := base.account(a, nil)
	revoked := base.account(a, func(c *jwt.AccountClaims) {
		c.Revocations = jwt.RevocationList{"*": int64(year2100 / 1e9)}
	})
	none := base.account(a, func(c *jwt.AccountClaims) { c.Limits.Conn = 0 })
	reload := func(w *operatorWorld, text string) {
		o := w.e.opts
		next := *o.Operators
		next.Preload = []config.PreloadedJWT{{Account: publicOf(a), JWT: text}}
		o.Operators = &next
		w.e.Reload(o)
	}
	tell := func(w *operatorWorld, c ConnID, subj, body string) {
		w.e.Received(c, []byte("PUB "+subj+" R "+strconv.Itoa(len(body))+"\r\n"+body+"\r\n"))
	}
	deletion := func(w *operatorWorld) string {
		g := jwt.NewGenericClaims(publicOf(w.op))
		g.Data = map[string]any{"accounts": []any{publicOf(a)}}
		text, err := g.Encode(w.op)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	const update, del = "$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.CLAIMS.DELETE"
	for _, x := range []struct {
		name string
		kind config.ResolverKind
		held bool // somebody is connected before
		do   func(w *operatorWorld, c ConnID)
		want string // of who connects afterwards
	}{
		{"two reloads", config.MemoryResolver, true, func(w *operatorWorld, _ ConnID) { reload(w, plain); reload(w, revoked) }, refusedText},
		{"two reloads back", config.MemoryResolver, true, func(w *operatorWorld, _ ConnID) { reload(w, revoked); reload(w, none); reload(w, plain) }, "PONG"},
		{"a reload while the former JWT is read", config.MemoryResolver, false, func(w *operatorWorld, _ ConnID) {
			w.e.seek(publicOf(a))
			reload(w, revoked)
		}, refusedText},
		{"two updates", config.FullResolver, true, func(w *operatorWorld, c ConnID) {
			tell(w, c, update, plain)
			tell(w, c, update, revoked)
		}, refusedText},
		{"two updates of whom nobody uses", config.FullResolver, false, func(w *operatorWorld, c ConnID) {
			tell(w, c, update, plain)
			tell(w, c, update, revoked)
		}, refusedText},
		{"deleted after an update", config.FullResolver, true, func(w *operatorWorld, c ConnID) {
			tell(w, c, update, none)
			tell(w, c, del, deletion(w))
		}, refusedText},
		{"deleted before an update", config.FullResolver, true, func(w *operatorWorld, c ConnID) {
			tell(w, c, del, deletion(w))
			tell(w, c, update, plain)
		}, "PONG"},
		{"an update while the former JWT is read", config.MemoryResolver, false, func(w *operatorWorld, c ConnID) {
			w.e.seek(publicOf(a))
			tell(w, c, "$SYS.REQ.ACCOUNT."+publicOf(a)+".CLAIMS.UPDATE", revoked)
		}, refusedText},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := newOperatorWorld(t, x.kind, nil, plain)
			operator := w.login(w.user(testUser(99), testAccount(1), nil), testUser(99))
			w.wants(operator, "PONG")
			say(w.e, operator, "SUB R 1\r\n")
			if x.held {
				w.wants(w.login(w.user(user, a, nil), user), "PONG")
			}
			turn(w.e, func() { x.do(w, operator) })
			w.backwards()
			w.wants(w.login(w.user(user, a, nil), user), x.want)
		})
	}
}

// What an update's answer says of it is so: one that a later one overtook did not count.
func TestOvertakenUpdateIsToldSo(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.FullResolver, nil)
	c := w.login(w.user(testUser(99), testAccount(1), nil), testUser(99))
	w.wants(c, "PONG")
	say(w.e, c, "SUB R 1\r\nSUB S 2\r\n")
	first, second := w.account(a, nil), w.account(a, func(c *jwt.AccountClaims) { c.Limits.Conn = 0 })
	turn(w.e, func() {
		for i, text := range []string{first, second} {
			w.e.Received(c, []byte("PUB $SYS.REQ.CLAIMS.UPDATE "+string("RS"[i])+" "+strconv.Itoa(len(text))+"\r\n"+text+"\r\n"))
		}
	})
	w.backwards()
	got := w.take(c)
	for _, want := range []string{"a later word about this account counts already", `"message":"jwt updated"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if w.files[publicOf(a)] != second {
		t.Error("what was said first is in the directory")
	}
}
