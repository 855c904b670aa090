package engine

import (
	"fmt"
	"strings"
	"testing"
)

// An answer about a million subscriptions of one connection and about 20,000 connections is made in slices: what each turn
// adds to it is bounded.
func TestLongAnswersAreSliced(t *testing.T) {
	const subs, conns = 1_000_000, 20_000
	e, w := started(t, Options{Trace: false})
	e.opts.Check = false // it looks at everything, after each turn
	big := w.join(e, "")
	turn(e, func() {
		var b strings.Builder
		for i := range subs {
			fmt.Fprintf(&b, "SUB a%d %d\r\n", i%1000, i)
			if b.Len() > 1<<20 || i == subs-1 {
				e.Received(big, []byte(b.String()))
				e.limit = subs * 100
				b.Reset()
			}
		}
	})
	w.settle(t, e)
	turn(e, func() {
		for range conns {
			e.Accepted(clientListener, ConnInfo{IP: "10.0.0.1"})
		}
	})
	w.settle(t, e)
	count := func(name string, want int, ask func(), size func(q query) int) {
		most, last := 0, 0
		turn(e, ask)
		for len(e.queries) > 0 {
			n := size(e.queries[0].q)
			most, last = max(most, n-last), n
			w.ring(e)
		}
		if got := w.answers[1]; got == nil || most > queryPerTurn {
			t.Errorf("%s: %d entries in a turn", name, most)
		}
		total := 0
		switch a := w.answers[1].(type) {
		case *Connz:
			for c := range a.Conns.All() {
				total += 1 + c.Subs.Len()
			}
		case *Subsz:
			total = a.Subs.Len()
		}
		if total != want {
			t.Errorf("%s: %d entries, want %d", name, total, want)
		}
		delete(w.answers, 1)
	}
	all := func(q query) (n int) {
		n = q.(*connzQuery).a.Conns.Len()
		if at := q.(*connzQuery).at; at != nil {
			n += at.Subs.Len()
		}
		return n
	}
	count("connz", conns+1, func() { e.QueryConnz(1, ConnzOptions{Open: true}) }, all)
	count("connz of one", subs+1, func() { e.QueryConnz(1, ConnzOptions{Of: []ConnID{big}, Subs: true}) }, all)
	count("subsz", subs, func() { e.QuerySubsz(1, SubszOptions{List: true}) },
		func(q query) int { return q.(*subszQuery).a.Subs.Len() })
}

// A subscription that lasts while they are listed is listed, whichever end meanwhile.
func TestNoSubscriptionIsPassedOver(t *testing.T) {
	e, w := started(t, Options{TurnWork: 7})
	c := w.join(e, "")
	for i := range 100 {
		say(e, c, fmt.Sprintf("SUB a %d\r\n", i))
	}
	w.settle(t, e)
	turn(e, func() { e.QueryConnz(1, ConnzOptions{Open: true, Subs: true}) })
	for i := 0; w.answers[1] == nil; i++ {
		if i%2 == 0 && i < 50 {
			say(e, c, fmt.Sprintf("UNSUB %d\r\n", i))
		} else {
			w.ring(e)
		}
	}
	seen := map[string]bool{}
	for i := range w.answers[1].(*Connz).Conns.All() {
		for s := range i.Subs.All() {
			seen[s.SID] = true
		}
	}
	for i := range 100 {
		if sid := fmt.Sprint(i); (i%2 == 1 || i >= 50) && !seen[sid] {
			t.Errorf("%s is missing", sid)
		}
	}
}

// The pages are bounded: to add to a long list copies nothing.
func TestPages(t *testing.T) {
	var p Pages[int]
	for i := range 1000 {
		if at := p.add(i); *at != i || p.Len() != i+1 {
			t.Fatalf("%d at %d", *at, i)
		}
	}
	want := 0
	for v := range p.All() {
		if *v != want {
			t.Fatalf("%d, want %d", *v, want)
		}
		if want++; want == 600 {
			break
		}
	}
	for _, page := range p.pages {
		if cap(page) > pageMax {
			t.Fatalf("a page of %d", cap(page))
		}
	}
}
