package linearizability

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"
)

// naive is a server that does one thing at a time, with clients whose bytes and answers wait in queues: what is done
// when is drawn. It knows nothing of the model. lie makes the server do one thing wrong.
type naive struct {
	r     *Interest
	now   Time
	draw  func(n int) int
	conns []*naiveConn
	subs  []*naiveSub
	lie   lie
	told  bool // the lie
	liar  bool // tells it every time
}

type naiveConn struct {
	id   Conn
	echo bool
	dead bool
	in   []naiveMsg // on their way to the server
	out  []naiveMsg // on their way to the client
}

type naiveSub struct {
	id      Sub
	conn    *naiveConn
	queue   string
	live    bool
	leaving bool
}

type naiveMsg struct {
	verb  string
	sub   *naiveSub
	probe Probe
}

type lie uint8

const (
	noLie lie = iota
	subIgnored
	unsubIgnored
	endIgnored
	plainMissed
	groupMissed
	twoOfGroup
	leftServed
	servedTwice
	servedLate
	false503
	missing503
	numLies
)

func (l lie) String() string {
	return [...]string{"none", "SUB ignored", "UNSUB ignored", "end ignored", "plain missed", "group missed", "two of a group",
		"served after UNSUB", "served twice", "served late", "false 503", "missing 503"}[l]
}

func newNaive(t *rapid.T, conns, limit int) *naive {
	// Numbers drawn from rapid one by one are mostly small, so that nothing but the first choices happens.
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	n := &naive{r: NewInterest(limit), draw: rng.IntN}
	for range conns {
		n.dial()
	}
	return n
}

func (n *naive) tick() Time {
	n.now++
	return n.now
}

func (n *naive) dial() *naiveConn {
	c := &naiveConn{echo: n.draw(4) > 0}
	c.id = n.r.Connect(n.tick(), len(n.conns), c.echo)
	n.conns = append(n.conns, c)
	return c
}

// What a client does. The moment passes first, so that two events may share one.

func (n *naive) sub(c *naiveConn, queue string) *naiveSub {
	s := &naiveSub{conn: c, queue: queue}
	s.id = n.r.Subscribe(n.now, c.id, queue, "s")
	n.subs = append(n.subs, s)
	c.in = append(c.in, naiveMsg{verb: "SUB", sub: s})
	return s
}

func (n *naive) unsub(s *naiveSub) {
	s.leaving = true
	n.r.Unsubscribe(n.now, s.id)
	s.conn.in = append(s.conn.in, naiveMsg{verb: "UNSUB", sub: s})
}

func (n *naive) probe(c *naiveConn) {
	c.in = append(c.in, naiveMsg{verb: "PUB", probe: n.r.Probe(n.now, c.id, "s")})
}

func (n *naive) ping(c *naiveConn) {
	n.r.Ping(n.now, c.id)
	c.in = append(c.in, naiveMsg{verb: "PING"})
}

// read takes in the next answer.
func (n *naive) read(c *naiveConn) {
	m := c.out[0]
	c.out = c.out[1:]
	switch m.verb {
	case "PONG":
		n.r.Pong(n.now, c.id)
	case "503":
		n.r.Nobody(n.now, m.probe)
	case "MSG":
		n.r.Delivered(n.now, m.probe, m.sub.id)
	}
}

// What the server does.

func (n *naive) lies(l lie) bool {
	if n.lie != l {
		return false
	}
	n.told = true
	if !n.liar {
		n.lie = noLie
	}
	return true
}

// serve carries out the next thing that a connection asks for.
func (n *naive) serve(c *naiveConn) {
	m := c.in[0]
	c.in = c.in[1:]
	switch m.verb {
	case "SUB":
		m.sub.live = !n.lies(subIgnored)
	case "UNSUB":
		m.sub.live = m.sub.live && n.lies(unsubIgnored)
	case "PING":
		c.out = append(c.out, naiveMsg{verb: "PONG"})
		if at := len(c.out) - 2; at >= 0 && c.out[at].verb == "MSG" && n.lies(servedLate) {
			c.out[at], c.out[at+1] = c.out[at+1], c.out[at]
		}
	case "PUB":
		n.publish(c, m.probe)
	}
}

func (n *naive) end(c *naiveConn) {
	c.dead = true
	c.in = nil
	n.r.End(n.now, c.id)
	if n.lies(endIgnored) {
		return
	}
	for _, s := range n.subs {
		s.live = s.live && s.conn != c
	}
}

func (n *naive) publish(c *naiveConn, p Probe) {
	served := 0
	serve := func(s *naiveSub) {
		served++
		s.conn.out = append(s.conn.out, naiveMsg{verb: "MSG", sub: s, probe: p})
		if n.lies(servedTwice) {
			s.conn.out = append(s.conn.out, naiveMsg{verb: "MSG", sub: s, probe: p})
		}
	}
	groups := make(map[string][]*naiveSub)
	for _, s := range n.subs {
		switch {
		case s.conn == c && !c.echo:
		case s.live && s.queue == "":
			if !n.lies(plainMissed) {
				serve(s)
			}
		case s.live:
			groups[s.queue] = append(groups[s.queue], s)
		case s.leaving && n.lies(leftServed):
			serve(s)
		}
	}
	for _, queue := range []string{"g", "h"} {
		members := groups[queue]
		if len(members) == 0 || n.lies(groupMissed) {
			continue
		}
		at := n.draw(len(members))
		serve(members[at])
		if len(members) > 1 && n.lies(twoOfGroup) {
			serve(members[(at+1)%len(members)])
		}
	}
	if served == 0 && !n.lies(missing503) || served > 0 && n.lies(false503) {
		c.out = append(c.out, naiveMsg{verb: "503", probe: p})
	}
}

