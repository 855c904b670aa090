package oracle

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/natsd/natsd/subject"
)

// naive is a server that does what the protocol says in the most obvious way, with clients around it, or one thing
// wrongly. Bytes are replaced by values: what a client wrote waits in its in, what the server wrote in its out.
type naive struct {
	o     *Oracle
	draw  func(n int) int
	conns []*naiveConn
	fans  []*naiveFan
	next  uint32
	wrong string // what the server does wrongly, now and then
	did   int    // how often it did
}

type naiveConn struct {
	h        *Conn
	id       ID
	opts     ConnOptions
	in       []naiveOp
	out      []naiveItem
	subs     []*naiveSub // in the server
	sids     uint64
	n        uint64
	live     []uint64 // sids that the client has not given up
	deadline int
	stuck    bool // what it wrote never arrives
	busy     bool // its last message is being delivered
}

type naiveOp struct {
	kind          byte // s u p i
	sid, n, most  uint64
	subj, q, rply string
}

type naiveSub struct {
	sid, max, got uint64
	pattern, q    string
}

type naiveItem struct {
	kind    byte // m o 5
	sid, n  uint64
	from    ID
	subj, r string
	bad     bool
}

var (
	naiveSubjects = []string{"a", "b", "a.b", "a.c", "b.c", "a..b"}
	naivePatterns = []string{"a", "b", "a.b", "a.*", "*.b", ">", "*", "a.>", "*.*"}
)

func (w *naive) open() {
	id := IDOf(w.next, w.next%3)
	w.next++
	opts := ConnOptions{Echo: w.draw(4) > 0, NoResponders: w.draw(2) > 0}
	c := &naiveConn{id: id, opts: opts, h: w.o.Open(id, opts)}
	w.conns = append(w.conns, c)
	w.subscribe(c, "in."+strconv.Itoa(int(id.Client()))+".*", "")
}

func (w *naive) subscribe(c *naiveConn, pattern, q string) {
	c.sids++
	c.live = append(c.live, c.sids)
	w.o.Subscribe(c.h, c.sids, pattern, q)
	c.in = append(c.in, naiveOp{kind: 's', sid: c.sids, subj: pattern, q: q})
}

// write lets a client do something.
func (w *naive) write(c *naiveConn) {
	switch w.draw(12) {
	case 0:
		q := ""
		if w.draw(2) == 0 {
			q = "q" + strconv.Itoa(w.draw(2))
		}
		w.subscribe(c, naivePatterns[w.draw(len(naivePatterns))], q)
	case 1:
		if len(c.live) < 2 {
			return
		}
		i := 1 + w.draw(len(c.live)-1)
		op := naiveOp{kind: 'u', sid: c.live[i]}
		if w.draw(2) == 0 {
			op.most = uint64(1 + w.draw(2))
		} else {
			c.live = append(c.live[:i], c.live[i+1:]...)
		}
		w.o.Unsubscribe(c.h, op.sid, op.most)
		c.in = append(c.in, op)
	case 2, 3, 4:
		w.o.Ping(c.h)
		c.in = append(c.in, naiveOp{kind: 'i'})
	default:
		c.n++
		op := naiveOp{kind: 'p', n: c.n, subj: naiveSubjects[w.draw(len(naiveSubjects))]}
		if w.draw(3) == 0 {
			op.rply = "in." + strconv.Itoa(int(c.id.Client())) + "." + strconv.Itoa(int(c.n))
		}
		w.o.Publish(c.h, op.n, op.subj, op.rply)
		c.in = append(c.in, op)
	}
}

// errs reports that the server makes its mistake here.
func (w *naive) errs(what string) bool {
	if w.wrong != what || w.draw(10) > 0 {
		return false
	}
	w.did++
	return true
}

// handle lets the server do what a connection wrote first.
func (w *naive) handle(c *naiveConn) {
	if len(c.in) == 0 || c.stuck || c.busy {
		return
	}
	if w.wrong == "reorder input" && len(c.in) > 1 && c.in[0].kind == 'p' && c.in[1].kind == 'p' && w.errs("reorder input") {
		c.in[0], c.in[1] = c.in[1], c.in[0]
	}
	op := c.in[0]
	c.in = c.in[1:]
	switch op.kind {
	case 'i':
		c.out = append(c.out, naiveItem{kind: 'o'})
		if len(c.out) > 1 && c.out[len(c.out)-2].kind == 'm' && w.errs("pong too early") {
			c.out[len(c.out)-1], c.out[len(c.out)-2] = c.out[len(c.out)-2], c.out[len(c.out)-1]
		}
	case 's':
		if !w.errs("forget SUB") {
			c.subs = append(c.subs, &naiveSub{sid: op.sid, pattern: op.subj, q: op.q})
		}
	case 'u':
		for i, s := range c.subs {
			if s.sid == op.sid {
				if op.most > s.got {
					s.max = op.most
				} else if !w.errs("forget UNSUB") {
					c.subs = append(c.subs[:i], c.subs[i+1:]...)
				}
				return
			}
		}
	case 'p':
		w.publish(c, op)
	}
}

