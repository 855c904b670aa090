package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The whole engine against a naive NATS: every operation of every client, and what every client gets for it. Lists are
// scanned and nothing is remembered between messages, so there is little to get wrong.

// naiveConn is a client of the naive NATS.
type naiveConn struct {
	id       ConnID
	verbose  bool
	pedantic bool
	echo     bool
	headers  bool
	noResp   bool
	subs     []*naiveSub
}

type naiveSub struct {
	c              *naiveConn
	subject, queue string
	sid            string
	max, got       int
}

// naiveMatch follows the definition: token by token.
func naiveMatch(pattern, subj string) bool {
	p, s := strings.Split(pattern, "."), strings.Split(subj, ".")
	if slices.Contains(s, "") {
		return false // reaches nobody
	}
	for i, token := range p {
		if token == ">" {
			return len(s) > i
		}
		if i >= len(s) || token != "*" && token != s[i] {
			return false
		}
	}
	return len(p) == len(s)
}

// naiveMessage is a PUB, or an HPUB with header bytes before the payload.
type naiveMessage struct {
	subject, reply string
	header         string
	payload        string
	hpub           bool
}

func (m *naiveMessage) wire() string {
	reply := m.reply
	if reply != "" {
		reply += " "
	}
	if m.hpub {
		return fmt.Sprintf("HPUB %s %s%d %d\r\n%s%s\r\n", m.subject, reply, len(m.header), len(m.header)+len(m.payload), m.header, m.payload)
	}
	return fmt.Sprintf("PUB %s %s%d\r\n%s\r\n", m.subject, reply, len(m.payload), m.payload)
}

// frame is what a subscription gets of the message.
func (m *naiveMessage) frame(s *naiveSub) string {
	reply := m.reply
	if reply != "" {
		reply += " "
	}
	if m.header != "" && s.c.headers {
		return fmt.Sprintf("HMSG %s %s %s%d %d\r\n%s%s\r\n", m.subject, s.sid, reply, len(m.header), len(m.header)+len(m.payload), m.header, m.payload)
	}
	return fmt.Sprintf("MSG %s %s %s%d\r\n%s\r\n", m.subject, s.sid, reply, len(m.payload), m.payload)
}

// naiveNATS runs beside the engine.
type naiveNATS struct {
	e     *Engine
	w     *fakeWorld
	conns []*naiveConn
	cut   func(string) []string
}

// send hands over what a client sends and returns what each client got, by its place in conns.
func (n *naiveNATS) send(t *rapid.T, c *naiveConn, data string) []string {
	for _, piece := range n.cut(data) {
		say(n.e, c.id, piece)
		n.w.settle(t, n.e)
	}
	got := make([]string, len(n.conns))
	for i, c := range n.conns {
		got[i] = n.w.take(c.id)
	}
	return got
}

// only fails unless c alone got something, namely want.
func (n *naiveNATS) only(t *rapid.T, got []string, c *naiveConn, want string) {
	for i, other := range n.conns {
		w := ""
		if other == c {
			w = want
		}
		if got[i] != w {
			t.Fatalf("client %d got %q, want %q", i, got[i], w)
		}
	}
}

func (c *naiveConn) ok() string {
	if c.verbose {
		return "+OK\r\n"
	}
	return ""
}

func (c *naiveConn) sub(sid string) *naiveSub {
	for _, s := range c.subs {
		if s.sid == sid {
			return s
		}
	}
	return nil
}

func (c *naiveConn) drop(s *naiveSub) {
	c.subs = slices.DeleteFunc(c.subs, func(x *naiveSub) bool { return x == s })
}

// counted notes a delivery.
func (s *naiveSub) counted() {
	if s.got++; s.got == s.max {
		s.c.drop(s)
	}
}

