package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/monitor"
)

// combos subscribes to all combinations of "a" and "*" in eight tokens, each followed by a tail.
func combos(tail string) string {
	const depth = 8
	var b strings.Builder
	for i := range 1 << depth {
		b.WriteString("SUB ")
		for k := range depth {
			b.WriteString([...]string{"a.", "*."}[i>>k&1])
		}
		fmt.Fprintf(&b, "%s %s%d\r\n", tail, tail, i)
	}
	return b.String()
}

// hard is what all of them would match but for the tail.
const hard = "a.a.a.a.a.a.a.a."

// searching is a world in which a match may be little, and somebody has subscribed to a lot.
type searching struct {
	*tenants
	many, pub ConnID
}

func newSearching(t *testing.T, o Options, tails ...string) *searching {
	o.MatchWork, o.Check = 4, true
	e, w := started(t, o)
	s := &searching{tenants: &tenants{t: t, e: e, w: w}}
	s.many = s.client(combosOf(tails))
	s.pub = s.client("")
	return s
}

func combosOf(tails []string) (all string) {
	for _, tail := range tails {
		all += combos(tail)
	}
	return all
}

// client connects and says something.
func (s *searching) client(says string) ConnID {
	s.t.Helper()
	c := accept(s.e)
	s.send(c, "CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\n"+says)
	s.w.settle(s.t, s.e)
	s.w.take(c)
	return c
}

func (s *searching) send(c ConnID, text string) { turn(s.e, func() { s.e.Received(c, []byte(text)) }) }

// A message whose receivers take long to find waits for that, and so does what its publisher sent behind it; nobody else does.
func TestSearch(t *testing.T) {
	s := newSearching(t, Options{TurnWork: 256}, "z", ">")
	other := s.client("SUB easy 1\r\n")
	s.send(s.pub, "PUB "+hard+"z 1\r\nx\r\nPUB easy 1\r\ny\r\nPING\r\n")
	if s.e.searches != 1 {
		t.Fatalf("%d searches", s.e.searches)
	}
	s.send(other, "PUB easy 1\r\nz\r\nPING\r\n")
	if got := s.w.take(other); got != "MSG easy 1 1\r\nz\r\nPONG\r\n" || s.e.searches != 1 {
		t.Errorf("somebody else got %q, %d searches", got, s.e.searches)
	}
	if got := s.w.take(s.pub); got != "" {
		t.Errorf("the publisher got %q too early", got)
	}
	s.w.settle(t, s.e)
	if got := strings.Count(s.w.take(s.many), "MSG "+hard+"z "); got != 512 {
		t.Errorf("%d of 512 got it", got)
	}
	if got := s.w.take(s.pub); got != "PONG\r\n" {
		t.Errorf("the publisher got %q", got)
	}
	if got := s.w.take(other); got != "MSG easy 1 1\r\ny\r\n" {
		t.Errorf("what was sent behind it: %q", got)
	}
}

// Who leaves while its message is searched for has published it, and who unsubscribes meanwhile does not get it.
func TestSearchWhoLeaves(t *testing.T) {
	s := newSearching(t, Options{TurnWork: 256}, "z")
	other := s.client("SUB " + hard + "z 1\r\nSUB *." + hard[2:] + "z 2\r\n")
	s.send(s.pub, "PUB "+hard+"z 1\r\nx\r\n")
	turn(s.e, func() { s.e.EOF(s.pub) })
	s.send(other, "UNSUB 1\r\n")
	s.w.settle(t, s.e)
	if got := s.w.take(other); got != "MSG "+hard+"z 2 1\r\nx\r\n" {
		t.Errorf("it got %q", got)
	}
	if got := strings.Count(s.w.take(s.many), "MSG"); got != 256 {
		t.Errorf("%d of 256 got it", got)
	}
}

