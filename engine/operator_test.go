package engine

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
	"pgregory.net/rapid"

	"github.com/natsd/natsd/config"
)

// operatorWorld is an engine in operator mode, with an operator that signs. Its clock begins in the year 2100, so that what
// the library of JWTs issues now was issued long ago.
type operatorWorld struct {
	*fakeWorld
	t       rapid.TB
	e       *Engine
	op      nkeys.KeyPair
	sys     string
	files   map[string]string
	listed  []VaultID
	pages   map[string]string
	waiting map[FetchID]string
	asked   []string // for pages
	full    bool     // the disk is, for the Stores to come
}

const year2100 = WallTime(4_102_444_800_000_000_000)

func testKey(kind nkeys.PrefixByte, n int) nkeys.KeyPair {
	return keyPair(kind, slices.Repeat([]byte{byte(n), byte(n >> 8)}, 16))
}

func testAccount(n int) nkeys.KeyPair { return testKey(nkeys.PrefixByteAccount, n) }
func testUser(n int) nkeys.KeyPair    { return testKey(nkeys.PrefixByteUser, n) }

func (w *operatorWorld) Now() (Instant, WallTime) { return w.now, year2100 + WallTime(w.now) }

func (w *operatorWorld) Get(id FetchID, url string, _ time.Duration) {
	w.asked = append(w.asked, url)
	w.waiting[id] = url
}

func (w *operatorWorld) List(id VaultID) { w.listed = append(w.listed, id) }

func (w *operatorWorld) Load(id VaultID, account string) {
	w.later(id, func() VaultResult { return VaultResult{Text: w.files[account]} })
}

func (w *operatorWorld) Store(id VaultID, account, text string) {
	full := w.full
	w.later(id, func() VaultResult {
		if full {
			return VaultResult{Err: "the disk is full"}
		}
		w.files[account] = text
		return VaultResult{}
	})
}

func (w *operatorWorld) Remove(id VaultID, account string, _ bool) {
	full := w.full
	w.later(id, func() VaultResult {
		if full {
			return VaultResult{Err: "the disk is full"}
		}
		delete(w.files, account)
		return VaultResult{}
	})
}

func (w *operatorWorld) later(id VaultID, f func() VaultResult) {
	w.jobs[JobID(1<<40)+JobID(id)] = func() {
		r := f()
		turn(w.e, func() { w.e.VaultDone(id, r) })
	}
}

