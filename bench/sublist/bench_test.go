package main

import (
	"runtime"
	"testing"
)

// small keeps `go test -bench .` short; main measures a million.
const small = 100_000

// both runs a benchmark on either list, filled.
func both(b *testing.B, do func(b *testing.B, l list, w *workload)) {
	w := newWorkload(small)
	for _, c := range []struct {
		name string
		make func() list
	}{{"natsd", newOwn}, {"nats-server", newReference}} {
		l := c.make()
		l.prepare(w.subs)
		l.prepare(w.churn)
		before := heap()
		l.insertAll(0, small)
		each := (heap() - before) / small
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			do(b, l, w)
			b.ReportMetric(each, "bytes-each")
		})
		runtime.KeepAlive(l)
	}
}

func BenchmarkMatchMiss(b *testing.B) {
	both(b, func(b *testing.B, l list, w *workload) {
		for i := 0; b.Loop(); i++ {
			k := i % len(w.probes)
			l.matchAll(w.probes[k : k+1])
		}
	})
}

func BenchmarkMatchHit(b *testing.B) {
	both(b, func(b *testing.B, l list, w *workload) {
		for i := 0; b.Loop(); i++ {
			k := i % len(w.hot)
			l.matchAll(w.hot[k : k+1])
		}
	})
}

func BenchmarkChurn(b *testing.B) {
	both(b, func(b *testing.B, l list, w *workload) {
		for i := 0; b.Loop(); i++ {
			k := small + i%len(w.churn)
			l.insertAll(k, k+1)
			l.removeAll(k, k+1)
		}
	})
}

// BenchmarkInsert fills a list with all subscriptions in each round.
func BenchmarkInsert(b *testing.B) {
	w := newWorkload(small)
	for _, c := range []struct {
		name string
		make func() list
	}{{"natsd", newOwn}, {"nats-server", newReference}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l := c.make()
				l.prepare(w.subs)
				l.insertAll(0, small)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/small, "ns/sub")
		})
	}
}

// Both lists answer alike.
func TestSameAnswers(t *testing.T) {
	w := newWorkload(20_000)
	a, b := newOwn(), newReference()
	for _, l := range []list{a, b} {
		l.prepare(w.subs)
		l.insertAll(0, len(w.subs))
		l.removeAll(0, len(w.subs)/4)
	}
	for i := range w.probes[:50_000] {
		if x, y := a.matchAll(w.probes[i:i+1]), b.matchAll(w.probes[i:i+1]); x != y {
			t.Fatalf("%s reaches %d in natsd's list, %d in nats-server's", w.probes[i], x, y)
		}
	}
}
