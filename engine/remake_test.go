package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

const manySubscriptions = 200_000

// remakeOptions has user u, who may not subscribe below the subjects that are denied, in account a.
func remakeOptions(a string, denied ...string) Options {
	u := config.User{Name: "u", Password: "p"}
	if len(denied) > 0 {
		u.Permissions = &config.Permissions{Subscribe: &config.SubjectPermission{}}
		for _, d := range denied {
			u.Permissions.Subscribe.Deny = append(u.Permissions.Subscribe.Deny, config.Subject{Text: d})
		}
	}
	o := Options{Accounts: []config.Account{{Name: "A"}, {Name: "B"}}}
	for i := range o.Accounts {
		n := &o.Accounts[i]
		n.Users = append(n.Users, config.User{Name: "in" + n.Name, Password: "p"})
		if n.Name == a {
			n.Users = append(n.Users, u)
		}
	}
	return o
}

// crowded is a world with a connection that has many subscriptions, half of them below each of "even" and "odd", and one of
// a publisher in each account.
type crowded struct {
	*fakeWorld
	e          *Engine
	many       ConnID
	inA, inB   ConnID
	mostInTurn int
}

func newCrowded(t *testing.T, n int) *crowded {
	t.Helper()
	e, w := started(t, remakeOptions("A"))
	e.opts.Check = false // of each subscription in each turn
	join := func(user, more string) ConnID {
		c := accept(e)
		say(e, c, fmt.Sprintf("CONNECT {\"verbose\":false,\"user\":%q,\"pass\":\"p\"}\r\n", user)+more)
		w.settle(t, e)
		w.take(c)
		return c
	}
	var subs strings.Builder
	for i := range n {
		fmt.Fprintf(&subs, "SUB %s.%d %d\r\n", []string{"even", "odd"}[i%2], i, i)
	}
	return &crowded{fakeWorld: w, e: e, many: join("u", subs.String()), inA: join("inA", ""), inB: join("inB", "")}
}

// finish runs turns until nothing is due, and notes how many subscriptions follow in one at most.
func (w *crowded) finish(t *testing.T) (turns int) {
	t.Helper()
	left := func() int {
		if c := w.e.lookup(w.many); c != nil && c.remaking != nil {
			return c.remaking.left
		}
		return 0
	}
	for before := left(); w.wake <= w.now; turns++ {
		w.ring(w.e)
		w.mostInTurn = max(w.mostInTurn, before-left())
		before = left()
	}
	return turns
}

// Permissions that a reload takes away are gone for every subscription at once, though it takes turns to end them all.
func TestManySubscriptionsAreRevokedInSlices(t *testing.T) {
	w := newCrowded(t, manySubscriptions)
	turn(w.e, func() {
		w.e.Reload(remakeOptions("A", "odd.>"))
		w.e.Received(w.inA, []byte("PUB odd.199999 1\r\na\r\nPUB even.199998 1\r\nb\r\nPUB odd.1 1\r\nc\r\nPUB even.0 1\r\nd\r\n"))
		w.e.Received(w.many, []byte("PING\r\n"))
	})
	if c := w.e.lookup(w.many); c.remaking == nil || c.remaking.left < manySubscriptions-2*remakePerTurn {
		t.Fatal("the subscriptions did not follow bit by bit")
	}
	turns := w.finish(t)
	if w.mostInTurn > remakePerTurn || turns < manySubscriptions/remakePerTurn {
		t.Errorf("%d turns, in one %d subscriptions followed", turns, w.mostInTurn)
	}
	got := w.take(w.many)
	for _, m := range []string{"MSG even.199998 199998 1\r\nb\r\n", "MSG even.0 0 1\r\nd\r\n"} {
		if strings.Count(got, m) != 1 {
			t.Errorf("got %d times %q", strings.Count(got, m), m)
		}
	}
	if strings.Contains(got, "MSG odd") {
		t.Error("got a message that it may not have")
	}
	if n := strings.Count(got, "-ERR 'Permissions Violation for Subscription to \"odd."); n != manySubscriptions/2 {
		t.Errorf("was told of %d subscriptions that ended", n)
	}
	if !strings.HasSuffix(got, "PONG\r\n") {
		t.Errorf("went on before its subscriptions had followed: ...%q", got[max(len(got)-60, 0):])
	}
	if n := w.e.subscriptions(); n != manySubscriptions/2 {
		t.Errorf("%d subscriptions are left", n)
	}
	w.e.Check()
}

