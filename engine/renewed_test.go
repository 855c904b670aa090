package engine

import (
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
)

const lapsedText = "-ERR 'Account Authentication Expired'"

// lapsingWorld is operatorWorld with account 2, whose JWT expires after ten seconds.
type lapsingWorld struct{ *operatorWorld }

func (w lapsingWorld) text(seconds int64) string {
	return w.account(testAccount(2), func(c *jwt.AccountClaims) { c.Expires = int64(year2100/1e9) + seconds })
}

// serves puts a JWT where the resolver finds it.
func (w lapsingWorld) serves(text string) {
	key := publicOf(testAccount(2))
	w.pages["http://x/"+key], w.files[key] = text, text
}

func newLapsingWorld(t *testing.T, kind config.ResolverKind) lapsingWorld {
	w := lapsingWorld{newOperatorWorld(t, kind, nil)}
	w.serves(w.text(10))
	c := w.lets(2, "PONG")
	w.pass(Instant(11e9))
	w.wants(c, lapsedText)
	return w
}

// An account whose JWT has expired is looked for when somebody is to be its user: it may have been renewed where it came from.
func TestARenewedAccountIsFound(t *testing.T) {
	for _, kind := range []config.ResolverKind{config.URLResolver, config.FullResolver, config.CacheResolver} {
		for _, tried := range []bool{false, true} {
			w := newLapsingWorld(t, kind)
			if tried {
				w.lets(2, refusedText)
				w.serves(w.text(20))
				w.lets(2, refusedText) // not again already
				w.pass(notFoundSpan)
			} else {
				w.serves(w.text(20))
			}
			c := w.lets(2, "PONG")
			w.lets(2, "PONG")
			w.pass(Instant(10e9))
			w.wants(c, lapsedText)
			w.serves(w.account(testAccount(2), nil))
			w.lets(2, "PONG")
		}
	}
}

// What has expired everywhere is asked for once in a while, however often somebody tries; what is not any better does not count.
func TestAnExpiredAccountIsNotFetchedAllTheTime(t *testing.T) {
	w := newLapsingWorld(t, config.URLResolver)
	for _, page := range []string{"", "junk", w.text(10), w.text(5), w.account(testAccount(3), nil)} {
		w.serves(page)
		w.asked = nil
		for range 10 {
			w.lets(2, refusedText)
		}
		if len(w.asked) != 1 {
			t.Errorf("%q: asked for %d times", page, len(w.asked))
		}
		w.pass(notFoundSpan)
	}
	w.serves(w.text(100))
	ch := w.e.trust.charters[publicOf(testAccount(2))]
	ch.claims.IssuedAt += 100
	w.lets(2, refusedText)
	ch.claims.IssuedAt -= 100
	w.pass(notFoundSpan)
	w.lets(2, "PONG")
	// Nothing is asked where the first JWT that was found had expired already, and a memory resolver knows of no others.
	w = lapsingWorld{newOperatorWorld(t, config.URLResolver, nil)}
	w.serves(w.text(0))
	for range 10 {
		w.lets(2, refusedText)
	}
	if len(w.asked) != 1 {
		t.Errorf("asked for %d times", len(w.asked))
	}
	base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	w = lapsingWorld{newOperatorWorld(t, config.MemoryResolver, nil, lapsingWorld{base}.text(10))}
	w.lets(2, "PONG")
	w.pass(Instant(11e9))
	w.lets(2, refusedText)
	if w.logged("fetch failed") {
		t.Error("a memory resolver looks for it")
	}
}

// Others are asked for what is in the directory as it was. What is said while they think about it counts.
func TestAnExpiredAccountIsAskedFor(t *testing.T) {
	for _, updated := range []bool{false, true} {
		w := newLapsingWorld(t, config.CacheResolver)
		admin := w.administrator()
		say(w.e, admin, "SUB $SYS.REQ.ACCOUNT.*.CLAIMS.LOOKUP 2\r\n")
		c := w.startLogin(testUser(2), testAccount(2))
		w.run()
		_, rest, _ := strings.Cut(w.take(admin), "CLAIMS.LOOKUP 2 ")
		reply, _, _ := strings.Cut(rest, " ")
		if updated {
			say(w.e, admin, asks("$SYS.REQ.CLAIMS.UPDATE", w.revoking(testAccount(2), testUser(2))))
			w.run()
		}
		text := w.text(20)
		say(w.e, admin, strings.Replace(asks("x", text), "PUB x R", "PUB "+reply, 1))
		w.run()
		if updated {
			w.wants(c, refusedText)
			continue
		}
		w.wants(c, "PONG")
		if w.files[publicOf(testAccount(2))] != text {
			t.Error("what was found is not kept")
		}
	}
}
