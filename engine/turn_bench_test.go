package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkTurn measures full turns, of floods that are each expensive in a way of its own. A turn's work is counted in units
// that should all cost about the same time: ns/unit tells whether they do, ns/op is how long others wait for their turn.
func BenchmarkTurn(b *testing.B) {
	for _, f := range []struct {
		name  string
		setup string // what a connection of its own subscribes to
		one   func(r *rand.Rand) string
	}{
		{"publish", "", func(*rand.Rand) string { return "PUB foo 16\r\n0123456789abcdef\r\n" }},
		{"deliver", "SUB foo 1\r\n", func(*rand.Rand) string { return "PUB foo 16\r\n0123456789abcdef\r\n" }},
		{"subjects", "", func(r *rand.Rand) string { return fmt.Sprintf("PUB foo.%d 1\r\nx\r\n", r.Uint64()) }},
		{"wild", wildPatterns(2000), func(r *rand.Rand) string { return "PUB " + wildSubject(r, 11) + " 1\r\nx\r\n" }},
		{"exponential", exponentialPatterns(), func(r *rand.Rand) string {
			return fmt.Sprintf("PUB %sy%d 1\r\nx\r\n", strings.Repeat("a.", 12), r.Uint64())
		}},
		{"deep", "SUB " + strings.Repeat("*.", 1000) + "> 1\r\n", func(r *rand.Rand) string {
			return fmt.Sprintf("PUB %s%d 1\r\nx\r\n", strings.Repeat("a.", 1000), r.Uint64())
		}},
		{"deep subscriptions", "", func(*rand.Rand) string {
			deep := strings.Repeat("*.", 1000)
			return "SUB " + deep + "> 1\r\nPUB " + strings.Repeat("a.", 1000) + "b 1\r\nx\r\nUNSUB 1\r\n"
		}},
		{"subscriptions", "", func(r *rand.Rand) string {
			n := r.Uint64()
			return fmt.Sprintf("SUB foo.%d %d\r\nUNSUB %d\r\n", n, n, n)
		}},
		{"cache", "", func(r *rand.Rand) string {
			return strings.Repeat(fmt.Sprintf("PUB cb.%d 1\r\nx\r\n", r.Uint64()), 1+r.IntN(10)) + "SUB cb.> 1\r\nUNSUB 1\r\n"
		}},
	} {
		b.Run(f.name, func(b *testing.B) { benchTurns(b, f.setup, f.one) })
	}
}

// benchTurns measures turns that some floods fill, each with what one returns again and again.
func benchTurns(b *testing.B, setup string, one func(*rand.Rand) string) {
	const floods, read = 10, 64 << 10
	l := loadOf(0, 16, false)
	l.join(setup)
	l.run()
	r := rand.New(rand.NewPCG(1, 2))
	inputs := make([][]byte, 40)
	for i := range inputs {
		for len(inputs[i]) < read {
			inputs[i] = append(inputs[i], one(r)...)
		}
	}
	var from []ConnID
	for range floods {
		from = append(from, l.join(""))
	}
	units, next := 0, 0
	b.ResetTimer()
	for range b.N {
		l.e.BeginTurn()
		for range floods {
			if l.e.TurnFull() {
				break
			}
			if c := l.e.lookup(from[next%floods]); !c.paused {
				l.e.Received(c.id, inputs[next%len(inputs)])
			}
			next++
		}
		l.e.EndTurn()
		units += l.e.work
	}
	b.StopTimer()
	b.ReportMetric(float64(units)/float64(b.N), "units/op")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(units), "ns/unit")
}

// wildPatterns are so many SUBs of ten tokens, half of them wild, that overlap.
func wildPatterns(n int) string {
	r := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	for k := range n {
		tokens := strings.Split(wildSubject(r, 10), ".")
		for i := range tokens {
			if r.IntN(2) == 0 {
				tokens[i] = "*"
			}
		}
		if r.IntN(2) == 0 {
			tokens = append(tokens, ">")
		}
		fmt.Fprintf(&b, "SUB %s %d\r\n", strings.Join(tokens, "."), k)
	}
	return b.String()
}

// wildSubject is one of the subjects that wildPatterns are about.
func wildSubject(r *rand.Rand, tokens int) string {
	b := make([]byte, 0, 2*tokens)
	for range tokens {
		b = append(b, byte('a'+r.IntN(3)), '.')
	}
	return string(b[:len(b)-1])
}

// exponentialPatterns are all SUBs of twelve tokens that are "a" or "*", each with a last one of its own.
func exponentialPatterns() string {
	var b strings.Builder
	for k := range 1 << 12 {
		b.WriteString("SUB ")
		for t := range 12 {
			b.WriteString([]string{"a.", "*."}[k>>t&1])
		}
		fmt.Fprintf(&b, "z%d %d\r\n", k, k)
	}
	return b.String()
}
