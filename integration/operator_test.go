package integration

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/natsdtest"
)

// operator signs accounts for a test. Its system account is there from the start.
type operator struct {
	t    *testing.T
	key  nkeys.KeyPair
	sys  nkeys.KeyPair
	dir  string
	text string
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	key, err := nkeys.CreateOperator()
	ok(t, err)
	o := &operator{t: t, key: key, sys: newAccountKey(t), dir: t.TempDir()}
	c := jwt.NewOperatorClaims(publicKey(t, key))
	c.SystemAccount = publicKey(t, o.sys)
	o.text, err = c.Encode(key)
	ok(t, err)
	return o
}

func newAccountKey(t *testing.T) nkeys.KeyPair {
	t.Helper()
	k, err := nkeys.CreateAccount()
	ok(t, err)
	return k
}

func publicKey(t *testing.T, k nkeys.KeyPair) string {
	t.Helper()
	p, err := k.PublicKey()
	ok(t, err)
	return p
}

func (o *operator) account(k nkeys.KeyPair, edit func(*jwt.AccountClaims)) string {
	o.t.Helper()
	c := jwt.NewAccountClaims(publicKey(o.t, k))
	c.Name = "ACC"
	if edit != nil {
		edit(c)
	}
	text, err := c.Encode(o.key)
	ok(o.t, err)
	return text
}

// serve starts a server with an operator and a resolver.
func (o *operator) serve(w *world, resolver, more string) *natsdtest.Server {
	o.t.Helper()
	file := filepath.Join(o.dir, "natsd.conf")
	ok(o.t, os.WriteFile(file, fmt.Appendf(nil, "operator: %s\nresolver: %s\nresolver_preload { %s: %s }\n%s\n",
		o.text, resolver, publicKey(o.t, o.sys), o.account(o.sys, nil), more), 0o600))
	return w.runConfig(file)
}

// someone is a user with its credentials.
type someone struct {
	key   nkeys.KeyPair
	creds nats.Option
}

func newSomeone(t *testing.T, account nkeys.KeyPair, edit func(*jwt.UserClaims)) *someone {
	t.Helper()
	k, err := nkeys.CreateUser()
	ok(t, err)
	c := jwt.NewUserClaims(publicKey(t, k))
	if edit != nil {
		edit(c)
	}
	text, err := c.Encode(account)
	ok(t, err)
	seed, err := k.Seed()
	ok(t, err)
	file := filepath.Join(t.TempDir(), "user.creds")
	creds, err := jwt.FormatUserConfig(text, seed)
	ok(t, err)
	ok(t, os.WriteFile(file, creds, 0o600))
	return &someone{k, nats.UserCredentials(file)}
}

// join connects, and tells by the channel why the server has ended the connection.
func (u *someone) join(t *testing.T, url string) (*nats.Conn, chan error) {
	t.Helper()
	why := make(chan error, 10)
	nc, err := nats.Connect(url, u.creds, nats.NoReconnect(), nats.Timeout(patience),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { why <- err }),
		nats.ClosedHandler(func(nc *nats.Conn) { why <- nc.LastError(); close(why) }))
	ok(t, err)
	t.Cleanup(nc.Close)
	return nc, why
}

func waitFor(t *testing.T, why chan error, want error) {
	t.Helper()
	end := time.After(patience)
	for {
		select {
		case err, open := <-why:
			if errors.Is(err, want) || err != nil && strings.Contains(err.Error(), want.Error()) {
				return
			}
			if !open {
				t.Fatalf("closed, but not for %v", want)
			}
		case <-end:
			t.Fatalf("waits for %v in vain", want)
		}
	}
}

func ask(t *testing.T, nc *nats.Conn, subject, body, want string) {
	t.Helper()
	m, err := nc.Request(subject, []byte(body), patience)
	ok(t, err)
	if !strings.Contains(string(m.Data), want) {
		t.Fatalf("%s: %s", subject, m.Data)
	}
}

