package engine

import (
	"fmt"
	"testing"

	"github.com/natsd/natsd/config"
)

// tenantLoad is a load of one publisher, user "p", and receivers, user "s", under a configuration. The subjects are
// published in turn.
func tenantLoad(o Options, receivers int, pattern string, subjects ...string) *load {
	w := &sinkWorld{fakeWorld: newFakeWorld()}
	env := w.env()
	env.Network = w
	l := &load{e: New(o, env), w: w}
	turn(l.e, l.e.Start)
	turn(l.e, func() { l.e.ListenerUp(clientListener, 4222) })
	as := func(user, more string) ConnID {
		c := accept(l.e)
		turn(l.e, func() {
			l.e.Received(c, []byte(`CONNECT {"verbose":false,"headers":true,"user":"`+user+`","pass":"p"}`+"\r\n"+more))
		})
		return c
	}
	for i := range receivers {
		as("s", fmt.Sprintf("SUB %s %d\r\n", pattern, i%7))
	}
	l.pub = as("p", "")
	payload := fmt.Sprintf("%0128d", 0)
	for l.messages = 0; len(l.input) < 64<<10; l.messages++ {
		l.input = fmt.Appendf(l.input, "PUB %s %d\r\n%s\r\n", subjects[l.messages%len(subjects)], len(payload), payload)
	}
	l.receives = l.messages * receivers
	l.run()
	return l
}

// BenchmarkTenants shows what accounts and permissions add to a message of 128 bytes: "plain" is the measure.
func BenchmarkTenants(b *testing.B) {
	may := func(p *config.Permissions) []config.User {
		return []config.User{{Name: "p", Password: "p", Permissions: p}, {Name: "s", Password: "p", Permissions: p}}
	}
	some := &config.Permissions{Publish: lists("foo.> bar.* req", "foo.no"), Subscribe: lists("foo.* bar.>", "bar.no")}
	filter := &config.Permissions{Subscribe: lists("", "foo.no.>")}
	across := []config.Account{
		{Name: "A", Users: []config.User{{Name: "p", Password: "p"}}, Exports: exports(config.Stream, "foo.>")},
		{Name: "B", Users: []config.User{{Name: "s", Password: "p"}}, Imports: []config.Import{stream("A", "foo.>", prefixed("x"))}},
	}
	alternate := []string{"foo.1", "foo.2"}
	for _, receivers := range []int{1, 10} {
		for _, c := range []struct {
			name     string
			o        Options
			pattern  string
			subjects []string
		}{
			{"plain", Options{Users: may(nil)}, "foo.*", alternate[:1]},
			{"permissions", Options{Users: may(some)}, "foo.*", alternate[:1]},
			{"plain-two-subjects", Options{Users: may(nil)}, "foo.*", alternate},
			{"permissions-two-subjects", Options{Users: may(some)}, "foo.*", alternate},
			{"filtered", Options{Users: may(filter)}, ">", alternate[:1]},
			{"stream-import", Options{Accounts: across}, "x.foo.*", alternate[:1]},
		} {
			b.Run(fmt.Sprintf("%s/receivers=%d", c.name, receivers), func(b *testing.B) {
				tenantLoad(c.o, receivers, c.pattern, c.subjects...).bench(b)
			})
		}
	}
}