// A request that nobody gets is answered, however long it takes to find that out, and to whom the answer goes.
func TestSearchNoResponders(t *testing.T) {
	s := newSearching(t, Options{TurnWork: 256}, "z")
	s.send(s.pub, "SUB "+hard+"in 7\r\n")
	s.send(s.pub, "PUB "+hard+"y "+hard+"in 0\r\n\r\nPING\r\n")
	s.w.settle(t, s.e)
	got := s.w.take(s.pub)
	if !strings.HasPrefix(got, "HMSG "+hard+"in 7 ") || !strings.Contains(got, " 503") || !strings.HasSuffix(got, "\r\nPONG\r\n") {
		t.Errorf("it got %q", got)
	}
	if s.e.marks[MarkNobodySought] == 0 {
		t.Error("whom the answer goes to was found at once")
	}
}

// Searches take turns: the one of who came last does not wait for all others to end.
func TestSearchesTakeTurns(t *testing.T) {
	s := newSearching(t, Options{TurnWork: 16}, "z", "x", "w")
	easier := s.client("SUB b.*.*.*.* 1\r\nSUB b.b.*.*.* 2\r\nSUB *.*.*.*.b 3\r\n")
	first := []ConnID{s.client(""), s.client(""), s.client("")}
	for k, c := range first {
		s.send(c, fmt.Sprintf("PUB %sy%d 0\r\n\r\n", hard, k))
	}
	s.send(s.pub, "PUB b.b.b.b.b 0\r\n\r\n")
	got, n := "", 0
	for ; strings.Count(got, "MSG") < 3; n++ {
		if n > 10000 {
			t.Fatalf("it got %q", got)
		}
		s.w.ring(s.e)
		got += s.w.take(easier)
	}
	if s.e.searches != 3 {
		t.Errorf("%d of three long searches are left after %d turns", s.e.searches, n)
	}
	s.w.settle(t, s.e)
}

// A reload amid a search has the message read again, as if it came then: with what may be published, and with who may get it, by then.
func TestSearchAmidReload(t *testing.T) {
	const verbose = "CONNECT {\"verbose\":true,\"headers\":true,\"user\":\"p\",\"pass\":\"p\"}\r\n"
	options := func(denied, forbidden string) Options {
		return Options{TurnWork: 256, MatchWork: 4, Check: true, Users: []config.User{
			userWith("p", lists("", forbidden), nil), userWith("o", nil, lists("", denied)), userWith("m", nil, nil)}}
	}
	for _, c := range []struct {
		name, says, denied, forbidden string
		closed                        bool
		many                          int
		told, other                   string
	}{
		{"nothing changes", "PUB " + hard + "z 1\r\nx\r\n", "", "", false, 512, "+OK\r\nPONG\r\n", "MSG " + hard + "z 1 1\r\nx\r\n"},
		{"with headers", "HPUB " + hard + "z in 12 13\r\nNATS/1.0\r\n\r\nx\r\n", "", "", false, 512, "+OK\r\nPONG\r\n",
			"HMSG " + hard + "z 1 in 12 13\r\nNATS/1.0\r\n\r\nx\r\n"},
		{"one may not get it", "PUB " + hard + "z in 0\r\n\r\n", hard + "z", "", false, 512, "+OK\r\nPONG\r\n", ""},
		{"it may not be published", "PUB " + hard + "z 0\r\n\r\n", "", hard + "z", false, 0,
			"-ERR 'Permissions Violation for Publish to \"" + hard + "z\"'\r\nPONG\r\n", ""},
		{"its publisher has left", "PUB " + hard + "z 0\r\n\r\n", "", hard + "z", true, 512, "", "MSG " + hard + "z 1 0\r\n\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, w := started(t, options("", ""))
			many, o, p := as(e, w, "m", combos("z")+combos(">")), as(e, w, "o", "SUB "+hard+"z 1\r\n"), as(e, w, "p", verbose)
			w.settle(t, e)
			w.take(many)
			turn(e, func() { e.Received(p, []byte(c.says+"PUB behind 1\r\ny\r\nPING\r\n")) })
			if w.ring(e); e.searches != 1 || e.seekers.front().searches.front().of == nil {
				t.Fatal("it is not being searched for")
			}
			if c.closed {
				turn(e, func() { e.Closed(p, "") })
			}
			turn(e, func() { e.Reload(options(c.denied, c.forbidden)) })
			w.settle(t, e)
			if got := w.take(o); !strings.HasPrefix(got, c.other) || c.other == "" && strings.Contains(got, "MSG") {
				t.Errorf("the other one got %q, want %q", got, c.other)
			}
			if got := strings.Count(w.take(many), "MSG"); got != c.many {
				t.Errorf("%d of %d got it", got, c.many)
			}
			want := strings.Replace(c.told, "PONG", "+OK\r\nPONG", 1)
			if got := w.take(p); got != want {
				t.Errorf("the publisher got %q, want %q", got, want)
			}
			in := uint64(2)
			if c.closed {
				in = 1
			}
			if a := e.global.traffic; a.inMsgs != in {
				t.Errorf("%d messages came in, want %d", a.inMsgs, in)
			}
			if f := e.Footprint(); f.Fanouts != 0 || e.suspended != 0 {
				t.Errorf("left behind: %+v", f)
			}
		})
	}
}

