package engine

import (
	"strings"
	"testing"
)

// What an account asks leaves room for others, and for who is in the system account, and the log tells of what finds none.
func TestRequestsAcrossLeaveRoom(t *testing.T) {
	s := newSystem(t, Options{MaxCalls: 8})
	say(s.e, s.sys, "UNSUB 1\r\n")
	a := s.enter("a", "SUB _R 2\r\n")
	b := s.enter("b", "SUB _R 2\r\n")
	count := func(c ConnID, answers, refused int) {
		t.Helper()
		got := s.w.take(c)
		if n, none := strings.Count(got, "MSG _R"), strings.Count(got, " 503"); n-none != answers || none != refused {
			t.Errorf("%d answers and %d refused, want %d and %d:\n%s", n-none, none, answers, refused, got)
		}
	}
	turn(s.e, func() {
		s.e.Received(a, []byte(strings.Repeat("PUB $SYS.REQ.USER.INFO _R 0\r\n\r\n", 20)))
		s.e.Received(s.sys, []byte(strings.Repeat("PUB $SYS.REQ.SERVER.PING.IDZ _R 0\r\n\r\n", 5)))
		s.e.Received(b, []byte(strings.Repeat("PUB $SYS.REQ.USER.INFO _R 0\r\n\r\n", 10)))
	})
	s.w.settle(t, s.e)
	count(a, 8, 12)
	count(s.sys, 4, 1)
	count(b, 2, 8)
	if !s.w.logged("Too many requests to the server wait") || !s.w.logged("21 requests to the server found no responders") {
		t.Errorf("%q", s.w.log)
	}
	say(s.e, a, "PUB $SYS.REQ.USER.INFO _R 0\r\n\r\n")
	s.w.settle(t, s.e)
	count(a, 1, 0)
}

// What was answered and not published yet is bounded as what was asked: else requests wait.
func TestAnswersAreBounded(t *testing.T) {
	s := newSystem(t, Options{MaxCalls: 8, TurnWork: 16 * callWork})
	say(s.e, s.sys, "UNSUB 1\r\n")
	a, b := s.enter("a", "SUB _R 2\r\n"), s.enter("b", "SUB _R 2\r\n")
	answers := func(c ConnID) int { return strings.Count(s.w.take(c), "MSG _R") }
	asked := 0
	for range 200 {
		turn(s.e, func() {
			s.e.Received(a, []byte(strings.Repeat("PUB $SYS.REQ.USER.INFO _R 0\r\n\r\n", 8)))
		})
		asked += 8
		if n := s.e.posts.n; n > 8+1 {
			t.Fatalf("%d answers wait", n)
		}
	}
	turn(s.e, func() { s.e.Received(b, []byte("PUB $SYS.REQ.USER.INFO _R 0\r\n\r\n")) })
	for turns := 0; answers(b) == 0; turns++ {
		if turns == 8 {
			t.Fatal("another account waits for what one has asked")
		}
		turn(s.e, func() {})
	}
	s.w.settle(t, s.e)
	if got := answers(a); got != asked {
		t.Errorf("%d answers to %d requests, those included that there was no room for", got, asked)
	}
}

// What waits is bounded in bytes too.
func TestRequestsAreBoundedInBytes(t *testing.T) {
	s := newSystem(t, Options{MaxPayload: callBytesMax, TurnWork: 1 << 30})
	say(s.e, s.sys, "UNSUB 1\r\n")
	big := "PUB $SYS.REQ.SERVER.PING.IDZ _R 9000000\r\n" + strings.Repeat(" ", 9_000_000) + "\r\n"
	turn(s.e, func() { s.e.Received(s.sys, []byte(big+big+"PUB $SYS.REQ.SERVER.PING.IDZ _R 0\r\n\r\n")) })
	for range 20 {
		s.w.settle(t, s.e)
	}
	got := s.w.take(s.sys)
	if strings.Count(got, "MSG _R") != 3 || strings.Count(got, " 503") != 1 {
		t.Errorf("%q", got)
	}
}

// However often there is no room and room again, the log is told once in a while.
func TestRefusedRequestsDoNotFillTheLog(t *testing.T) {
	s := newSystem(t, Options{MaxCalls: 4})
	refuse := func() { say(s.e, s.sys, strings.Repeat("PUB $SYS.REQ.SERVER.PING.IDZ _R 0\r\n\r\n", 5)) }
	lines := func(text string) (n int) {
		for _, l := range s.w.log {
			n += strings.Count(l, text)
		}
		return n
	}
	for range 100 {
		refuse()
		s.w.settle(t, s.e)
		s.w.now += 1000
	}
	if first, sum := lines("Too many requests to the server wait"), lines("1 requests to the server found no responders"); first != 1 || sum != 1 {
		t.Errorf("%d lines that there is no room, %d of how many were refused", first, sum)
	}
	s.w.advance(t, s.e, Instant(hushedSpan))
	refuse()
	s.w.settle(t, s.e)
	if n := lines("100 requests to the server found no responders"); n != 1 {
		t.Errorf("%q", s.w.log)
	}
}

// No limit is none.
func TestRequestsWithoutLimit(t *testing.T) {
	s := newSystem(t, Options{MaxCalls: -1})
	say(s.e, s.sys, "UNSUB 1\r\n")
	a := s.enter("a", "SUB _R 2\r\n")
	turn(s.e, func() { s.e.Received(a, []byte(strings.Repeat("PUB $SYS.REQ.USER.INFO _R 0\r\n\r\n", 20))) })
	s.w.settle(t, s.e)
	if n := strings.Count(s.w.take(a), "MSG _R"); n != 20 {
		t.Errorf("%d answers", n)
	}
}

// Who asks little is answered in between, however many requests of another account have come before.
func TestRequestsOfAccountsTakeTurns(t *testing.T) {
	s := newSystem(t, Options{TurnWork: 8})
	a, b := s.enter("a", "SUB _R 2\r\n"), s.enter("b", "SUB _R 2\r\n")
	handled := 0
	for range 100 {
		s.e.asked.calls.push(s.e.lookup(a).acc, &call{handle: func(*call) { handled++ }}, 0)
	}
	say(s.e, b, "PUB $SYS.REQ.USER.INFO _R 0\r\n\r\n")
	for range 10 {
		s.w.ring(s.e)
	}
	if got := strings.Count(s.w.take(b), "MSG _R"); got != 1 || handled > 20 {
		t.Errorf("%d answers, and %d were handled", got, handled)
	}
	s.w.settle(t, s.e)
	if f := s.e.Footprint(); handled != 100 || f.Calls != 0 || f.Posts != 0 {
		t.Errorf("%d were handled; left: %+v", handled, f)
	}
}
