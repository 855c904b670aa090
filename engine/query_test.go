package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/monitor"
)

// ask runs turns until the query is answered, and returns how many that took.
func ask[T any](t *testing.T, e *Engine, w *fakeWorld, q monitor.Question) (answer T, turns int) {
	t.Helper()
	const id = 77
	delete(w.answers, id)
	turn(e, func() { e.Ask(id, q) })
	turns = 1
	for ; w.answers[id] == nil; turns++ {
		if len(w.jobs) > 0 {
			w.finishJobs(e)
			continue
		}
		if w.wake > w.now {
			t.Fatal("no turn is asked for, and no answer given")
		}
		w.ring(e)
	}
	a, ok := w.answers[id].(T)
	if !ok {
		t.Fatalf("the answer is a %T", w.answers[id])
	}
	return a, turns
}

// nth is the nth entry.
func nth[T any](p monitor.Pages[T], n int) *T {
	for v := range p.All() {
		if n == 0 {
			return v
		}
		n--
	}
	panic("there are not so many")
}

// Idle is who neither does nor gets anything; to be alive is not to be active. (As nats-server has it.)
func TestIdle(t *testing.T) {
	for did, idle := range map[string]bool{ //natsd:orderfree each stands alone
		"": true, "PONG\r\n": true, "PING\r\n": true, "PI|NG\r\n": true, "PUB b 0\r\n\r\n": false, "PUB b 1\r\n|x\r\n": false, "SUB b 2\r\n": false, "UNSUB 2\r\n": false,
		"CONNECT {\"verbose\":false}\r\n": false, "a message": false,
	} {
		e, w := started(t, Options{PingInterval: time.Hour})
		c, pub := w.join(e, "SUB a 1\r\n"), w.join(e, "")
		w.now += Instant(time.Minute)
		if did == "a message" {
			say(e, pub, "PUB a 0\r\n\r\n")
		} else {
			for _, part := range strings.Split(did, "|") {
				say(e, c, part)
			}
		}
		w.now += Instant(time.Second)
		open, _ := ask[*monitor.Connz](t, e, w, monitor.ConnzOptions{CID: 1})
		want := time.Second
		if idle {
			want += time.Minute
		}
		if got := nth(open.Conns, 0); got.Idle != want || got.LastActivity != int64(e.wall)-int64(want) {
			t.Errorf("%q: idle for %v, since %d", did, got.Idle, got.LastActivity)
		}
	}
}

func TestConnz(t *testing.T) {
	e, w := started(t, Options{ServerName: "n"})
	a := accept(e)
	say(e, a, `CONNECT {"name":"first","lang":"go","version":"1","user":"me"}`+"\r\nSUB a 1\r\nSUB b q 2\r\nPUB a 5\r\nhello\r\n")
	b := w.join(e, "")
	w.now += Instant(time.Minute)
	turn(e, func() { e.Closed(b, "reset") })
	c := w.join(e, "SUB > 1\r\n")
	w.rooms[c] = 0
	say(e, a, "PUB a 5\r\nhello\r\n")

	open, _ := ask[*monitor.Connz](t, e, w, monitor.ConnzOptions{Subscriptions: true})
	if page := open.Pick(); len(page) != 2 || open.ServerID != e.info.ServerID || open.Now != int64(e.wall) || open.Total != 2 {
		t.Fatalf("%+v", open)
	}
	i := *open.Pick()[0]
	want := monitor.Conn{
		CID: 1, IP: "127.0.0.1", Port: 5, Start: 1, LastActivity: int64(w.now), Uptime: time.Minute, InMsgs: 2, InBytes: 10, OutMsgs: 2,
		OutBytes: 10, NumSubs: 2, Name: "first", Lang: "go", Version: "1", User: "me", Account: "$G", NameTag: "$G", RTT: 1,
	}
	subs := i.Subs
	i.Subs, i.ID = monitor.Pages[monitor.Sub]{}, 0
	if fmt.Sprint(i) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", i, want)
	}
	if fmt.Sprint(*nth(subs, 1), *nth(subs, 0)) != fmt.Sprint(monitor.Sub{Account: "$G", Subject: "a", SID: "1", Msgs: 2, CID: 1}, monitor.Sub{Account: "$G", Subject: "b", Queue: "q", SID: "2", CID: 1}) {
		t.Errorf("%+v", subs)
	}
	if p := open.Pick()[1].Pending; p != len("MSG a 1 5\r\nhello\r\n") {
		t.Errorf("pending %d", p)
	}
	closed, _ := ask[*monitor.Connz](t, e, w, monitor.ConnzOptions{State: monitor.Closed})
	if c := closed.Pick(); len(c) != 1 || c[0].CID != 2 || c[0].Reason != string(ReasonReadError) || c[0].Stop != int64(w.now) {
		t.Errorf("%+v", closed)
	}
	for cid, n := range []int{3, 1, 1, 1, 0} {
		all, _ := ask[*monitor.Connz](t, e, w, monitor.ConnzOptions{State: monitor.All, CID: uint64(cid)})
		if all.Conns.Len() != n {
			t.Errorf("cid %d: %d connections, want %d", cid, all.Conns.Len(), n)
		}
	}
}