// publish sends the message and checks that everybody who must got it, in any order, and nobody else.
func (n *naiveNATS) publish(t *rapid.T, c *naiveConn, m *naiveMessage) {
	var plain []*naiveSub
	groups := map[string][]*naiveSub{}
	for _, other := range n.conns {
		for _, s := range other.subs {
			switch {
			case !naiveMatch(s.subject, m.subject) || other == c && !c.echo:
			case s.queue == "":
				plain = append(plain, s)
			default:
				groups[s.queue] = append(groups[s.queue], s)
			}
		}
	}
	got := n.send(t, c, m.wire())
	self := slices.Index(n.conns, c)
	lead := ""
	if c.pedantic && slices.ContainsFunc(strings.Split(m.subject, "."), func(t string) bool { return t == "" || t == "*" || t == ">" }) {
		lead = "-ERR 'Invalid Publish Subject'\r\n"
	}
	lead += c.ok()
	rest, ok := strings.CutPrefix(got[self], lead)
	if !ok {
		t.Fatalf("the publisher got %q, want %q first", got[self], lead)
	}
	got[self] = rest
	// take removes a subscription's frame from what its client got.
	take := func(s *naiveSub) bool {
		i, frame := slices.Index(n.conns, s.c), m.frame(s)
		before, after, found := strings.Cut(got[i], frame)
		if found {
			got[i] = before + after
			s.counted()
		}
		return found
	}
	for _, s := range plain {
		if !take(s) {
			t.Fatalf("subscription %s of %q did not get its message: %q", s.sid, s.subject, got)
		}
	}
	delivered := len(plain) > 0 || len(groups) > 0
	for _, name := range sortedKeys(groups) {
		if !slices.ContainsFunc(groups[name], take) {
			t.Fatalf("no member of %q got the message: %q", name, got)
		}
	}
	if !delivered && c.noResp && m.reply != "" {
		n.noResponders(t, c, m, got)
	}
	for i := range got {
		if got[i] != "" {
			t.Fatalf("client %d got %q too", i, got[i])
		}
	}
}

// noResponders takes the 503 that is due, if one is, out of what the clients got.
func (n *naiveNATS) noResponders(t *rapid.T, c *naiveConn, m *naiveMessage, got []string) {
	header := "NATS/1.0 503\r\nNats-Subject: " + m.subject + "\r\n\r\n"
	i := slices.Index(n.conns, c)
	for _, s := range c.subs {
		if s.queue == "" && naiveMatch(s.subject, m.reply) {
			frame := fmt.Sprintf("HMSG %s %s %d %d\r\n%s\r\n", m.reply, s.sid, len(header), len(header), header)
			if rest, found := strings.CutPrefix(got[i], frame); found {
				got[i] = rest
				return
			}
			t.Logf("not for subscription %s", s.sid)
		}
	}
	if slices.ContainsFunc(c.subs, func(s *naiveSub) bool { return s.queue == "" && naiveMatch(s.subject, m.reply) }) {
		t.Fatalf("no 503, but %q", got[i])
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m { //natsd:orderfree sorted below
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

var (
	modelPatterns = []string{"a", "b", "a.b", "a.b.c", "*", "a.*", "*.b", "a.>", ">", "*.*", "a.*.c", "*.>", "a*", "b>", "inbox.1", "inbox.*"}
	modelSubjects = []string{"a", "b", "c", "a.b", "a.b.c", "a.c", "b.b", "a*", "b>", "a.*", ">", "a..b", "inbox.1"}
	modelReplies  = []string{"", "", "inbox.1", "inbox.2", "a", "nobody"}
	modelQueues   = []string{"", "", "q", "r"}
	modelSids     = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "a-very-long-sid-that-lies-elsewhere"}
)

func TestEngineModel(t *testing.T) { rapid.Check(t, engineModel) }

func FuzzEngineModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(engineModel)) }

