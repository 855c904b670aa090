package engine

import (
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
