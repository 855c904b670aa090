package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/natsd/natsd/subject"
)

// oddText joins a few tokens of which many are odd or special.
func oddText(r *rand.Rand) string {
	tokens := []string{"a", "b", "*", ">", "a*", ">b", "**", "é", "\f", "\x00", "a\xff"}
	if r.IntN(4) == 0 {
		tokens = append(tokens, "", " ", "a\tb", "\r", "b\n")
	}
	parts := make([]string, 1+r.IntN(4))
	for i := range parts {
		parts[i] = tokens[r.IntN(len(tokens))]
	}
	return strings.Join(parts, ".")
}

// Both servers agree on which subjects are valid, which patterns collide, and
// whom odd subjects reach.
func TestSameAnswersToOddSubjects(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var valid []sub
	for range 20_000 {
		s := oddText(r)
		if strings.Contains(s, "\f") {
			// The function says no, the server's protocol says yes.
			continue
		}
		if got, want := subject.ValidPattern(s), server.IsValidSubject(s); got != want {
			t.Fatalf("valid pattern %q: %v, nats-server %v", s, got, want)
		}
		if got, want := subject.ValidLiteral(s), server.IsValidLiteralSubject(s) && server.IsValidSubject(s); got != want {
			t.Fatalf("valid literal %q: %v, nats-server %v", s, got, want)
		}
		if !subject.ValidPattern(s) {
			continue
		}
		if n := len(valid); n > 0 {
			o := string(valid[n-1].subject)
			// nats-server's function takes some literal tokens that begin
			// with a special character for wildcards.
			odd := strings.ContainsAny(strings.NewReplacer("**", "!", ">b", "!", "a*", "!").Replace(s+" "+o), "!")
			if got, want := subject.Collide(s, o), server.SubjectsCollide(s, o); got != want && !odd {
				t.Fatalf("%q and %q collide: %v, nats-server %v", s, o, got, want)
			}
		}
		v := sub{subject: []byte(s)}
		if r.IntN(3) == 0 {
			v.queue = []byte("q")
		}
		valid = append(valid, v)
	}
	a, b := newOwn(), newReference()
	at := 0
	for _, n := range []int{10, 100, 1000, len(valid)} {
		for _, l := range []list{a, b} {
			l.prepare(valid[at:n])
			l.insertAll(at, n)
			l.removeAll(at, (at+n)/2)
		}
		at = n
		for range 5000 {
			s := [][]byte{[]byte(oddText(r))}
			if x, y := a.matchAll(s), b.matchAll(s); x != y {
				t.Fatalf("%q reaches %d in natsd's list, %d in nats-server's", s[0], x, y)
			}
		}
	}
}