func TestOperatorDirectory(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		o := newOperator(t)
		a := newAccountKey(t)
		resolver := fmt.Sprintf("{ type: full, dir: %q, allow_delete: true }", filepath.Join(o.dir, "jwt"))
		s := o.serve(w, resolver, "")
		sys, _ := newSomeone(t, o.sys, nil).join(t, s.URL())
		ask(t, sys, "$SYS.REQ.CLAIMS.UPDATE", o.account(a, nil), "jwt updated")
		var who [3]*someone
		var ncs [3]*nats.Conn
		var why [3]chan error
		for i := range who {
			who[i] = newSomeone(t, a, nil)
			ncs[i], why[i] = who[i].join(t, s.URL())
		}
		roundTrip(t, ncs[0], "x", 100)
		ask(t, sys, "$SYS.REQ.CLAIMS.UPDATE", o.account(a, func(c *jwt.AccountClaims) { c.Limits.Conn = 2 }), "jwt updated")
		waitFor(t, why[2], nats.ErrMaxAccountConnectionsExceeded)
		ask(t, sys, "$SYS.REQ.CLAIMS.UPDATE", o.account(a, func(c *jwt.AccountClaims) {
			c.RevokeAt(publicKey(t, who[1].key), time.Now().Add(time.Minute))
		}), "jwt updated")
		waitFor(t, why[1], nats.ErrAuthRevoked)
		roundTrip(t, ncs[0], "x", 100)
		// The directory outlives the server. What one that was killed has not written to its end does not.
		s.Stop()
		partial := filepath.Join(o.dir, "jwt", publicKey(t, a)+".jwt.1234.tmp")
		ok(t, os.WriteFile(partial, []byte("eyJ"), 0o600))
		s = o.serve(w, resolver, "")
		nc, _ := who[0].join(t, s.URL())
		roundTrip(t, nc, "x", 100)
		if nc, err := nats.Connect(s.URL(), who[1].creds, nats.Timeout(patience)); !errors.Is(err, nats.ErrAuthorization) {
			nc.Close()
			t.Error("a user that was revoked:", err)
		}
		sys, _ = newSomeone(t, o.sys, nil).join(t, s.URL())
		ask(t, sys, "$SYS.REQ.CLAIMS.LIST", "", publicKey(t, a))
		if _, err := os.Stat(partial); !errors.Is(err, fs.ErrNotExist) {
			t.Error("what was not written to its end is there:", err)
		}
		ask(t, sys, "$SYS.REQ.ACCOUNT."+publicKey(t, a)+".CLAIMS.LOOKUP", "", "eyJ")
	})
}

func TestOperatorURL(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		o := newOperator(t)
		a := newAccountKey(t)
		text := o.account(a, func(c *jwt.AccountClaims) { c.DefaultPermissions.Pub.Deny.Add("no") })
		pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/jwt/"+publicKey(t, a) {
				http.NotFound(w, r)
				return
			}
			fmt.Fprintln(w, text)
		}))
		defer pages.Close()
		s := o.serve(w, fmt.Sprintf("URL(%q)", pages.URL+"/jwt/"), "")
		nc, why := newSomeone(t, a, nil).join(t, s.URL())
		roundTrip(t, nc, "x", 100)
		ok(t, nc.Publish("no", nil))
		waitFor(t, why, nats.ErrPermissionViolation)
		if _, err := nats.Connect(s.URL(), newSomeone(t, newAccountKey(t), nil).creds, nats.Timeout(patience)); !errors.Is(err, nats.ErrAuthorization) {
			t.Error("an account that is not there:", err)
		}
	})
}

// An account whose JWT has expired is got from the URL again when somebody logs in.
func TestOperatorURLRenewed(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		o := newOperator(t)
		a := newAccountKey(t)
		var gets atomic.Int32
		renewed := o.account(a, nil)
		pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if gets.Add(1) == 1 {
				fmt.Fprintln(w, o.account(a, func(c *jwt.AccountClaims) { c.Expires = time.Now().Unix() + 2 }))
			} else {
				fmt.Fprintln(w, renewed)
			}
		}))
		defer pages.Close()
		s := o.serve(w, fmt.Sprintf("URL(%q)", pages.URL+"/jwt/"), "")
		_, why := newSomeone(t, a, nil).join(t, s.URL())
		waitFor(t, why, errors.New("account authentication expired"))
		nc, _ := newSomeone(t, a, nil).join(t, s.URL())
		roundTrip(t, nc, "x", 100)
		if n := gets.Load(); n != 2 {
			t.Errorf("the page was asked for %d times", n)
		}
	})
}

