package engine

import (
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"

	"github.com/natsd/natsd/config"
)

const barredText = `-ERR 'Permissions Violation for Publish to "$SYS.REQ.USER.AUTH"'`

// forges has a connection send the service what is no question of the server's, in every way there is.
func (w *calloutWorld) forges(who string, c ConnID) {
	w.t.Helper()
	w.take(c)
	w.take(w.service)
	say(w.e, c, "PUB $SYS.REQ.USER.AUTH 6\r\nforged\r\n")
	w.wants(c, barredText)
	say(w.e, c, "PUB $SYS.REQ.USER.INFO $SYS.REQ.USER.AUTH 0\r\n\r\n")
	w.run()
	w.wants(c, `-ERR 'Permissions Violation for Publish with Reply of "$SYS.REQ.USER.AUTH"'`)
	say(w.e, c, "SUB R 99\r\nUNSUB 99 1\r\nPUB $SYS.REQ.USER.INFO R 0\r\n\r\n")
	w.run()
	if got := w.take(c); !strings.Contains(got, `"deny":["$SYS.REQ.USER.AUTH"]`) {
		w.t.Errorf("%s: %s", who, got)
	}
	if got := w.take(w.service); got != "" && c != w.service {
		w.t.Errorf("%s: the service got %q", who, got)
	}
}

// Nobody in the account of the service may question it in the server's place, those that the configuration has, whom the service
// lets in, and the service itself.
func TestNobodyElseAsksTheService(t *testing.T) {
	w := newCalloutWorld(t, false, func(o *Options) { o.Callout.Users = append(o.Callout.Users, "other") })
	w.forges("the service", w.service)
	w.forges("a user of the configuration", w.connect("other", "p"))
	c := w.connect("joe", "x")
	w.reply(w.question(), w.issuer, nil, func(u *jwt.UserClaims) { u.Audience = "AUTH" })
	w.wants(c, "PONG")
	w.forges("a user whom the service has let in", c)
	c = w.connect("joe", "x")
	w.reply(w.question(), w.issuer, nil, nil)
	w.wants(c, "PONG")
	say(w.e, c, "SUB $SYS.REQ.USER.AUTH 1\r\nPUB $SYS.REQ.USER.AUTH 1\r\n1\r\n")
	w.wants(c, "MSG $SYS.REQ.USER.AUTH 1 1") // elsewhere it is a subject as any
}

// The global account is the service's where none is named, and the one user of authorization is in it.
func TestOneUserIsTheService(t *testing.T) {
	w := newCalloutWorld(t, false, func(o *Options) {
		o.Accounts, o.User, o.Pass = nil, "svc", "p"
		o.Callout.Account = ""
	})
	w.forges("the one user", w.service)
}

// No permission to answer lets anybody send the service something: what comes by an import may have any reply subject.
func TestNoAnswerIsAQuestion(t *testing.T) {
	w := newCalloutWorld(t, false, func(o *Options) {
		o.Callout.Users = append(o.Callout.Users, "other", "app")
		o.Accounts[0].Users[1].Permissions = &config.Permissions{AllowResponses: &config.ResponsePermission{Max: -1}}
		o.Accounts[1].Exports = []config.Export{{Kind: config.Stream, Subject: "x", Public: true}}
		o.Accounts[0].Imports = []config.Import{{Kind: config.Stream, Account: "APP", Subject: "x"}}
	})
	other, app := w.connect("other", "p"), w.connect("app", "p")
	say(w.e, other, "SUB x 1\r\n")
	w.take(other)
	say(w.e, app, "PUB x $SYS.REQ.USER.AUTH 1\r\n1\r\n")
	w.wants(other, "MSG x 1 $SYS.REQ.USER.AUTH 1")
	say(w.e, other, "PUB $SYS.REQ.USER.AUTH 6\r\nforged\r\n")
	w.wants(other, barredText)
	w.wants(w.service, "")
}

// Who may question the service, and who may not, follows the configuration at a reload.
func TestServiceMovesAtReload(t *testing.T) {
	w := newCalloutWorld(t, false, nil)
	c := w.connect("joe", "x")
	w.reply(w.question(), w.issuer, nil, nil)
	w.wants(c, "PONG")
	reload := func(account string) {
		o := w.e.opts
		x := *o.Callout
		x.Account = account
		o.Callout = &x
		turn(w.e, func() { w.e.Reload(o) })
		w.run()
	}
	reload("APP")
	say(w.e, c, "PUB $SYS.REQ.USER.AUTH 6\r\nforged\r\n")
	w.wants(c, barredText)
	say(w.e, w.service, "PUB $SYS.REQ.USER.AUTH 1\r\n1\r\n")
	w.wants(w.service, "MSG $SYS.REQ.USER.AUTH 1 1")
	reload("AUTH")
	say(w.e, c, "SUB $SYS.REQ.USER.AUTH 1\r\nPUB $SYS.REQ.USER.AUTH 1\r\n1\r\n")
	w.wants(c, "MSG $SYS.REQ.USER.AUTH 1 1")
	w.forges("the service", w.service)
}

// In operator mode an account's JWT says whether a service is in it, and whoever is connected follows.
func TestNobodyElseAsksTheServiceOfAJWT(t *testing.T) {
	a, svc := testAccount(2), testUser(1)
	w := newOperatorWorld(t, config.FullResolver, nil)
	update := func(edit func(*jwt.AccountClaims)) { w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(a, edit)) }
	update(nil)
	x := &calloutWorld{operatorWorld: w, service: w.login(w.user(svc, a, nil), svc)}
	w.wants(x.service, "PONG")
	say(w.e, x.service, "SUB $SYS.REQ.USER.AUTH 1\r\nPUB $SYS.REQ.USER.AUTH 1\r\n1\r\n")
	w.wants(x.service, "MSG $SYS.REQ.USER.AUTH 1 1")
	update(func(c *jwt.AccountClaims) { c.EnableExternalAuthorization(publicOf(svc)) })
	x.forges("the service", x.service)
	x.forges("a user", func() ConnID {
		c := w.login(w.user(testUser(2), a, func(c *jwt.UserClaims) { c.BearerToken = true }), nil)
		x.issuer = a
		x.reply(x.question(), a, nil, func(u *jwt.UserClaims) { u.Audience = "" })
		w.wants(c, "PONG")
		return c
	}())
	update(nil)
	say(w.e, x.service, "PUB $SYS.REQ.USER.AUTH 1\r\n1\r\n")
	w.wants(x.service, "MSG $SYS.REQ.USER.AUTH 1 1")
}
