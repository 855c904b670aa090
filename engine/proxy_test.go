package engine

import (
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/monitor"
)

// proxied connects a user through the proxy whose key n is; 0: directly.
func (w *operatorWorld) proxied(user string, n int) ConnID {
	w.t.Helper()
	c := accept(w.e)
	w.take(c)
	sig := ""
	if n > 0 {
		sig = `,"proxy_sig":"` + w.signs(c, testUser(n)) + `"`
	}
	say(w.e, c, `CONNECT {"verbose":false,"user":"`+user+`","pass":"p"`+sig+"}\r\nPING\r\n")
	w.run()
	return c
}

func trusting(keys ...int) (all []config.Located) {
	for _, n := range keys {
		all = append(all, config.Located{Text: publicOf(testUser(n))})
	}
	return all
}

// newProxyWorld has two trusted proxies, 1 and 2, and users of whom p is let in through these only.
func newProxyWorld(t *testing.T, edit func(*Options)) *operatorWorld {
	t.Helper()
	w := &operatorWorld{t: t, fakeWorld: newFakeWorld()}
	o := Options{Check: true, PingInterval: -1, Proxies: trusting(1, 2), Users: []config.User{
		{Name: "p", Password: "p", ProxyRequired: true}, {Name: "u", Password: "p"},
	}}
	if edit != nil {
		edit(&o)
	}
	for _, err := range CheckUsers(&o) {
		t.Fatal(err)
	}
	w.e = New(o, w.env())
	turn(w.e, w.e.Start)
	turn(w.e, func() { w.e.ListenerUp(clientListener, 4222) })
	return w
}

func (w *operatorWorld) reloads(change func(*Options)) {
	o := w.e.opts
	change(&o)
	turn(w.e, func() { w.e.Reload(o) })
	w.run()
}

// shows checks what monitoring says of a connection: why it was closed, and which proxy it came through.
func (w *operatorWorld) shows(c ConnID, reason CloseReason, proxy int) {
	w.t.Helper()
	key := ""
	if proxy > 0 {
		key = publicOf(testUser(proxy))
	}
	z, _ := ask[*monitor.Connz](w.t.(*testing.T), w.e, w.fakeWorld, monitor.ConnzOptions{State: monitor.All})
	for _, i := range z.Pick() {
		if ConnID(i.ID) == c && (i.Reason != string(reason) || i.Proxy != key) {
			w.t.Errorf("%q through %q, want %q through %q", i.Reason, i.Proxy, reason, key)
		}
	}
}

func TestProxies(t *testing.T) {
	w := newProxyWorld(t, nil)
	for _, x := range []struct {
		user   string
		proxy  int
		want   string
		reason CloseReason
		shown  int
	}{
		{"p", 0, refusedText, ReasonNoProxy, 0}, {"p", 1, "PONG", "", 1}, {"p", 2, "PONG", "", 2}, {"p", 3, refusedText, ReasonProxy, 0},
		{"u", 0, "PONG", "", 0}, {"u", 1, "PONG", "", 1}, {"u", 3, refusedText, ReasonProxy, 0}, {"nobody", 1, refusedText, ReasonAuthFailed, 1},
	} {
		c := w.proxied(x.user, x.proxy)
		w.wants(c, x.want)
		w.shows(c, x.reason, x.shown)
	}
}

// What comes through a proxy ends when the proxy is not trusted any more, whoever the user is, and what is under way counts by the
// keys that are in force when it ends.
func TestProxiesFollowAReload(t *testing.T) {
	for _, gone := range []bool{false, true} {
		w := newProxyWorld(t, nil)
		first, other, direct, second := w.proxied("p", 1), w.proxied("u", 1), w.proxied("u", 0), w.proxied("p", 2)
		late := accept(w.e)
		w.take(late)
		say(w.e, late, `CONNECT {"verbose":false,"user":"u","pass":"p","proxy_sig":"`+w.signs(late, testUser(1))+"\"}\r\nPING\r\n")
		for _, c := range []ConnID{first, other, direct, second} {
			w.wants(c, "PONG")
		}
		w.reloads(func(o *Options) {
			if o.Proxies = trusting(2); gone {
				o.Proxies = nil
			}
		})
		for _, c := range []ConnID{first, other, late} {
			w.wants(c, refusedText)
		}
		w.shows(first, ReasonProxy, 1)
		w.wants(direct, "")
		if gone {
			w.wants(second, refusedText)
		} else {
			w.wants(second, "")
		}
	}
}

