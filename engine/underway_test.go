package engine

import (
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

// groupWorld has a queue group on s.* whose members are named by letters: those of d, who are denied s.x before a reload and may
// get it from then on; those of o, who may always; and those of l, who may before and may not from then on.
type groupWorld struct {
	*tenants
	pub     ConnID
	members map[string][]ConnID
}

func groupOptions(after bool) Options {
	denied, left := lists("", "s.x"), lists("", "")
	if after {
		denied, left = left, denied
	}
	return Options{TurnWork: 1, Check: true, Users: []config.User{
		userWith("p", nil, nil), userWith("o", nil, nil), userWith("d", nil, denied), userWith("l", nil, left),
	}}
}

func newGroupWorld(t *testing.T, members string) *groupWorld {
	e, w := started(t, groupOptions(false))
	g := &groupWorld{tenants: &tenants{t: t, e: e, w: w}, members: make(map[string][]ConnID)}
	for _, name := range strings.Split(members, "") {
		g.members[name] = append(g.members[name], as(e, w, name, "SUB s.* g 1\r\n"))
		w.settle(t, e)
	}
	g.pub = as(e, w, "p", "SUB in 1\r\n")
	w.settle(t, e)
	return g
}

// took is how many messages the members of a name got, perhaps in this turn.
func (g *groupWorld) took(name string) (n int) {
	for _, c := range g.members[name] {
		n += int(g.e.lookup(c).stats.outMsgs)
	}
	return n
}

// A queue group that is being served when a reload comes gives the message to one of those members to whom it was not denied
// before, and who may still get it; if there are none, to nobody, and its publisher is told.
func TestReloadAmidGroup(t *testing.T) {
	for _, members := range []string{"dddddd", "dddodd", "dodddl", "dddldd", "ddddoo"} {
		amid := 0
		for n := range 30 {
			g := newGroupWorld(t, members)
			for range n {
				g.e.rng.IntN(len(members)) // another one is the first to be tried
			}
			turn(g.e, func() { g.e.Received(g.pub, []byte("PUB s.x in 1\r\nx\r\n")) })
			for range n % 3 {
				if !g.e.fanouts.empty() {
					g.w.ring(g.e)
				}
			}
			before := 0
			turn(g.e, func() {
				before = g.took("o") + g.took("l")
				if !g.e.fanouts.empty() && g.e.fanouts.front().msg.untried > 0 {
					amid++
				}
				g.e.Reload(groupOptions(true))
			})
			g.w.settle(t, g.e)
			all := g.took("o") + g.took("l")
			want := before
			if strings.Contains(members, "o") {
				want = 1
			}
			if denied := g.took("d"); denied > 0 || all != want || before == 0 && g.took("l") > 0 {
				t.Fatalf("%s, %d: %d had got it, then %d, and %d of those to whom it was denied", members, n, before, all, denied)
			}
			if told := strings.Contains(g.w.take(g.pub), "503"); told != (all == 0) {
				t.Fatalf("%s, %d: %d got it, and the publisher was told that nobody listens: %v", members, n, all, told)
			}
			if f := g.e.Footprint(); f.Fanouts != 0 {
				t.Fatalf("left: %+v", f)
			}
		}
		if amid < 3 {
			t.Errorf("%s: the group was being served in %d cases only", members, amid)
		}
	}
}

// subscribed are n subscriptions to a subject.
func subscribed(subj string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("SUB " + subj + " " + itoa(i) + "\r\n")
	}
	return b.String()
}

// An answer that is under way at a reload is no request to services that are imported where it came, either.
func TestAnswerUnderWayIsNoRequest(t *testing.T) {
	const receivers = 20
	for _, imported := range []string{">", "in", "*"} {
		amid := 0
		for wait := range 12 {
			o := func() Options {
				user := func(n string) []config.User { return []config.User{userWith(n, nil, nil)} }
				return Options{TurnWork: 2, Check: true, Accounts: []config.Account{
					{Name: "F", Users: user("f"), Exports: exports(config.Service, "svc")},
					{Name: "T", Users: user("t"), Exports: exports(config.Service, imported)},
					{Name: "N", Users: user("n"), Imports: []config.Import{service("F", "svc"), service("T", imported)}},
				}}
			}
			e, w := started(t, o())
			s := &tenants{t: t, e: e, w: w}
			far, third, near := as(e, w, "f", "SUB svc 1\r\n"), as(e, w, "t", "SUB > 1\r\n"), as(e, w, "n", subscribed("in", receivers))
			w.settle(t, e)
			say(e, near, "PUB svc in 1\r\nq\r\n")
			w.settle(t, e)
			w.take(third) // the request, where > or * is imported
			_, reply := s.replySubject(far)
			turn(e, func() { e.Received(far, []byte("PUB "+reply+" 1\r\na\r\n")) })
			for range wait {
				w.ring(e)
			}
			if !e.fanouts.empty() {
				amid++
			}
			turn(e, func() { e.Reload(o()) })
			w.settle(t, e)
			s.got(third, "")
			if n := strings.Count(w.take(near), "\r\na\r\n"); n != receivers {
				t.Errorf("import of %s, reload after %d turns: %d answers", imported, wait, n)
			}
		}
		if amid == 0 {
			t.Errorf("import of %s: the answer was never under way", imported)
		}
	}
}

// Subscriptions that have not followed a client's other CONNECT yet are denied what its user may not get, as if they had.
func TestReloadAmidSecondConnect(t *testing.T) {
	o := func(denied string) Options {
		return Options{TurnWork: 1, Check: true, Users: []config.User{userWith("free", nil, nil), userWith("p", nil, nil), userWith("no", nil, lists("", denied))}}
	}
	e, w := started(t, o("s.x"))
	as(e, w, "p", subscribed("s.x", 3)) // are served first
	c, pub := as(e, w, "free", subscribed("s.*", 6)), as(e, w, "p", "")
	w.settle(t, e)
	turn(e, func() { e.Received(pub, []byte("PUB s.x 1\r\nx\r\n")) })
	turn(e, func() {
		e.Received(c, []byte("CONNECT {\"verbose\":false,\"user\":\"no\",\"pass\":\"p\"}\r\n"))
		if e.fanouts.len() != 1 || len(e.remaking.asked) != 1 || strings.Contains(w.take(c), "MSG") {
			t.Fatal("the message is not under way, or they have followed")
		}
		e.Reload(o(""))
	})
	w.settle(t, e)
	if got := w.take(c); strings.Contains(got, "MSG") {
		t.Errorf("was denied %q", got)
	}
}
