package engine

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/permission"
	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
	"github.com/natsd/natsd/wire"
)

// A client can ask by headers where a message goes (ADR-41): the server then publishes, in the client's account, what it did
// with the message, and delivers it or, if that is asked for too, not. An account can ask for the same of all messages that
// are part of a sampled trace (W3C traceparent). Messages without headers pay nothing for this, those with headers a search.

const (
	traceDestKey   = "Nats-Trace-Dest"
	traceOnlyKey   = "Nats-Trace-Only"
	traceparentKey = "traceparent"
	acceptKey      = "Accept-Encoding"

	// traceEventsMax bounds what is told of one message.
	traceEventsMax = 10_000
)

// tracing is a message whose way is told.
type tracing struct {
	account *account // of the publisher, in which it is told
	dest    string
	only    bool // it is told and not delivered
	// silent is set while the message is in an account that does not let traces in.
	silent   bool
	encoding string // that whoever is told accepts, in lower case
	request  traceRequest
	events   []any
	cut      int // events that there was no room for
}

// traceRequest is the message.
type traceRequest struct {
	Header map[string][]string `json:"header,omitempty"`
	Size   int                 `json:"msgsize,omitempty"`
}

// What happens to a message. The fields and their order are nats-server's.
type (
	traceIngress struct {
		Type    string `json:"type"`
		Time    string `json:"ts"`
		Kind    int    `json:"kind"` // 0: a client
		CID     uint64 `json:"cid"`
		Name    string `json:"name,omitempty"`
		Account string `json:"acc"`
		Subject string `json:"subj"`
		Error   string `json:"error,omitempty"`
	}
	traceMapping struct {
		Type string `json:"type"`
		Time string `json:"ts"`
		To   string `json:"to"`
	}
	traceStream struct {
		Type    string `json:"type"`
		Time    string `json:"ts"`
		Account string `json:"acc"`
		To      string `json:"to"`
	}
	traceService struct {
		Type    string `json:"type"`
		Time    string `json:"ts"`
		Account string `json:"acc"`
		From    string `json:"from"`
		To      string `json:"to"`
	}
	traceEgress struct {
		Type    string `json:"type"`
		Time    string `json:"ts"`
		Kind    int    `json:"kind"`
		CID     uint64 `json:"cid"`
		Name    string `json:"name,omitempty"`
		Account string `json:"acc,omitempty"` // if it is not the publisher's
		Pattern string `json:"sub,omitempty"`
		Queue   string `json:"queue,omitempty"`
		Error   string `json:"error,omitempty"`
	}
)

const (
	untoldEcho   = "Not delivered because of no echo"
	untoldDenied = "Not delivered because subscription denies this subject"
	untoldClosed = "Not delivered because client is closed"
)

// mayTrace reports whether a message with these headers could be one whose way is told.
func (e *Engine) mayTrace(c *conn, block []byte) bool {
	return c.acc.def.trace != nil || len(block) > traceDestMin && bytes.Contains(block[len(wire.HeaderLine):], traceDestBytes)
}

// traceDestMin is the length of a header block that could have the key.
const traceDestMin = len(wire.HeaderLine) + len(traceDestKey)

var traceDestBytes = []byte(traceDestKey)

// publishTraced publishes a message whose way is to be told; false: it is not to be told, and nothing has been done.
func (e *Engine) publishTraced(c *conn, a *wire.PubArgs, body []byte, ck *chunk) bool {
	if !e.mayTrace(c, body[:a.Header]) {
		return false
	}
	t, refused := e.traced(c, a, body)
	if t == nil {
		return refused
	}
	r := e.route(c, a)
	if t.routed(e, a, r == nil); r == nil {
		e.tellTrace(t)
		return true
	}
	if c.verbose && r != e.sought {
		e.sendString(c, "+OK\r\n")
	}
	e.tracing = t
	if e.distribute(c, a, body, ck, r); e.tracing != nil { // it has no receivers
		e.tracing = nil
		e.tellTrace(t)
	}
	return true
}

