package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/monitor"
)

// sliced is a world with many connections, of which the first has many subscriptions.
func sliced(t *testing.T, subs, conns int) (*Engine, *fakeWorld) {
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
	return e, w
}

// An answer about a million subscriptions of one connection and about 20,000 connections is made in slices: what each turn
// adds to it is bounded.
func TestLongAnswersAreSliced(t *testing.T) {
	const subs, conns = 1_000_000, 20_000
	e, w := sliced(t, subs, conns)
	count := func(name string, want int, q monitor.Question, size func(q query) int) {
		most, last := 0, 0
		turn(e, func() { e.Ask(1, q) })
		for len(e.queries)+len(w.jobs) > 0 {
			if len(w.jobs) > 0 {
				w.finishJobs(e)
				last = 0 // the page is what it goes on with
				continue
			}
			n := size(e.queries[0].q)
			most, last = max(most, n-last), n
			w.ring(e)
		}
		if got := w.answers[1]; got == nil || most > queryPerTurn {
			t.Errorf("%s: %d entries in a turn", name, most)
		}
		total := 0
		switch a := w.answers[1].(type) {
		case *monitor.Connz:
			for _, c := range a.Pick() {
				total += 1 + c.Subs.Len()
			}
		case *monitor.Subsz:
			total = a.Subs.Len()
		}
		if total != want {
			t.Errorf("%s: %d entries, want %d", name, total, want)
		}
		delete(w.answers, 1)
	}
	all := func(q query) int {
		return q.(*connzQuery).a.Conns.Len()
	}
	count("connz", conns+1, monitor.ConnzOptions{Limit: conns + 1}, all)
	count("connz of one", subs+1, monitor.ConnzOptions{CID: 1, Subscriptions: true}, func(q query) int {
		if c := q.(*connzQuery); c.at != nil {
			return c.at.Subs.Len()
		}
		return 0
	})
	count("connz by subject", 0, monitor.ConnzOptions{Account: "$G", FilterSubject: "zzz"}, func(q query) int {
		if c := q.(*connzQuery); c.cid == 1 {
			return subs - c.subs
		}
		return 0
	})
	count("subsz", subs, monitor.SubszOptions{Subscriptions: true, Limit: subs}, func(q query) int { return q.(*subszQuery).a.Subs.Len() })
}

// A subscription that lasts while they are listed is listed, whichever end meanwhile.
func TestNoSubscriptionIsPassedOver(t *testing.T) {
	e, w := started(t, Options{TurnWork: 7})
	c := w.join(e, "")
	for i := range 100 {
		say(e, c, fmt.Sprintf("SUB a %d\r\n", i))
	}
	w.settle(t, e)
	turn(e, func() { e.Ask(1, monitor.ConnzOptions{Subscriptions: true}) })
	for i := 0; w.answers[1] == nil; i++ {
		if i%2 == 0 && i < 50 {
			say(e, c, fmt.Sprintf("UNSUB %d\r\n", i))
		} else {
			w.finishJobs(e)
			w.ring(e)
		}
	}
	seen := map[string]bool{}
	for _, i := range w.answers[1].(*monitor.Connz).Pick() {
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
