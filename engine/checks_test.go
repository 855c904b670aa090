package engine

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// login accepts a connection from an address and has it send a CONNECT and a PING.
func (w *fakeWorld) login(t *testing.T, e *Engine, ip, user, pass string) (id ConnID) {
	turn(e, func() { id = e.Accepted(clientListener, ConnInfo{IP: ip, Port: 5}) })
	w.settle(t, e)
	w.take(id)
	say(e, id, fmt.Sprintf("CONNECT {\"user\":%q,\"pass\":%q,\"verbose\":false}\r\nPING\r\n", user, pass))
	return id
}

// finishAll runs the jobs there are and returns how many that were.
func (w *fakeWorld) finishAll(t *testing.T, e *Engine) (n int) {
	t.Helper()
	for len(w.jobs) > 0 {
		n += len(w.jobs)
		w.finishJobs(e)
		w.settle(t, e)
	}
	return n
}

// However many clients have passwords to be checked, so many are at a time; who leaves or waits too long costs nothing.
func TestPasswordChecksAreBounded(t *testing.T) {
	const most, clients = 3, 40
	e, w := started(t, Options{User: "u", Pass: bcryptOfP, AuthTimeout: time.Second, Checks: most})
	var ids []ConnID
	for i := range clients {
		ids = append(ids, w.login(t, e, "10.0.0.1", "u", fmt.Sprint("wrong", i)))
		if len(w.jobs) != min(i+1, most) {
			t.Fatalf("%d passwords are being checked", len(w.jobs))
		}
	}
	for _, c := range ids[1:20] { // one of those being checked, others that wait
		turn(e, func() { e.Closed(c, "") })
		w.gone[c] = true
	}
	w.advance(t, e, Instant(time.Second))
	if n := w.finishAll(t, e); n != most {
		t.Errorf("%d passwords were checked", n)
	}
	late := 0
	for _, c := range ids {
		if w.gone[c] {
			continue
		}
		switch got := w.take(c); got {
		case "-ERR 'Authentication Timeout'\r\n":
			late++
		case violation:
		default:
			t.Errorf("got %q", got)
		}
		turn(e, func() { e.EOF(c) })
	}
	if late != clients-19-1 { // all but those who left, and the one whose check had begun
		t.Errorf("%d waited too long", late)
	}
	w.left(t, e)
}

// Those that send the same password wait for one comparison, and those that send it later for none.
func TestPasswordsAreComparedOnce(t *testing.T) {
	for _, pass := range []string{"p", "q"} {
		e, w := started(t, Options{User: "u", Pass: bcryptOfP, TurnWork: 10})
		want, right := violation, pass == "p"
		if right {
			want = "PONG\r\n"
		}
		var ids []ConnID
		for i := range 100 {
			ids = append(ids, w.login(t, e, fmt.Sprint("10.0.0.", i%3), "u", pass))
		}
		turn(e, func() { e.Closed(ids[0], "") })
		if n := w.finishAll(t, e); n != 1 {
			t.Errorf("%s: %d comparisons", pass, n)
		}
		again := func(user string) int {
			c := w.login(t, e, "10.0.0.9", user, pass)
			n := w.finishAll(t, e)
			w.settle(t, e)
			if got := w.take(c); user == "u" && got != want || user != "u" && got != violation {
				t.Errorf("%s as %s got %q", pass, user, got)
			}
			return n
		}
		for i, c := range ids[1:] {
			if got := w.take(c); got != want {
				t.Fatalf("%s: client %d got %q", pass, i, got)
			}
		}
		if n := again("u"); n != 0 {
			t.Errorf("%s: another comparison", pass)
		}
		// Time must not tell the names that there are from others.
		if first, second := again("nobody"), again("nobody"); first != 1 || second != 0 {
			t.Errorf("%s of an unknown user: %d comparisons, then %d", pass, first, second)
		}
		w.advance(t, e, wrongSpan)
		if n := again("u"); n == 0 != right {
			t.Errorf("%s after a minute: %d comparisons", pass, n)
		}
		w.advance(t, e, rightSpan)
		if n := again("u"); n != 1 {
			t.Errorf("%s after a long time: %d comparisons", pass, n)
		}
		turn(e, func() { e.Reload(Options{User: "u", Pass: bcryptOfP, Check: true}) })
		if n := again("u"); n != 0 {
			t.Errorf("%s after a reload that does not concern it: %d comparisons", pass, n)
		}
		turn(e, func() { e.Reload(Options{User: "u", Pass: "other", Check: true}) })
		turn(e, func() { e.Reload(Options{User: "u", Pass: bcryptOfP, Check: true}) })
		if n := again("u"); n != 1 {
			t.Errorf("%s after reloads: %d comparisons", pass, n)
		}
	}
}

