package oracle

import (
	"strconv"
	"strings"
	"testing"
)

// teller tells a history written as one line per call:
//
//	open A [noecho] [noresp] · end A · gone A · crash
//	sub A 1 foo.* [q=queue] · doubt A 1 · unsub A 1 [max]
//	pub A subject [reply] · ping A · pong A
//	msg A 1 P 3 [subject=…] [reply=…] [bad]     (A read, on sid 1, message 3 of P)
//	503 A 1 3                                   (on sid 1, for request 3)
type teller struct {
	o     *Oracle
	conns map[string]*Conn
	ids   map[string]ID
	sent  map[ID][]*record
	names int
}

func tell(t *testing.T, history string) *Oracle {
	t.Helper()
	w := &teller{o: New(), conns: map[string]*Conn{}, ids: map[string]ID{}, sent: map[ID][]*record{}}
	for _, line := range strings.FieldsFunc(history, func(r rune) bool { return r == '\n' || r == ';' }) {
		if f := strings.Fields(line); len(f) > 0 {
			w.line(t, f)
		}
	}
	w.o.Finish()
	return w.o
}

func (w *teller) line(t *testing.T, f []string) {
	t.Helper()
	if f[0] == "crash" {
		w.o.Crash()
		return
	}
	name := f[1]
	c := w.conns[name]
	if c == nil && f[0] != "open" {
		t.Fatalf("no connection %s", name)
	}
	num := func(i int) uint64 {
		n, err := strconv.ParseUint(f[i], 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", f, err)
		}
		return n
	}
	switch f[0] {
	case "open":
		w.names++
		id := IDOf(uint32(w.names), 0)
		w.ids[name] = id
		opts := ConnOptions{Echo: true}
		for _, o := range f[2:] {
			opts.Echo = opts.Echo && o != "noecho"
			opts.NoResponders = opts.NoResponders || o == "noresp"
		}
		w.conns[name] = w.o.Open(id, opts)
	case "end":
		w.o.End(c)
	case "gone":
		w.o.Gone(c)
	case "sub":
		queue := ""
		if len(f) > 4 {
			queue = strings.TrimPrefix(f[4], "q=")
		}
		w.o.Subscribe(c, num(2), f[3], queue)
	case "doubt":
		w.o.Doubt(c, num(2))
	case "unsub":
		most := uint64(0)
		if len(f) > 3 {
			most = num(3)
		}
		w.o.Unsubscribe(c, num(2), most)
	case "pub":
		r := &record{n: uint64(len(w.sent[c.id]) + 1), subject: f[2]}
		if len(f) > 3 {
			r.reply = f[3]
		}
		w.sent[c.id] = append(w.sent[c.id], r)
		w.o.Publish(c, r.n, r.subject, r.reply)
	case "ping":
		w.o.Ping(c)
	case "pong":
		w.o.Pong(c)
	case "503":
		w.o.NoResponders(c, num(2), num(3))
	case "msg":
		w.read(c, num(2), w.ids[f[3]], num(4), f[5:])
	default:
		t.Fatalf("unknown call %q", f[0])
	}
}

// read tells of a message as it was published, but for what options change.
func (w *teller) read(c *Conn, sid uint64, from ID, n uint64, options []string) {
	m := Message{SID: sid, From: from, N: n, Intact: true}
	if sent := w.sent[from]; n <= uint64(len(sent)) {
		m.Subject, m.Reply = []byte(sent[n-1].subject), []byte(sent[n-1].reply)
	}
	for _, o := range options {
		switch key, value, _ := strings.Cut(o, "="); key {
		case "subject":
			m.Subject = []byte(value)
		case "reply":
			m.Reply = []byte(value)
		case "bad":
			m.Intact = false
		}
	}
	w.o.Receive(c, &m)
}

// two is a history's beginning: a publisher P, and a subscriber S to foo whose subscription is certain.
const two = "open P; open S; sub S 1 foo; ping S; pong S;"

