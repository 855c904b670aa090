package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

// BenchmarkSettle measures how long it takes before a reload to find out whom messages under way still reach: 100 of them, to
// 100,000 subscriptions or to 1000 services of other accounts.
func BenchmarkSettle(b *testing.B) {
	const messages = 100
	for _, c := range []struct {
		name     string
		filtered int // of a hundred connections, those who may not get all
		services int
		apart    bool // each message has a subject of its own
	}{
		{"to all", 0, 0, false},
		{"to all on subjects apart", 0, 0, true},
		{"to some", 10, 0, false},
		{"to some on subjects apart", 10, 0, true},
		{"to services", 0, 1000, false},
		{"to services on subjects apart", 0, 1000, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			e, w := settleWorld(c.filtered, c.services)
			for b.Loop() {
				b.StopTimer()
				for i := range messages {
					subj := "s.x" + strings.Repeat(".t", 10)
					if c.apart {
						subj = fmt.Sprintf("s.%d", i) + strings.Repeat(".t", 10)
					}
					p := accept(e)
					turn(e, func() {
						e.Received(p, fmt.Appendf(nil, "CONNECT {\"verbose\":false,\"user\":\"o\",\"pass\":\"p\"}\r\nPUB %s r 1\r\nx\r\n", subj))
					})
				}
				if n := e.fanouts.len(); n < messages {
					b.Fatalf("%d messages are under way", n)
				}
				e.followAll()
				b.StartTimer()
				e.settleUnderway()
				b.StopTimer()
				for !e.fanouts.empty() || w.wake <= w.now {
					w.ring(e)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/reload")
		})
	}
}

// settleWorld has a hundred connections that subscribe a thousand times each to s.>, some of which may not get all; and as many
// services as are wanted are imported there.
func settleWorld(filtered, services int) (*Engine, *sinkWorld) {
	w := &sinkWorld{fakeWorld: newFakeWorld()}
	env := w.env()
	env.Network = w
	near := config.Account{Name: "N", Users: []config.User{userWith("o", nil, nil), userWith("d", nil, lists("", "s.x.> s.y.> s.1.> s.2.>"))}}
	o := Options{TurnWork: 200}
	for i := range services {
		name, subj := fmt.Sprintf("A%d", i), "s.*" // of a thousand patterns one each
		for bit := range 10 {
			subj += [...]string{".t", ".*"}[i>>bit&1]
		}
		o.Accounts = append(o.Accounts, config.Account{Name: name, Exports: exports(config.Service, subj)})
		near.Imports = append(near.Imports, service(name, subj))
	}
	o.Accounts = append(o.Accounts, near)
	e := New(o, env)
	turn(e, e.Start)
	turn(e, func() { e.ListenerUp(clientListener, 4222) })
	var subs strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&subs, "SUB s.> %d\r\n", i)
	}
	for i := range 100 {
		user := "o"
		if i < filtered {
			user = "d"
		}
		c := accept(e)
		turn(e, func() {
			e.Received(c, fmt.Appendf(nil, "CONNECT {\"verbose\":false,\"user\":%q,\"pass\":\"p\"}\r\n%s", user, subs.String()))
		})
		for w.wake <= w.now {
			w.ring(e)
		}
	}
	return e, w
}
