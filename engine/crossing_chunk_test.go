package engine

import (
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

// A message that is put aside before it turns out to cross has its bytes held once for each that needs them. Found by the
// simulator: they were let go of twice.
func TestCrossingAfterSuspension(t *testing.T) {
	rules := func() []config.Account {
		return []config.Account{
			{Name: "A", Exports: exports(config.Service, "svc")},
			{Name: "B", Imports: []config.Import{service("A", "svc")}},
		}
	}
	s := withAccounts(t, Options{TurnWork: 4}, rules()...)
	a := s.join("A", "SUB svc 1\r\n")
	var subs []ConnID
	for range 20 {
		subs = append(subs, s.join("B", "SUB svc 1\r\n"))
	}
	s.enforce(rules()[:1]...)
	s.enforce(rules()...) // so that the import stands behind them
	body := strings.Repeat("x", 3*shareMin)
	b := s.join("B", "")
	s.say(b, "PUB svc "+itoa(len(body))+"\r\n"+body+"\r\n")
	for _, c := range subs {
		s.got(c, "MSG svc 1 "+itoa(len(body))+"\r\n"+body+"\r\n")
	}
	if got := s.w.take(a); !strings.HasSuffix(got, "\r\n\r\n"+body+"\r\n") {
		t.Fatalf("the service got %.100q", got)
	}
	if f := s.e.Footprint(); f.Chunks != 0 || f.Fanouts != 0 {
		t.Fatalf("left: %+v", f)
	}
}

// What an import cannot take apart, since one of its tokens is a wildcard, does not cross, and nothing is held for it. Found
// by the simulator.
func TestRequestThatDoesNotCross(t *testing.T) {
	s := withAccounts(t, Options{},
		config.Account{Name: "A", Exports: exports(config.Service, "*.*")},
		config.Account{Name: "B", Imports: []config.Import{service("A", "*.*", to("$2.$1"))}})
	a, b := s.join("A", "SUB > 1\r\n"), s.join("B", "SUB x 1\r\n")
	body := strings.Repeat("x", 3*shareMin)
	s.say(b, "PUB a.> "+itoa(len(body))+"\r\n"+body+"\r\nPUB x 1\r\ny\r\n")
	s.got(a, "")
	s.got(b, "MSG x 1 1\r\ny\r\n")
	if f := s.e.Footprint(); f.Chunks != 0 {
		t.Fatalf("left: %+v", f)
	}
	s.say(b, "PUB a.b 1\r\nz\r\n")
	if got := s.w.take(a); !strings.HasPrefix(got, "HMSG b.a 1 ") || !strings.HasSuffix(got, "\r\n\r\nz\r\n") {
		t.Fatalf("got %q", got)
	}
}
