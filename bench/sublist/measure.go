package main

import (
	"runtime"
	"syscall"
)

// figures are what one run measures.
type figures struct {
	InsertNs  float64 // per subscription, from none to all
	Bytes     float64 // of heap per subscription
	MissNs    float64 // per match of a subject not seen lately
	HitNs     float64 // per match of one of few subjects
	ChurnNs   float64 // per inbox that comes, gets its reply and goes
	RemoveNs  float64 // per subscription, from all to none
	LeftBytes float64 // of heap per subscription after all are gone
	Reached   int     // subscriptions and groups reached by all matches
}

// measure runs the whole workload on l.
func measure(l list, w *workload) (f figures) {
	n := len(w.subs)
	l.prepare(w.subs)
	l.prepare(w.churn)
	before := heap()
	f.InsertNs = perItem(n, func() { l.insertAll(0, n) })
	f.Bytes = (heap() - before) / float64(n)
	if l.count() != n {
		panic("not all are in")
	}
	f.MissNs = perItem(len(w.probes), func() { f.Reached += l.matchAll(w.probes) })
	l.matchAll(w.hot)
	const rounds = 2000
	f.HitNs = perItem(rounds*len(w.hot), func() {
		for range rounds {
			f.Reached += l.matchAll(w.hot)
		}
	})
	const comings = 50
	f.ChurnNs = perItem(comings*len(w.churn), func() {
		for range comings {
			for i := range w.churn {
				l.insertAll(n+i, n+i+1)
				f.Reached += l.matchAll([][]byte{w.churn[i].subject})
				l.removeAll(n+i, n+i+1)
			}
		}
	})
	f.RemoveNs = perItem(n, func() { l.removeAll(0, n) })
	f.LeftBytes = (heap() - before) / float64(n)
	runtime.KeepAlive(l)
	runtime.KeepAlive(w)
	return f
}

// perItem returns the nanoseconds of processor time, the collector's included,
// that do takes for each of n. Unlike time on the clock they say little about
// what else the machine is doing.
func perItem(n int, do func()) float64 {
	runtime.GC()
	start := cpu()
	do()
	return float64(cpu()-start) / float64(n)
}

// cpu returns the nanoseconds of processor time this process has used.
func cpu() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// heap returns the bytes that are alive.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
