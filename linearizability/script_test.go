package linearizability

import (
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

// script is a history written down: one event per line, each a moment later than the one before. A is a connection of
// client A, A2 another one of the same client; x, y are subscriptions and p, q probes.
//
//	A sub x s        SUB to subject s (or s,t: both match), with a queue group as fourth word
//	A unsub x
//	A probe p s
//	A ping, A pong
//	A quiet          connects without echo (others connect when they first do something)
//	A end            the server gives the connection up
//	got x p          subscription x reads probe p
//	503 p            the probe is answered that there are no responders
//
// "A sub! x s" is "A sub x s", "A ping" and "A pong"; so for unsub! and probe!.
type script struct {
	t      *testing.T
	r      *Interest
	now    Time
	conns  map[string]Conn
	subs   map[string]Sub
	probes map[string]Probe
}

func play(t *testing.T, limit int, text string) *Interest {
	t.Helper()
	s := &script{t: t, r: NewInterest(limit), conns: map[string]Conn{}, subs: map[string]Sub{}, probes: map[string]Probe{}}
	for line := range strings.SplitSeq(text, "\n") {
		if words := strings.Fields(line); len(words) > 0 {
			s.line(words)
		}
	}
	return s.r
}

func (s *script) line(w []string) {
	s.now += 1000
	switch w[0] {
	case "got":
		s.r.Delivered(s.now, s.probes[w[2]], s.subs[w[1]])
		return
	case "503":
		s.r.Nobody(s.now, s.probes[w[1]])
		return
	}
	verb, fenced := strings.CutSuffix(w[1], "!")
	if s.conns[w[0]] == 0 {
		s.conns[w[0]] = s.r.Connect(s.now, int(w[0][0]-'A'), verb != "quiet")
	}
	c := s.conns[w[0]]
	switch verb {
	case "quiet":
	case "sub":
		s.subs[w[2]] = s.r.Subscribe(s.now, c, strings.Join(w[4:], ""), strings.Split(w[3], ",")...)
	case "unsub":
		s.r.Unsubscribe(s.now, s.subs[w[2]])
	case "probe":
		s.probes[w[2]] = s.r.Probe(s.now, c, w[3])
	case "ping":
		s.r.Ping(s.now, c)
	case "pong":
		s.r.Pong(s.now, c)
	case "end":
		s.r.End(s.now, c)
	default:
		s.t.Fatalf("script: %q", w)
	}
	if fenced {
		s.line([]string{w[0], "ping"})
		s.line([]string{w[0], "pong"})
	}
}

func TestInterestTells(t *testing.T) {
	tests := []struct {
		name  string
		right bool
		text  string
	}{
		{"nobody at first", true, "B probe p s\n503 p"},
		{"nobody, and no 503", false, "B probe! p s"},
		{"one subscriber", true, "A sub! x s\nB probe! p s\ngot x p\nA ping\nA pong"},
		{"503 although somebody is there", false, "A sub! x s\nB probe p s\n503 p\nA ping\nA pong"},
		{"503 although somebody was there", true, "A sub! x s\nB probe p s\n503 p"},
		{"somebody is there and misses it", false, "A sub! x s\nB probe! p s\nA ping\nA pong"},
		{"may still read it", true, "A sub! x s\nB probe! p s"},
		{"a ping from before the probe proves nothing", true, "A sub! x s\nA ping\nB probe! p s\nA pong"},
		{"read twice", false, "A sub! x s\nB probe! p s\ngot x p\ngot x p"},
		{"read after the pong that it should have come before", false, "A sub! x s\nB probe! p s\nA ping\nA pong\ngot x p"},
		{"read after a pong that it need not have come before", true, "A sub! x s\nA ping\nB probe! p s\nA pong\ngot x p"},
		{"read and answered 503", false, "A sub! x s\nB probe! p s\n503 p\ngot x p"},
		{"SUB under way: not yet", true, "A sub x s\nB probe p s\n503 p\nA ping\nA pong"},
		{"SUB under way: already", true, "A sub x s\nB probe p s\ngot x p\nA ping\nA pong"},
		{"SUB under way: first already, then not yet", false, "A sub x s\nB probe! p s\ngot x p\nB probe q s\n503 q\nA ping\nA pong"},
		{"answered before it was fenced", true, "A sub x s\nA ping\nB probe p s\n503 p\nA pong"},
		{"not answered by an earlier ping", true, "A ping\nA sub x s\nA pong\nB probe p s\n503 p"},
		{"UNSUB", true, "A sub! x s\nA unsub! x\nB probe p s\n503 p"},
		{"UNSUB that does nothing", false, "A sub! x s\nA unsub! x\nB probe! p s\ngot x p"},
		{"UNSUB under way: already", true, "A sub! x s\nA unsub x\nB probe p s\n503 p"},
		{"UNSUB under way: not yet", true, "A sub! x s\nA unsub x\nB probe! p s\ngot x p"},
		{"UNSUB under way: first already, then not yet", false, "A sub! x s\nA unsub x\nB probe p s\n503 p\nB probe! q s\ngot x q"},
		{"UNSUB twice", true, "A sub! x s\nA unsub! x\nA unsub! x\nB probe p s\n503 p"},
		{"UNSUB takes another one's place", false, "A sub! x s\nA sub! y s\nA unsub! x\nB probe! p s\nA ping\nA pong\ngot x p"},
		{"UNSUB of one of two", true, "A sub! x s\nA sub! y s\nA unsub! x\nB probe! p s\ngot y p\nA ping\nA pong"},
		{"one of two misses it", false, "A sub! x s\nC sub! y s\nB probe! p s\ngot y p\nA ping\nA pong"},
		{"queue: one of two", true, "A sub! x s g\nC sub! y s g\nB probe! p s\ngot y p\nA ping\nA pong\nC ping\nC pong"},
		{"queue: both of two", false, "A sub! x s g\nC sub! y s g\nB probe! p s\ngot y p\ngot x p"},
		{"queue: none of two", false, "A sub! x s g\nC sub! y s g\nB probe! p s\nA ping\nA pong\nC ping\nC pong"},
		{"queue: none of two, but one may have lost it", true, "A sub! x s g\nC sub! y s g\nB probe! p s\nA ping\nA pong"},
		{"queue: the one that remains", true, "A sub! x s g\nC sub! y s g\nA unsub! x\nB probe! p s\ngot y p"},
		{"queue: the one that left", false, "A sub! x s g\nC sub! y s g\nA unsub! x\nB probe! p s\ngot x p"},
		{"queue: one of each group, and the plain one", true, "A sub! x s g\nC sub! y s h\nC sub! z s\nB probe! p s\ngot y p\ngot x p\ngot z p"},
		{"queue: a group left out", false, "A sub! x s g\nC sub! y s h\nB probe! p s\ngot y p\nA ping\nA pong"},
		{"queue: 503", false, "A sub! x s g\nB probe p s\n503 p\nA ping\nA pong"},
		{"the end of a connection", true, "A sub! x s\nA end\nB probe p s\n503 p"},
		{"the end of a connection: left behind", false, "A sub! x s\nA end\nB probe! p s\ngot x p"},
		{"the end of a connection: no 503", false, "A sub! x s\nA end\nB probe! p s"},
		{"it may have ended since its last pong", true, "A sub! x s\nB probe p s\n503 p\nA end"},
		{"and cannot come back", false, "A sub! x s\nB probe p s\n503 p\nB probe! q s\ngot x q\nA end"},
		{"it was alive later", false, "A sub! x s\nB probe p s\n503 p\nA ping\nA pong\nA end"},
		{"SUB lost with the connection", true, "A sub x s\nA end\nB probe p s\n503 p"},
		{"SUB lost, but had happened", true, "A sub x s\nB probe! p s\ngot x p\nA end\nB probe q s\n503 q"},
		{"SUB lost cannot happen later", false, "A sub x s\nA end\nB probe! p s\ngot x p"},
		{"SUB lost may happen much later", true, "A sub x s\nB probe p s\n503 p\nB probe q s\n503 q\nB probe! r s\ngot x r"},
		{"UNSUB lost may happen much later", true, "A sub! x s\nA unsub x\nB probe! p s\ngot x p\nB probe q s\n503 q"},
		{"pong read after the end", true, "A sub x s\nA ping\nB probe! p s\ngot x p\nA end\nA pong\nB probe q s\n503 q"},
		{"a restart ends everyone", true, "A sub! x s\nC sub! y s g\nA end\nC end\nB end\nB2 probe p s\n503 p\nA2 sub! z s\nB2 probe! q s\ngot z q"},
		{"a probe lost", true, "A sub! x s\nB probe p s\nB end\nA ping\nA pong"},
		{"a probe lost, read much later", true, "A sub! x s\nB probe p s\nB end\nA unsub! x\ngot x p"},
		{"the server went on after giving it up", false, "B probe p s\nB end\nA sub! x s\nA ping\nA pong\ngot x p"},
		{"wildcard", true, "A sub! x s,t\nB probe! p s\ngot x p\nB probe! q t\ngot x q\nB probe r u\n503 r"},
		{"wildcard: not the other", false, "A sub! x s,t\nB probe! p s\ngot x p\nB probe q t\n503 q\nA ping\nA pong"},
		{"a subscription to something else", false, "A sub! x t\nB probe! p s\ngot x p"},
		{"own subscription, with echo", true, "A sub! x s\nA probe p s\ngot x p\nA ping\nA pong"},
		{"own subscription, missed", false, "A sub! x s\nA probe! p s"},
		{"own subscription, too late", false, "A sub! x s\nA probe! p s\ngot x p"},
		{"own subscription, without echo", true, "A quiet\nA sub! x s\nA probe p s\n503 p"},
		{"own subscription, read although without echo", false, "A quiet\nA sub! x s\nA probe! p s\ngot x p"},
		{"own queue member passed over", true, "A quiet\nA sub! x s g\nB sub! y s g\nA probe! p s\ngot y p\nA ping\nA pong"},
		{"two clients disagree on an order", false, `A sub x s
			C sub y s
			B probe! p s
			got x p
			B ping
			B pong
			D probe! q s
			got y q
			A ping
			A pong`},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			h := play(t, 100, c.text).History()
			v := Check(InterestModel(), h, 100_000)
			if (v.Result == porcupine.Ok) != c.right || v.Result == porcupine.Unknown {
				t.Errorf("%s, want right = %v: %v", v.Result, c.right, v.Err())
			}
		})
	}
}