func TestOperatorExpiry(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		o := newOperator(t)
		s := o.serve(w, "MEMORY", "")
		_, why := newSomeone(t, o.sys, func(c *jwt.UserClaims) { c.Expires = time.Now().Unix() + 2 }).join(t, s.URL())
		waitFor(t, why, nats.ErrAuthExpired)
	})
}

func TestAuthCallout(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		issuer := newAccountKey(t)
		curve, err := nkeys.CreateCurveKeys()
		ok(t, err)
		file := filepath.Join(t.TempDir(), "natsd.conf")
		ok(t, os.WriteFile(file, fmt.Appendf(nil, `
accounts { AUTH { users: [{user: svc, password: p}] }, APP {} }
authorization { auth_callout { issuer: %s, account: AUTH, auth_users: [svc], xkey: %s } }
`, publicKey(t, issuer), publicKey(t, curve)), 0o600))
		s := w.runConfig(file)
		svc, err := nats.Connect(s.URL(), nats.UserInfo("svc", "p"))
		ok(t, err)
		defer svc.Close()
		_, err = svc.QueueSubscribe("$SYS.REQ.USER.AUTH", "svc", func(m *nats.Msg) {
			server := m.Header.Get("Nats-Server-Xkey")
			text, err := curve.Open(m.Data, server)
			if err != nil {
				t.Error(err)
				return
			}
			q, err := jwt.DecodeAuthorizationRequestClaims(string(text))
			if err != nil {
				t.Error(err)
				return
			}
			r := jwt.NewAuthorizationResponseClaims(q.UserNkey)
			r.Audience = q.Server.ID
			if q.ConnectOptions.Password == "right" {
				u := jwt.NewUserClaims(q.UserNkey)
				u.Audience, u.Name = "APP", q.ConnectOptions.Username
				u.Pub.Deny.Add("no")
				r.Jwt, err = u.Encode(issuer)
			} else {
				r.Error = "wrong"
			}
			if err != nil {
				t.Error(err)
			}
			answer, err := r.Encode(issuer)
			if err != nil {
				t.Error(err)
			}
			sealed, err := curve.Seal([]byte(answer), server)
			if err != nil {
				t.Error(err)
			}
			if err := m.Respond(sealed); err != nil {
				t.Error(err)
			}
		})
		ok(t, err)
		ok(t, svc.Flush())
		nc, why := (&someone{creds: nats.UserInfo("joe", "right")}).join(t, s.URL())
		roundTrip(t, nc, "x", 100)
		ok(t, nc.Publish("no", nil))
		waitFor(t, why, nats.ErrPermissionViolation)
		if _, err := nats.Connect(s.URL(), nats.UserInfo("joe", "left")); !errors.Is(err, nats.ErrAuthorization) {
			t.Error(err)
		}
	})
}

func TestCertificatesAsCredentials(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		certFile, keyFile := a.server("server")
		file := filepath.Join(t.TempDir(), "natsd.conf")
		ok(t, os.WriteFile(file, fmt.Appendf(nil, `
tls { cert_file: %q, key_file: %q, ca_file: %q, verify_and_map: true }
authorization { users: [
	{user: "ann@example.com", permissions: {publish: {deny: mail}}}
	{user: "bob.example", permissions: {publish: {deny: dns}}}
	{user: "spiffe://example/cat", permissions: {publish: {deny: uri}}}
	{user: "CN=dan, O=Org\\, Inc., C=DE", permissions: {publish: {deny: dn}}}
] }
`, certFile, keyFile, a.caFile), 0o600))
		s := w.runConfig(file)
		url := strings.Replace(s.URL(), "nats://", "tls://", 1)
		for name, denied := range map[string]string{"ann": "mail", "bob": "dns", "cat": "uri", "dan": "dn"} {
			nc, why := (&someone{creds: nats.Secure(a.trust(a.client(name)))}).join(t, url)
			ok(t, nc.Publish(denied, nil))
			waitFor(t, why, nats.ErrPermissionViolation)
		}
		if _, err := nats.Connect(url, nats.Secure(a.trust(a.client("eve")))); !errors.Is(err, nats.ErrAuthorization) {
			t.Error(err)
		}
	})
}