// Too many messages that wait for their receivers to be found are not kept once their publishers have gone, wherever in the line; the
// server itself has nothing more to say then that would wait.
func TestSearchIsGivenUp(t *testing.T) {
	s := newSearching(t, Options{TurnWork: 16}, "z")
	var here [searchesFew]ConnID
	for i := range here {
		here[i] = s.client("")
	}
	for i, c := range here {
		s.send(c, fmt.Sprintf("PUB %sy%d 0\r\n\r\n", hard, i))
	}
	for range 3 {
		c := accept(s.e)
		s.send(c, "CONNECT {}\r\nPUB "+hard+"z 0\r\n\r\n")
		turn(s.e, func() { s.e.Closed(c, "") })
	}
	s.send(s.pub, "PUB "+hard+"z 0\r\n\r\nPING\r\n")
	if n := s.e.searches; n != searchesFew+4 {
		t.Fatalf("%d searches", n)
	}
	s.e.suspended += suspendedMax
	turn(s.e, func() { s.e.publishOwn(s.e.global, hard+"z", "", nil, []byte("own")) })
	s.w.ring(s.e)
	s.e.suspended -= suspendedMax
	if n := s.e.searches; n != searchesFew+1 {
		t.Errorf("%d searches are left of %d that somebody waits for", n, searchesFew+1)
	}
	s.w.settle(t, s.e)
	if got := strings.Count(s.w.take(s.many), "MSG"); got != 256 || s.e.suspended != 0 || s.e.Footprint().Fanouts != 0 {
		t.Errorf("%d got it, want the 256 that it reaches once; %d bytes wait", got, s.e.suspended)
	}
	if got := s.w.take(s.pub); got != "PONG\r\n" {
		t.Errorf("who is there got %q", got)
	}
	if !s.w.logged("3 messages were not delivered: ") {
		t.Errorf("the log does not tell of them: %q", s.w.log)
	}
	if s.e.marks[MarkSearchGivenUp] != 3 || s.e.unfound.n+s.e.sys.dropped.n != 0 {
		t.Errorf("given up %d times; not told of %d and %d", s.e.marks[MarkSearchGivenUp], s.e.unfound.n, s.e.sys.dropped.n)
	}
}

