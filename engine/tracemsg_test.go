package engine

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/config"
)

// traceConf is the configuration with which testdata/tracemsg.jsonl was recorded; TRACE is whether traces may cross.
const traceConf = `
accounts {
  A {
    users = [
      { user: a, password: p }
      { user: lim, password: p, permissions: { publish: ["ok", "m.x", "trace.dest"], subscribe: { allow: ">", deny: "secret.*" } } }
    ]
    mappings = { "m.*": "mm.$1", "lost": [ { destination: "lost", weight: 0% } ] }
    exports = [
      { service: "svc", allow_trace: TRACE }, { stream: "st.*" }
      { service: "two", allow_trace: true }, { service: "nobody", allow_trace: true }
    ]
    msg_trace: { dest: "acc.trace", sampling: 100% }
  }
  B {
    users = [ { user: b, password: p } ]
    imports = [
      { service: { account: A, subject: "svc" }, to: "bsvc" }
      { stream: { account: A, subject: "st.*" }, to: "imp.$1", allow_trace: TRACE }
      { service: { account: A, subject: "two" } }, { service: { account: A, subject: "nobody" } }
    ]
    exports = [ { service: "two", allow_trace: TRACE } ]
  }
  C {
    users = [ { user: c, password: p } ]
    imports = [ { service: { account: B, subject: "two" }, to: "three" }, { stream: { account: A, subject: "st.*" }, prefix: "pre" } ]
  }
}`

// traceClients are who was connected, with what each had subscribed to; those whose names begin with t hear of traces.
var traceClients = []struct{ name, user, subs string }{
	{"ta", "a", "SUB trace.dest 1\r\nSUB acc.trace 2\r\n"}, {"tb", "b", "SUB trace.dest 1\r\nSUB acc.trace 2\r\n"},
	{"tc", "c", "SUB trace.dest 1\r\nSUB acc.trace 2\r\n"},
	{"pa", "a", "SUB echo 1\r\nSUB inb 2\r\n"}, {"pb", "b", "SUB inb 1\r\n"}, {"pc", "c", "SUB inb 1\r\n"},
	{"lim", "lim", "SUB *.x 9\r\n"}, {"s1", "a", "SUB foo 1\r\nSUB mm.* 3\r\nSUB svc 4\r\nSUB two 5\r\nSUB st.* 6\r\n"},
	{"s2", "a", "SUB foo q 1\r\n"}, {"sb", "b", "SUB imp.* 7\r\n"}, {"sc", "c", "SUB pre.> 8\r\n"}, {"ne", "a", "SUB noecho 1\r\n"},
}

// traceWorld is an engine with these clients.
type traceWorld struct {
	t     *testing.T
	e     *Engine
	w     *fakeWorld
	conns map[string]ConnID
}

func newTraceWorld(t *testing.T, allow bool) *traceWorld {
	t.Helper()
	text := strings.ReplaceAll(traceConf, "TRACE", fmt.Sprint(allow))
	var rep conf.Report
	c := config.Load(&conf.Reader{Read: func(string) ([]byte, error) { return []byte(text), nil }}, "trace.conf", &rep)
	if rep.Err() != nil {
		t.Fatal(rep.Err())
	}
	o := Options{}
	o.FromConfig(c)
	e, w := started(t, o)
	s := &traceWorld{t: t, e: e, w: w, conns: map[string]ConnID{}}
	for _, c := range traceClients {
		id := accept(e)
		say(e, id, fmt.Sprintf("CONNECT {\"user\":%q,\"pass\":\"p\",\"name\":%q,\"verbose\":false,\"headers\":true,\"no_responders\":true,\"echo\":%v}\r\n%s",
			c.user, c.name, c.name != "ne", c.subs))
		w.take(id)
		s.conns[c.name] = id
	}
	return s
}

// publish sends a message with headers.
func (s *traceWorld) publish(from, subj, reply string, headers [][2]string) {
	block := "NATS/1.0\r\n"
	for _, h := range headers {
		block += h[0] + ": " + h[1] + "\r\n"
	}
	block += "\r\n"
	say(s.e, s.conns[from], fmt.Sprintf("HPUB %s %s %d %d\r\n%shello\r\n", subj, reply, len(block), len(block)+5, block))
	s.w.settle(s.t, s.e)
}

// traceCase is a line of the recording.
type traceCase struct {
	Allow   bool        `json:"allow"`
	From    string      `json:"from"`
	Subject string      `json:"subject"`
	Reply   string      `json:"reply"`
	Headers [][2]string `json:"headers"`
	Got     []string    `json:"got"`  // "client MSG subject sid", and errors
	Told    string      `json:"told"` // "client subject [encoding]"
	Event   *traceEvent `json:"event"`
}

type traceEvent struct {
	Request json.RawMessage  `json:"request"`
	Events  []map[string]any `json:"events"`
}