var right = []struct{ name, history string }{
	{"delivered", two + "pub P foo; ping P; pong P; msg S 1 P 1; ping S; pong S"},
	{"not yet fenced", two + "pub P foo; ping P; pong P"},
	{"the fence was written before the publish was proven", two + "pub P foo; ping P; ping S; pong P; pong S"},
	{"publish not proven", two + "pub P foo; ping S; pong S"},
	{"SUB not proven, not delivered", "open P; open S; sub S 1 foo; pub P foo; ping P; pong P; ping S; pong S"},
	{"SUB not proven, delivered", "open P; open S; sub S 1 foo; pub P foo; ping P; pong P; msg S 1 P 1; ping S; pong S"},
	{"SUB written after the publish, which is not proven", "open P; open S; pub P foo; sub S 1 foo; msg S 1 P 1"},
	{"UNSUB before the publish was proven, not delivered", two + "pub P foo; unsub S 1; ping P; pong P; ping S; pong S"},
	{"UNSUB before the publish was proven, delivered", two + "pub P foo; unsub S 1; ping P; pong P; msg S 1 P 1; ping S; pong S"},
	{"publish after the UNSUB, delivered before its fence", two + "unsub S 1; pub P foo; ping P; pong P; msg S 1 P 1; ping S; pong S"},
	{"not matching", two + "pub P bar; ping P; pong P; ping S; pong S"},
	{"wildcards", "open P; open S; sub S 1 foo.*; sub S 2 >; sub S 3 *.bar; sub S 4 foo; ping S; pong S; pub P foo.bar; ping P; pong P;" +
		"msg S 2 P 1; msg S 1 P 1; msg S 3 P 1; ping S; pong S"},
	{"an empty token reaches nobody", "open P; open S; sub S 1 >; ping S; pong S; pub P foo..bar; ping P; pong P; ping S; pong S"},
	{"to oneself", "open P; sub P 1 foo; pub P foo; ping P; msg P 1 P 1; pong P"},
	{"no echo", "open P noecho; sub P 1 foo; pub P foo; ping P; pong P"},
	{"forgiven", two + "pub P foo; ping P; pong P; end S; gone S"},
	{"a message that takes long", two + "open T; sub T 1 foo; pub P foo; msg T 1 P 1; ping S; pong S; msg S 1 P 1"},
	{"crash", two + "pub P foo; ping P; crash; end S; end P; open S2; sub S2 1 foo; ping S2; pong S2"},
	{"a late message of a connection that ended", two + "pub P foo; end P; msg S 1 P 1; gone P; ping S; pong S"},
	{"max 1", two + "unsub S 1 1; pub P foo; pub P foo; ping P; pong P; msg S 1 P 1; ping S; pong S"},
	{"max lower than what came before the UNSUB was handled", two + "pub P foo; pub P foo; pub P foo; unsub S 1 1; ping S; msg S 1 P 1; msg S 1 P 2; pong S"},
	{"max raised", two + "unsub S 1 1; unsub S 1 2; ping S; pong S; pub P foo; pub P foo; pub P foo; ping P; pong P; msg S 1 P 1; msg S 1 P 2; ping S; pong S"},
	{"queue", "open P; open A; open B; sub A 1 foo q=q; sub B 1 foo q=q; ping A; ping B; pong A; pong B; pub P foo; pub P foo; ping P; pong P;" +
		"msg A 1 P 2; msg B 1 P 1; ping A; ping B; pong A; pong B"},
	{"queue, a member ends with the message", "open P; open A; open B; sub A 1 foo q=q; sub B 1 foo q=q; ping A; ping B; pong A; pong B;" +
		"pub P foo; ping P; pong P; end A; gone A; ping B; pong B"},
	{"queue, a dead member that the server believes in", "open P; open A; open B; sub A 1 foo q=q; sub B 1 foo q=q; ping A; ping B; pong A; pong B;" +
		"end A; pub P foo; ping P; pong P; ping B; pong B; gone A"},
	{"queue, the only certain member leaves", "open P; open A; sub A 1 foo q=q; ping A; pong A; pub P foo; unsub A 1; ping A; pong A; ping P; pong P; ping A; pong A"},
	{"queue, a newcomer takes it", "open P; open A; open B; sub A 1 foo q=q; ping A; pong A; pub P foo; sub B 1 foo q=q; ping P; pong P; msg B 1 P 1; ping A; ping B; pong A; pong B"},
	{"503", "open R noresp; sub R 1 in.*; pub R svc in.1; ping R; 503 R 1 1; pong R"},
	{"503 not asked for", "open R; sub R 1 in.*; pub R svc in.1; ping R; pong R"},
	{"503 cannot be received", "open R noresp; pub R svc in.1; ping R; pong R"},
	{"a responder may be there", "open R noresp; open S; sub R 1 in.*; sub S 1 svc; pub R svc in.1; ping R; pong R"},
	{"a responder may be there, 503", "open R noresp; open S; sub R 1 in.*; sub S 1 svc; pub R svc in.1; ping R; 503 R 1 1; pong R"},
	{"a responder comes", "open R noresp; open S; sub R 1 in.*; pub R svc in.1; sub S 1 svc; ping R; pong R; msg S 1 R 1"},
	{"a dead responder", "open R noresp; open S; sub R 1 in.*; sub S 1 svc; ping S; pong S; end S; pub R svc in.1; ping R; pong R"},
	{"a responder that is gone", "open R noresp; open S; sub R 1 in.*; sub S 1 svc; ping S; pong S; end S; gone S; pub R svc in.1; ping R; 503 R 1 1; pong R"},
	{"a sid used again", two + "unsub S 1; ping S; pong S; sub S 1 bar; ping S; pong S; pub P bar; ping P; pong P; msg S 1 P 1; ping S; pong S"},
	{"a sid in use", two + "sub S 1 bar; ping S; pong S; pub P bar; pub P foo; ping P; pong P; msg S 1 P 2; ping S; pong S"},
	{"doubt", "open P; open S; sub S 1 foo; doubt S 1; ping S; pong S; pub P foo; ping P; pong P; ping S; pong S"},
}

