package engine

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/monitor"
)

// calloutWorld is an engine whose clients a service decides about, which the test is.
type calloutWorld struct {
	*operatorWorld
	service ConnID
	issuer  nkeys.KeyPair
	xkey    nkeys.KeyPair // nil: nothing is encrypted
	later   string        // what the service has got and question has not looked at
}

func newCalloutWorld(t *testing.T, encrypted bool, edit func(*Options)) *calloutWorld {
	t.Helper()
	w := &calloutWorld{operatorWorld: &operatorWorld{t: t, fakeWorld: newFakeWorld()}, issuer: testAccount(5)}
	user := func(name string) config.User { return config.User{Name: name, Password: "p"} }
	o := Options{Check: true, PingInterval: -1, Accounts: []config.Account{
		{Name: "AUTH", Users: []config.User{user("svc"), user("other")}}, {Name: "APP", Users: []config.User{user("app")}},
	}, Callout: &config.AuthCallout{Issuer: publicOf(w.issuer), Account: "AUTH", Users: []string{"svc"}}}
	if encrypted {
		w.xkey = testKey(nkeys.PrefixByteCurve, 6)
		o.Callout.XKey = publicOf(w.xkey)
	}
	if edit != nil {
		edit(&o)
	}
	for _, err := range append(CheckAccounts(o.Accounts, o.SystemAccount), CheckUsers(&o)...) {
		t.Fatal(err)
	}
	env := w.env()
	env.Clock = w
	w.e = New(o, env)
	turn(w.e, w.e.Start)
	turn(w.e, func() { w.e.ListenerUp(clientListener, 4222) })
	w.service = w.connect("svc", "p")
	w.wants(w.service, "PONG")
	say(w.e, w.service, "SUB $SYS.REQ.USER.AUTH 1\r\n")
	return w
}

func (w *calloutWorld) connect(name, pass string) ConnID {
	c := accept(w.e)
	w.take(c)
	say(w.e, c, `CONNECT {"verbose":false,"pedantic":false,"headers":true,"user":"`+name+`","pass":"`+pass+`","name":"tool"}`+"\r\nPING\r\n")
	w.run()
	return c
}

// question is what the service was asked.
type question struct {
	reply, server string
	*jwt.AuthorizationRequestClaims
}

func (w *calloutWorld) question() *question {
	w.t.Helper()
	line, rest, ok := strings.Cut(w.later+w.take(w.service), "\r\n")
	if !ok {
		w.t.Fatal("the service was not asked")
	}
	f := strings.Fields(line)
	size, err := strconv.Atoi(f[len(f)-1])
	if err != nil {
		w.t.Fatal(err, line)
	}
	rest, w.later = rest[:size+2], rest[size+2:]
	q, body := &question{reply: f[3]}, []byte(strings.TrimSuffix(rest, "\r\n"))
	if w.xkey != nil {
		header, text, _ := strings.Cut(rest, "\r\n\r\n")
		_, q.server, _ = strings.Cut(header, "Nats-Server-Xkey: ")
		if body, err = w.xkey.Open([]byte(strings.TrimSuffix(text, "\r\n")), q.server); err != nil {
			w.t.Fatal(err)
		}
	}
	if q.AuthorizationRequestClaims, err = jwt.DecodeAuthorizationRequestClaims(string(body)); err != nil {
		w.t.Fatal(err, line)
	}
	return q
}

// reply makes an answer that edits change from a good one, and sends it to the question.
func (w *calloutWorld) reply(q *question, by nkeys.KeyPair, edit func(*jwt.AuthorizationResponseClaims), user func(*jwt.UserClaims)) {
	w.t.Helper()
	w.send(q, w.compose(q, by, edit, user))
}