// account makes an account JWT.
func (w *operatorWorld) account(key nkeys.KeyPair, edit func(*jwt.AccountClaims)) string {
	w.t.Helper()
	c := jwt.NewAccountClaims(publicOf(key))
	c.Name = "acc"
	if edit != nil {
		edit(c)
	}
	text, err := c.Encode(w.op)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func (w *operatorWorld) user(key, by nkeys.KeyPair, edit func(*jwt.UserClaims)) string {
	w.t.Helper()
	c := jwt.NewUserClaims(publicOf(key))
	c.Name = "bob"
	if edit != nil {
		edit(c)
	}
	text, err := c.Encode(by)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func newOperatorWorld(t rapid.TB, kind config.ResolverKind, edit func(*Options), preload ...string) *operatorWorld {
	t.Helper()
	w := &operatorWorld{
		fakeWorld: newFakeWorld(), t: t, op: testKey(nkeys.PrefixByteOperator, 1),
		files: map[string]string{}, pages: map[string]string{}, waiting: map[FetchID]string{},
	}
	sys := testAccount(1)
	w.sys = publicOf(sys)
	oc := jwt.NewOperatorClaims(publicOf(w.op))
	oc.SystemAccount = w.sys
	text, err := oc.Encode(w.op)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Check: true, PingInterval: -1, Operators: &config.Operators{
		Operators: []config.Located{{Text: text}}, Resolver: config.Resolver{Kind: kind, URL: "http://x/", AllowDelete: true},
		Preload: []config.PreloadedJWT{{Account: w.sys, JWT: w.account(sys, nil)}},
	}}
	for _, p := range preload {
		o.Operators.Preload = append(o.Operators.Preload, config.PreloadedJWT{Account: subjectOf(t, p), JWT: p})
	}
	if edit != nil {
		edit(&o)
	}
	for _, err := range CheckOperators(&o) {
		t.Fatal(err)
	}
	w.start(o)
	w.run()
	return w
}

// start starts an engine.
func (w *operatorWorld) start(o Options) {
	env := w.env()
	env.Clock, env.Web, env.Vault = w, w, w
	w.e = New(o, env)
	turn(w.e, w.e.Start)
	turn(w.e, func() { w.e.ListenerUp(clientListener, 4222) })
}

// restart starts another one with the same options and directory, of which it has only been asked.
func (w *operatorWorld) restart() {
	o := w.e.opts
	w.fakeWorld = newFakeWorld()
	w.start(o)
}

func subjectOf(t rapid.TB, token string) string {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var c struct{ Sub string }
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	return c.Sub
}

// run lets everything happen that can happen at this moment.
func (w *operatorWorld) run() {
	for len(w.jobs) > 0 || len(w.listed) > 0 || w.wake <= w.now {
		w.round()
	}
}

// round does what waits, once.
func (w *operatorWorld) round() {
	for _, id := range w.listed {
		var r VaultResult
		for _, key := range slices.Sorted(maps.Keys(w.files)) {
			r.Entries = append(r.Entries, VaultEntry{Account: key})
		}
		turn(w.e, func() { w.e.VaultDone(id, r) })
	}
	w.listed = nil
	for _, id := range slices.Sorted(maps.Keys(w.jobs)) {
		run := w.jobs[id]
		delete(w.jobs, id)
		if run(); id < 1<<40 {
			turn(w.e, func() { w.e.JobDone(id) })
		}
	}
	if w.wake <= w.now {
		w.ring(w.e)
	}
}

// pass lets time pass, and everything happen meanwhile.
func (w *operatorWorld) pass(d Instant) {
	for end := w.now + d; w.now < end; {
		w.now = min(end, max(w.wake, w.now+1))
		w.run()
	}
}

// login connects with a JWT and, if key is there, its signature.
func (w *operatorWorld) login(token string, key nkeys.KeyPair) ConnID {
	w.t.Helper()
	c := accept(w.e)
	w.take(c)
	sig := ""
	if key != nil {
		sig = w.signs(c, key)
	}
	say(w.e, c, `CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"jwt":"`+token+`","sig":"`+sig+`"}`+"\r\nPING\r\n")
	w.run()
	return c
}

// signs is the signature of a connection's nonce.
func (w *operatorWorld) signs(c ConnID, key nkeys.KeyPair) string {
	w.t.Helper()
	raw, err := key.Sign([]byte(w.e.lookup(c).nonce))
	if err != nil {
		w.t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// wants checks what a connection was sent.
func (w *operatorWorld) wants(c ConnID, want string) {
	w.t.Helper()
	got := strings.ReplaceAll(strings.TrimSuffix(w.take(c), "\r\n"), "\r\n", "|")
	if want == "" && got != "" || !strings.Contains(got, want) {
		w.t.Fatalf("got %q, want %q", got, want)
	}
}

// system sends a request to the server's own account and returns the first answer.
func (w *operatorWorld) system(subj, body string) string {
	w.t.Helper()
	key := testUser(99)
	c := w.login(w.user(key, testAccount(1), nil), key)
	w.wants(c, "PONG")
	say(w.e, c, "SUB R 1\r\nPUB "+subj+" R "+strconv.Itoa(len(body))+"\r\n"+body+"\r\n")
	w.run()
	_, answer, _ := strings.Cut(w.take(c), "\r\n")
	turn(w.e, func() { w.e.Closed(c, "") })
	w.run()
	return answer
}

const refusedText = "-ERR 'Authorization Violation'"

// Whoever reads the log has the account's name for people there, and is told of imports whose account is not there.
func TestLogOfOperatorMode(t *testing.T) {
	a, b, u := testAccount(2), testAccount(3), testUser(4)
	base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	w := newOperatorWorld(t, config.MemoryResolver, func(o *Options) { o.Trace, o.Debug = true, true }, base.account(a, func(c *jwt.AccountClaims) {
		c.Imports.Add(&jwt.Import{Account: publicOf(b), Subject: "q", Type: jwt.Service}, &jwt.Import{Account: publicOf(b), Subject: "s", Type: jwt.Stream})
	}))
	w.wants(w.login(w.user(u, a, nil), u), "PONG")
	for _, want := range []string{
		`"` + publicOf(a) + `/acc/jwt:` + publicOf(u) + `" <<- [PING]`,
		"Can't locate account [" + publicOf(b) + "] for import of [q] service (err=account missing)",
		"Can't locate account [" + publicOf(b) + "] for import of [s] stream (err=account missing)",
	} {
		if !w.logged(want) {
			t.Errorf("not logged: %s in\n%s", want, strings.Join(w.log, "\n"))
		}
	}
}

func TestOperatorLogin(t *testing.T) {
	a, signer, u := testAccount(2), testAccount(3), testUser(4)
	now := int64(year2100 / 1e9)
	op := testKey(nkeys.PrefixByteOperator, 1)
	acc := func(edit func(*jwt.AccountClaims)) string {
		return (&operatorWorld{t: t, op: op}).account(a, func(c *jwt.AccountClaims) {
			c.SigningKeys.Add(publicOf(signer))
			if edit != nil {
				edit(c)
			}
		})
	}
	for _, c := range []struct {
		name    string
		account func(*jwt.AccountClaims)
		user    func(*jwt.UserClaims)
		by      nkeys.KeyPair
		unsign  bool
		want    string
		log     string
	}{
		{name: "good", want: "PONG"},
		{name: "by a signing key", by: signer, user: func(c *jwt.UserClaims) { c.IssuerAccount = publicOf(a) }, want: "PONG"},
		{name: "by a signing key that does not say whose", by: signer, want: refusedText},
		{name: "by another account", by: testAccount(9), user: func(c *jwt.UserClaims) { c.IssuerAccount = publicOf(a) }, want: refusedText},
		{name: "unsigned", unsign: true, want: refusedText},
		{name: "bearer", unsign: true, user: func(c *jwt.UserClaims) { c.BearerToken = true }, want: "PONG"},
		{name: "bearer where disallowed", unsign: true, account: func(c *jwt.AccountClaims) { c.Limits.DisallowBearer = true }, user: func(c *jwt.UserClaims) { c.BearerToken = true }, want: refusedText},
		{name: "expired", user: func(c *jwt.UserClaims) { c.Expires = now }, want: refusedText},
		{name: "not yet", user: func(c *jwt.UserClaims) { c.NotBefore = now + 10 }, want: refusedText},
		{name: "expired account", account: func(c *jwt.AccountClaims) { c.Expires = now }, want: refusedText},
		{name: "account not yet", account: func(c *jwt.AccountClaims) { c.NotBefore = now + 10 }, want: refusedText},
		{name: "revoked", account: func(c *jwt.AccountClaims) { c.Revocations = jwt.RevocationList{publicOf(u): now} }, want: refusedText},
		{name: "all revoked", account: func(c *jwt.AccountClaims) { c.Revocations = jwt.RevocationList{"*": now} }, want: refusedText},
		{name: "revoked before it was issued", account: func(c *jwt.AccountClaims) { c.Revocations = jwt.RevocationList{"*": 1} }, want: "PONG"},
		{name: "another type of connection", user: func(c *jwt.UserClaims) { c.AllowedConnectionTypes.Add("MQTT") }, want: refusedText},
		{name: "another address", user: func(c *jwt.UserClaims) { c.Src.Add("10.0.0.0/8") }, want: refusedText, log: "Bad src Ip 127.0.0.1"},
		{name: "the address", user: func(c *jwt.UserClaims) { c.Src.Add("127.0.0.0/8") }, want: "PONG"},
		{name: "the address, in a network of IPv4 written as one of IPv6", user: func(c *jwt.UserClaims) { c.Src.Add("::ffff:127.0.0.0/104") }, want: "PONG"},
		{name: "in the window", user: func(c *jwt.UserClaims) { c.Times = []jwt.TimeRange{{Start: "00:00:00", End: "01:00:00"}} }, want: "PONG"},
		{name: "outside the window", user: func(c *jwt.UserClaims) { c.Times = []jwt.TimeRange{{Start: "01:00:00", End: "02:00:00"}} }, want: refusedText, log: "Outside connect times"},
		{name: "in an unknown zone", user: func(c *jwt.UserClaims) {
			c.Times, c.Locale = []jwt.TimeRange{{Start: "00:00:00", End: "01:00:00"}}, "X/Y"
		}, want: refusedText},
		{name: "in an unknown zone at any time", user: func(c *jwt.UserClaims) { c.Locale = "X/Y" }, want: refusedText},
		{name: "proxy", user: func(c *jwt.UserClaims) { c.ProxyRequired = true }, want: refusedText},
		{name: "no room", account: func(c *jwt.AccountClaims) { c.Limits.Conn = 0 }, want: "-ERR 'maximum account active connections exceeded'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newOperatorWorld(t, config.MemoryResolver, nil, acc(c.account))
			by := a
			if c.by != nil {
				by = c.by
			}
			key := u
			if c.unsign {
				key = nil
			}
			w.t = t
			w.wants(w.login(w.user(u, by, c.user), key), c.want)
			if !w.logged(c.log) {
				t.Errorf("%q is not in the log", c.log)
			}
		})
	}
}

// What changes in an account's JWT holds for its connections at once, and before they do anything else.
func TestAccountUpdate(t *testing.T) {
	a, now := testAccount(2), int64(year2100/1e9)
	w := newOperatorWorld(t, config.FullResolver, nil)
	update := func(edit func(*jwt.AccountClaims)) {
		t.Helper()
		if r := w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(a, edit)); !strings.Contains(r, `"message":"jwt updated"`) {
			t.Fatal(r)
		}
	}
	update(nil)
	var all []ConnID
	for i := range 4 {
		all = append(all, w.login(w.user(testUser(i), a, nil), testUser(i)))
		w.wants(all[i], "PONG")
	}
	update(func(c *jwt.AccountClaims) { c.Limits.Conn = 3 })
	w.wants(all[3], "-ERR 'maximum account active connections exceeded'")
	update(func(c *jwt.AccountClaims) { c.Revocations = jwt.RevocationList{publicOf(testUser(2)): now} })
	w.wants(all[2], "-ERR 'User Authentication Revoked'")
	say(w.e, all[1], "SUB x 1\r\nPUB x 1\r\n1\r\n")
	w.wants(all[1], "MSG x 1 1")
	update(func(c *jwt.AccountClaims) { c.DefaultPermissions.Sub.Deny.Add("x") })
	say(w.e, all[1], "PING\r\n")
	w.wants(all[1], `-ERR 'Permissions Violation for Subscription to "x"'|PONG`)
	update(func(c *jwt.AccountClaims) { c.Expires = now + 100 })
	w.wants(all[0], "")
	w.pass(Instant(101e9))
	w.wants(all[0], "-ERR 'Account Authentication Expired'")
	w.wants(all[1], "-ERR 'Account Authentication Expired'")
	update(nil)
	c := w.login(w.user(testUser(1), a, func(c *jwt.UserClaims) { c.Expires = now + 200 }), testUser(1))
	w.wants(c, "PONG")
	w.pass(Instant(100e9))
	w.wants(c, "-ERR 'User Authentication Expired'")
}

// A JWT that lowers the number of subscriptions closes those who have more; who has as many stays.
func TestFewerSubscriptionsAllowed(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.FullResolver, nil)
	update := func(most int64) {
		w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(a, func(c *jwt.AccountClaims) { c.Limits.Subs = most }))
	}
	update(-1)
	plain := w.login(w.user(testUser(1), a, nil), testUser(1))
	w.wants(plain, "PONG")
	say(w.e, plain, "SUB x 1\r\nSUB y 2\r\nSUB z 3\r\n")
	update(3)
	say(w.e, plain, "PING\r\n")
	w.wants(plain, "PONG")
	update(2)
	w.wants(plain, "-ERR 'maximum subscriptions exceeded'")
	if w.e.lookup(plain) != nil && w.e.lookup(plain).gate&gateClosed == 0 {
		t.Error("it is still there")
	}
	if !w.logged("maximum subscriptions exceeded") {
		t.Error("the log says nothing")
	}
}