func TestLawfulHistoriesAreAccepted(t *testing.T) {
	for _, c := range right {
		t.Run(c.name, func(t *testing.T) {
			if f, failed := tell(t, c.history).Failure(); failed {
				t.Errorf("%s: %s", f.Property, f.What)
			}
		})
	}
}

var wrong = []struct{ name, history, property string }{
	{"lost", two + "pub P foo; ping P; pong P; ping S; pong S", Lost},
	{"lost to oneself", "open P; sub P 1 foo; pub P foo; ping P; pong P", Lost},
	{"lost to one of two", "open P; open S; sub S 1 foo; sub S 2 foo; ping S; pong S; pub P foo; ping P; pong P; msg S 2 P 1; ping S; pong S", Lost},
	{"a hole", two + "pub P foo; pub P foo; msg S 1 P 2; ping S; pong S", Lost},
	{"a hole at the end", two + "pub P foo; pub P foo; msg S 1 P 2", Lost},
	{"a hole before an end", two + "pub P foo; pub P foo; msg S 1 P 2; end S", Lost},
	{"a hole in spite of an UNSUB", two + "pub P foo; pub P foo; unsub S 1; msg S 1 P 2; ping S; pong S", Lost},
	{"proven by another receiver", two + "open T; sub T 1 foo; pub P foo; pub P foo; msg T 1 P 2; ping S; pong S", Lost},
	{"lost below max", two + "unsub S 1 3; ping S; pong S; pub P foo; ping P; pong P; ping S; pong S", Lost},
	{"lost although the UNSUB came later", two + "pub P foo; ping P; pong P; unsub S 1; ping S; pong S", Lost},
	{"lost after SUB and message prove each other", "open P; open S; sub S 1 foo; pub P foo; pub P foo; msg S 1 P 1; pub P foo; ping P; pong P; ping S; pong S", Lost},
	{"never published", two + "msg S 1 P 1 subject=foo", Invented},
	{"nobody published", two + "end P; gone P; msg S 1 P 1 subject=foo", Invented},
	{"published into a dead connection", two + "gone P; pub P foo; msg S 1 P 1", Invented},
	{"pong without ping", "open P; pong P", Invented},
	{"altered", two + "pub P foo; msg S 1 P 1 bad", Intact},
	{"altered subject", two + "pub P bar; msg S 1 P 1 subject=foo", Intact},
	{"altered reply", two + "pub P foo in.1; msg S 1 P 1 reply=in.2", Intact},
	{"not matching", two + "pub P bar; msg S 1 P 1", Matching},
	{"empty token", "open P; open S; sub S 1 >; ping S; pong S; pub P foo..bar; msg S 1 P 1", Matching},
	{"unknown sid", two + "pub P foo; msg S 9 P 1", Interest},
	{"from before the SUB", "open P; open S; pub P foo; ping P; pong P; sub S 1 foo; msg S 1 P 1", Interest},
	{"own, from before the SUB", "open P; pub P foo; sub P 1 foo; msg P 1 P 1", Interest},
	{"after the UNSUB was fenced", two + "pub P foo; unsub S 1; ping S; pong S; msg S 1 P 1", Interest},
	{"own, after the UNSUB", "open P; sub P 1 foo; unsub P 1; pub P foo; msg P 1 P 1", Interest},
	{"published after the UNSUB was proven", two + "open T; sub T 1 x; sub S 2 y; unsub S 1; pub S x; msg T 1 S 1; pub P foo; msg S 1 P 1", Interest},
	{"begun before the SUB", two + "open T; sub T 1 foo; pub P foo; msg T 1 P 1; sub S 2 foo; msg S 2 P 1", Interest},
	{"echo", "open P noecho; sub P 1 foo; pub P foo; msg P 1 P 1", Echo},
	{"one more than max", two + "unsub S 1 1; ping S; pong S; pub P foo; pub P foo; msg S 1 P 1; msg S 1 P 2", Max},
	{"own, one more than max", "open P; sub P 1 foo; unsub P 1 1; pub P foo; pub P foo; msg P 1 P 1; msg P 1 P 2", Max},
	{"more than the raised max", two + "unsub S 1 1; unsub S 1 2; ping S; pong S; pub P foo; pub P foo; pub P foo; msg S 1 P 1; msg S 1 P 2; msg S 1 P 3", Max},
	{"twice", two + "pub P foo; msg S 1 P 1; msg S 1 P 1", Once},
	{"twice, with another between", two + "pub P foo; pub P foo; msg S 1 P 1; msg S 1 P 2; msg S 1 P 1", Once},
	{"swapped", two + "pub P foo; pub P foo; msg S 1 P 2; msg S 1 P 1", Order},
	{"swapped over subscriptions", two + "sub S 2 bar; ping S; pong S; pub P foo; pub P bar; msg S 2 P 2; msg S 1 P 1", Order},
	{"swapped, SUB not proven", "open P; open S; sub S 1 foo; pub P foo; pub P foo; msg S 1 P 2; msg S 1 P 1", Order},
	{"after the pong", "open P; open S; sub S 1 foo; pub P foo; ping P; pong P; ping S; pong S; msg S 1 P 1", Order},
	{"queue, two members", "open P; open A; open B; sub A 1 foo q=q; sub B 1 foo q=q; pub P foo; msg A 1 P 1; msg B 1 P 1", Queue},
	{"queue, twice to one", "open P; open A; sub A 1 foo q=q; pub P foo; msg A 1 P 1; msg A 1 P 1", Once},
	{"queue, nobody", "open P; open A; open B; sub A 1 foo q=q; sub B 1 foo q=q; ping A; ping B; pong A; pong B; pub P foo; ping P; pong P; ping A; ping B; pong A; pong B", Queue},
	{"no 503", "open R noresp; sub R 1 in.*; pub R svc in.1; ping R; pong R", Responders},
	{"no 503, own subscription without echo", "open R noresp noecho; sub R 1 in.*; sub R 2 svc; pub R svc in.1; ping R; pong R", Responders},
	{"no 503, the responder is gone", "open R noresp; open S; sub R 1 in.*; sub S 1 svc; ping S; pong S; gone S; pub R svc in.1; ping R; pong R", Responders},
	{"503 and delivered", "open R noresp; open S; sub R 1 in.*; sub S 1 svc; pub R svc in.1; msg S 1 R 1; 503 R 1 1", Responders},
	{"delivered and 503", "open R noresp; open S; sub R 1 in.*; sub S 1 svc; pub R svc in.1; 503 R 1 1; msg S 1 R 1", Responders},
	{"503 twice", "open R noresp; sub R 1 in.*; pub R svc in.1; 503 R 1 1; 503 R 1 1", Responders},
	{"503 for nothing", "open R noresp; sub R 1 in.*; 503 R 1 1", Responders},
	{"503 on another subscription", "open R noresp; sub R 1 in.*; sub R 2 x; pub R svc in.1; 503 R 2 1", Responders},
	{"503 after the pong", "open R noresp; open S; sub S 1 svc; sub R 1 in.*; pub R svc in.1; ping R; pong R; 503 R 1 1", Responders},
	{"503 not asked for", "open R; sub R 1 in.*; pub R svc in.1; 503 R 1 1", Responders},
}

