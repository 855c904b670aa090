package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/natsd/natsd/config"
)

// told is what the events said of one connection.
type told struct{ came, went, refused int }

// systemModel is connections that come, say who they are, err and go, and one that listens in the system account.
type systemModel struct {
	e       *Engine
	w       *fakeWorld
	watch   ConnID
	open    []ConnID
	greeted map[uint64]bool // by cid: they have said who they are
	got     string          // what the listener was sent
	others  string          // what all others were
}

func (s *systemModel) finish(t *rapid.T) {
	s.w.settle(t, s.e)
	for _, c := range s.open {
		s.others += s.w.take(c)
	}
	s.got += s.w.take(s.watch)
}

// drop forgets a connection.
func (s *systemModel) drop(i int) ConnID {
	c := s.open[i]
	s.open = append(s.open[:i:i], s.open[i+1:]...)
	s.others += s.w.take(c)
	return c
}

// come adds a connection.
func (s *systemModel) come() {
	var c ConnID
	turn(s.e, func() { c = s.e.Accepted(clientListener, ConnInfo{IP: "127.0.0.1", Port: 5}) })
	if s.e.lookup(c) != nil {
		s.open = append(s.open, c)
	}
}

// act has one of them do something.
func (s *systemModel) act(t *rapid.T, what int) {
	i := rapid.IntRange(0, len(s.open)-1).Draw(t, "which")
	k := s.e.lookup(s.open[i])
	if k == nil || k.gate&gateClosed != 0 {
		s.drop(i)
		return
	}
	switch what {
	case 1, 2:
		who := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "who")
		if k.connected && who != k.user.name {
			return // it would be told of again, as somebody else
		}
		s.greeted[k.cid] = true
		say(s.e, s.open[i], `CONNECT {"verbose":false,"user":"`+who+`","pass":"p"}`+"\r\nSUB > 1\r\nSUB $SYS.> 2\r\n")
	case 3:
		say(s.e, s.open[i], "PUB $SYS.ACCOUNT.A.CONNECT 0\r\n\r\nPING\r\n")
	case 4:
		say(s.e, s.open[i], "NONSENSE\r\n")
	case 5:
		turn(s.e, func() { s.e.EOF(s.open[i]) })
	case 6:
		c := s.drop(i)
		turn(s.e, func() { s.e.Closed(c, "reset") })
	}
}

// events counts what the listener heard, by cid.
func (s *systemModel) events(t *rapid.T) map[uint64]told {
	all := map[uint64]told{}
	for _, m := range deliveries(t, s.got) {
		var ev struct{ Client struct{ ID uint64 } }
		if err := json.Unmarshal([]byte(m.body), &ev); m.body != "" && err != nil {
			t.Fatalf("%q: %v", m.body, err)
		}
		x := all[ev.Client.ID]
		switch {
		case strings.HasSuffix(m.subject, ".CONNECT"):
			x.came++
		case strings.HasSuffix(m.subject, ".DISCONNECT"):
			x.went++
		case strings.HasSuffix(m.subject, ".AUTH.ERR"):
			x.refused++
		}
		all[ev.Client.ID] = x
	}
	return all
}

// systemProperty: who listens in the system account all the while hears of each connection that it came and went, once;
// nobody else hears anything.
func systemProperty(t *rapid.T) {
	o := Options{
		Accounts: systemAccounts(), SystemAccount: config.Located{Text: "SYS"}, PingInterval: -1, AuthTimeout: -1,
		TurnWork: rapid.SampledFrom([]int{0, 1, 50}).Draw(t, "work"), MaxConnections: rapid.SampledFrom([]int{0, 6}).Draw(t, "most"),
	}
	s := &systemModel{greeted: map[uint64]bool{}}
	s.e, s.w = started(t, o)
	s.watch = accept(s.e)
	say(s.e, s.watch, "CONNECT {\"user\":\"s\",\"pass\":\"p\"}\r\nSUB $SYS.> 1\r\n")
	s.w.settle(t, s.e)
	s.w.take(s.watch)
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		if what := rapid.IntRange(0, 6).Draw(t, "what"); len(s.open) == 0 || what == 0 {
			s.come()
		} else {
			s.act(t, what)
		}
		s.finish(t)
	}
	for _, c := range s.open {
		turn(s.e, func() { s.e.EOF(c) })
	}
	s.finish(t)
	s.w.advance(t, s.e, 2*Instant(lingerTime))
	s.finish(t)
	events := s.events(t)
	for cid := uint64(2); cid <= s.e.nextCID; cid++ {
		want, x := told{went: 1}, events[cid]
		if s.greeted[cid] {
			want.came = 1
		}
		if want.refused = x.refused; x != want || x.refused > 1 || x.refused == 1 && s.greeted[cid] {
			t.Fatalf("connection %d: %+v, want %+v", cid, x, want)
		}
	}
	for _, m := range deliveries(t, s.others) {
		if m.body != "" {
			t.Fatalf("an ordinary account hears of %s: %s", m.subject, m.body)
		}
	}
	for _, a := range s.e.accounts {
		if want := map[string]int{"SYS": 1}[a.name]; a.conns != want {
			t.Fatalf("%s has %d connections, want %d", a.name, a.conns, want)
		}
	}
	turn(s.e, func() { s.e.EOF(s.watch) })
	s.w.left(t, s.e)
}

func deliveries(t *rapid.T, text string) []delivery {
	all, err := parseDelivered(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSystemEventsModel(t *testing.T) { rapid.Check(t, systemProperty) }