// underWayMost is how much may be under way at a time. Of histories with much more, one in some ten thousand takes more steps
// than the budget, which says nothing about the checker: what it decides is hard by its nature.
const underWayMost = 20

// step lets something happen.
func (n *naive) step() {
	underWay := 0
	for _, c := range n.conns {
		underWay += len(c.in) + len(c.out)
	}
	if underWay > underWayMost {
		n.settle()
	}
	if n.draw(4) > 0 {
		n.now++
	}
	c := n.conns[n.draw(len(n.conns))]
	what := n.draw(20)
	switch {
	case what < 5 && len(c.out) > 0:
		n.read(c)
	case what < 10 && len(c.in) > 0:
		n.serve(c)
	case what < 11 && len(n.conns) < 8 && !c.dead:
		n.end(c)
		n.dial()
	case c.dead:
	case what < 13:
		n.sub(c, []string{"", "", "g", "h"}[n.draw(4)])
	case what < 15:
		if at := slices.IndexFunc(n.subs, func(s *naiveSub) bool { return s.conn == c && !s.leaving }); at >= 0 {
			n.unsub(n.subs[at])
		}
	case what < 18:
		n.probe(c)
	default:
		n.ping(c)
	}
}

// settle lets everything that is under way come to its end, and every client know it.
func (n *naive) settle() {
	for _, c := range n.conns {
		if !c.dead {
			n.ping(c)
		}
	}
	for _, c := range n.conns {
		for len(c.in) > 0 {
			n.tick()
			n.serve(c)
		}
	}
	for _, c := range n.conns {
		for len(c.out) > 0 {
			n.tick()
			n.read(c)
		}
	}
	for _, c := range n.conns {
		if c.dead {
			continue
		}
		n.tick()
		n.ping(c)
		n.serve(c)
		for len(c.out) > 0 {
			n.tick()
			n.read(c)
		}
	}
	n.tick()
}

// TestRightHistoriesAreAccepted: whatever the order of things, a server that does one after the other is right. So is
// every part of its history that a bound leaves.
func TestRightHistoriesAreAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNaive(t, 2+rapid.IntRange(0, 3).Draw(t, "connections"), rapid.SampledFrom([]int{256, 60, 20, 7}).Draw(t, "limit"))
		for range n.draw(300) {
			n.step()
		}
		if rapid.Bool().Draw(t, "settled") {
			n.settle()
		}
		v := Check(InterestModel(), n.r.History(), budget)
		if v.Err() != nil {
			t.Fatal(v.Err(), list(v))
		}
	})
}

func list(v Verdict) (text string) {
	for _, op := range v.Prefix.Ops {
		text += fmt.Sprintf("\n%8d %8d %s", op.Call, op.Return, v.model.describe(op))
	}
	return text
}

// TestLiesAreRejected: one thing done wrong, while nothing else is under way, makes any history wrong.
func TestLiesAreRejected(t *testing.T) {
	for l := noLie + 1; l < numLies; l++ {
		t.Run(l.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := newNaive(t, 3, 256)
				for range n.draw(200) {
					n.step()
				}
				n.settle()
				for _, s := range n.subs {
					if !s.leaving && !s.conn.dead {
						n.unsub(s)
					}
				}
				n.settle()
				n.tellLie(l)
				v := Check(InterestModel(), n.r.History(), budget)
				if !n.told || v.Result != porcupine.Illegal {
					t.Fatalf("told: %v, verdict: %s%s", n.told, v.Result, list(v))
				}
			})
		})
	}
}

// tellLie makes a situation in which the server can lie, and lets it. Nobody is subscribed when it begins.
func (n *naive) tellLie(l lie) {
	a, b, c := n.dial(), n.dial(), n.dial()
	queue := ""
	if l == groupMissed || l == twoOfGroup {
		queue = "g"
	}
	if l == subIgnored {
		n.lie = l
	}
	var s *naiveSub
	if l != missing503 {
		s = n.sub(a, queue)
	}
	if l == twoOfGroup {
		n.sub(b, queue)
	}
	n.settle()
	n.lie = l
	switch l {
	case subIgnored:
		n.lie = noLie
	case unsubIgnored, leftServed:
		n.unsub(s)
		n.settle()
	case endIgnored:
		n.end(a)
	}
	n.settle()
	n.probe(c)
	n.ping(c)
	for len(c.in) > 0 {
		n.serve(c)
	}
	for len(c.out) > 0 {
		n.read(c)
	}
	n.tick()
	n.settle()
}
