package engine

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
)

func lists(allow, deny string) *config.SubjectPermission {
	fill := func(text string) (l []config.Subject) {
		for _, s := range strings.Fields(text) {
			subj, queue, _ := strings.Cut(s, "/")
			l = append(l, config.Subject{Text: subj, Queue: queue})
		}
		return l
	}
	return &config.SubjectPermission{Allow: fill(allow), Deny: fill(deny)}
}

func userWith(name string, pub, sub *config.SubjectPermission) config.User {
	return config.User{Name: name, Password: "p", Permissions: &config.Permissions{Publish: pub, Subscribe: sub}}
}

// as connects as a user.
func as(e *Engine, w *fakeWorld, user, more string) ConnID {
	c := accept(e)
	say(e, c, `CONNECT {"verbose":false,"headers":true,"no_responders":true,"user":"`+user+`","pass":"p"}`+"\r\n"+more)
	w.take(c)
	return c
}

func TestUsersInAccounts(t *testing.T) {
	o := Options{
		Users:      []config.User{{Name: "g", Password: "p"}},
		Accounts:   []config.Account{{Name: "A", Users: []config.User{{Name: "a", Password: "p"}}}},
		NoAuthUser: config.Located{Text: "a"},
	}
	if p := append(CheckAccounts(o.Accounts, o.SystemAccount), CheckUsers(&o)...); len(p) > 0 {
		t.Fatal(p)
	}
	e, w := started(t, o)
	g, a := as(e, w, "g", "SUB > 1\r\n"), as(e, w, "a", "SUB > 1\r\n")
	none := accept(e)
	if text := w.take(none); strings.Contains(text, "auth_required") {
		t.Fatalf("with a no_auth_user nothing is asked for: %q", text)
	}
	say(e, none, "CONNECT {\"verbose\":false,\"protocol\":1}\r\nPUB x 0\r\n\r\nPING\r\n")
	if got := w.take(none); !strings.HasPrefix(got, "PONG\r\n") || !strings.Contains(got, `"auth_required":true`) || !strings.Contains(got, `"remote_account":"A"`) {
		t.Fatalf("got %q", got)
	}
	if w.take(g) != "" || w.take(a) != "MSG x 1 0\r\n\r\n" {
		t.Fatal("the message of the no_auth_user went elsewhere than to its account")
	}
	bad := accept(e)
	w.take(bad)
	say(e, bad, `CONNECT {"user":"a","pass":"x"}`+"\r\n")
	if got := w.take(bad); got != "-ERR 'Authorization Violation'\r\n" {
		t.Fatalf("got %q", got)
	}
	// Without no_auth_user its clients have nothing to show, though the user is still there.
	o.NoAuthUser = config.Located{}
	turn(e, func() { e.Reload(o) })
	w.settle(t, e)
	if got := w.take(none); got != "-ERR 'Authorization Violation'\r\n" {
		t.Fatalf("got %q", got)
	}
	if w.take(a) != "" {
		t.Fatal("who has shown a password must stay")
	}
}

// Who only adds a system account to a server that was open to everybody does not close it.
func TestGuestsBesideTheSystemAccount(t *testing.T) {
	system := config.Account{Name: "S", Users: []config.User{{Name: "s", Password: "p"}}}
	c := config.Config{Accounts: []config.Account{system}}
	c.Operators.SystemAccount = config.Located{Text: "S"}
	var o Options
	o.FromConfig(&c)
	e, w := started(t, o)
	quiet := accept(e)
	if text := w.take(quiet); !strings.Contains(text, `"auth_required":true`) {
		t.Fatalf("credentials must be asked for: %q", text)
	}
	guest := accept(e)
	w.take(guest)
	say(e, guest, "CONNECT {\"verbose\":false,\"protocol\":1}\r\nPING\r\nSUB > 1\r\nPUB x 0\r\n\r\n")
	if got := w.take(guest); !strings.Contains(got, `"remote_account":"$G"`) || !strings.HasSuffix(got, "MSG x 1 0\r\n\r\n") {
		t.Fatalf("got %q", got)
	}
	as(e, w, "s", "PUB x 0\r\n\r\n")
	if got := w.take(guest); got != "" {
		t.Fatalf("a message of the system account: %q", got)
	}
	as(e, w, "other", "")
	if n := len(e.conns) - len(e.free); n > 4 || e.active != 3 {
		t.Fatalf("%d connections, %d of them open: an unknown name is no guest", n, e.active)
	}

	turn(e, func() { e.Reload(o) })
	w.settle(t, e)
	if got := w.take(guest); strings.Contains(got, "-ERR") {
		t.Fatalf("a reload of the same throws guests out: %q", got)
	}
	c.Accounts = append(c.Accounts, config.Account{Name: "A"})
	var closed Options
	closed.FromConfig(&c)
	turn(e, func() { e.Reload(closed) })
	w.settle(t, e)
	if got := w.take(guest); got != "-ERR 'Authorization Violation'\r\n" {
		t.Fatalf("got %q", got)
	}
}