// A reload does not take long because publishers have left many messages whose receivers are searched for.
func TestReloadAmidManySearches(t *testing.T) {
	s := newSearching(t, Options{TurnWork: 64, Users: []config.User{userWith("p", nil, nil)}, NoAuthUser: config.Located{Text: "p"}}, "z", ">")
	const messages = 100
	var publishers []ConnID
	for range messages {
		publishers = append(publishers, s.client(""))
	}
	for _, c := range publishers {
		s.send(c, "PUB "+hard+"z 0\r\n\r\n")
		turn(s.e, func() { s.e.Closed(c, "") })
	}
	turn(s.e, func() {
		before := s.e.work
		s.e.Reload(s.e.opts)
		if w := s.e.work - before; w > 2*foundAtReloadLeast {
			t.Errorf("the reload took %d", w)
		}
	})
	s.w.settle(t, s.e)
	got, given := strings.Count(s.w.take(s.many), "MSG"), int(s.e.marks[MarkSearchGivenUp])
	if given == 0 || got != 512*(messages-given) {
		t.Errorf("%d deliveries, given up: %d of %d", got, given, messages)
	}
	if f := s.e.Footprint(); f.Fanouts != 0 || s.e.suspended != 0 {
		t.Errorf("left behind: %+v", f)
	}
}

// An answer that was allowed once, and whose receivers are searched for when a reload comes, is read again like others, and allowed
// once more if it may still be given: but once in all.
func TestSearchOfAllowedAnswer(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		options := func(may bool) Options {
			responder := userWith("r", lists("nothing", ""), nil)
			if may {
				responder.Permissions.AllowResponses = &config.ResponsePermission{Max: 1}
			}
			return Options{TurnWork: 64, MatchWork: 4, Check: true, Users: []config.User{userWith("p", nil, nil), responder}}
		}
		e, w := started(t, options(true))
		many, p, r := as(e, w, "p", combos("z")), as(e, w, "p", "SUB "+hard+"in 1\r\n"), as(e, w, "r", "SUB ask 1\r\n")
		w.settle(t, e)
		w.take(many)
		turn(e, func() { e.Received(p, []byte("PUB ask "+hard+"in 0\r\n\r\n")) })
		w.settle(t, e)
		w.take(r)
		turn(e, func() { e.Received(r, []byte(strings.Repeat("PUB "+hard+"in 0\r\n\r\n", 2))) })
		if e.searches != 1 {
			t.Fatalf("%d searches", e.searches)
		}
		turn(e, func() { e.Reload(options(allowed)) })
		w.settle(t, e)
		answers, refused := 1, 1
		if !allowed {
			answers, refused = 0, 2
		}
		got, told := w.take(p), w.take(r)
		if strings.Count(got, "MSG "+hard+"in 1 0") != answers || strings.Count(told, "Permissions Violation") != refused {
			t.Errorf("allowed %v: who asked got %q, who answered %q", allowed, got, told)
		}
		if e.marks[MarkSearchUnread] != 1 || e.marks[MarkSearchGivenUp] != 0 {
			t.Errorf("read again %d times, given up %d times", e.marks[MarkSearchUnread], e.marks[MarkSearchGivenUp])
		}
	}
}

// An account's searches do not keep those of another waiting.
func TestSearchesOfAccountsTakeTurns(t *testing.T) {
	o := Options{TurnWork: 16, MatchWork: 4, Check: true, Accounts: []config.Account{
		{Name: "A", Users: []config.User{{Name: "a", Password: "p"}}}, {Name: "B", Users: []config.User{{Name: "b", Password: "p"}}}}}
	e, w := started(t, o)
	as(e, w, "a", combos("z")+combos("y"))
	b := as(e, w, "b", "SUB b.*.*.*.* 1\r\nSUB b.b.*.*.* 2\r\nSUB *.*.*.*.b 3\r\n")
	var others []ConnID
	for range 30 {
		others = append(others, as(e, w, "a", ""))
	}
	w.settle(t, e)
	for _, c := range others {
		turn(e, func() { e.Received(c, []byte("PUB "+hard+"x 0\r\n\r\n")) })
	}
	turn(e, func() { e.Received(b, []byte("PUB b.b.b.b.b 0\r\n\r\n")) })
	got := w.take(b)
	for n := 0; strings.Count(got, "MSG") < 3; n++ {
		if n > 100 {
			t.Fatalf("after %d turns it got %q", n, got)
		}
		w.ring(e)
		got += w.take(b)
	}
	if e.searches != 30 {
		t.Errorf("%d searches are left of 30", e.searches)
	}
}

