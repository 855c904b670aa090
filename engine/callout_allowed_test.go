package engine

import (
	"testing"

	"github.com/natsd/natsd/config"
)

// With allowed_accounts the configuration decides about its users in other accounts who prove who they are. About everybody else
// the service does: whom nobody knows, who does not prove it, and users in no account by name.
func TestCalloutOfSomeAccounts(t *testing.T) {
	w := newCalloutWorld(t, false, func(o *Options) {
		o.Callout.AllowedAccounts = []string{"APP"}
		o.Users = []config.User{{Name: "global", Password: "p"}}
		a := &o.Accounts[0]
		a.Users = append(a.Users, config.User{Name: "hashed", Password: bcryptOfP},
			config.User{Name: "socket", Password: "p", ConnectionTypes: []string{"WEBSOCKET"}},
			config.User{Name: "proxied", Password: "p", ProxyRequired: true},
			config.User{NKey: publicOf(testUser(3))})
	})
	const in, asked, out = "let in by the configuration", "decided by the service", "refused"
	for _, x := range []struct{ shown, want string }{
		{`"user":"other","pass":"p"`, in},
		{`"user":"other","pass":"x"`, asked},
		{`"user":"hashed","pass":"p"`, in},
		{`"user":"hashed","pass":"x"`, asked},
		{`"user":"socket","pass":"p"`, asked},
		{`"user":"nobody","pass":"p"`, asked},
		{`"user":"global","pass":"p"`, asked},
		{`"user":"app","pass":"p"`, asked},
		{`"user":"app","pass":"x"`, asked},
		{`"auth_token":"t"`, asked},
		{`"lang":"go"`, asked},
		{`"nkey":"` + publicOf(testUser(3)) + `","sig":"AA"`, asked},
		{`"nkey":"` + publicOf(testUser(4)) + `","sig":"AA"`, asked},
		{`"user":"proxied","pass":"p"`, out},
		{`"user":"proxied","pass":"x"`, out},
		{`"user":"svc","pass":"x"`, out},
	} {
		for _, right := range []bool{true, false} {
			c := accept(w.e)
			w.take(c)
			say(w.e, c, `CONNECT {"verbose":false,`+x.shown+"}\r\nPING\r\n")
			w.run()
			if x.want != asked {
				w.wants(c, map[string]string{in: "PONG", out: refusedText}[x.want])
				if got := w.take(w.service); got != "" {
					t.Errorf("%s: the service got %q", x.shown, got)
				}
				continue
			}
			w.wants(c, "")
			by, then := w.issuer, "PONG"
			if !right {
				by, then = testAccount(6), refusedText
			}
			w.reply(w.question(), by, nil, nil)
			w.wants(c, then)
		}
	}
}

// Whom the configuration lets in through a proxy only is not let in without, whatever the service says, and who comes through one is.
func TestCalloutAndProxies(t *testing.T) {
	for _, all := range []bool{false, true} {
		w := newCalloutWorld(t, false, func(o *Options) {
			u := &o.Accounts[1].Users[0]
			o.Proxies = []config.Located{{Text: publicOf(testUser(7))}}
			u.ProxyRequired = true
		})
		if all {
			w.reloads(func(o *Options) { o.ProxyRequired = true })
			w.wants(w.service, refusedText)
			w.service = w.proxied("svc", 7)
			w.wants(w.service, "PONG")
			say(w.e, w.service, "SUB $SYS.REQ.USER.AUTH 1\r\n")
		}
		for _, name := range []string{"app", "joe"} {
			direct := w.connect(name, "p")
			if all || name == "app" {
				w.wants(direct, refusedText)
			} else {
				w.wants(direct, "")
				w.reply(w.question(), w.issuer, nil, nil)
				w.wants(direct, "PONG")
			}
			c := w.proxied(name, 7)
			w.wants(c, "")
			w.reply(w.question(), w.issuer, nil, nil)
			w.wants(c, "PONG")
		}
	}
}