func TestWhoMayBeAGuest(t *testing.T) {
	system := config.Account{Name: systemAccount, Users: []config.User{{Name: "s", Password: "p"}}}
	for _, c := range []struct {
		name string
		c    config.Config
		want bool
	}{
		{"no account", config.Config{}, false},
		{"the system account", config.Config{Accounts: []config.Account{system}}, true},
		{"another account", config.Config{Accounts: []config.Account{{Name: "A"}}}, false},
		{"two accounts", config.Config{Accounts: []config.Account{system, {Name: "A"}}}, false},
		{"an empty authorization", config.Config{Accounts: []config.Account{system}, Authorization: &config.Authorization{}}, false},
		{"no_auth_user", config.Config{Accounts: []config.Account{system}, NoAuthUser: config.Located{Text: "s"}}, false},
	} {
		var o Options
		if o.FromConfig(&c.c); o.Guests != c.want {
			t.Errorf("%s: %v", c.name, o.Guests)
		}
	}
}

// Who has never sent a CONNECT, and subscribed to something, is closed when a reload asks for one: it has shown nothing, and must get
// nothing more. Who has not may still send one.
func TestReloadAsksWhoIsSilent(t *testing.T) {
	users := []config.User{{Name: "u", Password: "p"}}
	for _, before := range []Options{{}, {Users: users, NoAuthUser: config.Located{Text: "u"}}} {
		before.Check = true
		e, w := started(t, before)
		hears, speaks, all := accept(e), accept(e), accept(e)
		for _, c := range []ConnID{hears, speaks} {
			w.take(c)
		}
		say(e, all, `CONNECT {"verbose":false,"user":"u","pass":"p"}`+"\r\n")
		say(e, hears, "SUB x 1\r\nPING\r\n")
		say(e, speaks, "PUB y 0\r\n\r\n")
		w.take(hears)
		w.take(speaks)
		turn(e, func() {
			e.Reload(Options{Check: true, Users: users})
			e.Received(all, []byte("PUB x 0\r\n\r\n"))
		})
		w.settle(t, e)
		if got := w.take(hears); got != "-ERR 'Authorization Violation'\r\n" {
			t.Errorf("who listens got %q", got)
		}
		say(e, speaks, "PUB y 0\r\n\r\n")
		if got := w.take(speaks); got != "-ERR 'Authorization Violation'\r\n" {
			t.Errorf("who publishes without a CONNECT got %q", got)
		}
		if got := w.take(all); strings.Contains(got, "-ERR") {
			t.Errorf("who has shown a password got %q", got)
		}
	}
}