func TestAccountDeleted(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.FullResolver, nil)
	w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(a, nil))
	c := w.login(w.user(testUser(1), a, nil), testUser(1))
	w.wants(c, "PONG")
	ask := func(by nkeys.KeyPair, accounts ...any) string {
		g := jwt.NewGenericClaims(publicOf(w.op))
		g.Data = map[string]any{"accounts": accounts}
		text, err := g.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return w.system("$SYS.REQ.CLAIMS.DELETE", text)
	}
	if r := ask(testKey(nkeys.PrefixByteOperator, 7), publicOf(a)); !strings.Contains(r, "failed - not self signed") {
		t.Error(r)
	}
	if r := ask(w.op, w.sys); !strings.Contains(r, "not allowed to delete system account") {
		t.Error(r)
	}
	if r := ask(w.op, publicOf(a), "x"); !strings.Contains(r, "malformed request") {
		t.Error(r)
	}
	if r := ask(w.op, publicOf(a)); !strings.Contains(r, `"message":"deleted 1 accounts"`) {
		t.Error(r)
	}
	w.wants(c, "-ERR 'Account Authentication Expired'")
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), refusedText)
	if r := w.system("$SYS.REQ.CLAIMS.LIST", ""); !strings.Contains(r, `"data":["`+w.sys+`"]`) {
		t.Error(r)
	}
}