// traced says whether the way of a message with headers is to be told. refused: the client may not publish where it wants to
// be told; the message goes nowhere.
func (e *Engine) traced(c *conn, a *wire.PubArgs, body []byte) (t *tracing, refused bool) {
	sampled := c.acc.def.trace
	header, parent := readHeader(body[:a.Header])
	e.work += a.Header / lineBytes
	t = &tracing{account: c.acc, request: traceRequest{Header: header, Size: a.Size}}
	switch dest := header[traceDestKey]; {
	case len(dest) > 0:
		if t.dest = strings.Clone(dest[0]); !subject.ValidLiteral(t.dest) {
			return nil, false // "trace disabled" is such a one
		}
		if allowed, _ := e.mayPublish(c, []byte(t.dest)); !allowed {
			return nil, true
		}
		if only := header[traceOnlyKey]; len(only) > 0 {
			t.only = slices.Contains([]string{"1", "true", "on"}, strings.ToLower(only[0]))
		}
	case sampled != nil && isSampled(parent) && e.sample(sampled):
		t.dest = sampled.Dest
	default:
		return nil, false
	}
	if accept := header[acceptKey]; len(accept) > 0 {
		t.encoding = strings.ToLower(accept[0])
	}
	t.add(&traceIngress{Type: "in", Time: e.traceTime(), CID: c.cid, Name: c.connect.Name, Account: c.acc.name, Subject: string(a.Subject)})
	return t, false
}

// What is told of the header of a message: so many lines and bytes. Of the rest, only what asks for the trace is looked at, in lines
// up to traceAskMax.
const (
	traceLinesMax  = 1000
	traceHeaderMax = 64 << 10
	traceAskMax    = 4 << 10
)

// readHeader reads a header block without a status line. parent is the value of traceparent, whose case does not matter.
func readHeader(block []byte) (header map[string][]string, parent string) {
	first, rest, _ := strings.Cut(string(block), "\r\n")
	if first != wire.HeaderLine {
		return nil, ""
	}
	header = map[string][]string{}
	lines, size := 0, 0
	for rest != "" {
		line, behind, _ := strings.Cut(rest, "\r\n")
		lines++
		if size += len(line); lines > traceLinesMax || size > traceHeaderMax {
			return header, askedBehind(rest, header, parent)
		}
		rest = behind
		key, value, ok := strings.Cut(line, ":")
		if !ok || key == "" {
			continue
		}
		value = strings.TrimSpace(value)
		if header[key] = append(header[key], value); strings.EqualFold(key, traceparentKey) {
			parent = value
		}
	}
	return header, parent
}

// askedBehind adds to header what asks for the trace in those lines of it that are not told, the first of each kind. It returns what
// traceparent says then. There may be a million bytes: a line that can't be such a one costs little.
func askedBehind(rest string, header map[string][]string, parent string) string {
	told := false
	for line, pos := 0, 0; ; {
		n := strings.IndexByte(rest[pos:], '\n')
		if n < 0 {
			return parent
		}
		end := pos + n
		if pos = end + 1; end == line || rest[end-1] != '\r' {
			continue
		}
		key, value, ok := askingLine(rest[line : end-1])
		line = pos
		switch {
		case !ok:
		case key == traceDestKey || key == traceOnlyKey || key == acceptKey:
			if header[key] == nil {
				header[key] = []string{value}
			}
		case strings.EqualFold(key, traceparentKey):
			if parent = value; !told {
				header[key] = append(header[key], value)
			}
			told = true
		}
	}
}

// askingLine takes a line of a header apart, if by its length and beginning it may be one that asks for the trace.
func askingLine(line string) (key, value string, ok bool) {
	if len(line) <= len(traceparentKey) || len(line) > traceAskMax || strings.IndexByte("NATt", line[0]) < 0 {
		return "", "", false
	}
	key, value, ok = strings.Cut(line, ":")
	return key, strings.TrimSpace(value), ok
}

// isSampled reports whether a traceparent, four parts of which the last one are flags, says that its trace is recorded.
func isSampled(parent string) bool {
	parts := strings.Split(parent, "-")
	if len(parts) != 4 || len(parts[3]) != 2 {
		return false
	}
	flags, err := strconv.ParseUint(parts[3], 16, 8)
	return err == nil && flags&1 != 0
}

// sample draws whether a trace is among those that an account wants.
func (e *Engine) sample(t *config.MsgTrace) bool {
	return t.Sampling <= 0 || t.Sampling >= 100 || e.rng.IntN(100) < t.Sampling
}

func (e *Engine) traceTime() string { return e.wall.time().Format(time.RFC3339Nano) }

// add tells an event, while there is room.
func (t *tracing) add(event any) {
	if len(t.events) >= traceEventsMax {
		t.cut++
		return
	}
	t.events = append(t.events, event)
}

