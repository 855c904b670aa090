package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

// recastWorld has accounts A, from which B may import s.>, and C, which imports from B what that has of A; and U, which has
// nothing to do with them. In B there is a connection with many subscriptions.
type recastWorld struct {
	*tenants
	many          ConnID
	inA, inB, inU ConnID
	inC           ConnID
}

// recastAccounts are the accounts where B has these imports.
func recastAccounts(imports ...config.Import) []config.Account {
	c := config.Account{Name: "C"}
	for _, im := range imports {
		if im.Prefix == "i" {
			c.Imports = []config.Import{stream("B", "i.s.chain")}
		}
	}
	return []config.Account{
		{Name: "A", Exports: append(exports(config.Stream, "s.>"), exports(config.Service, "s.ask")...)},
		{Name: "B", Exports: exports(config.Stream, "i.s.>"), Imports: imports},
		c,
		{Name: "U", Imports: []config.Import{service("A", "s.ask")}},
	}
}

func imported() config.Import { return stream("A", "s.>", prefixed("i")) }

// newRecastWorld has n subscriptions, every other one to a subject of its own and the others to one; there as A calls it.
func newRecastWorld(t *testing.T, n int, imports ...config.Import) *recastWorld {
	t.Helper()
	w := &recastWorld{tenants: withAccounts(t, Options{}, recastAccounts(imports...)...)}
	w.e.opts.Check = false // of each subscription in each turn
	var subs strings.Builder
	for i := range n {
		if i%2 == 0 {
			fmt.Fprintf(&subs, "SUB i.s.%d %d\r\n", i, i)
		} else {
			fmt.Fprintf(&subs, "SUB i.s.all %d\r\n", i)
		}
	}
	w.many = w.join("B", subs.String())
	w.inA, w.inB, w.inU = w.join("A", "SUB s.x 1\r\n"), w.join("B", "SUB own 1\r\n"), w.join("U", "SUB own 1\r\n")
	w.inC = w.join("C", "SUB i.s.chain 1\r\nSUB i.s.chain q 2\r\n")
	w.w.settle(t, w.e)
	return w
}

// shadows counts those in A.
func (w *recastWorld) shadows() int { return w.e.Footprint().Shadows }

// finish runs turns until nothing is due and returns how many there were, and how many shadows came or went in one at most.
func (w *recastWorld) finish() (turns, most int) {
	w.t.Helper()
	for before := w.shadows(); w.w.wake <= w.w.now; turns++ {
		if turns > 10_000 {
			w.t.Fatal("there is always something due")
		}
		w.w.ring(w.e)
		now := w.shadows()
		most = max(most, now-before, before-now)
		before = now
	}
	return turns, most
}