// A long answer is made in slices, whatever is opened and closed meanwhile; who was there all the time is in it once.
func TestConnzIsSliced(t *testing.T) {
	for _, turnWork := range []int{0, 1, 7} {
		e, w := started(t, Options{TurnWork: turnWork})
		var ids []ConnID
		subs := 0
		for i := range 30 {
			ids = append(ids, accept(e))
			for sid := range i * 20 / (1 + turnWork) {
				say(e, ids[i], fmt.Sprintf("SUB a %d\r\n", sid))
				subs++
			}
			w.settle(t, e)
		}
		n := 0
		turn(e, func() { e.Ask(1, monitor.ConnzOptions{Subscriptions: true}) })
		for ; w.answers[1] == nil; n++ {
			switch {
			case n == 2:
				turn(e, func() { e.Closed(ids[29], "") })
			case n%5 == 0:
				accept(e)
			}
			w.finishJobs(e)
			w.ring(e)
		}
		answer := w.answers[1].(*monitor.Connz)
		seen := map[uint64]int{}
		total := 0
		for _, c := range answer.Pick() {
			seen[c.CID]++
			total += c.Subs.Len()
			if c.CID < 30 && c.Stop == 0 && c.Subs.Len() != c.NumSubs {
				t.Errorf("turns of %d: cid %d lists %d of %d subscriptions", turnWork, c.CID, c.Subs.Len(), c.NumSubs)
			}
		}
		for cid := uint64(1); cid < 30; cid++ {
			if seen[cid] != 1 {
				t.Errorf("turns of %d: cid %d is listed %d times", turnWork, cid, seen[cid])
			}
		}
		if least := total / e.slice(queryPerTurn); n < least/2 { // about as many turns did something else besides
			t.Errorf("turns of %d: %d subscriptions in %d turns", turnWork, total, n)
		}
	}
}

func TestClosedConnectionsAreBounded(t *testing.T) {
	r := closedRing{most: closedMax}
	long := strings.Repeat("x", 10_000)
	for i := range closedMax + 5 {
		r.add(monitor.Conn{CID: uint64(i), Name: long, Lang: "go"})
	}
	if len(r.ring) != closedMax || r.nth(5).CID != 5 || r.nth(r.count-1).CID != closedMax+4 || r.count != closedMax+5 {
		t.Fatalf("%d are kept, from %d to %d", len(r.ring), r.nth(5).CID, r.nth(r.count-1).CID)
	}
	if i := r.nth(5); len(i.Name) != closedTextMax || i.Lang != "go" {
		t.Fatalf("%d bytes of a name are kept", len(i.Name))
	}
}

