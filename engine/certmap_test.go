package engine

import (
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

func TestCertificateNamesTheUser(t *testing.T) {
	dn := [][]TLSRDN{{{"C", "DE"}}, {{"O", "Acme, Inc."}}, {{"OU", "x"}, {"CN", "bob"}}}
	for _, c := range []struct {
		name string
		cert TLSCert
		want string // the user; empty: refused
	}{
		{"e-mail first", TLSCert{Emails: []string{"none@x", "ann@x"}, DNSNames: []string{"host.x"}}, "ann@x"},
		{"DNS before URI", TLSCert{DNSNames: []string{"host.x"}, URIs: []string{"spiffe://x"}}, "host.x"},
		{"URI", TLSCert{URIs: []string{"spiffe://x"}}, "spiffe://x"},
		{"distinguished name in another order", TLSCert{Subject: "CN=bob+OU=x,O=Acme\\, Inc.,C=DE", RDNs: dn}, "c=DE, o=Acme\\, Inc. , CN=bob,OU=x"},
		{"distinguished name as it stands", TLSCert{Subject: "CN=eve", RDNs: [][]TLSRDN{{{"CN", "eve"}}}}, "CN=eve"},
		{"another value", TLSCert{Subject: "CN=Eve", RDNs: [][]TLSRDN{{{"CN", "Eve"}}}}, ""},
		{"more than the user's", TLSCert{Subject: "CN=eve,O=y", RDNs: [][]TLSRDN{{{"O", "y"}}, {{"CN", "eve"}}}}, ""},
		{"nothing known", TLSCert{DNSNames: []string{"other.x"}}, ""},
	} {
		var users []config.User
		for _, n := range []string{"ann@x", "host.x", "spiffe://x", "c=DE, o=Acme\\, Inc. , CN=bob,OU=x", "CN=eve"} {
			users = append(users, config.User{Name: n})
		}
		w := &tlsWorld{newFakeWorld(), map[ConnID]string{}}
		env := w.env()
		env.TLS = w
		e := New(Options{Users: users, TLS: TLSOptions{On: true, Verify: true, Map: true}, Check: true}, env)
		turn(e, e.Start)
		turn(e, func() { e.ListenerUp(clientListener, 4222) })
		id := accept(e)
		say(e, id, hello)
		turn(e, func() { e.TLSUp(id, TLSInfo{Verified: true, Peer: []TLSCert{c.cert}}) })
		say(e, id, `CONNECT {"verbose":false,"user":"ignored"}`+"\r\nPING\r\n")
		got := w.take(id)
		if c.want == "" {
			if !strings.Contains(got, "-ERR 'Authorization Violation'") {
				t.Errorf("%s: %q", c.name, got)
			}
			continue
		}
		if !strings.HasSuffix(got, "PONG\r\n") || e.lookup(id).user.name != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// The certificate says who a client is; a password is to be shown besides where that user has one, and none where it has none.
// Where there is no list of users there is nobody to name.
func TestCertificatesBesidePasswords(t *testing.T) {
	ann := []config.User{{Name: "ann@x"}}
	for _, c := range []struct {
		name, connect string
		o             Options
		in            bool
	}{
		{"no password", ``, Options{Users: ann}, true},
		{"one that nobody has", `,"pass":"p"`, Options{Users: ann}, false},
		{"right", `,"pass":"p"`, Options{Users: []config.User{{Name: "ann@x", Password: "p"}}}, true},
		{"missing", ``, Options{Users: []config.User{{Name: "ann@x", Password: "p"}}}, false},
		{"another's", `,"user":"bob","pass":"q"`, Options{Users: []config.User{{Name: "ann@x", Password: "p"}, {Name: "bob", Password: "q"}}}, false},
		{"nobody to name", ``, Options{}, true},
		{"one user", `,"user":"u","pass":"p"`, Options{User: "u", Pass: "p"}, true},
		{"one user, unproved", ``, Options{User: "u", Pass: "p"}, false},
		{"a token", `,"auth_token":"t"`, Options{Token: "t"}, true},
	} {
		w := &tlsWorld{newFakeWorld(), map[ConnID]string{}}
		env := w.env()
		env.TLS = w
		c.o.TLS, c.o.Check = TLSOptions{On: true, Verify: true, Map: true}, true
		e := New(c.o, env)
		turn(e, e.Start)
		turn(e, func() { e.ListenerUp(clientListener, 4222) })
		id := accept(e)
		say(e, id, hello)
		turn(e, func() { e.TLSUp(id, TLSInfo{Verified: true, Peer: []TLSCert{{Emails: []string{"ann@x"}}}}) })
		say(e, id, `CONNECT {"verbose":false`+c.connect+"}\r\nPING\r\n")
		if got := w.take(id); strings.HasSuffix(got, "PONG\r\n") != c.in {
			t.Errorf("%s: %q", c.name, got)
		}
		if c.name == "another's" && !w.logged(`User "bob" found in connect proto, but user required from cert`) {
			t.Error("that the user is passed over is not in the log")
		}
	}
}

func TestParseDN(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"CN=a,O=b", "o=b , cn=a"}, {"CN=a\\,b", "CN=a\\2cb"}, {"CN=a+OU=c,O=b", "O=b,OU=c,CN=a"}, {"CN=a\\ ", "CN=a\\20"},
	} {
		a, ok := parseDN(c.a)
		b, too := parseDN(c.b)
		if !ok || !too || a != b {
			t.Errorf("%q %q: %q %q", c.a, c.b, a, b)
		}
	}
	for _, bad := range []string{"", "bob", "CN=a,", "=x", `CN="a"`, `CN=a\`, "a,b=c"} {
		if got, ok := parseDN(bad); ok {
			t.Errorf("%q: %q", bad, got)
		}
	}
	if a, _ := parseDN("CN=a"); a == "CN=A" {
		t.Error("values have letter case")
	}
}