// Imports that a reload adds, changes or removes are in force at once for everybody, though it takes turns to visit all
// subscriptions.
func TestImportsChangeInSlices(t *testing.T) {
	const mine = "PUB s.0 1\r\na\r\nPUB s.199998 1\r\nb\r\nPUB s.chain 1\r\nc\r\n"
	const ours = "MSG i.s.0 0 1\r\na\r\nMSG i.s.199998 199998 1\r\nb\r\n"
	for _, c := range []struct {
		name          string
		before, after []config.Import
		publish, want string
		chained       bool
	}{
		{"added", nil, []config.Import{imported()}, mine, ours, true},
		{"removed", []config.Import{imported()}, nil, mine, "", false},
		{
			"changed", []config.Import{imported()}, []config.Import{stream("A", "s.>", prefixed("j")), stream("A", "s.0", to("i.s.199998"))}, mine,
			"MSG i.s.199998 199998 1\r\na\r\n", false,
		},
		{"kept beside another", []config.Import{imported()}, []config.Import{stream("A", "s.*", prefixed("j")), imported()}, mine, ours, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newRecastWorld(t, manySubscriptions, c.before...)
			before := w.shadows()
			w.say(w.inA, "PUB s.0 1\r\nx\r\n") // to be remembered
			w.w.take(w.many)
			r := draftRules(recastAccounts(c.after...), w.e.opts.SystemAccount)
			turn(w.e, func() {
				w.e.enforce(r)
				w.e.Received(w.inA, []byte(c.publish))
				w.e.Received(w.inB, []byte("PUB own 1\r\nd\r\n"))
				w.e.Received(w.inU, []byte("PUB own 1\r\ne\r\n"))
			})
			if d := w.shadows() - before; d > recastPerTurn || d < -recastPerTurn {
				t.Errorf("%d shadows came in the turn of the reload", d)
			}
			w.got(w.many, c.want)
			w.got(w.inB, "MSG own 1 1\r\nd\r\n")
			w.got(w.inU, "MSG own 1 1\r\ne\r\n")
			chain := w.w.take(w.inC)
			if n := strings.Count(chain, "MSG i.s.chain "); c.chained && n != 2 || !c.chained && n != 0 {
				t.Errorf("C got %q", chain)
			}
			turns, most := w.finish()
			if most > recastPerTurn || turns < manySubscriptions/recastPerTurn || turns > manySubscriptions/16 {
				t.Errorf("%d turns, in one %d shadows came or went", turns, most)
			}
			w.say(w.inA, c.publish)
			w.got(w.many, c.want)
			w.complete()
			w.empty()
		})
	}
}

// complete checks that every subscription has the shadows that it would be given anew, and no others.
func (w *recastWorld) complete() {
	w.t.Helper()
	w.e.Check()
	for _, c := range w.e.conns {
		if c == nil || c.gate&gateClosed != 0 {
			continue
		}
		for _, s := range c.subs {
			have := shadowNames(s)
			if s.flags&subShadowed != 0 {
				w.e.takeShadows(s)
			}
			w.e.castShadows(s)
			if want := shadowNames(s); have != want {
				w.t.Fatalf("%s has the shadows %q, want %q", s.handle.Subject(), have, want)
			}
		}
	}
}

func shadowNames(s *subscription) string {
	n := 0
	var names strings.Builder
	if s.also != nil {
		for _, sh := range s.also.shadows {
			n++
			fmt.Fprintf(&names, "%s %s %s\n", sh.also.stream.from.name, sh.handle.Subject(), sh.handle.Queue())
		}
	}
	lines := strings.Split(names.String(), "\n")
	if n > 1 { // in which order they came does not matter
		for i := range lines {
			for j := range lines[:i] {
				if lines[i] < lines[j] {
					lines[i], lines[j] = lines[j], lines[i]
				}
			}
		}
	}
	return strings.Join(lines, "\n")
}

// empty closes all connections and checks that nothing is left.
func (w *recastWorld) empty() {
	w.t.Helper()
	for _, c := range w.e.conns {
		if c != nil {
			turn(w.e, func() { w.e.Closed(c.id, "") })
		}
	}
	w.finish()
	w.w.left(w.t, w.e)
}

// A message that reaches more subscriptions than a turn can visit waits for the visit, and its publisher with it; nobody else.
func TestMessageWaitsForRecast(t *testing.T) {
	const n = 20 * recastPerTurn
	w := newRecastWorld(t, n)
	r := draftRules(recastAccounts(imported()), w.e.opts.SystemAccount)
	other := w.join("A", "SUB t 9\r\n")
	turn(w.e, func() {
		w.e.enforce(r)
		w.e.Received(w.inA, []byte("PUB s.all 1\r\na\r\nPUB s.0 1\r\nb\r\nPING\r\n"))
		w.e.Received(other, []byte("PUB s.2 1\r\nc\r\nPING\r\n"))
		w.e.publishOwn(w.e.byAccount["A"], "s.all", "", nil, []byte("own"))
		w.e.publishOwn(w.e.byAccount["A"], "t", "", nil, []byte("now"))
	})
	w.got(w.inA, "")
	w.got(other, "PONG\r\nMSG t 9 3\r\nnow\r\n")
	w.got(w.many, "MSG i.s.2 2 1\r\nc\r\n")
	w.finish()
	w.got(w.inA, "PONG\r\n")
	got := w.w.take(w.many)
	if a, own := strings.Count(got, " 1\r\na\r\n"), strings.Count(got, " 3\r\nown\r\n"); a != n/2 || own != n/2 {
		t.Errorf("%d got the message, %d that of the server, of %d", a, own, n/2)
	}
	if !strings.Contains(got, "MSG i.s.0 0 1\r\nb\r\n") || strings.Index(got, "\r\na\r\n") > strings.Index(got, "\r\nb\r\n") {
		t.Error("what was published later came earlier, or not at all")
	}
	w.complete()
	w.empty()
}

