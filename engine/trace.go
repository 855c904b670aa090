package engine

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/natsd/natsd/wire"
)

// Traces are lines about the protocol, in nats-server's form: "<<-" is what the server got, "->>" what it sent, "<->" what it
// did by itself. Everything here is called only for who is traced: nothing of it may be on a
// message's way otherwise.

func (e *Engine) trace(c *conn, text string) { e.logf(e.traceLevel(), c.subject(), text) }

// traceIn logs a control line that a client sent, without its secrets.
func (e *Engine) traceIn(c *conn, line []byte) {
	if verb, n := wire.ParseVerb(line); verb == wire.VerbConnect {
		line = append([]byte("CONNECT "), withoutSecrets(line[n:])...)
	}
	e.trace(c, "<<- ["+printable(line)+"]")
}

// traceOut logs a control line for a client, and an answer's headers behind it. INFO is no news.
func (e *Engine) traceOut(c *conn, b []byte) {
	line, body, _ := bytes.Cut(b, []byte("\r\n"))
	switch {
	case bytes.HasPrefix(line, []byte("INFO ")):
		return
	case bytes.HasPrefix(line, []byte("-ERR '")):
		line = []byte("-ERR " + strings.TrimSuffix(string(line[len("-ERR '"):]), "'"))
	case bytes.HasPrefix(line, []byte("+")):
		line = line[1:]
	}
	e.trace(c, "->> ["+printable(line)+"]")
	if len(body) > 2 {
		e.traceBody(c, "->>", len(body)-2, body)
	}
}

// traceMsg logs what a subscription is sent of e.out.
func (e *Engine) traceMsg(s *subscription, plain bool) {
	m := &e.out
	head, tail, header, body := m.head, m.tail, m.header, m.body
	if plain {
		head, tail, header, body = m.plainHead, m.plainTail, 0, m.body[m.header:]
	}
	line := s.appendSID(append([]byte(nil), head...))
	line = append(line, tail[:len(tail)-2]...)
	e.trace(s.conn, "->> ["+printable(line)+"]")
	e.traceBody(s.conn, "->>", header, body)
}

// traceBody logs headers and payload of a message; body ends in CRLF.
func (e *Engine) traceBody(c *conn, arrow string, header int, body []byte) {
	if text := e.tracedBody(header, body[:len(body)-2]); text != "" {
		e.trace(c, arrow+text)
	}
}

// tracedBody is what a trace shows of headers and payload, empty where that is nothing.
func (e *Engine) tracedBody(header int, body []byte) string {
	if e.opts.TraceHeaders {
		body = bytes.TrimSuffix(body[:max(header, 0)], []byte("\r\n\r\n"))
	}
	if len(body) == 0 {
		return ""
	}
	more := ""
	if most := e.opts.MaxTraced; most > 0 && len(body) > most {
		body, more = body[:most], "..."
	}
	return " MSG_PAYLOAD: [" + strconv.Quote(string(body)+more) + "]"
}

// traceEnd logs that a subscription is gone, for whatever reason.
func (e *Engine) traceEnd(s *subscription) {
	e.trace(s.conn, "<-> [DELSUB "+printable([]byte(s.sid()))+"]")
}

// tracePost logs a message of the server's own.
func (e *Engine) tracePost(p *post) {
	line := "PUB " + p.subject + " " + p.reply + " " + strconv.Itoa(len(p.body)-2)
	e.logf(e.traceLevel(), "SYSTEM", "<<- ["+printable([]byte(line))+"]")
	if text := e.tracedBody(p.header, p.body[:len(p.body)-2]); text != "" {
		e.logf(e.traceLevel(), "SYSTEM", "<<-"+text)
	}
}

// secrets are the keys of CONNECT whose values are not logged.
var secrets = [...]string{"auth_token", "jwt", "nkey", "pass", "proxy_sig", "sig"}

// withoutSecrets returns the JSON of a CONNECT without what must not be logged, as the client wrote it otherwise.
func withoutSecrets(args []byte) []byte {
	unreadable := []byte("(not a JSON object)") // and might hold a secret all the same
	if !json.Valid(args) {
		return unreadable
	}
	d := json.NewDecoder(bytes.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return unreadable
	}
	var b []byte
	done := 0 // of args, in b
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return unreadable
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return unreadable
		}
		name, _ := key.(string) // an object has no other keys
		if !slices.ContainsFunc(secrets[:], func(s string) bool { return strings.EqualFold(s, name) }) {
			continue
		}
		end := int(d.InputOffset())
		b = append(append(b, args[done:end-len(value)]...), `"[REDACTED]"`...)
		done = end
	}
	return bytes.TrimSpace(append(b, args[done:]...))
}