func engineModel(t *rapid.T) {
	e, w := started(t, Options{
		TurnWork:   rapid.SampledFrom([]int{0, 1, 2, 10}).Draw(t, "turn"),
		MatchCache: rapid.SampledFrom([]int{0, -1, 1, 3}).Draw(t, "cache"),
	})
	n := &naiveNATS{e: e, w: w, cut: wholePiece}
	if rapid.Bool().Draw(t, "cut") {
		n.cut = randomPieces(rapid.Uint64().Draw(t, "cuts"))
	}
	connect := func(t *rapid.T) {
		c := &naiveConn{id: accept(e)}
		w.take(c.id)
		n.conns = append(n.conns, c)
		n.greet(t, c)
	}
	pick := func(t *rapid.T) *naiveConn {
		if len(n.conns) == 0 {
			connect(t)
		}
		return n.conns[rapid.IntRange(0, len(n.conns)-1).Draw(t, "conn")]
	}
	t.Repeat(map[string]func(*rapid.T){
		"connect": func(t *rapid.T) {
			if len(n.conns) < 6 {
				connect(t)
			}
		},
		"connect again": func(t *rapid.T) { n.greet(t, pick(t)) },
		"leave": func(t *rapid.T) {
			if len(n.conns) > 0 && rapid.IntRange(0, 3).Draw(t, "really") == 0 {
				n.leave(t, pick(t), rapid.Bool().Draw(t, "break"))
			}
		},
		"sub": func(t *rapid.T) {
			c := pick(t)
			s := &naiveSub{
				c: c, subject: rapid.SampledFrom(modelPatterns).Draw(t, "subject"), queue: rapid.SampledFrom(modelQueues).Draw(t, "queue"),
				sid: rapid.SampledFrom(modelSids).Draw(t, "sid"),
			}
			n.only(t, n.send(t, c, strings.Join(strings.Fields("SUB "+s.subject+" "+s.queue+" "+s.sid), " ")+"\r\n"), c, c.ok())
			if c.sub(s.sid) == nil {
				c.subs = append(c.subs, s)
			}
		},
		"sub to all": func(t *rapid.T) {
			c := pick(t)
			lines, oks := "", ""
			for i, sid := range modelSids {
				subj := modelPatterns[i%len(modelPatterns)]
				lines, oks = lines+"SUB "+subj+" "+sid+"\r\n", oks+c.ok()
				if c.sub(sid) == nil {
					c.subs = append(c.subs, &naiveSub{c: c, subject: subj, sid: sid})
				}
			}
			n.only(t, n.send(t, c, lines), c, oks)
		},
		"unsub": func(t *rapid.T) {
			c := pick(t)
			sid, most := rapid.SampledFrom(modelSids).Draw(t, "sid"), rapid.IntRange(0, 4).Draw(t, "max")
			n.only(t, n.send(t, c, fmt.Sprintf("UNSUB %s %d\r\n", sid, most)), c, c.ok())
			if s := c.sub(sid); s != nil {
				if s.max = most; s.got >= most {
					c.drop(s)
				}
			}
		},
		"publish": func(t *rapid.T) {
			c := pick(t)
			m := &naiveMessage{
				subject: rapid.SampledFrom(modelSubjects).Draw(t, "subject"), reply: rapid.SampledFrom(modelReplies).Draw(t, "reply"),
				payload: strings.Repeat("x", rapid.SampledFrom([]int{0, 1, 5, 100, shareMin - 2, shareMin + 5}).Draw(t, "size")),
			}
			if c.headers && rapid.Bool().Draw(t, "hpub") {
				m.hpub = true
				m.header = rapid.SampledFrom([]string{"", "NATS/1.0\r\n\r\n", "NATS/1.0\r\nA: " + strings.Repeat("b", shareMin) + "\r\n\r\n"}).Draw(t, "header")
			}
			n.publish(t, c, m)
		},
		"ping": func(t *rapid.T) {
			c := pick(t)
			n.only(t, n.send(t, c, "PING\r\n"), c, "PONG\r\n")
		},
	})
	for len(n.conns) > 0 {
		n.leave(t, n.conns[0], false)
	}
	w.left(t, e)
}

func (n *naiveNATS) greet(t *rapid.T, c *naiveConn) {
	draw := func(name string) bool { return rapid.Bool().Draw(t, name) }
	c.verbose, c.pedantic, c.echo, c.headers = draw("verbose"), draw("pedantic"), draw("echo"), draw("headers")
	c.noResp = c.headers && draw("no responders")
	n.only(t, n.send(t, c, fmt.Sprintf("CONNECT {\"verbose\":%v,\"pedantic\":%v,\"echo\":%v,\"headers\":%v,\"no_responders\":%v}\r\n",
		c.verbose, c.pedantic, c.echo, c.headers, c.noResp)), c, c.ok())
}

func (n *naiveNATS) leave(t *rapid.T, c *naiveConn, breaks bool) {
	turn(n.e, func() {
		if breaks {
			n.e.Closed(c.id, "reset")
		} else {
			n.e.EOF(c.id)
		}
	})
	n.w.settle(t, n.e)
	if !breaks && !n.w.gone[c.id] {
		t.Fatal("not closed after the end of its stream")
	}
	n.conns = slices.DeleteFunc(n.conns, func(x *naiveConn) bool { return x == c })
}
