package engine

import (
	"fmt"
	"testing"

	"github.com/natsd/natsd/config"
)

// BenchmarkReloadAccounts measures the turn of a reload that was prepared and changes nothing, of 10,000 accounts every other of
// which imports a service and a stream.
func BenchmarkReloadAccounts(b *testing.B) {
	options := func() (o Options) {
		for i := range 10_000 {
			a := config.Account{
				Name: fmt.Sprintf("A%d", i), Users: []config.User{{Name: fmt.Sprintf("u%d", i), Password: "p"}},
				Exports: append(exports(config.Service, "svc.>"), exports(config.Stream, "ev.>")...),
			}
			if i%2 == 1 {
				from := fmt.Sprintf("A%d", i-1)
				a.Imports = []config.Import{service(from, "svc.x"), stream(from, "ev.>", prefixed("p"))}
			}
			o.Accounts = append(o.Accounts, a)
		}
		return o
	}
	w := newFakeWorld()
	e := New(options(), w.env())
	turn(e, e.Start)
	turn(e, func() { e.ListenerUp(clientListener, 4222) })
	for b.Loop() {
		b.StopTimer()
		p := Prepare(options())
		b.StartTimer()
		turn(e, func() { e.ReloadPrepared(p) })
		b.StopTimer()
		for w.wake <= w.now {
			w.ring(e)
		}
		b.StartTimer()
	}
}
