package sublist

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// filled returns a list of n subscriptions, one in ten with wildcards, and a
// literal that each matches.
func filled(b *testing.B, n int) (*Sublist[int], [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	s := New[int](Options{CacheSize: DefaultCacheSize})
	var probes [][]byte
	for i := range n {
		subj := fmt.Sprintf("telemetry.site%d.dev%d.m%d.raw", r.IntN(1000), i, r.IntN(8))
		switch i % 40 {
		case 0:
			probes = append(probes, fmt.Appendf(nil, "_INBOX.x%d.1", i))
			insert(b, s, fmt.Sprintf("_INBOX.x%d.*", i), "", i)
			continue
		case 10:
			probes = append(probes, fmt.Appendf(nil, "account.%d.balance.changed", i))
			insert(b, s, fmt.Sprintf("account.%d.>", i), "", i)
			continue
		case 20, 30:
			probes = append(probes, fmt.Appendf(nil, "telemetry.site1.dev%d.m1.raw", i))
			insert(b, s, fmt.Sprintf("telemetry.*.dev%d.*.raw", i), "", i)
			continue
		}
		probes = append(probes, []byte(subj))
		insert(b, s, subj, "", i)
	}
	r.Shuffle(n, func(i, j int) { probes[i], probes[j] = probes[j], probes[i] })
	return s, probes
}

func BenchmarkMatchMiss(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, probes := filled(b, n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.Match(probes[i%n])
			}
		})
	}
}

func BenchmarkMatchHit(b *testing.B) {
	s, probes := filled(b, 10_000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Match(probes[i%500])
	}
}

// BenchmarkInbox inserts and removes the inbox of one request among many
// subscriptions, with a full cache.
func BenchmarkInbox(b *testing.B) {
	for _, c := range []struct{ name, form string }{
		{"literal", "_INBOX.y%d.a"}, {"wildcard", "_INBOX.y%d.*"}, {"short", "y%d.*"},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, probes := filled(b, 10_000)
			for _, p := range probes {
				s.Match(p)
			}
			var subjects [][]byte
			for i := range 1000 {
				subjects = append(subjects, fmt.Appendf(nil, c.form, i))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				h, err := s.Insert(subjects[i%1000], nil, i)
				if err != nil || !s.Remove(h) {
					b.Fatal("not removed")
				}
			}
		})
	}
}