// Whom a reload lets in through a proxy only, or not by this type of connection, does not stay without. A client that has not said
// yet who it is has to.
func TestUsersThatAReloadKeepsOut(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(*config.User)
		reason CloseReason
		stays  bool // who comes through a proxy
	}{
		{"proxy", func(u *config.User) { u.ProxyRequired = true }, ReasonNoProxy, true},
		{"type", func(u *config.User) { u.ConnectionTypes = []string{"MQTT"} }, ReasonAuthFailed, false},
		{"neither", func(u *config.User) { u.ConnectionTypes = []string{"STANDARD"} }, "", true},
	} {
		w := newProxyWorld(t, func(o *Options) { o.NoAuthUser.Text, o.AuthTimeout = "u", time.Second })
		direct, proxied, none, silent := w.proxied("u", 0), w.proxied("u", 1), accept(w.e), accept(w.e)
		w.take(none)
		w.take(silent)
		say(w.e, none, "CONNECT {\"verbose\":false}\r\nPING\r\n")
		w.wants(none, "PONG")
		w.wants(direct, "PONG")
		w.wants(proxied, "PONG")
		w.reloads(func(o *Options) {
			o.Users = append([]config.User(nil), o.Users...)
			x.change(&o.Users[1])
		})
		want := refusedText
		if x.reason == "" {
			want = ""
		}
		w.wants(direct, want)
		w.wants(none, want)
		w.shows(direct, x.reason, 0)
		if x.stays {
			want = ""
		}
		w.wants(proxied, want)
		w.wants(silent, "")
		say(w.e, silent, "SUB x 1\r\nPING\r\n")
		if w.run(); x.reason != "" {
			w.wants(silent, refusedText)
		} else {
			w.wants(silent, "PONG")
		}
	}
}

// Who shows nothing must say so in a CONNECT where that does not make it no_auth_user for certain: it can't get by without what its
// CONNECT would be held against.
func TestSilentClients(t *testing.T) {
	callout := func(o *Options) {
		o.Callout = &config.AuthCallout{Issuer: publicOf(testAccount(5)), Users: []string{"p"}}
	}
	for _, x := range []struct {
		name string
		edit func(*Options)
		want string
	}{
		{"no_auth_user", func(*Options) {}, "PONG"},
		{"that comes through a proxy only", func(o *Options) { o.NoAuthUser.Text = "p" }, refusedText},
		{"all come through a proxy only", func(o *Options) { o.ProxyRequired = true }, refusedText},
		{"of another type", func(o *Options) { o.Users[1].ConnectionTypes = []string{"MQTT"} }, refusedText},
		{"a service decides", callout, refusedText},
		{"certificates say", func(o *Options) { o.TLS.Map = true }, refusedText},
	} {
		for _, sent := range []string{"PING\r\n", "SUB x 1\r\nPING\r\n", "PU"} {
			w := newProxyWorld(t, func(o *Options) {
				o.NoAuthUser.Text = "u"
				x.edit(o)
			})
			c := accept(w.e)
			w.take(c)
			say(w.e, c, sent)
			if w.run(); sent == "PU" && x.want == "PONG" {
				continue
			}
			w.wants(c, x.want)
		}
	}
}

// A JWT that asks for a proxy, and events that tell of one.
func TestProxiesInOperatorMode(t *testing.T) {
	a, u := testAccount(2), testUser(1)
	w := newOperatorWorld(t, config.URLResolver, func(o *Options) { o.Proxies = trusting(7) })
	w.pages["http://x/"+publicOf(a)] = w.account(a, nil)
	token := w.user(u, a, func(c *jwt.UserClaims) { c.ProxyRequired = true })
	admin := w.administrator()
	say(w.e, admin, "SUB $SYS.SERVER.*.CLIENT.AUTH.ERR 2\r\n")
	c := w.login(token, u)
	w.fetch()
	w.wants(c, refusedText)
	w.shows(c, ReasonNoProxy, 0)
	w.wants(admin, `"reason":"Proxy Required"`)
	c = accept(w.e)
	w.take(c)
	say(w.e, c, `CONNECT {"verbose":false,"jwt":"`+token+`","sig":"`+w.signs(c, u)+`","proxy_sig":"`+w.signs(c, testUser(7))+"\"}\r\nPING\r\n")
	w.run()
	w.wants(c, "PONG")
	w.take(admin)
	w.reloads(func(o *Options) { o.Proxies = nil })
	w.wants(c, refusedText)
	w.shows(c, ReasonProxy, 7)
	w.wants(admin, `"reason":"Proxy Not Trusted"`)
}