// Without operator mode an update is answered all the same, and changes nothing.
func TestUpdateWithoutOperatorMode(t *testing.T) {
	s := newSystem(t, Options{})
	o := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 7)}
	a := testAccount(2)
	for _, c := range []struct{ account, body, want string }{
		{"A", "", `"account":"A","code":500,"description":"jwt update error - request body is empty"`},
		{"A", "x", `"account":"A","code":500,"description":"jwt update resulted in error - expected 3 chunks"`},
		{"A", o.account(a, nil), `"account":"A","code":500,"description":"jwt update resulted in error - subject does not match jwt content"`},
		{publicOf(a), o.account(a, nil), `"account":"` + publicOf(a) + `","code":200,"message":"jwt update skipped"`},
	} {
		for _, subj := range []string{"$SYS.REQ.ACCOUNT." + c.account + ".CLAIMS.UPDATE", "$SYS.ACCOUNT." + c.account + ".CLAIMS.UPDATE"} {
			if r := s.request(subj, c.body); !strings.Contains(r, c.want) {
				t.Errorf("%s %q: %s", subj, c.body, r)
			}
		}
	}
	if s.e.byAccount[publicOf(a)] != nil {
		t.Error("the account came into being")
	}
}

// When an operator's own JWT does not count, nothing that it signed does, and who asks why is told.
func TestOperatorOfAnotherTime(t *testing.T) {
	now, a := int64(year2100/1e9), testAccount(2)
	for _, c := range []struct {
		edit func(*jwt.OperatorClaims)
		want string
	}{
		{func(c *jwt.OperatorClaims) { c.Expires = now }, " has expired"},
		{func(c *jwt.OperatorClaims) { c.Expires = -5 }, " has expired"},
		{func(c *jwt.OperatorClaims) { c.NotBefore = now + 100 }, " is not valid yet"},
	} {
		base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
		w := newOperatorWorld(t, config.MemoryResolver, func(o *Options) {
			oc := jwt.NewOperatorClaims(publicOf(base.op))
			oc.SystemAccount = publicOf(testAccount(1))
			c.edit(oc)
			text, err := oc.Encode(base.op)
			if err != nil {
				t.Fatal(err)
			}
			o.Operators.Operators[0].Text = text
		}, base.account(a, nil))
		w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), refusedText)
		want := publicOf(a) + ": its JWT can't be used: the JWT of operator " + publicOf(w.op) + c.want
		if !w.logged(want) {
			t.Errorf("not logged: %s", want)
		}
	}
}

