package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

// movesWorld has accounts A and B, a service of A that B imports, a stream of A that B imports, and a user m in one of them. In
// each there is a client from the start.
type movesWorld struct {
	*tenants
	a, b ConnID
}

// movesOptions are those with m in an account; empty: there is no m.
func movesOptions(in string) Options {
	user := func(name string) config.User { return config.User{Name: name, Password: "p"} }
	o := Options{Accounts: []config.Account{
		{
			Name: "A", Users: []config.User{user("a")},
			Exports: append(exports(config.Service, "svc"), exports(config.Stream, "s.>")...),
		},
		{
			Name: "B", Users: []config.User{user("b")},
			Imports: []config.Import{service("A", "svc"), stream("A", "s.>", prefixed("i"))},
		},
	}}
	for i := range o.Accounts {
		if a := &o.Accounts[i]; a.Name == in {
			a.Users = append(a.Users, user("m"))
		}
	}
	return o
}

func newMovesWorld(t *testing.T, in string) *movesWorld {
	t.Helper()
	o := movesOptions(in)
	e, w := started(t, o)
	m := &movesWorld{tenants: &tenants{t: t, e: e, w: w}}
	m.a, m.b = as(e, w, "a", ""), as(e, w, "b", "SUB r 1\r\n")
	return m
}

func (m *movesWorld) reload(in string) { m.e.Reload(movesOptions(in)) }

// What is published after a reload, in its own turn too, reaches the users that it moved, whatever their connections' turn is; and
// what is published where they were does not.
func TestMovedUsersHearAtOnce(t *testing.T) {
	for _, n := range []int{1, sweepPerTurn * 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			m := newMovesWorld(t, "A")
			var idle []ConnID
			for range n {
				idle = append(idle, as(m.e, m.w, "m", ""))
			}
			plain := as(m.e, m.w, "m", "SUB x.* 1\r\nSUB x.1 2\r\n")
			queue := as(m.e, m.w, "m", "SUB q.1 q 1\r\n")
			imported := as(m.e, m.w, "m", "SUB i.s.1 1\r\n")
			turn(m.e, func() {
				m.reload("B")
				m.e.Received(m.b, []byte("PUB x.1 r 1\r\nb\r\nPUB q.1 r 1\r\nb\r\nPUB nobody r 1\r\nb\r\n"))
				m.e.Received(m.a, []byte("PUB x.1 1\r\na\r\nPUB q.1 1\r\na\r\nPUB s.1 1\r\na\r\n"))
			})
			got := m.w.take(plain)
			if !strings.Contains(got, "MSG x.1 1 r 1\r\nb\r\n") || !strings.Contains(got, "MSG x.1 2 r 1\r\nb\r\n") || strings.Count(got, "MSG") != 2 {
				t.Errorf("got %q", got)
			}
			m.got(queue, "MSG q.1 1 r 1\r\nb\r\n")
			m.got(imported, "MSG i.s.1 1 1\r\na\r\n")
			if got := m.w.take(m.b); strings.Count(got, "503") != 1 {
				t.Errorf("the publisher got %q", got)
			}
			m.w.settle(t, m.e)
			for _, c := range idle {
				m.got(c, "")
			}
			m.end()
		})
	}
}

// end checks that nothing is remembered of the moves, and nothing left.
func (m *movesWorld) end() {
	m.t.Helper()
	m.w.settle(m.t, m.e)
	if x := &m.e.moves; x.on || len(x.from) > 0 || len(x.feeds) > 0 {
		m.t.Errorf("remembered: %+v", x)
	}
	for _, c := range m.e.conns {
		if c != nil {
			turn(m.e, func() { m.e.Closed(c.id, "") })
		}
	}
	m.w.left(m.t, m.e)
}

// A request reaches a responder that has just come to the account, by way of an import too.
func TestMovedUserAnswersAtOnce(t *testing.T) {
	m := newMovesWorld(t, "B")
	for range 3 * sweepPerTurn {
		as(m.e, m.w, "m", "")
	}
	c := as(m.e, m.w, "m", "SUB svc 1\r\n")
	turn(m.e, func() {
		m.reload("A")
		m.e.Received(m.b, []byte("PUB svc r 1\r\nb\r\n"))
	})
	text, reply := m.replySubject(c)
	if !strings.HasPrefix(text, "HMSG svc 1 REPLY ") || !strings.HasSuffix(text, "\r\n\r\nb\r\n") {
		t.Fatalf("got %q", text)
	}
	m.say(c, "PUB "+reply+" 1\r\nc\r\n")
	m.got(m.b, "MSG r 1 1\r\nc\r\n")
	m.end()
}

