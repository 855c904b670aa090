package engine

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/monitor"
)

// shown is what the system account is told of an account.
func (w *operatorWorld) shown(account nkeys.KeyPair) (d monitor.Account) {
	w.t.Helper()
	body := w.system("$SYS.REQ.ACCOUNT."+publicOf(account)+".INFO", "")
	body = body[strings.Index(body, "{"):]
	var a struct {
		Data monitor.Account `json:"data"`
	}
	body = strings.NewReplacer(`"sampling":"headers"`, `"sampling":0`).Replace(body)
	if err := json.NewDecoder(strings.NewReader(body)).Decode(&a); err != nil {
		w.t.Fatalf("%q: %v", body, err)
	}
	return a.Data
}

// Who asks about an account learns what its JWT gives, to whom no more, and what of it is not in force.
func TestAccountIsShownAsItsJWTSays(t *testing.T) {
	a, b, gone := testAccount(2), testAccount(3), testAccount(4)
	exporter := func(open bool) func(c *jwt.AccountClaims) {
		return func(c *jwt.AccountClaims) {
			c.Exports.Add(&jwt.Export{Subject: "svc.*", Type: jwt.Service, TokenReq: true, Revocations: jwt.RevocationList{publicOf(b): 1000, "*": 1 << 60}})
			if open {
				c.Exports.Add(&jwt.Export{Subject: "ev.>", Type: jwt.Stream})
			}
			c.Exports.Add(&jwt.Export{Subject: "slow", Type: jwt.Service, Latency: &jwt.ServiceLatency{Sampling: jwt.Headers, Results: "lat"}})
			c.Revocations = jwt.RevocationList{publicOf(testUser(9)): 2000}
			c.Mappings = jwt.Mapping{"m": {{Subject: "n", Weight: 30, Cluster: "other"}}}
		}
	}
	key := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	w := newOperatorWorld(t, config.FullResolver, nil, key.account(a, exporter(true)), key.account(b, func(c *jwt.AccountClaims) {
		c.Imports.Add(&jwt.Import{Subject: "ev.>", Account: publicOf(a), Type: jwt.Stream}, &jwt.Import{Subject: "slow", Account: publicOf(a), Type: jwt.Service, LocalSubject: "mine"})
	}), key.account(testAccount(5), func(c *jwt.AccountClaims) {
		c.Imports.Add(&jwt.Import{Subject: "x", Account: publicOf(gone), Type: jwt.Service, LocalSubject: "y", Share: true})
	}))
	for i, k := range []nkeys.KeyPair{a, b, testAccount(5)} {
		w.wants(w.login(w.user(testUser(10+i), k, nil), testUser(10+i)), "PONG")
	}
	got := w.shown(a)
	second := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	if x := got.Exports[2]; !x.TokenReq || !x.Revoked[publicOf(b)].Equal(second(1000)) || x.Revoked["*"].Year() != 9999 {
		t.Errorf("%+v", x)
	}
	if got.Exports[0].TokenReq || got.Exports[0].Revoked != nil || got.Exports[1].Latency == nil {
		t.Errorf("%+v", got.Exports)
	}
	if m := got.Mappings["m"]; len(m) != 1 || m[0] != (monitor.MapDest{Subject: "n", Weight: 30, Cluster: "other"}) || !got.Revoked[publicOf(testUser(9))].Equal(second(2000)) || !got.Complete {
		t.Errorf("%+v", got)
	}
	if got := w.system("$SYS.REQ.ACCOUNT."+publicOf(a)+".INFO", ""); !strings.Contains(got, `"service_latency":{"sampling":"headers","results":"lat"}`) {
		t.Errorf("%q", got)
	}
	idle := func(d monitor.Account) (list []monitor.Import) {
		for _, im := range d.Imports {
			if im.Invalid {
				list = append(list, im)
			}
		}
		return list
	}
	if got := w.shown(b); !got.Complete || len(idle(got)) != 0 {
		t.Errorf("%+v", got)
	}
	want := monitor.Import{Subject: "x", Account: publicOf(gone), To: "y", Local: "y", Type: "service", Share: true, Invalid: true}
	if got := w.shown(testAccount(5)); got.Complete || len(idle(got)) != 1 || idle(got)[0] != want {
		t.Errorf("%+v", got)
	}
	w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(a, exporter(false)))
	want = monitor.Import{Subject: "ev.>", Account: publicOf(a), Local: "ev.>", Type: "stream", Invalid: true}
	if got := w.shown(b); got.Complete || len(idle(got)) != 1 || idle(got)[0] != want {
		t.Errorf("%+v", got)
	}
}