// What is refused changes nothing.
func TestUpdateRefused(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.FullResolver, nil)
	other := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 7)}
	for _, c := range []struct{ subj, body, want string }{
		{"$SYS.REQ.CLAIMS.UPDATE", "x", `"account":"n/a","code":500,"description":"jwt update resulted in error - expected 3 chunks"`},
		{"$SYS.REQ.ACCOUNT." + w.sys + ".CLAIMS.UPDATE", "x", `"account":"n/a",`},
		{"$SYS.REQ.ACCOUNT." + w.sys + ".CLAIMS.UPDATE", w.account(a, nil), "subject does not match jwt content"},
		{"$SYS.REQ.CLAIMS.UPDATE", other.account(a, nil), "is not trusted"},
	} {
		if r := w.system(c.subj, c.body); !strings.Contains(r, c.want) || !strings.Contains(r, `"code":500`) {
			t.Errorf("%s: %s", c.want, r)
		}
	}
	if len(w.files) != 1 || w.files[publicOf(a)] != "" {
		t.Error(w.files)
	}
}

// An export that goes ends what was imported by it, and an activation token counts until it expires.
func TestImportsByJWT(t *testing.T) {
	a, b, now := testAccount(2), testAccount(3), int64(year2100/1e9)
	w := newOperatorWorld(t, config.FullResolver, nil)
	exports := func(open bool) string {
		return w.account(a, func(c *jwt.AccountClaims) {
			if open {
				c.Exports.Add(&jwt.Export{Subject: "pub.>", Type: jwt.Stream})
			}
			c.Exports.Add(&jwt.Export{Subject: "priv.>", Type: jwt.Stream, TokenReq: true})
		})
	}
	x := jwt.NewActivationClaims(publicOf(b))
	x.ImportSubject, x.ImportType, x.Expires = "priv.>", jwt.Stream, now+60
	token, err := x.Encode(a)
	if err != nil {
		t.Fatal(err)
	}
	w.system("$SYS.REQ.CLAIMS.UPDATE", exports(true))
	w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(b, func(c *jwt.AccountClaims) {
		c.Imports.Add(&jwt.Import{Account: publicOf(a), Subject: "pub.>", LocalSubject: "in.>", Type: jwt.Stream},
			&jwt.Import{Account: publicOf(a), Subject: "priv.1", Type: jwt.Stream, Token: token},
			&jwt.Import{Account: publicOf(testAccount(50)), Subject: "none", Type: jwt.Stream})
	}))
	to := w.login(w.user(testUser(1), b, nil), testUser(1))
	from := w.login(w.user(testUser(2), a, nil), testUser(2))
	w.wants(to, "PONG")
	say(w.e, to, "SUB > 1\r\n")
	publish := func(want string) {
		t.Helper()
		say(w.e, from, "PUB pub.x 1\r\nP\r\nPUB priv.1 1\r\nQ\r\nPUB priv.2 1\r\nR\r\n")
		w.run()
		if got := strings.ReplaceAll(w.take(to), "\r\n", "|"); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	publish("MSG in.x 1 1|P|MSG priv.1 1 1|Q|")
	w.pass(Instant(61e9))
	w.take(to)
	publish("MSG in.x 1 1|P|")
	w.system("$SYS.REQ.CLAIMS.UPDATE", exports(false))
	publish("")
	w.system("$SYS.REQ.CLAIMS.UPDATE", exports(true))
	publish("MSG in.x 1 1|P|")
}