func (w *calloutWorld) compose(q *question, by nkeys.KeyPair, edit func(*jwt.AuthorizationResponseClaims), user func(*jwt.UserClaims)) string {
	w.t.Helper()
	u := jwt.NewUserClaims(q.UserNkey)
	u.Audience = "APP"
	if user != nil {
		user(u)
	}
	r := jwt.NewAuthorizationResponseClaims(q.UserNkey)
	r.Audience = q.Server.ID
	var err error
	if r.Jwt, err = u.Encode(w.issuer); err != nil {
		w.t.Fatal(err)
	}
	if edit != nil {
		edit(r)
	}
	text, err := r.Encode(by)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func (w *calloutWorld) send(q *question, text string) {
	if w.xkey != nil {
		sealed, err := w.xkey.SealWithRand([]byte(text), q.server, strings.NewReader("a nonce of 24 bytes, once"))
		if err != nil {
			w.t.Fatal(err)
		}
		text = string(sealed)
	}
	say(w.e, w.service, "PUB "+q.reply+" "+strconv.Itoa(len(text))+"\r\n"+text+"\r\n")
	w.run()
}

func TestCallout(t *testing.T) {
	for _, encrypted := range []bool{false, true} {
		w := newCalloutWorld(t, encrypted, nil)
		c := w.connect("joe", "x")
		q := w.question()
		if q.Issuer != w.e.info.ServerID || q.Server.ID != w.e.info.ServerID || q.ConnectOptions.Username != "joe" || q.ConnectOptions.Password != "x" ||
			q.ClientInformation.Name != "tool" || q.Audience != "nats-authorization-request" {
			t.Errorf("%+v", q.AuthorizationRequestClaims)
		}
		w.wants(c, "")
		w.reply(q, w.issuer, nil, func(u *jwt.UserClaims) {
			u.Pub.Deny.Add("no")
			u.Tags.Add("t")
		})
		w.wants(c, "PONG")
		if got := w.e.lookup(c).acc.name; got != "APP" {
			t.Error("placed in", got)
		}
		if p := w.e.lookup(c).papers(); p.issuer != "APP" || p.tags != nil {
			t.Errorf("the account vouches for it: %+v", p)
		}
		say(w.e, c, "PUB no 0\r\n\r\n")
		w.wants(c, "-ERR 'Permissions Violation")
	}
}

// One user of the accounts is the service itself, and nobody else is who the configuration says.
func TestCalloutIsForAllButTheService(t *testing.T) {
	w := newCalloutWorld(t, false, nil)
	for _, name := range []string{"app", "other", "", "svcx"} {
		c := w.connect(name, "p")
		w.wants(c, "")
		w.reply(w.question(), w.issuer, nil, nil)
		w.wants(c, "PONG")
	}
	w.wants(w.connect("svc", "wrong"), refusedText)
}

func TestCalloutRefused(t *testing.T) {
	now := int64(year2100 / 1e9)
	w := newCalloutWorld(t, false, nil)
	liar := testAccount(6)
	hears := w.connect("svc", "p")
	say(w.e, hears, "SUB $SYS.ACCOUNT.CLIENT.AUTH.ERR 1\r\n")
	w.take(hears)
	for _, c := range []struct {
		name string
		by   nkeys.KeyPair
		edit func(*jwt.AuthorizationResponseClaims)
		user func(*jwt.UserClaims)
		log  string
		told string // empty: as in the log
	}{
		{name: "error", edit: func(r *jwt.AuthorizationResponseClaims) { r.Jwt, r.Error = "", "go away" }, log: "Auth callout service returned an error: go away"},
		{name: "another signer", by: liar, log: "Auth callout signing key is unknown"},
		{name: "another server", edit: func(r *jwt.AuthorizationResponseClaims) { r.Audience = publicOf(testKey(nkeys.PrefixByteServer, 3)) }, log: "response is not for server"},
		{name: "another question", edit: func(r *jwt.AuthorizationResponseClaims) { r.Subject = publicOf(testUser(9)) }, log: "Auth callout violation: auth callout response is not for expected user"},
		{name: "another user", user: func(u *jwt.UserClaims) { u.Subject = publicOf(testUser(9)) }, log: "Expected authorized user of"},
		{name: "no such account", user: func(u *jwt.UserClaims) { u.Audience = "ZZ" }, log: `No valid account "ZZ"`},
		{name: "expired", user: func(u *jwt.UserClaims) { u.Expires = now }, log: "Error validating user JWT: claim is expired"},
		{name: "early", user: func(u *jwt.UserClaims) { u.NotBefore = now + 100 }, log: "Error validating user JWT: claim is not yet valid"},
		{name: "expired answer", edit: func(r *jwt.AuthorizationResponseClaims) { r.Expires = now }, log: "Authorization response had validation errors: claim is expired"},
		{name: "early answer", edit: func(r *jwt.AuthorizationResponseClaims) { r.NotBefore = now + 100 }, log: "Authorization response had validation errors: claim is not yet valid"},
		{name: "no server", edit: func(r *jwt.AuthorizationResponseClaims) { r.Audience = "" }, log: "authorization response had validation errors: Audience must be a server public key"},
		{name: "type of connection", user: func(u *jwt.UserClaims) { u.AllowedConnectionTypes.Add("MQTT") }, log: typeText,
			told: `Authorized user on account "AUTH" not allowed to use connection type`},
		{name: "time", user: func(u *jwt.UserClaims) { u.Times = []jwt.TimeRange{{Start: "01:00:00", End: "02:00:00"}} }, log: timesText,
			told: `Authorized user on account "AUTH" outside of valid connect times`},
		{name: "proxy", user: func(u *jwt.UserClaims) { u.ProxyRequired = true }, log: directText, told: "Proxy connection required"},
		{name: "signed for another", user: func(u *jwt.UserClaims) { u.IssuerAccount = publicOf(w.issuer) },
			log: `Error non operator mode account "AUTH": attempted to use issuer_account`},
		{name: "permissions", user: func(u *jwt.UserClaims) { u.Pub.Allow.Add("a b c") }, log: `error validating user JWT: Permission Subject "a b c"`},
		{name: "neither", edit: func(r *jwt.AuthorizationResponseClaims) { r.Jwt = "" }, log: "validation errors: Error or Jwt is required"},
		{name: "both", edit: func(r *jwt.AuthorizationResponseClaims) { r.Error = "go away" }, log: "validation errors: Only Error or Jwt can be set"},
		{name: "address", user: func(u *jwt.UserClaims) { u.Src.Add("10.0.0.0/8") }, log: "Bad src Ip"},
	} {
		conn := w.connect("joe", "x")
		q := w.question()
		by := w.issuer
		if c.by != nil {
			by = c.by
		}
		w.reply(q, by, c.edit, c.user)
		if got := w.take(conn); !strings.Contains(got, refusedText) {
			t.Errorf("%s: %q", c.name, got)
		}
		if !w.logged(c.log) {
			t.Errorf("%s: not in the log: %q", c.name, c.log)
		}
		if got := w.take(hears); strings.Count(got, "AUTH.ERR") != 1 || !strings.Contains(got, `"acc":"AUTH","user":"joe"`) ||
			!strings.Contains(strings.ToLower(strings.ReplaceAll(got, `\"`, `"`)), strings.ToLower(cmp.Or(c.told, c.log))) {
			t.Errorf("%s: the service is told %q", c.name, got)
		}
	}
	w.wants(w.connect("svc", "wrong"), refusedText)
	if got := w.take(hears); !strings.Contains(got, `"reason":"Authentication Failure"`) {
		t.Errorf("the service is told %q", got)
	}
	conn := w.connect("joe", "x")
	w.send(w.question(), "nonsense")
	w.wants(conn, refusedText)
	conn = w.connect("joe", "x")
	w.take(hears)
	w.send(w.question(), "")
	w.wants(conn, refusedText)
	w.wants(hears, `"reason":"Auth callout violation: \"no reason supplied\" on account \"AUTH\""`)
}

// The first answer counts; one to another question does not, nor one that comes again.
func TestCalloutAnswersCountOnce(t *testing.T) {
	w := newCalloutWorld(t, false, nil)
	c := w.connect("joe", "x")
	q := w.question()
	good := w.compose(q, w.issuer, nil, nil)
	w.reply(q, w.issuer, func(r *jwt.AuthorizationResponseClaims) { r.Jwt, r.Error = "", "no" }, nil)
	w.send(q, good)
	w.wants(c, refusedText)
	c = w.connect("joe", "x")
	again := w.question()
	w.send(q, good) // to the old question's subject: nobody waits there
	w.wants(c, "")
	w.send(again, good)
	w.wants(c, refusedText)
	if len(w.e.inboxes) != 0 {
		t.Error("questions are left")
	}
}

func TestCalloutTakesTooLong(t *testing.T) {
	w := newCalloutWorld(t, false, nil)
	c := w.connect("joe", "x")
	q := w.question()
	w.pass(Instant(2e9))
	w.wants(c, refusedText)
	w.reply(q, w.issuer, nil, nil)
	w.wants(c, "")
	gone := w.connect("joe", "x")
	q = w.question()
	turn(w.e, func() { w.e.Closed(gone, "") })
	w.reply(q, w.issuer, nil, nil)
	if len(w.e.inboxes) != 0 {
		t.Error("questions are left")
	}
}

// A client that the service let in stays in after a reload, unless its account or the issuer is gone.
func TestCalloutAndReload(t *testing.T) {
	w := newCalloutWorld(t, false, nil)
	c := w.connect("joe", "x")
	w.reply(w.question(), w.issuer, nil, func(u *jwt.UserClaims) { u.Expires = int64(year2100/1e9) + 100 })
	w.wants(c, "PONG")
	o := w.e.opts
	turn(w.e, func() { w.e.Reload(o) })
	w.run()
	say(w.e, c, "PING\r\n")
	w.wants(c, "PONG")
	w.pass(Instant(101e9))
	w.wants(c, "-ERR 'User Authentication Expired'")
	c = w.connect("joe", "x")
	w.reply(w.question(), w.issuer, nil, nil)
	w.wants(c, "PONG")
	o = w.e.opts
	o.Callout = nil
	turn(w.e, func() { w.e.Reload(o) })
	w.run()
	w.wants(c, refusedText)
}

// A reload has the service asked about those who are in by the configuration, and about whom it decides from then on.
func TestCalloutComesAtReload(t *testing.T) {
	for _, list := range [][]string{nil, {"APP"}} {
		w := newCalloutWorld(t, false, nil)
		with, without := w.e.opts, w.e.opts
		x := *with.Callout
		x.AllowedAccounts = list
		with.Callout, without.Callout = &x, nil
		reload := func(o Options) {
			turn(w.e, func() { w.e.Reload(o) })
			w.run()
		}
		reload(without)
		stays, goes := w.connect("app", "p"), w.connect("app", "p")
		w.wants(stays, "PONG")
		w.wants(goes, "PONG")
		say(w.e, stays, "SUB a 1\r\n")
		reload(with)
		// The service can't tell them apart but by their numbers, and is asked in the order of the reload.
		for range 2 {
			q := w.question()
			if q.ConnectOptions.Username != "app" || q.ConnectOptions.Password != "p" {
				t.Fatalf("asked about %+v", q.ConnectOptions)
			}
			if q.ClientInformation.ID == w.e.lookup(goes).cid {
				w.reply(q, w.issuer, func(r *jwt.AuthorizationResponseClaims) { r.Jwt, r.Error = "", "not any more" }, nil)
				continue
			}
			w.reply(q, w.issuer, nil, func(u *jwt.UserClaims) { u.Name = "answered" })
		}
		w.wants(goes, refusedText)
		say(w.e, stays, "PUB a 2\r\nhi\r\nPING\r\n")
		w.wants(stays, "MSG a 1 2|hi|PONG")
		if u := w.e.lookup(stays).user; !u.answered || u.name != "answered" {
			t.Errorf("%v: who stays is %+v", list, u)
		}
		reload(with) // nobody is asked about again
		if got := w.take(w.service); got != "" {
			t.Errorf("%v: the service is asked again: %q", list, got)
		}
		if c := w.e.lookup(w.service); c == nil || c.user.answered {
			t.Errorf("%v: the service's own connection: %+v", list, c)
		}
	}
}

// Without an answer nobody stays whom the service decides about since a reload; who is in an account that it does not decide about does.
func TestCalloutComesAtReloadWithoutAService(t *testing.T) {
	w := newCalloutWorld(t, false, func(o *Options) { o.Callout.AllowedAccounts = []string{"APP"} })
	with, without := w.e.opts, w.e.opts
	without.Callout = nil
	turn(w.e, func() { w.e.Reload(without) })
	w.run()
	app, other := w.connect("app", "p"), w.connect("other", "p")
	w.wants(app, "PONG")
	w.wants(other, "PONG")
	say(w.e, w.service, "UNSUB 1\r\n")
	turn(w.e, func() { w.e.Reload(with) })
	w.run()
	w.pass(Instant(w.e.opts.AuthTimeout) + 1e9)
	w.wants(app, refusedText)
	say(w.e, other, "PING\r\n")
	w.wants(other, "PONG")
}

// Whom the service lets in is known by the name that it gives, else by the one shown; the key that was made up for the question is
// nowhere to be seen. It does not make the client the user of the configuration with that name.
func TestCalloutNames(t *testing.T) {
	for _, x := range []struct{ given, shown, want string }{{"ann", "joe", "ann"}, {"", "joe", "joe"}, {"app", "", "app"}} {
		w := newCalloutWorld(t, false, nil)
		c := w.connect(x.shown, "")
		w.reply(w.question(), w.issuer, nil, func(u *jwt.UserClaims) { u.Name = x.given })
		w.wants(c, "PONG")
		say(w.e, c, "SUB R 1\r\nPUB $SYS.REQ.USER.INFO R 0\r\n\r\n")
		w.run()
		w.wants(c, `"data":{"user":"`+x.want+`","account":"APP","account_name":"APP"}`)
		if z, _ := ask[*monitor.Connz](t, w.e, w.fakeWorld, monitor.ConnzOptions{User: x.want}); len(z.Pick()) != 1 {
			t.Errorf("%+v: %d", x, z.Total)
		}
		o := w.e.opts
		o.Callout = nil
		o.Accounts = slices.Clone(o.Accounts)
		o.Accounts[1].Users = []config.User{{Name: x.want}}
		turn(w.e, func() { w.e.Reload(o) })
		w.run()
		if x.want == "joe" {
			continue // what it has shown lets it in now
		}
		w.wants(c, refusedText)
	}
}

// Whom the service gives no name and who has shown none is known by what it has shown, or nothing.
func TestCalloutWithoutNames(t *testing.T) {
	for _, x := range []struct{ shown, guest, want string }{
		{`"lang":"go"`, "", ""}, {`"auth_token":"secret"`, "", redacted}, {`"lang":"go"`, "app", "app"}, {`"auth_token":"secret"`, "app", redacted},
	} {
		w := newCalloutWorld(t, false, func(o *Options) { o.NoAuthUser.Text = x.guest })
		c := accept(w.e)
		w.take(c)
		say(w.e, c, `CONNECT {"verbose":false,"headers":true,`+x.shown+"}\r\nSUB R 1\r\nPUB $SYS.REQ.USER.INFO R 0\r\n\r\n")
		w.run()
		w.reply(w.question(), w.issuer, nil, nil)
		w.wants(c, `"data":{"user":"`+x.want+`","account":"APP","account_name":"APP"}`)
	}
}

func TestCalloutInOperatorMode(t *testing.T) {
	a, target, third, signer := testAccount(2), testAccount(3), testAccount(4), testAccount(5)
	svc, sentinel := testUser(1), testUser(2)
	var w *operatorWorld
	base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	w = newOperatorWorld(t, config.MemoryResolver, nil, base.account(a, func(c *jwt.AccountClaims) {
		c.SigningKeys.Add(publicOf(signer))
		c.EnableExternalAuthorization(publicOf(svc))
		c.Authorization.AllowedAccounts.Add(publicOf(target))
	}), base.account(target, nil), base.account(third, nil))
	x := &calloutWorld{operatorWorld: w, service: w.login(w.user(svc, a, nil), svc)}
	w.wants(x.service, "PONG")
	say(w.e, x.service, "SUB $SYS.REQ.USER.AUTH 1\r\n")
	bearer := w.user(sentinel, a, func(c *jwt.UserClaims) { c.BearerToken = true })
	for _, c := range []struct {
		name     string
		user, by nkeys.KeyPair
		want     string
	}{
		{"allowed account", target, a, "PONG"}, {"signing key", target, signer, "PONG"}, {"its own", a, a, "PONG"},
		{"another account", third, a, refusedText}, {"answer by another account", target, target, refusedText},
	} {
		conn := w.login(bearer, nil)
		w.wants(conn, "")
		x.issuer = c.user
		q := x.question()
		if q.ClientInformation.User != publicOf(sentinel) {
			t.Errorf("%s: asked about %+v", c.name, q.ClientInformation)
		}
		x.reply(q, c.by, nil, nil)
		if got := w.take(conn); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	w.wants(w.login(w.user(sentinel, target, nil), sentinel), "PONG")
}

// Who shows something in place of a user's JWT is asked about as the default sentinel, as is who shows nothing; whose JWT is one but does
// not count is refused. Whom the service turns away, monitoring and events show in the service's account.
func TestDefaultSentinelInPlaceOfNonsense(t *testing.T) {
	a, svc, sentinel, late := testAccount(2), testUser(1), testUser(2), testUser(3)
	base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	w := newOperatorWorld(t, config.MemoryResolver, func(o *Options) {
		o.Operators.DefaultSentinel.Text = base.user(sentinel, a, func(c *jwt.UserClaims) { c.BearerToken = true })
	}, base.account(a, func(c *jwt.AccountClaims) { c.EnableExternalAuthorization(publicOf(svc)) }))
	x := &calloutWorld{operatorWorld: w, service: w.login(w.user(svc, a, nil), svc), issuer: a}
	w.wants(x.service, "PONG")
	say(w.e, x.service, "SUB $SYS.REQ.USER.AUTH 1\r\n")
	admin := w.administrator()
	say(w.e, admin, "SUB $SYS.ACCOUNT.*.DISCONNECT 2\r\nSUB $SYS.SERVER.*.CLIENT.AUTH.ERR 3\r\n")
	for _, shows := range []string{"", "nonsense", base.account(a, nil), base.user(late, a, nil)[:40] + "x.y"} {
		c := w.login(shows, nil)
		q := x.question()
		if q.ClientInformation.User != publicOf(sentinel) || q.ConnectOptions.JWT != w.e.opts.Operators.DefaultSentinel.Text {
			t.Errorf("%q: asked about %+v", shows, q)
		}
		x.reply(q, a, func(r *jwt.AuthorizationResponseClaims) { r.Jwt, r.Error = "", "no" }, nil)
		w.wants(c, refusedText)
		if !w.logged(`authentication error - JWT User "` + publicOf(sentinel)) {
			t.Error("the log does not say whose JWT counted")
		}
		told := w.take(admin)
		for _, want := range []string{"MSG $SYS.ACCOUNT." + publicOf(a) + ".DISCONNECT 2", ".CLIENT.AUTH.ERR 3", `"user":"` + publicOf(sentinel), `"issuer_key":"` + publicOf(a), `"acc":"` + publicOf(a)} {
			if !strings.Contains(told, want) {
				t.Errorf("%q: no %s in %s", shows, want, told)
			}
		}
	}
	w.wants(w.login(base.user(late, a, func(c *jwt.UserClaims) { c.Expires = 1 }), late), refusedText)
	if got := w.take(x.service); got != "" {
		t.Errorf("the service was asked about an expired JWT: %s", got)
	}
}

// A question that took longer to compose than auth_timeout is waited for all the same, and no longer than any other.
func TestCalloutComposedSlowly(t *testing.T) {
	for _, answered := range []bool{true, false} {
		w := newCalloutWorld(t, false, nil)
		c := accept(w.e)
		w.take(c)
		say(w.e, c, `CONNECT {"verbose":false,"user":"joe","pass":"x"}`+"\r\nPING\r\n")
		w.now += Instant(10e9)
		turn(w.e, w.e.TimerDue)
		w.wants(c, "")
		w.run()
		q := w.question()
		if w.pass(Instant(1e9)); answered {
			w.reply(q, w.issuer, nil, nil)
			w.wants(c, "PONG")
			continue
		}
		w.pass(Instant(1e9))
		w.wants(c, refusedText)
	}
}

// Requests that the server can't keep up with don't keep out answers that it waits for.
func TestCalloutBesideAFloodOfRequests(t *testing.T) {
	w := newCalloutWorld(t, false, nil)
	c := accept(w.e)
	w.take(c)
	say(w.e, c, `CONNECT {"verbose":false,"user":"joe","pass":"x"}`+"\r\nPING\r\n")
	w.run()
	q := w.question()
	for range 2 * w.e.opts.MaxCalls {
		w.e.asked.calls.push(w.e.global, &call{handle: func(*call) { w.e.work += w.e.opts.TurnWork }}, 0)
	}
	answer := w.compose(q, w.issuer, nil, nil)
	for range 2 { // of which the second comes too late, and is nobody's
		say(w.e, w.service, "PUB "+q.reply+" "+strconv.Itoa(len(answer))+"\r\n"+answer+"\r\n")
	}
	for range 10 {
		w.round()
	}
	w.wants(c, "PONG")
	if w.e.asked.calls.n < w.e.opts.MaxCalls {
		t.Fatal("the flood was over too soon to show anything")
	}
}

// An answer to a question that nobody asked finds no responder.
func TestAnswerToNoQuestion(t *testing.T) {
	w := newCalloutWorld(t, false, nil)
	c := w.connect("joe", "x")
	q := w.question()
	say(w.e, w.service, `CONNECT {"verbose":false,"headers":true,"no_responders":true,"user":"svc","pass":"p"}`+
		"\r\nSUB reply 2\r\nPUB "+q.reply+"x reply 0\r\n\r\n")
	if got := w.take(w.service); !strings.Contains(got, "503") {
		t.Errorf("%q", got)
	}
	w.reply(q, w.issuer, nil, nil)
	w.wants(c, "PONG")
}

// Of several answers the first counts, even if another is verified sooner.
func TestCalloutFirstAnswerCounts(t *testing.T) {
	w := newCalloutWorld(t, false, nil)
	c := w.connect("joe", "x")
	q := w.question()
	bad := w.compose(q, w.issuer, func(r *jwt.AuthorizationResponseClaims) { r.Jwt, r.Error = "", "no" }, nil)
	for _, text := range []string{bad, w.compose(q, w.issuer, nil, nil)} {
		say(w.e, w.service, "PUB "+q.reply+" "+strconv.Itoa(len(text))+"\r\n"+text+"\r\n")
	}
	for len(w.jobs) > 0 {
		all := slices.Sorted(maps.Keys(w.jobs))
		last := all[len(all)-1]
		run := w.jobs[last]
		delete(w.jobs, last)
		run()
		turn(w.e, func() { w.e.JobDone(last) })
	}
	w.wants(c, refusedText)
}
