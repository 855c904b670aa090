package engine

import (
	"math"
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/sublist"
)

// handlers counts the server's own subscriptions in an account.
func (e *Engine) handlers(a *account) (n int) {
	a.subs.List(sublist.Position{}, math.MaxInt, nil, func(_ sublist.Handle[*subscription], s *subscription) bool {
		if s.flags&subHandler != 0 {
			n++
		}
		return true
	})
	return n
}

// What the server publishes and is asked goes the way of all messages, across accounts and over several turns too.
func TestServerAnswers(t *testing.T) {
	for _, work := range []int{0, 1} {
		s := withAccounts(t, Options{TurnWork: work},
			config.Account{Name: "A", Exports: exports(config.Service, "srv.*")},
			config.Account{Name: "B", Imports: []config.Import{service("A", "srv.echo")}})
		s.e.handle(s.e.byAccount["A"], "srv.*", func(k *call) {
			s.e.respond(k, nil, append([]byte(k.subject+" "+k.from.Account+" "), k.body...))
		})
		b := s.join("B", "SUB in 1\r\n")
		s.say(b, "PUB srv.echo in 2\r\nhi\r\nPUB srv.echo 2\r\nhi\r\n")
		s.got(b, "MSG in 1 13\r\nsrv.echo B hi\r\n")
		s.noReplies()
		var all []ConnID
		for range 40 {
			all = append(all, s.join("A", "SUB ev 1\r\n"))
		}
		turn(s.e, func() {
			s.e.publishOwn(s.e.byAccount["A"], "ev", "", []byte("NATS/1.0\r\nA: b\r\n\r\n"), []byte("one"))
			s.e.publishOwn(s.e.byAccount["A"], "ev", "", nil, []byte("two"))
		})
		s.w.settle(t, s.e)
		for _, c := range all {
			s.got(c, "HMSG ev 1 18 21\r\nNATS/1.0\r\nA: b\r\n\r\none\r\nMSG ev 1 3\r\ntwo\r\n")
		}
		if s.e.internalDue() || !s.e.fanouts.empty() {
			t.Fatal("something is left")
		}
		// Each of many questions is answered.
		s.say(b, strings.Repeat("PUB srv.echo in 0\r\n\r\n", 10))
		if n := strings.Count(s.w.take(b), "MSG in 1"); n != 10 {
			t.Fatalf("%d answers", n)
		}
	}
}