// A connection that is in does not stay in for an outcome of before the reload.
func TestOutcomeOfBeforeTheReload(t *testing.T) {
	e, w := started(t, Options{User: "u", Pass: bcryptOfP, TurnWork: 1})
	var ids []ConnID
	for range 4 {
		ids = append(ids, w.login(t, e, "::1", "u", "p"))
	}
	w.settle(t, e)
	w.jobs[1]()
	delete(w.jobs, 1)
	turn(e, func() {
		e.JobDone(1)
		e.Reload(Options{User: "u", Pass: "x", Check: true, TurnWork: 1})
	})
	w.settle(t, e)
	for _, c := range ids {
		if got := w.take(c); got != violation {
			t.Errorf("got %q", got)
		}
	}
}

// Who is honest comes soon, however many others fail: from another address, from the same as another user, and, by chance,
// even from the same as the same user.
func TestHonestLoginsComeSoon(t *testing.T) {
	for _, c := range []struct {
		name, ip, user string
		most           int  // comparisons before its own is done
		first          bool // the others were all there before any of them had failed
	}{
		{"another address", "10.0.0.2", "u", 4, false},
		{"another address of the same network", "2001:db8::2", "v", 6, false},
		{"the same address, another user", "10.0.0.1", "v", 6, false},
		{"the same address, another user, amid all others", "10.0.0.1", "v", 12, true},
	} {
		e, w := started(t, Options{User: c.user, Pass: bcryptOfP})
		n := 0
		flood := func(k int) {
			for range k {
				n++
				w.login(t, e, "10.0.0.1", "u", fmt.Sprint("wrong", n))
				w.login(t, e, "2001:db8::1", "u", fmt.Sprint("wrong", n, "too"))
			}
		}
		if !c.first {
			flood(2)
			w.finishJobs(e)
			w.settle(t, e)
		}
		flood(50)
		honest := w.login(t, e, c.ip, c.user, "p")
		if c.first {
			flood(50)
		}
		done := 0
		for ; w.sent[honest].Len() == 0; done++ {
			flood(1)
			w.finishJobs(e) // two at a time
			w.settle(t, e)
		}
		if got := w.take(honest); got != "PONG\r\n" || done > c.most/2 {
			t.Errorf("%s: %q after %d comparisons", c.name, got, 2*done)
		}
	}
}

// Nobody waits for ever, whatever rank his address has.
func TestEveryRankIsServed(t *testing.T) {
	e, w := started(t, Options{User: "u", Pass: bcryptOfP, Checks: 1})
	w.login(t, e, "10.0.0.1", "u", "wrong")
	w.finishJobs(e)
	w.settle(t, e)
	bad := w.login(t, e, "10.0.0.1", "u", "p") // from an address with failures
	for i := range 10 {
		w.login(t, e, fmt.Sprint("10.1.0.", i), "u", fmt.Sprint("new", i))
	}
	n := 0
	for ; w.sent[bad].Len() == 0; n++ {
		w.login(t, e, fmt.Sprint("10.2.0.", n), "u", fmt.Sprint("newer", n))
		w.finishJobs(e)
		w.settle(t, e)
	}
	if n > 5 {
		t.Errorf("%d others came first", n)
	}
}

func TestNetworks(t *testing.T) {
	for ip, want := range map[string]string{ //natsd:orderfree each case stands alone
		"127.0.0.1": "127.0.0.1", "::1": "::/64", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
		"::ffff:1.2.3.4": "::ffff:1.2.3.4", "": "", "x": "x",
	} {
		if got := network(ip); got != want {
			t.Errorf("%s: %s", ip, got)
		}
	}
}

// What is remembered is what was added within the span, but for the oldest when there is more than may be.
func TestRecall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most, span = 4, 10
		r := newRecall[int](most, span)
		now := Instant(1)
		keys := rapid.IntRange(1, 2*most).Draw(t, "keys")
		model := map[int]Instant{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += Instant(rapid.IntRange(0, 4).Draw(t, "time"))
			r.fade(now)
			k := rapid.IntRange(0, keys-1).Draw(t, "key")
			if rapid.Bool().Draw(t, "add") {
				r.add(k, now)
				model[k] = now + span
			}
			if r.has(k, now) && model[k] <= now {
				t.Fatalf("%d is remembered for too long", k)
			}
			if keys <= most && !r.has(k, now) && model[k] > now {
				t.Fatalf("%d is forgotten", k)
			}
			if len(r.until) > most || len(r.until) != len(r.order) {
				t.Fatalf("%d remembered, %d in order", len(r.until), len(r.order))
			}
		}
		r.fade(now + span)
		if len(r.until) != 0 || r.order != nil {
			t.Fatalf("left: %v", r.until)
		}
	})
}