func TestURLResolver(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.URLResolver, nil)
	c := w.login(w.user(testUser(1), a, nil), testUser(1))
	other := w.login(w.user(testUser(2), a, nil), testUser(2))
	if len(w.asked) != 1 || w.asked[0] != "http://x/"+publicOf(a) {
		t.Fatal(w.asked)
	}
	w.wants(c, "")
	turn(w.e, func() { w.e.Fetched(1, w.account(a, nil)+"\n", "") })
	w.run()
	w.wants(c, "PONG")
	w.wants(other, "PONG")
	absent := testAccount(3)
	c = w.login(w.user(testUser(1), absent, nil), testUser(1))
	turn(w.e, func() { w.e.Fetched(2, "", "404") })
	w.run()
	w.wants(c, refusedText)
	w.wants(w.login(w.user(testUser(1), absent, nil), testUser(1)), refusedText)
	if len(w.asked) != 2 {
		t.Error("what was not found is asked for at once again", w.asked)
	}
	w.pass(Instant(2e9))
	c = w.login(w.user(testUser(1), absent, nil), testUser(1))
	w.wants(c, "")
	w.pass(Instant(5e9))
	w.wants(c, refusedText)
	turn(w.e, func() { w.e.Fetched(3, w.account(absent, nil), "") })
	w.run()
	w.wants(w.login(w.user(testUser(1), testAccount(1), nil), testUser(1)), "PONG")
}