// Whom a 503 goes to is not looked for once its client has gone: those who come and go would have ever more such searches wait.
func TestSearchForNobodyWhoHasGone(t *testing.T) {
	s := newSearching(t, Options{TurnWork: 16}, "z")
	s.send(s.pub, "PUB nobody "+hard+"in 0\r\n\r\n")
	for range 5 * searchesFew {
		c := accept(s.e)
		s.send(c, "CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\nPUB nobody "+hard+"in 0\r\n\r\n")
		turn(s.e, func() { s.e.Closed(c, "") })
		if n := s.e.searches; n < 1 || n > 2*searchesFew+2 {
			t.Fatalf("%d searches, and one client that waits", n)
		}
	}
	s.w.settle(t, s.e)
}

// An answer whose way is only told does not cross, but its bytes are kept as if it did: they go with it where it is given up, or read
// again.
func TestSearchForAnswerThatStays(t *testing.T) {
	rules := []config.Account{
		{Name: "A", Exports: exports(config.Service, "svc")},
		{Name: "B", Imports: []config.Import{service("A", "svc")}},
	}
	for _, reloaded := range []bool{false, true} {
		o := Options{TurnWork: 64, MatchWork: 1}
		s := withAccounts(t, o, rules...)
		a := s.join("A", "SUB svc 1\r\nSUB *.*.* 2\r\nSUB *.*.> 3\r\nSUB *.> 4\r\nSUB *.*.*.* 5\r\n")
		s.say(s.join("B", "SUB in 1\r\n"), "PUB svc in 0\r\n\r\n")
		_, reply := s.replySubject(a)
		head, body := "NATS/1.0\r\nNats-Trace-Dest: told\r\nNats-Trace-Only: 1\r\n\r\n", strings.Repeat("x", 3*shareMin)
		s.e.BeginTurn()
		s.e.Received(a, fmt.Appendf(nil, "HPUB %s %d %d\r\n%s%s\r\n", reply, len(head), len(head)+len(body), head, body))
		if s.e.searches != 1 || len(s.e.seekers.front().searches.front().msg.msg.held) != 1 {
			t.Fatalf("%d searches, or nothing is kept", s.e.searches)
		}
		if x := s.e.seekers.front().searches.front(); reloaded {
			s.e.searchAnew()
		} else {
			s.e.Closed(a, "")
			s.e.endSearch()
			s.e.goWithout(x)
		}
		s.e.EndTurn()
		s.w.settle(t, s.e)
		if f := s.e.Footprint(); f.Chunks != 0 || f.Fanouts != 0 || s.e.suspended != 0 {
			t.Errorf("left behind, reloaded %v: %+v", reloaded, f)
		}
	}
}

// A request whose receivers are searched for in the account that it has come into is given up once its publisher has gone, where too
// much waits; not before.
func TestSearchNotBehindACrossing(t *testing.T) {
	for _, c := range []struct {
		full, gone bool
		want       int
	}{{false, false, 256}, {true, false, 256}, {false, true, 256}, {true, true, 0}} {
		s := withAccounts(t, Options{TurnWork: 16, MatchWork: 4, Check: true},
			config.Account{Name: "A", Exports: exports(config.Service, ">")},
			config.Account{Name: "B", Imports: []config.Import{service("A", hard+"*")}})
		many, b := s.join("A", ""), s.join("B", "")
		s.say(many, combos(">"))
		say(s.e, b, "PUB "+hard+"x in 0\r\n\r\n")
		if s.e.searches != 1 {
			t.Fatalf("%d searches", s.e.searches)
		}
		if c.full {
			s.e.suspended += suspendedMax
		}
		if c.gone {
			turn(s.e, func() { s.e.Closed(b, "") })
		}
		s.w.settle(t, s.e)
		if c.full {
			s.e.suspended -= suspendedMax
		}
		if got := strings.Count(s.w.take(many), "MSG"); got != c.want {
			t.Errorf("%+v: %d got it", c, got)
		}
		if f := s.e.Footprint(); f.Chunks != 0 && c.gone || f.Fanouts != 0 || s.e.suspended != 0 {
			t.Errorf("%+v: left behind: %+v", c, f)
		}
	}
}