// One that crosses into the account from another does not: imports bring it no further.
func TestCrossingDoesNotWaitForRecast(t *testing.T) {
	const n = 20 * recastPerTurn
	w := newRecastWorld(t, 0)
	many := w.join("B", "SUB i.s.ask 1\r\n")
	var subs strings.Builder
	for i := range n {
		fmt.Fprintf(&subs, "SUB i.s.ask %d\r\n", i+2)
	}
	w.say(many, subs.String())
	r := draftRules(recastAccounts(imported()), w.e.opts.SystemAccount)
	turn(w.e, func() {
		w.e.enforce(r)
		w.e.Received(w.inU, []byte("PUB s.ask own 2\r\nhi\r\nPING\r\n"))
	})
	w.got(w.inU, "HMSG own 1 37 37\r\nNATS/1.0 503\r\nNats-Subject: s.ask\r\n\r\n\r\nPONG\r\n")
	if f := w.e.Footprint(); f.Fanouts != 0 || !w.e.recast.on {
		t.Fatalf("the message waits: %+v", f)
	}
	w.finish()
	w.got(many, "")
	w.empty()
}

// What happens while subscriptions are visited leaves nothing behind, and no shadow that should not be there.
func TestRecastIsOvertaken(t *testing.T) {
	const n = 20 * recastPerTurn
	enforce := func(w *recastWorld, accounts ...config.Account) {
		r := draftRules(accounts, w.e.opts.SystemAccount)
		turn(w.e, func() { w.e.enforce(r) })
	}
	for _, c := range []struct {
		name string
		do   func(w *recastWorld)
		want string // of what is published to two of the first
		all  bool   // what waited arrives
	}{
		{"nothing", func(w *recastWorld) {}, "MSG i.s.0 0 1\r\nx\r\n", true},
		{"back again", func(w *recastWorld) { enforce(w, recastAccounts()...) }, "", false},
		{"another reload", func(w *recastWorld) {
			enforce(w, recastAccounts(stream("A", "s.*", prefixed("i")))...)
		}, "MSG i.s.0 0 1\r\nx\r\n", true},
		{"many reloads", func(w *recastWorld) {
			for n := 0; len(w.e.awaiting) > 0; n++ {
				if n > recastAgainMax {
					w.t.Fatal("messages wait for ever while imports change")
				}
				if enforce(w, recastAccounts(imported())...); n%2 == 0 {
					enforce(w, recastAccounts(stream("A", "s.*", prefixed("i")))...)
				}
			}
			if w.w.ring(w.e); w.e.Marks()[MarkRecastHurried] == 0 || !w.e.recast.on {
				w.t.Error("all was done in one turn")
			}
		}, "MSG i.s.0 0 1\r\nx\r\n", true},
		{"the account is gone", func(w *recastWorld) { enforce(w) }, "", false},
		{"the publisher leaves", func(w *recastWorld) { turn(w.e, func() { w.e.Closed(w.inA, "") }) }, "MSG i.s.0 0 1\r\nx\r\n", true},
		{"subscriptions come and go", func(w *recastWorld) {
			say(w.e, w.many, "UNSUB 0\r\nUNSUB 2\r\nUNSUB 4\r\nSUB i.s.0 new\r\nUNSUB 11998\r\n")
		}, "MSG i.s.0 new 1\r\nx\r\n", true},
		{"it becomes another user", func(w *recastWorld) {
			turn(w.e, func() { w.e.become(w.e.lookup(w.many), &user{account: w.e.byAccount["U"]}) })
			if w.e.lookup(w.many).remaking == nil {
				w.t.Fatal("its subscriptions followed at once")
			}
		}, "", false},
		{"it becomes another user of the account", func(w *recastWorld) {
			turn(w.e, func() { w.e.become(w.e.lookup(w.many), &user{account: w.e.byAccount["B"]}) })
			if w.e.lookup(w.many).remaking == nil {
				w.t.Fatal("its subscriptions followed at once")
			}
		}, "MSG i.s.0 0 1\r\nx\r\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newRecastWorld(t, n)
			before := w.shadows()
			enforce(w, recastAccounts(imported())...)
			say(w.e, w.inA, "PUB s.all 1\r\nw\r\n")
			w.w.ring(w.e)
			if !w.e.recast.on || w.shadows() == before || w.e.Footprint().Fanouts != 1 {
				t.Fatalf("nothing is under way: %+v", w.e.Footprint())
			}
			c.do(w)
			w.finish()
			if got := strings.Count(w.w.take(w.many), "\r\nw\r\n"); c.all && got != n/2 || !c.all && got != 0 {
				t.Errorf("what waited was delivered %d times", got)
			}
			p := w.join("A", "PUB s.0 1\r\nx\r\n")
			w.w.settle(t, w.e)
			w.got(w.many, c.want)
			w.w.take(p)
			w.complete()
			w.empty()
		})
	}
	t.Run("the client leaves", func(t *testing.T) {
		w := newRecastWorld(t, n)
		later := w.join("B", "SUB i.s.later 1\r\n")
		enforce(w, recastAccounts(imported())...)
		w.w.ring(w.e)
		turn(w.e, func() { w.e.Closed(w.many, "") })
		w.finish()
		w.say(w.inA, "PUB s.later 1\r\nx\r\nPUB s.0 1\r\nx\r\n")
		w.got(later, "MSG i.s.later 1 1\r\nx\r\n")
		w.complete()
		w.empty()
	})
}