// Of many subscriptions of one connection, those that a message reaches move first.
func TestManySubscriptionsHearAtOnce(t *testing.T) {
	m := newMovesWorld(t, "A")
	m.e.opts.Check = false
	const n = 20 * remakePerTurn
	var subs strings.Builder
	for i := range n {
		fmt.Fprintf(&subs, "SUB x.%d %d\r\n", i, i)
	}
	c := as(m.e, m.w, "m", subs.String())
	m.w.settle(t, m.e)
	turn(m.e, func() {
		m.reload("B")
		m.e.Received(m.b, []byte("PUB x.0 1\r\n1\r\nPUB x.11999 1\r\n2\r\n"))
	})
	m.got(c, "MSG x.0 0 1\r\n1\r\nMSG x.11999 11999 1\r\n2\r\n")
	for i := 1; i < 4; i++ { // while it goes on
		m.w.ring(m.e)
		turn(m.e, func() { m.e.Received(m.b, []byte(fmt.Sprintf("PUB x.%d 1\r\n3\r\n", i*5))) })
		m.got(c, fmt.Sprintf("MSG x.%d %d 1\r\n3\r\n", i*5, i*5))
	}
	if !m.e.moves.on {
		t.Error("it was over soon")
	}
	m.end()
}

// Where too many would have to move for a message, it waits, and its publisher; nobody else does.
func TestMessageWaitsForMoves(t *testing.T) {
	m := newMovesWorld(t, "A")
	m.e.opts.Check = false
	const n = 10 * fetchMost
	var conns []ConnID
	for range n {
		conns = append(conns, as(m.e, m.w, "m", "SUB x 1\r\n"))
	}
	one := as(m.e, m.w, "m", "SUB y 1\r\n")
	other := as(m.e, m.w, "b", "")
	turn(m.e, func() {
		m.reload("B")
		m.e.Received(m.b, []byte("PUB x 1\r\n1\r\nPUB y 1\r\n2\r\n"))
		m.e.Received(other, []byte("PUB y 1\r\n3\r\nPING\r\n"))
	})
	m.got(one, "MSG y 1 1\r\n3\r\n")
	m.got(other, "PONG\r\n")
	if f := m.e.Footprint(); f.Fanouts != 1 {
		t.Fatalf("the message does not wait: %+v", f)
	}
	m.w.settle(t, m.e)
	m.got(one, "MSG y 1 1\r\n2\r\n")
	for _, c := range conns {
		m.got(c, "MSG x 1 1\r\n1\r\n")
	}
	m.end()
}

// Several reloads before all connections have followed: the last one counts.
func TestMovesAreOvertaken(t *testing.T) {
	for _, c := range []struct {
		name string
		way  []string
		want string
	}{
		{"there and back", []string{"B", "A"}, "A"},
		{"there and back and there", []string{"B", "A", "B"}, "B"},
		{"nothing new", []string{"B", "B"}, "B"},
		{"gone and there", []string{"", "B"}, ""},
		{"very many", strings.Split("BABABABABABABABABABAB", ""), "B"},
		{"gone in the end", []string{"B", ""}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMovesWorld(t, "A")
			for range 3 * sweepPerTurn {
				as(m.e, m.w, "m", "")
			}
			moved := as(m.e, m.w, "m", "SUB x 1\r\n")
			turn(m.e, func() {
				for _, in := range c.way {
					m.reload(in)
				}
				m.e.Received(m.a, []byte("PUB x 1\r\nA\r\n"))
				m.e.Received(m.b, []byte("PUB x 1\r\nB\r\n"))
			})
			want := "MSG x 1 1\r\n" + c.want + "\r\n"
			if c.want == "" {
				want = "-ERR 'Authorization Violation'\r\n"
				m.w.settle(t, m.e)
			}
			m.got(moved, want)
			m.w.settle(t, m.e)
			if c.want != "" {
				m.got(moved, "")
			}
			m.end()
		})
	}
}

// Whoever was let in without credentials is in the account of those who show none from now on.
func TestGuestsMoveAtOnce(t *testing.T) {
	o := movesOptions("A")
	e, w := started(t, Options{})
	m := &movesWorld{tenants: &tenants{t: t, e: e, w: w}}
	for range 3 * sweepPerTurn {
		w.join(e, "")
	}
	guest := w.join(e, "SUB x 1\r\n")
	known := accept(e)
	say(e, known, `CONNECT {"verbose":false,"user":"b","pass":"p"}`+"\r\nSUB x 1\r\n")
	w.take(known)
	pub := accept(e)
	say(e, pub, `CONNECT {"verbose":false,"user":"b","pass":"p"}`+"\r\n")
	w.take(pub)
	o.NoAuthUser = config.Located{Text: "m"}
	a := w.join(e, "")
	turn(e, func() {
		e.Reload(o)
		e.Received(a, []byte("PUB x 1\r\nA\r\n"))
		e.Received(pub, []byte("PUB x 1\r\nB\r\n"))
	})
	m.got(guest, "MSG x 1 1\r\nA\r\n")
	m.got(known, "MSG x 1 1\r\nB\r\n")
	turn(e, func() { // and back
		e.Reload(Options{Check: true})
		e.Received(a, []byte("PUB x 1\r\nC\r\n"))
	})
	m.got(guest, "MSG x 1 1\r\nC\r\n")
	m.got(known, "MSG x 1 1\r\nC\r\n")
	m.end()
}