// publish settles who gets a message, and begins to deliver it.
func (w *naive) publish(c *naiveConn, op naiveOp) {
	if w.errs("drop publish") {
		return
	}
	f := &naiveFan{from: c, op: op, groups: map[string][]naiveReceiver{}}
	for _, r := range w.conns {
		if r == c && !c.opts.Echo && !w.errs("echo") {
			continue
		}
		for _, s := range r.subs {
			if match := subject.Match(op.subj, s.pattern) && !subject.HasEmptyToken(op.subj); !match && !w.errs("match wrongly") {
				continue
			}
			if s.q == "" {
				f.plain = append(f.plain, naiveReceiver{r, s})
				continue
			}
			if f.groups[s.q] == nil {
				f.names = append(f.names, s.q)
			}
			f.groups[s.q] = append(f.groups[s.q], naiveReceiver{r, s})
		}
	}
	c.busy = true
	w.fans = append(w.fans, f)
	if len(w.fans) == 1 && w.draw(5) > 0 {
		for len(w.fans) > 0 {
			w.fan()
		}
	}
}

// naiveFan is a message that is being delivered.
type naiveFan struct {
	from   *naiveConn
	op     naiveOp
	plain  []naiveReceiver
	groups map[string][]naiveReceiver
	names  []string
	sent   bool
}

type naiveReceiver struct {
	to *naiveConn
	s  *naiveSub
}

// live reports that the subscription has not ended since.
func (w *naive) live(r naiveReceiver) bool {
	return slices.Contains(w.conns, r.to) && slices.Contains(r.to.subs, r.s)
}

// fan goes on with the first message that is being delivered: to one more receiver, or to its groups, which end it.
func (w *naive) fan() {
	if len(w.fans) == 0 {
		return
	}
	f := w.fans[0]
	if len(f.plain) > 0 {
		r := f.plain[0]
		f.plain = f.plain[1:]
		f.sent = w.live(r) && w.send(r.to, r.s, f) || f.sent
		return
	}
	w.fans = w.fans[1:]
	f.from.busy = false
	for _, q := range f.names {
		members := slices.DeleteFunc(f.groups[q], func(r naiveReceiver) bool { return !w.live(r) })
		if len(members) == 0 {
			continue
		}
		f.sent = true
		if w.errs("skip group") {
			continue
		}
		pick := w.draw(len(members))
		w.send(members[pick].to, members[pick].s, f)
		if other := members[(pick+1)%len(members)]; len(members) > 1 && w.errs("two of a group") {
			w.send(other.to, other.s, f)
		}
	}
	c := f.from
	if (!f.sent && !w.errs("no 503") || f.sent && w.errs("503 all the same")) && f.op.rply != "" && c.opts.NoResponders {
		for _, s := range c.subs {
			if subject.Match(f.op.rply, s.pattern) {
				c.out = append(c.out, naiveItem{kind: '5', sid: s.sid, n: f.op.n})
				return
			}
		}
	}
}

func (w *naive) send(to *naiveConn, s *naiveSub, f *naiveFan) bool {
	item := naiveItem{kind: 'm', sid: s.sid, n: f.op.n, from: f.from.id, subj: f.op.subj, r: f.op.rply}
	if w.errs("drop delivery") {
		return true
	}
	if w.errs("alter") {
		item.bad = true
	}
	if w.errs("deliver twice") {
		to.out = append(to.out, item)
	}
	to.out = append(to.out, item)
	if n := len(to.out); n > 1 && to.out[n-2].kind == 'm' && to.out[n-2].from == item.from && to.out[n-2].n != item.n && w.errs("swap output") {
		to.out[n-1], to.out[n-2] = to.out[n-2], to.out[n-1]
	}
	s.got++
	if s.got == s.max && !w.errs("outlive max") {
		for i := range to.subs {
			if to.subs[i] == s {
				to.subs = append(to.subs[:i], to.subs[i+1:]...)
				break
			}
		}
	}
	return true
}

// read lets a client read what the server wrote first.
func (w *naive) read(c *naiveConn) {
	if len(c.out) == 0 {
		return
	}
	item := c.out[0]
	c.out = c.out[1:]
	switch item.kind {
	case 'o':
		w.o.Pong(c.h)
	case '5':
		w.o.NoResponders(c.h, item.sid, item.n)
	default:
		w.o.Receive(c.h, &Message{SID: item.sid, Subject: []byte(item.subj), Reply: []byte(item.r), From: item.from, N: item.n, Intact: !item.bad})
	}
}

// end ends a connection: at the client first, at the server first, or the client's last bytes get lost.
func (w *naive) end(c *naiveConn) {
	switch w.draw(3) {
	case 0: // the server handles what was written
		w.o.End(c.h)
		for len(c.in) > 0 {
			w.handle(c)
			w.fan()
		}
		w.settle(c)
		w.o.Gone(c.h)
	case 1: // the server gives up, the client reads what is on its way
		w.settle(c)
		w.o.Gone(c.h)
		c.in = nil
		for len(c.out) > 0 {
			w.read(c)
		}
		w.o.End(c.h)
	default: // the client is dead for a while before the server sees it
		w.o.End(c.h)
		c.stuck = true
		c.deadline = 5 + w.draw(50)
		return
	}
	w.drop(c)
}

