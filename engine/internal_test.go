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

// However much the server has to say on behalf of one account, and to however many, that of another does not wait for it.
func TestServerSpeaksForAccountsInTurns(t *testing.T) {
	const messages, receivers = 50, 40
	s := withAccounts(t, Options{TurnWork: 8}, config.Account{Name: "A"}, config.Account{Name: "B"})
	b := s.join("B", "SUB ev.* 1\r\n")
	var many []ConnID
	for range receivers {
		many = append(many, s.join("A", "SUB ev 1\r\n"))
	}
	turn(s.e, func() {
		for range messages {
			s.e.publishOwn(s.e.byAccount["A"], "ev", "", nil, []byte("x"))
		}
		for i := range 3 {
			s.e.publishOwn(s.e.byAccount["B"], "ev."+itoa(i), "", nil, []byte("y"))
		}
	})
	for n := 0; s.e.posts.of[s.e.byAccount["B"]] != nil; n++ {
		if n > 5 {
			t.Fatalf("after %d turns that of B waits, %d in all", n, s.e.posts.n)
		}
		s.w.ring(s.e)
	}
	if n := s.e.posts.n; n < messages-3 || !s.e.posts.holds(s.e.byAccount["A"]) {
		t.Errorf("%d are left, and the first is not under way", n)
	}
	s.w.settle(t, s.e)
	s.got(b, "MSG ev.0 1 1\r\ny\r\nMSG ev.1 1 1\r\ny\r\nMSG ev.2 1 1\r\ny\r\n")
	for _, c := range many {
		s.got(c, strings.Repeat("MSG ev 1 1\r\nx\r\n", messages))
	}
	if f := s.e.Footprint(); f.Posts != 0 || f.Fanouts != 0 || s.e.posts.of != nil {
		t.Errorf("left: %+v", f)
	}
}

// Who hears the server speak on behalf of one account while a message on behalf of another is under way is told which is which.
func TestServerSpeaksForTheRightAccount(t *testing.T) {
	s := withAccounts(t, Options{TurnWork: 2}, config.Account{Name: "A"}, config.Account{Name: "B"})
	for range 10 {
		s.join("A", "SUB ev 1\r\n")
	}
	var heard []string
	for _, name := range []string{"A", "B"} {
		s.e.handle(s.e.byAccount[name], "ev", func(k *call) { heard = append(heard, k.account.name+k.asker+k.behalf.name) })
	}
	turn(s.e, func() {
		s.e.publishOwn(s.e.byAccount["A"], "ev", "", nil, nil)
		s.e.publishOwn(s.e.byAccount["B"], "ev", "", nil, nil)
	})
	s.w.settle(t, s.e)
	if got := strings.Join(heard, " "); got != "BBB AAA" {
		t.Errorf("heard %q", got)
	}
}