// An import that stays delivers what is under way when others change.
func TestRecastKeepsWhatIsUnderWay(t *testing.T) {
	const n = 40_000
	w := newRecastWorld(t, n, imported())
	say(w.e, w.inA, "PUB s.all 1\r\nw\r\n")
	if f := w.e.Footprint(); f.Fanouts != 1 {
		t.Fatalf("the message was delivered in one turn: %+v", f)
	}
	r := draftRules(recastAccounts(stream("A", "s.*", prefixed("j")), imported()), w.e.opts.SystemAccount)
	turn(w.e, func() { w.e.enforce(r) })
	w.finish()
	if got := strings.Count(w.w.take(w.many), "\r\nw\r\n"); got != n/2 {
		t.Errorf("%d of %d subscriptions got the message", got, n/2)
	}
}

// Whether anybody listens does not depend on how far the visit is.
func TestListensDuringRecast(t *testing.T) {
	const n = 20 * recastPerTurn
	w := newRecastWorld(t, n)
	hears := func(subj string) bool { return w.e.listens(w.e.byAccount["A"], []byte(subj)) }
	r := draftRules(recastAccounts(imported()), w.e.opts.SystemAccount)
	turn(w.e, func() { w.e.enforce(r) })
	for _, subj := range []string{"s.0", "s.all", "s.chain", "s.11998"} {
		if !hears(subj) {
			t.Errorf("nobody listens to %s", subj)
		}
	}
	if hears("s.nobody") {
		t.Error("somebody listens to s.nobody")
	}
	w.finish()
	r = draftRules(recastAccounts(), w.e.opts.SystemAccount)
	turn(w.e, func() { w.e.enforce(r) })
	if !w.e.recast.on || hears("s.0") || hears("s.all") || hears("s.chain") {
		t.Error("somebody listens by an import that is gone")
	}
}