// A user that a reload puts into another account takes all subscriptions along; none gets anything of both accounts.
func TestManySubscriptionsMoveInSlices(t *testing.T) {
	w := newCrowded(t, manySubscriptions)
	turn(w.e, func() {
		w.e.Reload(remakeOptions("B"))
		w.e.Received(w.inA, []byte("PUB odd.199999 1\r\na\r\nPUB even.0 1\r\na\r\n"))
	})
	turns := w.finish(t)
	if w.mostInTurn > remakePerTurn || turns < manySubscriptions/remakePerTurn {
		t.Errorf("%d turns, in one %d subscriptions followed", turns, w.mostInTurn)
	}
	say(w.e, w.inA, "PUB odd.199999 1\r\na\r\n")
	say(w.e, w.inB, "PUB odd.199999 1\r\nb\r\n")
	w.settle(t, w.e)
	if got := w.take(w.many); got != "MSG odd.199999 199999 1\r\nb\r\n" {
		t.Errorf("got %.200q", got)
	}
	if n := w.e.subscriptions(); n != manySubscriptions {
		t.Errorf("%d subscriptions", n)
	}
	w.e.Check()
}

// A message that a connection leaves behind in another account comes to none of its subscriptions: the first has it visited, and
// whoever is there already has left all the same.
func TestMessageStaysWhereItsReceiverLeft(t *testing.T) {
	w := newCrowded(t, 0)
	say(w.e, w.many, "SUB x 1\r\nSUB * 2\r\nSUB x q 3\r\nSUB > 4\r\n")
	turn(w.e, func() {
		w.e.Reload(remakeOptions("B"))
		w.e.Received(w.inA, []byte("PUB x 1\r\na\r\n"))
	})
	if got := w.take(w.many); got != "" {
		t.Errorf("got %q of the account that it had left", got)
	}
	say(w.e, w.inB, "PUB x 1\r\nb\r\n")
	if got := w.take(w.many); strings.Count(got, "\r\nb\r\n") != 4 {
		t.Errorf("got %q of its account", got)
	}
	say(w.e, w.many, "UNSUB 1\r\nUNSUB 2\r\nUNSUB 3\r\nUNSUB 4\r\n")
	if n := w.e.subscriptions(); n != 0 {
		t.Errorf("%d subscriptions are left", n)
	}
	w.e.Check()
}

// What happens while subscriptions follow leaves nothing behind, and nobody without the consequences of either.
func TestRemakingIsOvertaken(t *testing.T) {
	const n = 5 * remakePerTurn
	for _, c := range []struct {
		name string
		do   func(w *crowded)
		left int // of its subscriptions
	}{
		{"another reload", func(w *crowded) { turn(w.e, func() { w.e.Reload(remakeOptions("B", "even.>")) }) }, n / 2},
		{"back again", func(w *crowded) { turn(w.e, func() { w.e.Reload(remakeOptions("A")) }) }, n},
		{"the user is gone", func(w *crowded) { turn(w.e, func() { w.e.Reload(remakeOptions("")) }) }, 0},
		{"the client leaves", func(w *crowded) { turn(w.e, func() { w.e.Closed(w.many, "") }) }, 0},
		{"the client ends its side", func(w *crowded) { turn(w.e, func() { w.e.EOF(w.many) }) }, 0},
		{"messages end subscriptions", func(w *crowded) {
			for _, s := range w.e.lookup(w.many).subs {
				s.max = 1
			}
			say(w.e, w.inA, "PUB odd.1 1\r\na\r\n")
			say(w.e, w.inB, fmt.Sprintf("PUB odd.%d 1\r\na\r\n", n-1))
			say(w.e, w.inB, fmt.Sprintf("PUB even.%d 1\r\na\r\n", n-2))
		}, n - 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newCrowded(t, n)
			w.e.opts.Check = true
			turn(w.e, func() { w.e.Reload(remakeOptions("B")) })
			for range 2 {
				w.ring(w.e)
			}
			if w.e.lookup(w.many).remaking == nil {
				t.Fatal("it was over too soon")
			}
			c.do(w)
			w.finish(t)
			w.advance(t, w.e, 2*Instant(lingerTime))
			if got := w.e.subscriptions(); got != c.left || !w.e.remaking.empty() {
				t.Errorf("%d subscriptions are left, want %d; connections wait for theirs: %v", got, c.left, !w.e.remaking.empty())
			}
		})
	}
}