func TestUnlawfulHistoriesAreRefused(t *testing.T) {
	for _, c := range wrong {
		t.Run(c.name, func(t *testing.T) {
			f, failed := tell(t, c.history).Failure()
			if !failed {
				t.Fatalf("accepted, want %s", c.property)
			}
			if f.Property != c.property {
				t.Errorf("%s: %s; want %s", f.Property, f.What, c.property)
			}
		})
	}
}

func TestASpreadThatIsNoneIsRefused(t *testing.T) {
	spread := func(pick func(i int) string) (Failure, bool) {
		var b strings.Builder
		b.WriteString("open P; open A; open B; open C; sub A 1 foo q=q; sub B 1 foo q=q; sub C 1 foo q=q; ping A; ping B; ping C; pong A; pong B; pong C;")
		for i := range 400 {
			b.WriteString("pub P foo; msg " + pick(i) + " 1 P " + strconv.Itoa(i+1) + ";")
			b.WriteString("ping A; ping B; ping C; pong A; pong B; pong C;")
		}
		return tell(t, b.String()).Failure()
	}
	if f, failed := spread(func(i int) string { return string("ABC"[i*7%3]) }); failed { // far too even, but that is no crime
		t.Errorf("even: %s: %s", f.Property, f.What)
	}
	if f, failed := spread(func(i int) string { return string("ABCABCAAA"[i*7%9]) }); !failed || f.Property != Spread {
		t.Errorf("one is preferred: %v %v", f, failed)
	}
	if f, failed := spread(func(i int) string { return "A" }); !failed || f.Property != Spread {
		t.Errorf("all to one: %v %v", f, failed)
	}
	if f, failed := spread(func(i int) string { return string("AB"[i%2]) }); !failed || f.Property != Spread {
		t.Errorf("one gets none: %v %v", f, failed)
	}
}