// settle finishes what the connection published.
func (w *naive) settle(c *naiveConn) {
	for c.busy {
		w.fan()
	}
}

func (w *naive) drop(c *naiveConn) {
	for i := range w.conns {
		if w.conns[i] == c {
			w.conns = append(w.conns[:i], w.conns[i+1:]...)
			return
		}
	}
}

func (w *naive) step() {
	for len(w.conns) < 3 {
		w.open()
	}
	c := w.conns[w.draw(len(w.conns))]
	if c.deadline > 0 {
		if c.deadline--; c.deadline == 0 {
			w.settle(c)
			w.o.Gone(c.h)
			w.drop(c)
		}
		return
	}
	switch k := w.draw(100); {
	case k < 35:
		w.write(c)
	case k < 58:
		w.handle(c)
	case k < 65:
		w.fan()
	case k < 97:
		w.read(c)
	case k < 98 && len(w.conns) < 6:
		w.open()
	case k < 99:
		w.end(c)
	}
}

// finish lets everything arrive, and fences everybody twice: the second fence judges what the first one proved.
func (w *naive) finish() {
	for range 2 {
		for _, c := range w.conns {
			if c.deadline == 0 {
				w.o.Ping(c.h)
				c.in = append(c.in, naiveOp{kind: 'i'})
			}
		}
		for _, c := range w.conns {
			for len(c.in) > 0 && !c.stuck {
				w.handle(c)
				w.fan()
			}
			for len(w.fans) > 0 {
				w.fan()
			}
		}
		for _, c := range w.conns {
			for len(c.out) > 0 && c.deadline == 0 {
				w.read(c)
			}
		}
	}
	w.o.Finish()
}

func TestACorrectServerIsAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &naive{o: New(), draw: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "") }}
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			w.step()
		}
		w.finish()
		if f, failed := w.o.Failure(); failed {
			t.Fatalf("%s: %s", f.Property, f.What)
		}
	})
}

func seeded(seed uint64, wrong string, steps int) *naive {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &naive{o: New(), draw: rng.IntN, wrong: wrong}
	for range steps {
		w.step()
	}
	w.finish()
	return w
}

func TestLongRunsOfACorrectServerAreAccepted(t *testing.T) {
	var sum Stats
	for seed := range uint64(50) {
		w := seeded(seed, "", 3000)
		if f, failed := w.o.Failure(); failed {
			t.Fatalf("seed %d: %s: %s", seed, f.Property, f.What)
		}
		s := w.o.Stats()
		sum.Published += s.Published
		sum.Received += s.Received
		sum.Must += s.Must
		sum.MustGroup += s.MustGroup
		sum.Must503 += s.Must503
		sum.Spreads += s.Spreads
		sum.HeldMost = max(sum.HeldMost, s.HeldMost)
	}
	t.Logf("%+v", sum)
	if sum.Must == 0 || sum.MustGroup == 0 || sum.Must503 == 0 {
		t.Error("nothing was certain")
	}
}

func TestEveryKindOfMistakeIsFound(t *testing.T) {
	for _, wrong := range []struct {
		what  string
		share int // percent of the runs in which it was made, often just once and unprovably, that must find it
	}{
		{"drop delivery", 50}, {"alter", 95}, {"deliver twice", 95}, {"swap output", 80}, {"outlive max", 30}, {"drop publish", 50},
		{"reorder input", 55}, {"pong too early", 20}, {"forget SUB", 20}, {"forget UNSUB", 60}, {"echo", 30}, {"match wrongly", 95},
		{"skip group", 10}, {"two of a group", 60}, {"no 503", 8}, {"503 all the same", 25},
	} {
		made, found := 0, 0
		names := map[string]int{}
		for seed := range uint64(60) {
			w := seeded(seed, wrong.what, 800)
			if w.did == 0 {
				continue
			}
			made++
			if f, failed := w.o.Failure(); failed {
				found++
				names[f.Property]++
			}
		}
		t.Logf("%s: made in %d runs, found in %d, as %v", wrong.what, made, found, names)
		if made < 3 || found*100 < wrong.share*made {
			t.Errorf("%s: made in %d runs, found in %d", wrong.what, made, found)
		}
	}
}

// BenchmarkHistory measures the cost of one call: write, handle and read of the naive server are part of it.
func BenchmarkHistory(b *testing.B) {
	b.ReportAllocs()
	rng := rand.New(rand.NewPCG(1, 1))
	w := &naive{o: New(), draw: rng.IntN}
	for b.Loop() {
		w.step()
	}
	b.ReportMetric(float64(w.o.now)/float64(b.N), "calls/op")
}
