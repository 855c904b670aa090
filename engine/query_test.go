package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// ask runs turns until the query is answered, and returns how many that took.
func ask[T any](t *testing.T, e *Engine, w *fakeWorld, query func(QueryID)) (answer T, turns int) {
	t.Helper()
	const id = 77
	delete(w.answers, id)
	turn(e, func() { query(id) })
	turns = 1
	for ; w.answers[id] == nil; turns++ {
		if w.wake > w.now {
			t.Fatal("no turn is asked for, and no answer given")
		}
		w.ring(e)
	}
	a, ok := w.answers[id].(*T)
	if !ok {
		t.Fatalf("the answer is a %T", w.answers[id])
	}
	return *a, turns
}

// nth is the nth entry.
func nth[T any](p Pages[T], n int) *T {
	for v := range p.All() {
		if n == 0 {
			return v
		}
		n--
	}
	panic("there are not so many")
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

	open, _ := ask[Connz](t, e, w, func(id QueryID) { e.QueryConnz(id, ConnzOptions{Open: true, Subs: true}) })
	if open.Conns.Len() != 2 || open.ServerID != e.info.ServerID || open.Now != e.wall {
		t.Fatalf("%+v", open)
	}
	i := *nth(open.Conns, 0)
	want := ConnzInfo{
		CID: 1, IP: "127.0.0.1", Port: 5, Start: 1, LastActivity: WallTime(w.now), Uptime: time.Minute, InMsgs: 2, InBytes: 10, OutMsgs: 2,
		OutBytes: 10, NumSubs: 2, Name: "first", Lang: "go", Version: "1", AuthorizedUser: "me", Account: "$G",
	}
	subs := i.Subs
	i.Subs, i.ID = Pages[SubInfo]{}, 0
	if fmt.Sprint(i) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", i, want)
	}
	if fmt.Sprint(*nth(subs, 1), *nth(subs, 0)) != fmt.Sprint(SubInfo{"$G", "a", "", "1", 2, 0, 1}, SubInfo{"$G", "b", "q", "2", 0, 0, 1}) {
		t.Errorf("%+v", subs)
	}
	if p := nth(open.Conns, 1).Pending; p != len("MSG a 1 5\r\nhello\r\n") {
		t.Errorf("pending %d", p)
	}
	closed, _ := ask[Connz](t, e, w, func(id QueryID) { e.QueryConnz(id, ConnzOptions{Closed: true}) })
	if closed.Conns.Len() != 1 || nth(closed.Conns, 0).CID != 2 || nth(closed.Conns, 0).Reason != ReasonReadError || nth(closed.Conns, 0).Stop != WallTime(w.now) {
		t.Errorf("%+v", closed)
	}
	for cid, n := range []int{3, 1, 1, 1, 0} {
		all, _ := ask[Connz](t, e, w, func(id QueryID) { e.QueryConnz(id, ConnzOptions{Open: true, Closed: true, CID: uint64(cid)}) })
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
		turn(e, func() { e.QueryConnz(1, ConnzOptions{Open: true, Subs: true}) })
		for ; w.answers[1] == nil; n++ {
			switch {
			case n == 2:
				turn(e, func() { e.Closed(ids[29], "") })
			case n%5 == 0:
				accept(e)
			}
			w.ring(e)
		}
		answer := w.answers[1].(*Connz)
		seen := map[uint64]int{}
		total := 0
		for c := range answer.Conns.All() {
			seen[c.CID]++
			total += c.Subs.Len()
			if c.CID < 30 && c.Subs.Len() != c.NumSubs {
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
	var r closedRing
	long := strings.Repeat("x", 10_000)
	for i := range closedMax + 5 {
		r.add(ConnzInfo{CID: uint64(i), Name: long, Lang: "go"})
	}
	if len(r.ring) != closedMax || r.nth(5).CID != 5 || r.nth(r.count-1).CID != closedMax+4 || r.count != closedMax+5 {
		t.Fatalf("%d are kept, from %d to %d", len(r.ring), r.nth(5).CID, r.nth(r.count-1).CID)
	}
	if i := r.nth(5); len(i.Name) != closedTextMax || i.Lang != "go" {
		t.Fatalf("%d bytes of a name are kept", len(i.Name))
	}
}

func TestSubsz(t *testing.T) {
	e, w := started(t, Options{})
	c := w.join(e, "SUB a.b 1\r\nSUB a.* q 2\r\nSUB c 3\r\nUNSUB 1 5\r\nPUB a.b 0\r\n\r\n")
	count, turns := ask[Subsz](t, e, w, func(id QueryID) { e.QuerySubsz(id, SubszOptions{}) })
	if count.Stats.Subs != 3 || count.Subs.Len() != 0 || turns != 1 {
		t.Errorf("%+v in %d turns", count, turns)
	}
	for test, want := range map[string]int{"": 3, "a.b": 2, "c": 1, "d": 0} { //natsd:orderfree each case stands alone
		all, _ := ask[Subsz](t, e, w, func(id QueryID) { e.QuerySubsz(id, SubszOptions{List: true, Test: test}) })
		if all.Subs.Len() != want {
			t.Errorf("%q: %+v", test, all.Subs)
		}
		if want == 1 && fmt.Sprint(*nth(all.Subs, 0)) != fmt.Sprint(SubInfo{"$G", "c", "", "3", 0, 0, e.lookup(c).cid}) {
			t.Errorf("%+v", *nth(all.Subs, 0))
		}
	}
	for i := range 3 * queryPerTurn {
		say(e, c, fmt.Sprintf("SUB x.%d a%d\r\n", i, i))
	}
	all, turns := ask[Subsz](t, e, w, func(id QueryID) { e.QuerySubsz(id, SubszOptions{List: true}) })
	if all.Subs.Len() != 3*queryPerTurn+3 || turns < 3 {
		t.Errorf("%d subscriptions in %d turns", all.Subs.Len(), turns)
	}
}

func TestVarzAndHealthz(t *testing.T) {
	e, w := newEngine(Options{ServerName: "n", User: "u", Pass: "p", NatsdVersion: "0.1"})
	health := func() string {
		h, _ := ask[Healthz](t, e, w, e.QueryHealthz)
		return fmt.Sprintf("%v %s", h.OK, h.Reason)
	}
	if got := health(); got != "false the client port is not open" {
		t.Errorf("before Start: %s", got)
	}
	turn(e, e.Start)
	turn(e, func() { e.ListenerUp(clientListener, 5000) })
	if got := health(); got != "true " {
		t.Errorf("ready: %s", got)
	}
	c := accept(e)
	say(e, c, `CONNECT {"user":"u","pass":"p","verbose":false}`+"\r\nSUB a 1\r\nPUB a 3\r\nabc\r\n")
	w.now += Instant(time.Hour)
	e.TurnTook(10)
	e.TurnTook(30)
	v, _ := ask[Varz](t, e, w, e.QueryVarz)
	if v.Connections != 1 || v.TotalConnections != 1 || v.InMsgs != 1 || v.OutBytes != 3 || v.Subscriptions != 1 || v.Port != 5000 ||
		!v.AuthRequired || v.LongestTurn != 30 || v.Turns != 2 || v.TurnTime != 40 || v.Uptime != time.Hour || v.Name != "n" || v.Natsd != "0.1" {
		t.Errorf("%+v", v)
	}
	turn(e, e.LameDuck)
	if got := health(); got != "false the server is in lame duck mode" {
		t.Errorf("lame duck: %s", got)
	}
}

// Queries wait for each other and are all answered.
func TestManyQueries(t *testing.T) {
	e, w := started(t, Options{TurnWork: 3})
	for range 20 {
		accept(e)
	}
	turn(e, func() {
		for id := range QueryID(50) {
			switch id % 3 {
			case 0:
				e.QueryVarz(id)
			case 1:
				e.QueryConnz(id, ConnzOptions{Open: true})
			case 2:
				e.QuerySubsz(id, SubszOptions{List: true})
			}
		}
	})
	w.settle(t, e)
	if len(w.answers) != 50 || e.Footprint().Queries != 0 {
		t.Fatalf("%d answers, %d queries left", len(w.answers), e.Footprint().Queries)
	}
}