// Of closed connections the subscriptions are remembered too, so many in all: those closed longest ago lose theirs.
func TestSubscriptionsOfClosedConnections(t *testing.T) {
	e, w := started(t, Options{})
	e.opts.Check = false
	c := w.join(e, "SUB a 1\r\nSUB b."+strings.Repeat("x", 1000)+" q 2\r\n")
	turn(e, func() { e.Closed(c, "") })
	a, _ := ask[*monitor.Connz](t, e, w, monitor.ConnzOptions{State: monitor.Closed, Details: true})
	if s := a.Pick()[0].Subs; s.Len() != 2 || nth(s, 0).Subject != "a" || len(nth(s, 1).Subject) != closedTextMax || nth(s, 1).Queue != "q" {
		t.Errorf("%+v", s)
	}
	var many strings.Builder
	for i := range 2 * closedSubs {
		fmt.Fprintf(&many, "SUB s %d\r\n", i)
	}
	for range closedSubsMax/closedSubs + 3 {
		c := w.join(e, many.String())
		w.settle(t, e)
		turn(e, func() { e.Closed(c, "") })
	}
	r := &e.closed
	kept := 0
	for i := range r.ring {
		kept += r.ring[i].Subs.Len()
	}
	if kept != r.subs || kept > closedSubsMax || kept < closedSubsMax-closedSubs {
		t.Errorf("%d subscriptions are kept, counted %d", kept, r.subs)
	}
	if r.nth(0).Subs.Len() != 0 || r.nth(r.count-1).Subs.Len() != closedSubs || r.nth(r.count-1).NumSubs != 2*closedSubs {
		t.Errorf("%d of the first, %d of the last", r.nth(0).Subs.Len(), r.nth(r.count-1).Subs.Len())
	}
	for range closedMax + 1 { // round the ring
		r.add(monitor.Conn{})
	}
	if r.subs != 0 {
		t.Errorf("%d subscriptions are counted, there are none", r.subs)
	}
}