// Subscriptions of a connection that ends before they have followed still have the flags of the user that it was: they get no
// message, and nobody asks the new user, who has no permissions, about one.
func TestMessageToThoseWhoLeaveWhileRemaking(t *testing.T) {
	for _, name := range []string{"followed", "swept"} {
		t.Run(name, func(t *testing.T) {
			w := newCrowded(t, 0)
			turn(w.e, func() { w.e.Reload(remakeOptions("A", "wild.no")) })
			var subs strings.Builder
			for i := range 5 * remakePerTurn {
				fmt.Fprintf(&subs, "SUB wild.* %d\r\n", i)
			}
			say(w.e, w.many, subs.String())
			w.settle(t, w.e)
			turn(w.e, func() {
				w.e.Reload(remakeOptions("A"))
				w.e.Received(w.many, []byte("PING\r\n")) // is visited, and begins to follow
				if w.e.lookup(w.many).remaking == nil {
					t.Fatal("it was over too soon")
				}
				w.e.Closed(w.many, "")
				if name == "swept" {
					w.e.Reload(remakeOptions("A"))
				}
				w.e.Received(w.inA, []byte("PUB wild.yes 1\r\na\r\nPING\r\n"))
			})
			w.finish(t)
			if got := w.take(w.inA); !strings.HasSuffix(got, "PONG\r\n") {
				t.Errorf("the publisher got %q", got)
			}
			if n := w.e.subscriptions(); n != 0 {
				t.Errorf("%d subscriptions are left", n)
			}
		})
	}
}

// A second CONNECT is no way to make the server spend a turn on it, or much of every turn.
func TestSecondConnectIsSliced(t *testing.T) {
	for _, n := range []int{remakeAtOnce + 1, 500, 5 * remakePerTurn} {
		w := newCrowded(t, n)
		say(w.e, w.many, "CONNECT {\"verbose\":false,\"user\":\"inB\",\"pass\":\"p\"}\r\nPUB even.0 2\r\nhi\r\nPING\r\n")
		if got := w.take(w.many); got != "" {
			t.Errorf("went on at once: %q", got)
		}
		if w.finish(t) < n*remakeAsked/remakePerTurn || w.mostInTurn > remakePerTurn/remakeAsked {
			t.Errorf("%d subscriptions followed in a turn", w.mostInTurn)
		}
		if got := w.take(w.many); !strings.HasPrefix(got, "MSG even.0 0 2\r\nhi\r\nPONG\r\n") {
			t.Errorf("got %q", got)
		}
	}
}

// Nor are many of them: what they make follow at once counts as their work.
func TestSecondConnectsAreCharged(t *testing.T) {
	w := newCrowded(t, remakeAtOnce)
	var text strings.Builder
	for range 200 {
		text.WriteString("CONNECT {\"verbose\":false,\"user\":\"inB\",\"pass\":\"p\"}\r\nPING\r\nCONNECT {\"verbose\":false,\"user\":\"u\",\"pass\":\"p\"}\r\n")
	}
	turn(w.e, func() { w.e.Received(w.many, []byte(text.String())) })
	for ; w.wake <= w.now; w.ring(w.e) {
		if n := strings.Count(w.take(w.many), "PONG\r\n"); 2*n*remakeAtOnce*subWork > w.e.opts.TurnWork+2*remakeAtOnce*subWork {
			t.Fatalf("%d subscriptions followed in a turn", 2*n*remakeAtOnce)
		}
	}
}