// A reload that comes while many subscriptions of a connection still follow an earlier one takes them back.
func TestManySubscriptionsComeBack(t *testing.T) {
	m := newMovesWorld(t, "A")
	m.e.opts.Check = false
	var subs strings.Builder
	for i := range 20 * remakePerTurn {
		fmt.Fprintf(&subs, "SUB x.%d %d\r\n", i, i)
	}
	c := as(m.e, m.w, "m", subs.String())
	m.w.settle(t, m.e)
	turn(m.e, func() { m.reload("B") })
	if m.e.remaking.empty() {
		t.Fatal("all have followed at once")
	}
	turn(m.e, func() {
		m.reload("A")
		m.e.Received(m.b, []byte("PUB x.0 1\r\nb\r\nPUB x.11999 1\r\nb\r\n"))
		m.e.Received(m.a, []byte("PUB x.0 1\r\n1\r\nPUB x.11999 1\r\n2\r\n"))
	})
	m.got(c, "MSG x.0 0 1\r\n1\r\nMSG x.11999 11999 1\r\n2\r\n")
	m.end()
}

// A request that is under way to another account when a reload comes goes where it was sent: not to those whom the reload brings
// there, who may have had it already; and it is answered.
func TestReloadAmidRequest(t *testing.T) {
	o := movesOptions("B")
	o.TurnWork = 1
	e, w := started(t, o)
	m := &movesWorld{tenants: &tenants{t: t, e: e, w: w}}
	m.a, m.b = as(e, w, "a", "SUB svc 1\r\n"), as(e, w, "b", "SUB r 1\r\n")
	moved := as(e, w, "m", "SUB svc 1\r\nSUB svc 2\r\nSUB svc 3\r\nSUB svc 4\r\n")
	w.settle(t, e)
	turn(e, func() { e.Received(m.b, []byte("PUB svc r 1\r\nx\r\n")) })
	for n := 0; e.Footprint().Fanouts == 0; n++ {
		if n > 10 {
			t.Fatal("it was delivered in one turn")
		}
		w.ring(e)
	}
	after := movesOptions("A")
	after.TurnWork = 1
	turn(e, func() { e.Reload(after) })
	w.settle(t, e)
	got := w.take(moved)
	for sid := range 4 {
		if n := strings.Count(got, fmt.Sprintf("MSG svc %d ", sid+1)); n > 1 {
			t.Errorf("who is moved got it %d times: %q", n, got)
		}
	}
	text, reply := m.replySubject(m.a)
	if strings.Count(text, "MSG svc 1 ") != 1 {
		t.Errorf("the service got %q", text)
	}
	m.say(m.a, "PUB "+reply+" 1\r\ny\r\n")
	m.got(m.b, "MSG r 1 1\r\ny\r\n")
	m.end()
}

// A message that waits until all have followed a reload goes by that one, though another comes.
func TestReloadWhileMessagesWait(t *testing.T) {
	m := newMovesWorld(t, "A")
	m.e.opts.Check = false
	const n = 10 * fetchMost
	for range n {
		as(m.e, m.w, "m", "SUB x 1\r\n")
	}
	other := as(m.e, m.w, "b", "SUB x 1\r\n")
	turn(m.e, func() {
		m.reload("B")
		m.e.Received(m.b, []byte("PUB x 1\r\n1\r\n"))
	})
	m.got(other, "")
	arrived := as(m.e, m.w, "a", "SUB x 1\r\n")
	turn(m.e, func() { m.reload("A") })
	m.w.settle(t, m.e)
	m.got(other, "MSG x 1 1\r\n1\r\n")
	m.got(arrived, "")
	m.end()
}