// What its publisher was told about a message already it is not told again after a reload amid the search.
func TestSearchAmidReloadComplainsOnce(t *testing.T) {
	s := newSearching(t, Options{TurnWork: 256}, ">")
	s.send(s.pub, "CONNECT {\"verbose\":true,\"pedantic\":true}\r\nPUB "+hard+"* 0\r\n\r\nPING\r\n")
	if s.e.searches != 1 {
		t.Fatalf("%d searches", s.e.searches)
	}
	turn(s.e, func() { s.e.Reload(s.e.opts) })
	s.w.settle(t, s.e)
	if got := s.w.take(s.pub); got != "+OK\r\n-ERR 'Invalid Publish Subject'\r\n+OK\r\nPONG\r\n" {
		t.Errorf("it was told %q", got)
	}
	if got := strings.Count(s.w.take(s.many), "MSG"); got != 256 {
		t.Errorf("%d of 256 got it", got)
	}
}

// Whom a 503 goes to is found among the connection's own subscriptions where its subject reaches many of others.
func TestNoRespondersAmongMany(t *testing.T) {
	e, w := started(t, Options{Check: true})
	var all strings.Builder
	for i := range 500 {
		fmt.Fprintf(&all, "SUB in %d\r\nSUB in g %d\r\n", 2*i, 2*i+1)
	}
	const connect = "CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\n"
	others, c := accept(e), accept(e)
	turn(e, func() { e.Received(others, []byte(connect+all.String())) })
	for _, x := range []struct{ says, want string }{
		{"SUB other 1\r\nSUB in g 2\r\n", ""},
		{"SUB * 3\r\n", "HMSG in 3 "},
	} {
		say(e, c, connect+x.says)
		w.settle(t, e)
		w.take(c)
		e.BeginTurn()
		before := e.work
		e.Received(c, []byte("PUB no.body in 0\r\n\r\n"))
		worked := e.work - before
		e.EndTurn()
		if got := w.take(c); !strings.HasPrefix(got, x.want) || x.want == "" && got != "" {
			t.Errorf("%q: it got %q, want %q", x.says, got, x.want)
		}
		if worked > 50 {
			t.Errorf("%q: that took %d", x.says, worked)
		}
	}
}

// Where searches hold very many subscriptions, one goes on until it ends, so that they become fewer.
func TestSearchesThatHoldMuch(t *testing.T) {
	s := newSearching(t, Options{TurnWork: 16}, "z", ">")
	clients := []ConnID{s.client(""), s.client(""), s.client("")}
	for _, c := range clients {
		s.send(c, "PUB "+hard+"z 0\r\n\r\nPING\r\n")
	}
	s.e.foundSoFar += foundMost
	for n := 0; s.e.searches == 3; n++ {
		if n > 10000 {
			t.Fatal("no search ends")
		}
		s.w.ring(s.e)
	}
	for _, x := range s.e.seekers.front().searches.all() {
		if x.of != nil && x.of.Found() > 20 {
			t.Errorf("another one has found %d meanwhile", x.of.Found())
		}
	}
	s.e.foundSoFar -= foundMost
	s.w.settle(t, s.e)
	if got := strings.Count(s.w.take(s.many), "MSG"); got != 3*512 || s.e.foundSoFar != 0 {
		t.Errorf("%d of %d got it; %d are held", got, 3*512, s.e.foundSoFar)
	}
}