func TestPermissions(t *testing.T) {
	a := userWith("a", lists("x.* req", ""), lists("", "d.>"))
	r := userWith("r", lists("", ">"), nil)
	r.Permissions.AllowResponses = &config.ResponsePermission{}
	e, w := started(t, Options{Users: []config.User{a, r, {Name: "all", Password: "p"}}})
	want := func(c ConnID, text string) {
		t.Helper()
		if got := w.take(c); got != text {
			t.Fatalf("got  %q\nwant %q", got, text)
		}
	}
	c, all := as(e, w, "a", ""), as(e, w, "all", "SUB x.1 1\r\n")
	say(e, c, "PUB y 1\r\nx\r\n")
	want(c, "-ERR 'Permissions Violation for Publish to \"y\"'\r\n")
	say(e, c, "PUB x.1 1\r\nx\r\nPUB x.1 1\r\ny\r\n")
	want(all, "MSG x.1 1 1\r\nx\r\nMSG x.1 1 1\r\ny\r\n")
	say(e, c, "SUB d.x 1\r\nSUB d.x q 1\r\nSUB > 2\r\n")
	want(c, "-ERR 'Permissions Violation for Subscription to \"d.x\"'\r\n-ERR 'Permissions Violation for Subscription to \"d.x\" using queue \"q\"'\r\n")
	say(e, all, "PUB d.x 0\r\n\r\nPUB e 0\r\n\r\nUNSUB 1\r\n")
	want(c, "MSG e 2 0\r\n\r\n")
	if !w.logged(`Publish Violation - Subject "y"`) || !w.logged(`Subscription Violation - Subject "d.x", Queue: "q", SID 1`) {
		t.Fatalf("log: %q", w.log)
	}
	// Answers are allowed, as many as there may be.
	b := as(e, w, "r", "SUB req 1\r\n")
	say(e, c, "UNSUB 2\r\nSUB reply 3\r\nPUB req reply 0\r\n\r\n")
	want(b, "MSG req 1 reply 0\r\n\r\n")
	say(e, b, "PUB reply 1\r\n1\r\nPUB reply 1\r\n2\r\n")
	want(c, "MSG reply 3 1\r\n1\r\n")
	want(b, "-ERR 'Permissions Violation for Publish to \"reply\"'\r\n")
	// What is no longer allowed after a reload goes, and its client is told.
	say(e, c, "SUB x.5 9\r\nSUB y.> 10\r\n")
	o := Options{Users: []config.User{userWith("a", nil, lists("", "x.> y.1")), r, {Name: "all", Password: "p"}}}
	turn(e, func() { e.Reload(o) })
	say(e, all, "PUB x.5 0\r\n\r\nPUB y.1 0\r\n\r\nPUB y.2 0\r\n\r\n")
	w.settle(t, e)
	want(c, "-ERR 'Permissions Violation for Subscription to \"x.5\"'\r\nMSG y.2 10 0\r\n\r\n")
}

// Who has lost a permission, or is in another account now, gets nothing that it should not, in the turn of the reload either.
func TestNewUsersHoldAtOnce(t *testing.T) {
	in := func(account string, u config.User) Options {
		users := []config.User{{Name: "all", Password: "p"}}
		if account == "" {
			return Options{Users: append(users, u)}
		}
		return Options{Users: users, Accounts: []config.Account{{Name: account, Users: []config.User{u}}}}
	}
	free := config.User{Name: "a", Password: "p"}
	for _, c := range []struct {
		name string
		next Options
		want string
	}{
		{"may not get it", in("", userWith("a", nil, lists("", "y.1"))), "MSG y.2 1 0\r\n\r\n"},
		{"is elsewhere", in("B", free), ""},
	} {
		for _, queue := range []string{"", "q "} {
			e, w := started(t, in("", free))
			a, all := as(e, w, "a", "SUB y.> "+queue+"1\r\n"), as(e, w, "all", "")
			turn(e, func() {
				e.Reload(c.next)
				e.Received(all, []byte("PUB y.1 0\r\n\r\nPUB y.2 0\r\n\r\n"))
			})
			w.settle(t, e)
			if got := w.take(a); got != c.want {
				t.Errorf("who %s (queue %q) got %q, want %q", c.name, queue, got, c.want)
			}
		}
	}
}