// A message that is under way when a reload comes does not reach those to whom the permissions denied it until then, whatever
// they allow from then on; in another account, too.
func TestReloadAmidDenied(t *testing.T) {
	options := func(deny string) Options {
		o := movesOptions("")
		o.TurnWork = 1
		for i := range o.Accounts {
			o.Accounts[i].Users = append(o.Accounts[i].Users, userWith([]string{"near", "far"}[i], nil, &config.SubjectPermission{Deny: lists("", deny).Deny}))
		}
		return o
	}
	before := options("s.x i.s.x q.x")
	e, w := started(t, before)
	m := &movesWorld{tenants: &tenants{t: t, e: e, w: w}}
	m.a = as(e, w, "a", "SUB s.x 1\r\nSUB s.x 2\r\nSUB s.x 3\r\n")
	here := as(e, w, "near", "SUB s.* 1\r\nSUB s.> g 2\r\n")
	there := as(e, w, "far", "SUB i.s.* 1\r\n")
	w.settle(t, e)
	turn(e, func() { e.Received(m.a, []byte("PUB s.x 1\r\nx\r\n")) })
	for n := 0; e.Footprint().Fanouts == 0; n++ {
		if n > 10 {
			t.Fatal("it was delivered in one turn")
		}
		w.ring(e)
	}
	turn(e, func() { e.Reload(options("q.x")) })
	w.settle(t, e)
	for _, c := range []ConnID{here, there} {
		if got := w.take(c); got != "" {
			t.Errorf("whom it was denied got %q", got)
		}
	}
	if got := w.take(m.a); strings.Count(got, "MSG") != 3 {
		t.Errorf("others got %q", got)
	}
	m.say(m.a, "PUB s.x 1\r\ny\r\n")
	w.settle(t, e)
	if got := w.take(here) + w.take(there); strings.Count(got, "MSG") != 3 {
		t.Errorf("the next one: %q", got)
	}
}

// Reloads that change nothing but permissions are followed, too, before the next one; and what is under way meanwhile, with who
// needs no user any more, does no harm.
func TestReloadsOfWhoHasManySubscriptions(t *testing.T) {
	options := func(users bool) Options {
		o := Options{TurnWork: 1, Check: true}
		if users {
			o.Users = []config.User{{Name: "a", Password: "p"}, userWith("near", nil, &config.SubjectPermission{Deny: lists("", "s.x").Deny})}
		}
		return o
	}
	e, w := started(t, options(true))
	a := as(e, w, "a", "SUB s.x 1\r\nSUB s.x 2\r\nSUB s.x 3\r\n")
	var many strings.Builder
	many.WriteString("SUB s.* 1\r\n")
	for i := range 200 {
		fmt.Fprintf(&many, "SUB y.%d %d\r\n", i, i+2)
	}
	near := as(e, w, "near", many.String())
	w.settle(t, e)
	for _, patient := range []bool{true, false} {
		turn(e, func() { e.Reload(options(false)) })
		if !e.Following() {
			t.Fatal("all have followed at once")
		}
		for patient && e.Following() {
			w.ring(e)
		}
		if patient && !e.remaking.empty() {
			t.Fatal("not all have followed")
		}
		turn(e, func() { e.Received(a, []byte("PUB s.x 1\r\nx\r\n")) })
		turn(e, func() { e.Reload(options(false)) })
		w.settle(t, e)
		if got := w.take(near); got != "MSG s.x 1 1\r\nx\r\n" {
			t.Errorf("got %q", got)
		}
		turn(e, func() { e.Reload(options(true)) })
		w.settle(t, e)
	}
	w.take(a)
}

// Who has moved leaves subscriptions behind in what is known of a message that was published just before: they have ended, and
// nobody asks its new permissions, which may be none, about them.
func TestReloadAfterSubscriptionsHaveMoved(t *testing.T) {
	o := remakeOptions("A", "wild.no")
	o.TurnWork = 1
	e, w := started(t, o)
	var subs strings.Builder
	for i := range 40 {
		fmt.Fprintf(&subs, "SUB wild.yes %d\r\n", i)
	}
	in, publisher := as(e, w, "inA", subs.String()), as(e, w, "inA", "")
	u := as(e, w, "u", "SUB wild.* 1\r\n")
	w.settle(t, e)
	o = remakeOptions("B")
	o.TurnWork = 1
	turn(e, func() { e.Reload(o) })
	turn(e, func() { e.Received(publisher, []byte("PUB wild.yes 1\r\na\r\n")) })
	for c := e.lookup(u); c.home(c.subs[0]).name == "A"; {
		w.ring(e)
	}
	if e.Footprint().Fanouts == 0 {
		t.Fatal("it was delivered too soon")
	}
	turn(e, func() { e.Reload(o) })
	w.settle(t, e)
	if got := w.take(u); got != "" {
		t.Errorf("who has moved got %q", got)
	}
	if got := w.take(in); strings.Count(got, "MSG") != 40 {
		t.Errorf("those who stayed got %q", got)
	}
}