// Those that are given up all at once, because too much waits, go on in turns of the usual length, though they reach nobody.
func TestSearchesGivenUpTogether(t *testing.T) {
	const turnWork, messages = 64, 1000
	s := newSearching(t, Options{TurnWork: turnWork}, "z")
	turn(s.e, func() {
		for range messages {
			s.e.publishPost(s.e.global, &post{account: s.e.global, subject: hard + "y", body: []byte("\r\n")})
		}
	})
	if s.e.searches != messages {
		t.Fatalf("%d searches", s.e.searches)
	}
	s.e.suspended += suspendedMax
	turn(s.e, func() { s.e.publishOwn(s.e.global, "later", "", nil, nil) })
	s.e.suspended -= suspendedMax
	if n := s.e.marks[MarkSearchGivenUp]; s.e.searches != 0 || n != messages {
		t.Fatalf("%d searches, %d given up", s.e.searches, n)
	}
	for left := s.e.fanouts.len(); left > 0; left = s.e.fanouts.len() {
		if s.w.ring(s.e); left-s.e.fanouts.len() > turnWork {
			t.Errorf("%d went on in a turn of work %d", left-s.e.fanouts.len(), turnWork)
		}
		if held := s.e.posts.n > 0 && s.e.posts.holds(s.e.global); held != !s.e.fanouts.empty() {
			t.Errorf("%d are under way, and what comes behind them waits: %v", s.e.fanouts.len(), held)
		}
	}
	s.w.settle(t, s.e)
}

// A message whose receivers are searched for is one of those that take several turns. The log is told of it once, though it is read again
// after a reload.
func TestSearchIsTold(t *testing.T) {
	s := newSearching(t, Options{TurnWork: 256, Trace: true}, "z")
	s.w.log = nil
	s.send(s.pub, "PUB "+hard+"z 3\r\none\r\nPUB behind 3\r\ntwo\r\n")
	turn(s.e, func() { s.e.Ask(1, monitor.MetricsOptions{}) })
	if m, ok := s.w.answers[1].(*monitor.Metrics); s.e.searches != 1 || !ok || m.Fanouts != 1 || m.FanoutBytes == 0 {
		t.Fatalf("%d searches, %+v", s.e.searches, m)
	}
	turn(s.e, func() { s.e.Reload(s.e.opts) })
	s.w.settle(t, s.e)
	all := strings.Join(s.w.log, "\n")
	for _, text := range []string{"<<- [PUB " + hard + "z 3]", "<<- MSG_PAYLOAD: [\"one\"]", "<<- [PUB behind 3]", "<<- MSG_PAYLOAD: [\"two\"]"} {
		if n := strings.Count(all, text); n != 1 {
			t.Errorf("%s is told %d times", text, n)
		}
	}
}

// Whom a 503 goes to is looked for over several turns where a connection with many subscriptions asks for an answer to where very many
// listen; and anew if a reload comes meanwhile.
func TestNoRespondersOverTurns(t *testing.T) {
	for _, reload := range []bool{false, true} {
		e, w := started(t, Options{Check: true, TurnWork: 64, MatchWork: 4})
		const connect = "CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\n"
		others, c := accept(e), accept(e)
		say(e, others, connect+subscribed("in", 4000))
		w.settle(t, e)
		say(e, c, connect+subscribed("else", ownMost+1)+"SUB in 9999\r\n")
		w.settle(t, e)
		w.take(c)
		say(e, c, "PUB in 0\r\n\r\n") // so that it is known whom it reaches
		w.settle(t, e)
		w.take(c)
		say(e, c, "PUB no.body in 0\r\n\r\nPING\r\n")
		if e.searches != 1 || w.take(c) != "" {
			t.Fatalf("%d searches", e.searches)
		}
		if reload {
			turn(e, func() { e.Reload(e.opts) })
		}
		most := 0
		for e.searches > 0 {
			w.ring(e)
			most = max(most, e.work)
		}
		w.settle(t, e)
		if got := w.take(c); !strings.HasPrefix(got, "HMSG in 9999 ") || !strings.HasSuffix(got, "PONG\r\n") {
			t.Errorf("it got %q", got)
		}
		if most > 2*64 {
			t.Errorf("a turn of work %d", most)
		}
	}
}