func TestNkeyUsers(t *testing.T) {
	kp, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, []byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	pub, err := kp.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	e, w := started(t, Options{Users: []config.User{{NKey: pub}}})
	for _, good := range []bool{true, false} {
		c := accept(e)
		nonce := regexp.MustCompile(`"nonce":"([^"]+)"`).FindStringSubmatch(w.take(c))
		if nonce == nil {
			t.Fatal("no nonce")
		}
		text := nonce[1]
		if !good {
			text += "x"
		}
		sig, err := kp.Sign([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		say(e, c, `CONNECT {"verbose":false,"nkey":"`+pub+`","sig":"`+base64.RawURLEncoding.EncodeToString(sig)+`"}`+"\r\nPING\r\n")
		if got := w.take(c); got != "" {
			t.Fatalf("answered before the signature was verified: %q", got)
		}
		w.finishJobs(e)
		w.settle(t, e)
		if got := w.take(c); good != strings.HasPrefix(got, "PONG\r\n") || good == strings.Contains(got, "Authorization Violation") {
			t.Fatalf("good %v: %q", good, got)
		}
	}
}

// Where no user has an nkey, a client that shows one is who it would be without.
func TestNkeysThatNobodyAsksFor(t *testing.T) {
	system := config.Account{Name: "S", Users: []config.User{{Name: "s", Password: "p"}}}
	guests := config.Config{Accounts: []config.Account{system}}
	guests.Operators.SystemAccount = config.Located{Text: "S"}
	var o Options
	o.FromConfig(&guests)
	pub := publicOf(testUser(1))
	users := []config.User{{Name: "u", Password: "p"}}
	byNoAuth := Options{Users: users, NoAuthUser: config.Located{Text: "u"}}
	withKeys := Options{Users: append(users[:1:1], config.User{NKey: publicOf(testUser(2))}), NoAuthUser: config.Located{Text: "u"}}
	for _, c := range []struct {
		name  string
		o     Options
		shown string
		in    bool
	}{
		{"no_auth_user", byNoAuth, `"sig":"x"`, true},
		{"guests", o, `"sig":"x"`, true},
		{"with a password", Options{Users: users}, `"user":"u","pass":"p"`, true},
		{"with a wrong password", byNoAuth, `"user":"u","pass":"x"`, false},
		{"with a token", Options{Token: "t"}, `"auth_token":"t"`, true},
		{"users alone", Options{Users: users}, `"sig":"x"`, false},
		{"where another user has one", withKeys, `"sig":"x"`, false},
	} {
		e, w := started(t, c.o)
		id := accept(e)
		w.take(id)
		say(e, id, `CONNECT {"verbose":false,"nkey":"`+pub+`",`+c.shown+"}\r\nPING\r\n")
		w.finishJobs(e)
		w.settle(t, e)
		if got := w.take(id); c.in != (got == "PONG\r\n") || !c.in && !strings.HasPrefix(got, "-ERR 'Authorization Violation'") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestUsersRefused(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Users: []config.User{{Name: "a"}, {Name: "a"}}}, "Duplicate user \"a\" detected"},
		{Options{Users: []config.User{{NKey: "UX"}}}, "not a public user nkey"},
		{Options{NoAuthUser: config.Located{Text: "x"}}, "no_auth_user: \"x\" not present"},
		{Options{Users: []config.User{userWith("a", lists("a..b", ""), nil)}}, "permissions of user \"a\""},
	} {
		if p := CheckUsers(&c.o); len(p) == 0 || !strings.Contains(p[0].Error(), c.want) {
			t.Errorf("%v, want %q", p, c.want)
		}
	}
}

// Who is in and shows something wrong is told of in the log like who never was.
func TestWrongSecondConnectIsLogged(t *testing.T) {
	o := Options{Accounts: []config.Account{{Name: "A", Users: []config.User{{Name: "a", Password: "p"}}}}}
	e, w := started(t, o)
	a := as(e, w, "a", "")
	w.take(a)
	say(e, a, `CONNECT {"user":"b","pass":"x"}`+"\r\n")
	if got := w.take(a); got != violation {
		t.Fatalf("got %q", got)
	}
	if !w.logged(`authentication error - User "b"`) {
		t.Fatal("the log does not say who was turned away")
	}
}