// routed tells what became of the message's subject, and if it was refused. a has the subject behind the mappings: none if
// they dropped it.
func (t *tracing) routed(e *Engine, a *wire.PubArgs, refused bool) {
	in := t.events[0].(*traceIngress)
	if refused && len(a.Subject) > 0 {
		in.Error = string(permission.AppendPublishViolation(nil, a.Subject))
	}
	if string(a.Subject) != in.Subject {
		t.add(traceMapping{"sm", e.traceTime(), string(a.Subject)})
	}
}

// traceRequest tells that e.out goes to a service; false: it does not, being there for the trace only, which may not go there.
func (e *Engine) traceRequest(im *serviceImport, x *crossing) bool {
	t := e.out.trace
	if x.silent = t.silent; t.silent {
		return true
	}
	t.add(traceService{"si", e.traceTime(), im.export.account.name, string(e.out.subject), string(x.subject)})
	x.silent = !im.export.AllowTrace
	return !t.only || !x.silent
}

// traceAnswer tells that e.out goes back to who asked; false: it does not.
func (e *Engine) traceAnswer(r *reply, x *crossing) bool {
	t := e.out.trace
	if !t.silent {
		t.add(traceService{"si", e.traceTime(), r.to.name, string(e.out.subject), string(x.subject)})
	}
	x.silent = true
	return !t.only
}

// fanTraced is fan for a message whose way is told.
func (e *Engine) fanTraced(r *sublist.Result[*subscription], from, limit int) (next int) {
	i := from
	for ; i < r.Fanout(); i++ {
		if e.work >= limit && i > from {
			return i
		}
		delivered, done := false, true
		if e.work++; i < len(r.Plain) {
			delivered = e.deliverTraced(r.Plain[i])
		} else {
			delivered, done = e.deliverQueue(r.Queues[i-len(r.Plain)].Members, limit)
		}
		e.out.delivered = e.out.delivered || delivered
		if !done {
			return i
		}
	}
	return i
}

// deliverTraced is deliver for a message whose way is told.
func (e *Engine) deliverTraced(s *subscription) bool {
	m, t := &e.out, e.out.trace
	if t.silent || s.flags&(subDead|subService) != 0 {
		return e.deliver(s)
	}
	if s.flags&subHandler != 0 {
		return !t.only && e.deliver(s)
	}
	if c := s.conn; c.epoch != e.epoch {
		if !e.follow(s) || s.dead() {
			return false
		}
	}
	root, subj, told := s, m.subject, true
	if s.flags&subShadow != 0 {
		if m.crossed > 0 {
			return false
		}
		if root = e.unshadow(s); root == nil {
			return false
		}
		subj, told = m.shown, s.also.stream.trace
		t.add(traceStream{"se", e.traceTime(), root.conn.acc.name, string(subj)})
	}
	c, problem := root.conn, ""
	switch {
	case c.gate&gateClosed != 0:
		problem = untoldClosed
	case c == m.from && !c.echo:
		problem = untoldEcho
	case root.denied(subj):
		problem = untoldDenied
	}
	delivered := problem == ""
	event := traceEgress{Type: "eg", Time: e.traceTime(), CID: c.cid, Name: c.connect.Name, Pattern: s.handle.Subject(), Queue: root.handle.Queue()}
	if c.acc != t.account {
		event.Account = c.acc.name
	}
	if e.work += crossWork; delivered && !t.only {
		if delivered = e.deliver(s); !delivered {
			problem = untoldClosed // it was slow
		}
	}
	if event.Error = problem; told {
		t.add(event)
	}
	return delivered
}

// tellTrace publishes what happened to a message.
func (e *Engine) tellTrace(t *tracing) {
	if !e.listens(t.account, []byte(t.dest)) {
		return
	}
	if !e.posts.fits(t.account, eventsMax, suspendedMax) {
		e.sys.dropped.add(e.now)
		return
	}
	if t.cut > 0 {
		e.logf(LevelWarn, "", "The trace of a message in account "+t.account.name+" is cut: "+strconv.Itoa(t.cut)+" events more than can be told")
	}
	text := mustJSON(struct {
		Server  json.RawMessage `json:"server"`
		Request traceRequest    `json:"request"`
		Events  []any           `json:"events"`
	}{e.identity(), t.request, t.events})
	e.work += eventWork + len(text)/bytesPerWork
	text, header := compressed(text, t.encoding)
	e.publishOwn(t.account, t.dest, "", header, text)
}