var (
	traceGot     = regexp.MustCompile(`MSG \S+ \d+|-ERR[^\r]*`)
	traceTold    = regexp.MustCompile(`(?s)MSG (\S+) \d+ [\d ]+\r\n(?:NATS/1.0\r\nContent-Encoding: (\S+)\r\n\r\n)?(\{"server":.*\})\r\n`)
	ownReplyText = regexp.MustCompile(`_R_\.\w+\.\w+`)
)

// outcome is what came of a message, as it was recorded.
func (s *traceWorld) outcome() (got []string, told string, event *traceEvent) {
	got = []string{}
	for _, c := range traceClients {
		text := s.w.take(s.conns[c.name])
		if m := traceTold.FindStringSubmatch(text); m != nil && c.name[0] == 't' {
			told = strings.TrimSpace(c.name + " " + m[1] + " " + m[2])
			event = &traceEvent{}
			if err := json.Unmarshal([]byte(m[3]), event); err != nil {
				s.t.Fatal(err)
			}
		} else {
			for _, line := range traceGot.FindAllString(text, -1) {
				got = append(got, c.name+" "+line)
			}
		}
	}
	slices.Sort(got)
	return got, told, event
}

// plain leaves out of events what differs from run to run, and puts receivers into order.
func (t *traceEvent) plain() (request any, events []string) {
	if t == nil {
		return nil, nil
	}
	if err := json.Unmarshal(t.Request, &request); err != nil {
		panic(err)
	}
	for _, e := range t.Events {
		delete(e, "ts")
		delete(e, "cid")
		b, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		events = append(events, ownReplyText.ReplaceAllString(string(b), "_R_"))
	}
	slices.Sort(events)
	return request, events
}