// A reload that moves very many connections of some subscriptions each does not move them all in one turn.
func TestReloadMovesConnectionsInSlices(t *testing.T) {
	for _, n := range []int{remakeAtOnce, remakePerTurn} {
		w := newCrowded(t, 0)
		var subs strings.Builder
		for i := range n {
			fmt.Fprintf(&subs, "SUB s.%d %d\r\n", i, i)
		}
		for range 200 {
			c := accept(w.e)
			say(w.e, c, "CONNECT {\"verbose\":false,\"user\":\"u\",\"pass\":\"p\"}\r\n"+subs.String())
		}
		w.settle(t, w.e)
		in := func() int { return w.e.byAccount["B"].subs.Count() - w.e.byAccount["B"].internal }
		turn(w.e, func() { w.e.Reload(remakeOptions("B")) })
		for before := in(); w.wake <= w.now; before = in() {
			w.ring(w.e)
			if moved := in() - before; moved > 3*remakePerTurn {
				t.Fatalf("%d subscriptions followed in a turn, of connections with %d", moved, n)
			}
		}
		if in() != 200*n {
			t.Errorf("%d subscriptions have followed", in())
		}
	}
}

// How long it takes until all have followed a reload does not depend on what clients have asked for.
func TestSecondConnectsDoNotProlongReload(t *testing.T) {
	const clients = 40
	follow := func(ask bool) (turns int) {
		w := newCrowded(t, 20*remakePerTurn)
		var subs strings.Builder
		for i := range 5 * remakeAtOnce {
			fmt.Fprintf(&subs, "SUB s.%d %d\r\n", i, i)
		}
		var ids []ConnID
		for range clients {
			ids = append(ids, accept(w.e))
			say(w.e, ids[len(ids)-1], "CONNECT {\"verbose\":false,\"user\":\"inA\",\"pass\":\"p\"}\r\n"+subs.String())
			w.settle(t, w.e)
		}
		turn(w.e, func() { w.e.Reload(remakeOptions("B")) })
		for ; w.e.Following(); turns++ {
			turn(w.e, func() {
				for _, id := range ids {
					if user := [...]string{"inB", "inA"}[turns%2]; ask {
						w.e.Received(id, fmt.Appendf(nil, "CONNECT {\"verbose\":false,\"user\":%q,\"pass\":\"p\"}\r\n", user))
					}
				}
			})
			if turns > 1000 {
				t.Fatal("it does not end")
			}
		}
		if ask && len(w.e.remaking.asked) < clients/2 {
			t.Fatalf("%d connections wait for theirs", len(w.e.remaking.asked))
		}
		return turns
	}
	if quiet, loud := follow(false), follow(true); quiet < 20 || loud > quiet+1 {
		t.Errorf("%d turns, %d while clients connect again", quiet, loud)
	}
}

// What a client's own CONNECT has follow first, where the operator's decision comes amid it, does not follow in one turn.
func TestSweepAmidSecondConnect(t *testing.T) {
	w := newCrowded(t, manySubscriptions)
	say(w.e, w.many, "CONNECT {\"verbose\":false,\"user\":\"inB\",\"pass\":\"p\"}\r\nPING\r\n")
	if len(w.e.remaking.asked) != 1 {
		t.Fatal("they have followed at once")
	}
	in := func() int { return w.e.byAccount["B"].subs.Count() - w.e.byAccount["B"].internal }
	before := in()
	turn(w.e, func() { w.e.Reload(remakeOptions("A", "even.>")) })
	w.mostInTurn = in() - before
	if turns := w.finish(t); w.mostInTurn > 2*remakePerTurn || turns < manySubscriptions/2/remakePerTurn {
		t.Errorf("%d subscriptions followed in a turn, in %d turns", w.mostInTurn, turns)
	}
	if got := w.take(w.many); got != "PONG\r\n" {
		t.Errorf("got %q", got)
	}
	if in() != manySubscriptions {
		t.Errorf("%d subscriptions have followed", in())
	}
}

// A Stop is not held up by subscriptions that follow a client's other CONNECT: they end.
func TestStopAmidSecondConnect(t *testing.T) {
	w := newCrowded(t, manySubscriptions)
	say(w.e, w.many, "CONNECT {\"verbose\":false,\"user\":\"inB\",\"pass\":\"p\"}\r\nPING\r\n")
	if len(w.e.remaking.asked) != 1 {
		t.Fatal("they have followed at once")
	}
	turn(w.e, w.e.Stop)
	w.ring(w.e)
	if c := w.e.lookup(w.inA); c != nil && c.gate&gateClosed == 0 {
		t.Error("another connection is not told yet")
	}
}