// The directory's word is later than what was preloaded.
func TestDirectoryOverPreload(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.FullResolver, nil)
	old := w.account(a, func(c *jwt.AccountClaims) { c.Limits.Conn = 0 })
	again := &operatorWorld{t: t, op: w.op}
	full := again.account(a, nil)
	w = newOperatorWorldWith(t, map[string]string{publicOf(a): full}, old)
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")
}

func newOperatorWorldWith(t rapid.TB, files map[string]string, preload ...string) *operatorWorld {
	return again(newOperatorWorld(t, config.FullResolver, nil, preload...), files)
}

// newOperatorWorldWithout has nothing preloaded, the system account's JWT neither.
func newOperatorWorldWithout(t rapid.TB, files map[string]string) *operatorWorld {
	return again(newOperatorWorld(t, config.FullResolver, func(o *Options) { o.Operators.Preload = nil }), files)
}

// again is the same world with files there from the start.
func again(w *operatorWorld, files map[string]string) *operatorWorld {
	o := w.e.opts
	w.fakeWorld = newFakeWorld()
	w.files, w.listed = files, nil
	env := w.env()
	env.Clock, env.Web, env.Vault = w, w, w
	w.e = New(o, env)
	turn(w.e, w.e.Start)
	turn(w.e, func() { w.e.ListenerUp(clientListener, 4222) })
	w.run()
	return w
}

// A reload of the memory resolver's accounts holds for those connected.
func TestPreloadAtReload(t *testing.T) {
	a := testAccount(2)
	base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	w := newOperatorWorld(t, config.MemoryResolver, nil, base.account(a, nil))
	c := w.login(w.user(testUser(1), a, nil), testUser(1))
	w.wants(c, "PONG")
	o := w.e.opts
	next := *o.Operators
	next.Preload = []config.PreloadedJWT{{Account: publicOf(a), JWT: base.account(a, func(c *jwt.AccountClaims) {
		c.Revocations = jwt.RevocationList{"*": int64(year2100 / 1e9)}
	})}}
	o.Operators = &next
	var names []string
	turn(w.e, func() { names = w.e.Reload(o) })
	w.run()
	w.wants(c, "-ERR 'User Authentication Revoked'")
	if len(names) > 0 {
		t.Error("needs a restart for", names)
	}
}

