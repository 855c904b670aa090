package engine

import (
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
)

// Events, monitoring and services know users by their JWTs, which are told of only where they are no credentials.
func TestPapersAreTold(t *testing.T) {
	a, signer := testAccount(2), testAccount(3)
	w := newOperatorWorld(t, config.MemoryResolver, nil, (&operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}).account(a, func(c *jwt.AccountClaims) {
		c.Name = "Orders"
		c.SigningKeys.Add(publicOf(signer))
	}))
	sys := w.login(w.user(testUser(98), testAccount(1), nil), testUser(98))
	say(w.e, sys, "SUB $SYS.ACCOUNT.> 1\r\n")
	w.take(sys)
	tagged := func(c *jwt.UserClaims) {
		c.IssuerAccount = publicOf(a)
		c.Tags.Add("t1", "t2")
		c.Expires = int64(year2100/1e9) + 90
	}
	text := w.user(testUser(4), signer, tagged)
	papers := `"jwt":"` + text + `","issuer_key":"` + publicOf(signer) + `",`
	c := w.login(text, testUser(4))
	say(w.e, c, "SUB i 1\r\nPUB $SYS.REQ.USER.INFO i 0\r\n\r\n")
	w.run()
	info := `"user":"` + publicOf(testUser(4)) + `","account":"` + publicOf(a) + `","account_name":"Orders","user_name":"bob","expires":89000000000`
	if got := w.take(c); !strings.Contains(got, info) {
		t.Errorf("%q", got)
	}
	got := w.take(sys)
	for _, want := range []string{`"user":"` + publicOf(testUser(4)) + `"`, papers + `"name_tag":"Orders","tags":["t1","t2"],"kind":"Client"`, `"name":"Orders","conns":1`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
	if got := w.system("$SYS.REQ.SERVER.PING.CONNZ", `{"auth":true}`); !strings.Contains(got, papers+`"name_tag":"Orders","tags":["t1","t2"]`) {
		t.Errorf("%q", got)
	}
	for _, want := range []string{`"issuer_key":"` + publicOf(w.op) + `"`, `"name_tag":"Orders"`, `"decoded_jwt":{`, `"signing_keys":["` + publicOf(signer) + `"]`} {
		if got := w.system("$SYS.REQ.ACCOUNT."+publicOf(a)+".INFO", ""); !strings.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
	turn(w.e, func() { w.e.Closed(c, "") })
	bearer := w.user(testUser(5), signer, func(c *jwt.UserClaims) { tagged(c); c.BearerToken = true })
	w.take(sys)
	w.login(bearer, nil)
	w.login(bearer+"x", nil)
	if got := w.take(sys) + w.system("$SYS.REQ.SERVER.PING.CONNZ", `{"auth":true,"state":2}`); !strings.Contains(got, `"issuer_key"`) || strings.Contains(got, bearer) {
		t.Errorf("%q", got)
	}
}

// An account learns who did not get in because it is full.
func TestFullAccountIsTold(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.MemoryResolver, nil, (&operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}).account(a, func(c *jwt.AccountClaims) {
		c.Limits.Conn = 1
	}))
	first := w.login(w.user(testUser(4), a, nil), testUser(4))
	say(w.e, first, "SUB $SYS.> 1\r\n")
	w.take(first)
	w.wants(w.login(w.user(testUser(5), a, nil), testUser(5)), "-ERR 'maximum account active connections exceeded'")
	got := w.take(first)
	for _, want := range []string{"MSG $SYS.ACCOUNT.CLIENT.AUTH.ERR 1 ", `"acc":"` + publicOf(a) + `"`, `"name_tag":"acc"`, `"reason":"Authentication Failure"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
}
