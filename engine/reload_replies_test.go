package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/config"
)

// TestReloadShortensThreshold: requests made after a reload that gives a service less time are given up in that time, and those
// made before it no later than they.
func TestReloadShortensThreshold(t *testing.T) {
	accounts := func(wait time.Duration) []config.Account {
		x := exports(config.Service, "svc")
		x[0].ResponseThreshold = wait
		return []config.Account{{Name: "A", Exports: x}, {Name: "B", Imports: []config.Import{service("A", "svc")}}}
	}
	s := withAccounts(t, Options{}, accounts(time.Hour)...)
	s.join("A", "SUB svc 1\r\n")
	b := s.join("B", "SUB r 1\r\n")
	s.say(b, "PUB svc r 0\r\n\r\n")
	s.enforce(accounts(time.Second)...)
	s.say(b, "PUB svc r 0\r\n\r\n")
	if n := s.e.Footprint().Replies; n != 2 {
		t.Fatalf("%d requests wait", n)
	}
	s.w.advance(t, s.e, Instant(2*time.Second))
	if n := s.e.Footprint().Replies; n != 0 {
		t.Errorf("%d requests still wait for an answer", n)
	}
}

// TestReloadKeepsWhatMayBeAnswered: who was asked before a reload that leaves it as many answers as before may give those still, and no
// more; with another number of them, or in another account, it may give none.
func TestReloadKeepsWhatMayBeAnswered(t *testing.T) {
	options := func(account string, most int, subscribe string) Options {
		p, r := userWith("p", nil, nil), userWith("r", lists("nothing", ""), lists(subscribe, ""))
		r.Permissions.AllowResponses = &config.ResponsePermission{Max: most, Expires: time.Minute}
		o := Options{Check: true, Accounts: []config.Account{{Name: "A", Users: []config.User{p}}, {Name: "B"}}}
		for i := range o.Accounts {
			if a := &o.Accounts[i]; a.Name == account {
				a.Users = append(a.Users, r)
			}
		}
		return o
	}
	for _, c := range []struct {
		what    string
		next    Options
		answers int
	}{
		{"nothing else", options("A", 2, "ask"), 2},
		{"another permission", options("A", 2, "ask other"), 2},
		{"fewer answers", options("A", 1, "ask"), 0},
		{"more answers", options("A", 3, "ask"), 0},
		{"another account", options("B", 2, "ask"), 0},
	} {
		e, w := started(t, options("A", 2, "ask"))
		p, r := as(e, w, "p", "SUB in 1\r\n"), as(e, w, "r", "SUB ask 1\r\n")
		say(e, p, "PUB ask in 0\r\n\r\n")
		w.take(r)
		turn(e, func() { e.Reload(c.next) })
		w.settle(t, e)
		say(e, r, strings.Repeat("PUB in 0\r\n\r\n", 3))
		got, told := w.take(p), w.take(r)
		if strings.Count(got, "MSG in 1 0") != c.answers || strings.Count(told, "Permissions Violation for Publish to \"in\"") != 3-c.answers {
			t.Errorf("%s: who asked got %q, who answered %q", c.what, got, told)
		}
	}
}