// What nats-server 2.15.2 delivered and told of each of these messages is in the recording.
func TestTracesAreLikeReference(t *testing.T) {
	file, err := os.ReadFile("testdata/tracemsg.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	worlds := map[bool]*traceWorld{true: newTraceWorld(t, true), false: newTraceWorld(t, false)}
	lines := bufio.NewScanner(bytes.NewReader(file))
	for n := 1; lines.Scan(); n++ {
		var c traceCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		s, subj := worlds[c.Allow], c.Subject
		if subj == "_R_" {
			s.w.settle(t, s.e)
			say(s.e, s.conns["pb"], "PUB bsvc inb 1\r\nx\r\n")
			subj = ownReplyText.FindString(s.w.take(s.conns["s1"]))
		}
		s.publish(c.From, subj, c.Reply, c.Headers)
		got, told, event := s.outcome()
		if !reflect.DeepEqual(got, c.Got) {
			t.Errorf("line %d: delivered %q, want %q", n, got, c.Got)
		}
		if told != c.Told {
			t.Errorf("line %d: told %q, want %q", n, told, c.Told)
		}
		request, events := event.plain()
		wantRequest, wantEvents := c.Event.plain()
		if !reflect.DeepEqual(request, wantRequest) || !slices.Equal(events, wantEvents) {
			t.Errorf("line %d: got %v\n%s\nwant %v\n%s", n, request, strings.Join(events, "\n"), wantRequest, strings.Join(wantEvents, "\n"))
		}
	}
}

func TestTraceIsCompressed(t *testing.T) {
	s := newTraceWorld(t, true)
	for accepted, want := range map[string]string{"br, gzip": "gzip", "gzip, Snappy": "snappy", "s2": "snappy", "br": "identity"} { //natsd:orderfree each is asked by itself
		s.publish("pa", "foo", "", [][2]string{{traceDestKey, "trace.dest"}, {acceptKey, accepted}})
		text := delivered(t, s.w.take(s.conns["ta"]))
		if len(text) != 1 || text[0].header != "NATS/1.0\r\nContent-Encoding: "+want+"\r\n\r\n" {
			t.Fatalf("%s: %q", accepted, text)
		}
		var r io.Reader = strings.NewReader(text[0].body)
		switch want {
		case "gzip":
			z, err := gzip.NewReader(r)
			if err != nil {
				t.Fatal(err)
			}
			r = z
		case "snappy":
			r = s2.NewReader(r)
		}
		b, err := io.ReadAll(r)
		if err != nil || !json.Valid(b) || !bytes.Contains(b, []byte(`"type":"eg"`)) {
			t.Errorf("%s: %s, %v", accepted, b, err)
		}
	}
}

// A message that goes to many is told of once, when the last one has it, and no longer than there is room.
func TestTraceOfManyReceivers(t *testing.T) {
	s := newTraceWorld(t, true)
	s.e.opts.TurnWork = 100
	for range 30 {
		id := accept(s.e)
		say(s.e, id, "CONNECT {\"user\":\"a\",\"pass\":\"p\",\"verbose\":false,\"headers\":true}\r\n")
		for j := range 400 {
			say(s.e, id, fmt.Sprintf("SUB many %d\r\n", j))
		}
		s.conns[fmt.Sprint("many", id)] = id
	}
	s.publish("pa", "many", "", [][2]string{{traceDestKey, "trace.dest"}, {traceOnlyKey, "true"}})
	_, told, event := s.outcome()
	if told != "ta trace.dest" || len(event.Events) != traceEventsMax {
		t.Errorf("%q tells %d events", told, len(event.Events))
	}
	if !s.w.logged("The trace of a message in account A is cut: 2001 events more than can be told") {
		t.Errorf("log: %q", s.w.log)
	}
}

// A plain message allocates nothing for traces, nor does one with headers that ask for none.
func TestUntracedHeadersAllocateNothing(t *testing.T) {
	s := newTraceWorld(t, true)
	data := []byte("HPUB three 18 23\r\nNATS/1.0\r\nX: 1\r\n\r\nhello\r\n")
	c := s.e.lookup(s.conns["sc"])
	if c.acc.def.trace != nil {
		t.Fatal("the account is to trace nothing by itself")
	}
	body := data[bytes.IndexByte(data, '\n')+1:]
	s.e.args.ParseHPub([]byte("none 18 23"))
	if n := testing.AllocsPerRun(100, func() { s.e.publishTraced(c, &s.e.args, body, nil) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Of a header with very much in it a part is told; what asks for the trace counts wherever it stands.
func TestTracedHeaderIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("NATS/1.0\r\n")
	for i := range 3 * traceLinesMax {
		b.WriteString("k" + strconv.Itoa(i) + ": v\r\n")
	}
	b.WriteString("Traceparent: p\r\n" + traceDestKey + ": dest\r\n" + traceOnlyKey + ": 1\r\n\r\n")
	header, parent := readHeader([]byte(b.String()))
	if len(header) != traceLinesMax+3 || parent != "p" || header[traceDestKey][0] != "dest" || header[traceOnlyKey][0] != "1" {
		t.Errorf("%d keys, parent %q, to %q", len(header), parent, header[traceDestKey])
	}
	long := "NATS/1.0\r\na: " + strings.Repeat("x", traceHeaderMax) + "\r\nb: y\r\n" + traceDestKey + ": dest\r\n\r\n"
	if header, _ := readHeader([]byte(long)); len(header) != 1 || header[traceDestKey][0] != "dest" {
		t.Errorf("%d keys of a long header", len(header))
	}
}

// Of very many lines that ask for the trace, behind what is told of a header, the first of each kind counts, and of the traces that it
// is a part of the last.
func TestTracedHeaderAsksOften(t *testing.T) {
	var b strings.Builder
	b.WriteString("NATS/1.0\r\n")
	for b.Len() < traceHeaderMax {
		b.WriteString("k: " + strings.Repeat("v", 1000) + "\r\n")
	}
	for i := range 2000 {
		n := strconv.Itoa(i)
		b.WriteString(traceDestKey + ": d" + n + "\r\n" + acceptKey + ":a" + n + "\r\n" + strings.ToUpper(traceparentKey[:i%12]) + traceparentKey[min(i%12, 11):] + ": p" + n + "\r\n")
		b.WriteString("X: \n" + traceOnlyKey + ": 1\r\n" + traceOnlyKey + strings.Repeat(" ", traceAskMax) + ": 1\r\n\r\n")
	}
	header, parent := readHeader([]byte(b.String()))
	if len(header) != 4 || parent != "p1999" || len(header["traceparent"]) != 1 || len(header[traceDestKey]) != 1 || header[traceDestKey][0] != "d0" || len(header[acceptKey]) != 1 || header[acceptKey][0] != "a0" {
		t.Errorf("%d keys, parent %q, %q, %q", len(header), parent, header[traceDestKey], header[acceptKey])
	}
}

// What waits to be told of messages is bounded by its bytes too.
func TestTracesThatWaitAreBounded(t *testing.T) {
	e, w := started(t, Options{})
	c := accept(e)
	say(e, c, "CONNECT {\"verbose\":false,\"headers\":true}\r\nSUB dest 1\r\n")
	w.take(c)
	tell := func() {
		e.tellTrace(&tracing{account: e.global, dest: "dest"})
	}
	turn(e, func() {
		tell()
		b := e.posts.of[e.global]
		if e.posts.n != 1 || b.bytes < 100 || b.bytes != e.posts.bytes {
			t.Errorf("%d posts, %d bytes", e.posts.n, e.posts.bytes)
		}
		e.posts.bytes, b.bytes = e.posts.bytes+suspendedMax, b.bytes+suspendedMax
		tell()
		e.posts.bytes, b.bytes = e.posts.bytes-suspendedMax, b.bytes-suspendedMax
		if n := e.posts.n; n != 1 || e.sys.dropped.n != 1 {
			t.Errorf("%d posts, %d dropped", n, e.sys.dropped.n)
		}
	})
	w.settle(t, e)
	if e.posts.bytes != 0 {
		t.Errorf("%d bytes are left", e.posts.bytes)
	}
}