// What a reload takes out of the memory resolver's accounts has ended, for those connected too, and comes back with its JWT.
func TestPreloadGoneAtReload(t *testing.T) {
	a, b := testAccount(2), testAccount(3)
	base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	w := newOperatorWorld(t, config.MemoryResolver, nil, base.account(a, nil), base.account(b, nil))
	first, second := testUser(1), testUser(2)
	c, d := w.login(w.user(first, a, nil), first), w.login(w.user(second, b, nil), second)
	w.wants(c, "PONG")
	w.wants(d, "PONG")
	all := w.e.opts.Operators.Preload
	reload := func(preload []config.PreloadedJWT) {
		o := w.e.opts
		next := *o.Operators
		next.Preload = preload
		o.Operators = &next
		turn(w.e, func() { w.e.Reload(o) })
		w.run()
	}
	for range 2 {
		reload(slices.DeleteFunc(slices.Clone(all), func(p config.PreloadedJWT) bool { return p.Account != publicOf(b) }))
		w.wants(c, "-ERR 'Account Authentication Expired'")
		w.wants(w.login(w.user(first, a, nil), first), refusedText)
		say(w.e, d, "PING\r\n")
		w.wants(d, "PONG")
		operator := w.login(w.user(testUser(99), testAccount(1), nil), testUser(99))
		w.wants(operator, "PONG") // the server's own account stays
		reload(all)
		c = w.login(w.user(first, a, nil), first)
		w.wants(c, "PONG")
	}
}

// What is no account JWT is refused when the configuration is checked.
func TestPreloadIsChecked(t *testing.T) {
	base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	w := newOperatorWorld(t, config.MemoryResolver, nil, base.account(testAccount(2), nil))
	o := w.e.opts
	next := *o.Operators
	next.Preload = []config.PreloadedJWT{{Account: publicOf(testAccount(2)), JWT: "garbage"}}
	o.Operators = &next
	if all := CheckOperators(&o); len(all) != 1 || !strings.Contains(all[0].Error(), "invalid account JWT") {
		t.Error(all)
	}
}

// Reading an account's JWT may take long on a machine that is busy, or was stopped: nobody is turned away for that.
func TestAccountIsReadLate(t *testing.T) {
	a := testAccount(2)
	base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	w := newOperatorWorld(t, config.MemoryResolver, nil, base.account(a, nil))
	key := testUser(1)
	c := accept(w.e)
	w.take(c)
	sig, err := key.Sign([]byte(w.e.lookup(c).nonce))
	if err != nil {
		t.Fatal(err)
	}
	say(w.e, c, `CONNECT {"verbose":false,"jwt":"`+w.user(key, a, nil)+`","sig":"`+base64.RawURLEncoding.EncodeToString(sig)+`"}`+"\r\nPING\r\n")
	w.finishJobs(w.e) // the user's JWT is verified, the account's is looked for
	if len(w.jobs) != 1 {
		t.Fatalf("%d jobs are under way", len(w.jobs))
	}
	w.advance(t, w.e, Instant(time.Hour))
	w.wants(c, "")
	w.run()
	w.wants(c, "PONG")
}

// What operator mode can't change while it runs is named, each by its key, and nothing changes.
func TestReloadNamesWhatOperatorModeKeeps(t *testing.T) {
	w := newOperatorWorld(t, config.MemoryResolver, nil)
	was := w.e.opts
	for _, c := range []struct {
		keys   string
		change func(*Options, *config.Operators)
	}{
		{"", func(*Options, *config.Operators) {}},
		{"operator", func(_ *Options, o *config.Operators) { o.TrustedKeys = []config.Located{{Text: w.sys}} }},
		{"operator", func(_ *Options, o *config.Operators) { *o = config.Operators{} }},
		{"server_name operator", func(o *Options, _ *config.Operators) { o.ServerName, o.Operators = "x", nil }},
		{"resolver", func(_ *Options, o *config.Operators) { o.Resolver.Kind, o.Resolver.Dir = config.FullResolver, "d" }},
		{"resolver", func(_ *Options, o *config.Operators) { o.Resolver.Kind, o.Preload = config.CacheResolver, nil }},
		{"system_account", func(o *Options, _ *config.Operators) { o.SystemAccount.Text = publicOf(testAccount(2)) }},
	} {
		o, operators := was, *was.Operators
		o.Operators = &operators
		c.change(&o, &operators)
		if got := strings.Join(reload(w.e, o), " "); got != c.keys {
			t.Errorf("%q, want %q", got, c.keys)
		}
		w.run()
		w.administrator()
	}
}
