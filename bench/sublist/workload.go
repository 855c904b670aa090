package main

import (
	"fmt"
	"math/rand/v2"
)

// workload is what both lists are given.
type workload struct {
	subs   []sub
	probes [][]byte // to match: random subscriptions' subjects, and some that nobody has
	hot    [][]byte // few enough for any cache
	churn  []sub    // inboxes that come and go
}

// sub is a subscription to be.
type sub struct {
	subject, queue []byte
	probe          []byte // a literal that it matches
}

// Sizes of what is done over and over.
const (
	probes = 1 << 19
	hots   = 500
	churns = 1 << 12
)

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// inbox returns a token like those that clients make up for their replies.
func inbox(r *rand.Rand) string {
	b := make([]byte, 22)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

// newWorkload makes n subscriptions: one in ten has wildcards, one in twenty is
// in a queue group, and nearly all have a token of their own.
func newWorkload(n int) *workload {
	r := rand.New(rand.NewPCG(1, 2))
	w := &workload{}
	for i := range n {
		s := literal(r, i)
		if i%10 == 0 {
			s = wildcard(r, i)
		}
		if i%20 == 7 {
			s.queue = []byte("workers")
		}
		w.subs = append(w.subs, s)
	}
	r.Shuffle(n, func(i, j int) { w.subs[i], w.subs[j] = w.subs[j], w.subs[i] })
	// Side by side in memory, as in the buffer that a server reads into.
	var buf []byte
	for i := range probes {
		start := len(buf)
		if i%10 == 0 {
			buf = fmt.Appendf(buf, "orders.r%d.c%d.unheard", i%16, i)
		} else {
			buf = append(buf, w.subs[r.IntN(n)].probe...)
		}
		w.probes = append(w.probes, buf[start:])
	}
	for range hots {
		w.hot = append(w.hot, w.subs[r.IntN(n)].probe)
	}
	for range churns {
		w.churn = append(w.churn, sub{subject: []byte("_INBOX." + inbox(r) + "." + inbox(r)[:8])})
	}
	return w
}

// literal makes a subscription to a literal subject of three to five tokens.
func literal(r *rand.Rand, i int) sub {
	var s string
	switch i % 4 {
	case 0:
		s = fmt.Sprintf("orders.r%d.c%d.created", r.IntN(16), i)
	case 1:
		s = fmt.Sprintf("telemetry.site%d.dev%d.m%d.raw", r.IntN(1000), i, r.IntN(8))
	case 2:
		s = fmt.Sprintf("device.%d.temperature", i)
	case 3:
		s = "_INBOX." + inbox(r) + "." + inbox(r)[:8]
	}
	return sub{subject: []byte(s), probe: []byte(s)}
}

// wildcard makes a subscription to a subject with wildcards.
func wildcard(r *rand.Rand, i int) sub {
	var s, p string
	switch (i / 10) % 4 {
	case 0:
		in := "_INBOX." + inbox(r) + "."
		s, p = in+"*", in+inbox(r)[:8]
	case 1:
		s, p = fmt.Sprintf("account.%d.>", i), fmt.Sprintf("account.%d.balance.changed", i)
	case 2:
		n := r.IntN(16)
		s, p = fmt.Sprintf("orders.r%d.*.by%d", n, i), fmt.Sprintf("orders.r%d.c%d.by%d", n, i, i)
	case 3:
		s, p = fmt.Sprintf("telemetry.*.dev%d.*.raw", i), fmt.Sprintf("telemetry.site7.dev%d.m1.raw", i)
	}
	return sub{subject: []byte(s), probe: []byte(p)}
}