func TestSubsz(t *testing.T) {
	e, w := started(t, Options{})
	c := w.join(e, "SUB a.b 1\r\nSUB a.* q 2\r\nSUB c 3\r\nUNSUB 1 5\r\nPUB a.b 0\r\n\r\n")
	count, turns := ask[*monitor.Subsz](t, e, w, monitor.SubszOptions{})
	own := e.global.internal + e.system.internal
	if count.Stats.NumSubs != 3+own || count.Subs.Len() != 0 || turns != 1 {
		t.Errorf("%+v in %d turns", count, turns)
	}
	for _, c := range []struct {
		test string
		want int
	}{{"", 3}, {"a.b", 2}, {"c", 1}, {"d", 0}} {
		all, _ := ask[*monitor.Subsz](t, e, w, monitor.SubszOptions{Subscriptions: true, Test: c.test})
		if all.Subs.Len() != c.want {
			t.Errorf("%q: %+v", c.test, all.Subs)
		}
	}
	last, _ := ask[*monitor.Subsz](t, e, w, monitor.SubszOptions{Subscriptions: true, Test: "c", Account: "$G"})
	if got, want := *nth(last.Subs, 0), (monitor.Sub{Account: "$G", Subject: "c", SID: "3", CID: e.lookup(c).cid}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, o := range []monitor.SubszOptions{{Subscriptions: true, Account: "$SYS"}, {Subscriptions: true, Account: "nobody"}} {
		if none, _ := ask[*monitor.Subsz](t, e, w, o); none.Subs.Len() != 0 || none.Stats.NumSubs > own {
			t.Errorf("%s: %+v", o.Account, none)
		}
	}
	if bad, _ := ask[*monitor.Subsz](t, e, w, monitor.SubszOptions{Test: "a.*"}); bad.Err == nil {
		t.Error("a pattern is no subject to test")
	}
	for i := range 3 * queryPerTurn {
		say(e, c, fmt.Sprintf("SUB x.%d a%d\r\n", i, i))
	}
	all, turns := ask[*monitor.Subsz](t, e, w, monitor.SubszOptions{Subscriptions: true})
	if all.Subs.Len() != 3*queryPerTurn+3 || turns < 3 {
		t.Errorf("%d subscriptions in %d turns", all.Subs.Len(), turns)
	}
}

func TestVarzAndHealthz(t *testing.T) {
	e, w := newEngine(Options{ServerName: "n", User: "u", Pass: "p", NatsdVersion: "0.1"})
	health := func() string {
		var b strings.Builder
		for _, aspect := range []monitor.Aspect{monitor.Serving, monitor.Live, monitor.Ready, monitor.Current} {
			h, _ := ask[*monitor.Healthz](t, e, w, monitor.HealthzOptions{Aspect: aspect})
			fmt.Fprintf(&b, "%s:%d %s; ", aspect, h.Code, h.Error)
		}
		return b.String()
	}
	all := func(why string) string {
		return ":500 " + why + "; live:200 ; ready:500 " + why + "; current:500 " + why + "; "
	}
	if got := health(); got != all("the client port is not open") {
		t.Errorf("before Start: %s", got)
	}
	turn(e, e.Start)
	turn(e, func() { e.ListenerUp(clientListener, 5000) })
	if got := health(); got != ":200 ; live:200 ; ready:200 ; current:200 ; " {
		t.Errorf("ready: %s", got)
	}
	c := accept(e)
	say(e, c, `CONNECT {"user":"u","pass":"p","verbose":false}`+"\r\nSUB a 1\r\nPUB a 3\r\nabc\r\n")
	w.now += Instant(time.Hour)
	e.TurnTook(10, 10)
	e.TurnTook(30, 9)
	v, _ := ask[*monitor.Varz](t, e, w, monitor.VarzOptions{})
	if v.Connections != 1 || v.TotalConnections != 1 || v.InMsgs != 1 || v.OutBytes != 3 || v.Subscriptions != 1 || v.Port != 5000 ||
		!v.AuthRequired || v.LongestTurn != 30 || v.MostTurnCPU != 10 || v.Turns != 2 || v.TurnTime != 40 || v.Uptime != "1h0m0s" || v.Name != "n" || v.Natsd != "0.1" {
		t.Errorf("%+v", v)
	}
	turn(e, e.LameDuck)
	if got := health(); got != all("the server is in lame duck mode") {
		t.Errorf("lame duck: %s", got)
	}
}

// The log is told that the server is not well, but not as often as somebody asks.
func TestFailedHealthChecksAreLogged(t *testing.T) {
	e, w := started(t, Options{})
	say(e, accept(e), "CONNECT {\"verbose\":false}\r\n")
	turn(e, e.LameDuck)
	check := func(o monitor.HealthzOptions, want string) {
		t.Helper()
		w.log = nil
		ask[*monitor.Healthz](t, e, w, o)
		if got := strings.Join(w.log, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	check(monitor.HealthzOptions{}, `Healthcheck failed: "the server is in lame duck mode"`)
	check(monitor.HealthzOptions{}, "")
	check(monitor.HealthzOptions{}, "")
	w.now += Instant(hushedSpan)
	check(monitor.HealthzOptions{Aspect: monitor.Live}, "")
	check(monitor.HealthzOptions{Aspect: monitor.Current}, "")
	check(monitor.HealthzOptions{Details: true}, "Healthcheck failed: 1 errors (not logged before: 2)")
}

// Queries wait for each other and are all answered.
func TestManyQueries(t *testing.T) {
	e, w := started(t, Options{TurnWork: 3})
	for range 20 {
		accept(e)
	}
	turn(e, func() {
		for id := range QueryID(50) {
			e.Ask(id, []monitor.Question{
				monitor.VarzOptions{}, monitor.ConnzOptions{}, monitor.SubszOptions{Subscriptions: true}, monitor.AccountzOptions{},
				monitor.AccountStatzOptions{Unused: true}, monitor.MetricsOptions{}, monitor.HealthzOptions{}, monitor.RoutezOptions{},
				monitor.GatewayzOptions{}, monitor.LeafzOptions{}, monitor.JszOptions{}, monitor.RaftzOptions{}, monitor.QueueszOptions{},
				monitor.ConnzOptions{Details: true, State: monitor.All},
			}[id%14])
		}
	})
	w.settle(t, e)
	for len(w.jobs) > 0 {
		w.finishJobs(e)
		w.settle(t, e)
	}
	if len(w.answers) != 50 || e.Footprint().Queries != 0 {
		t.Fatalf("%d answers, %d queries left", len(w.answers), e.Footprint().Queries)
	}
}
