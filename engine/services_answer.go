package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"

	"github.com/klauspost/compress/s2"

	"github.com/natsd/natsd/monitor"
	"github.com/natsd/natsd/wire"
)

// investigation is a question that a call asks and that takes more than a turn to answer: first the engine looks at
// everything, a slice in each turn, then a job makes the text. It is the job.
type investigation struct {
	call  *call
	query query // nil: the answer needs nothing of the engine
	part  part

	answer   monitor.Answer
	server   json.RawMessage
	encoding string // that the asker accepts
	header   []byte
	text     []byte
}

// part picks what is told out of the body of an answer; nil: there is nothing to be told.
type part func(body any) any

func whole(body any) any { return body }

// investigate answers a call with the part of the answer to q, when it is its turn.
func (e *Engine) investigate(k *call, q monitor.Question, p part) {
	e.enqueueInvestigation(&investigation{call: k, query: e.newQuery(q), part: p})
}

func (e *Engine) enqueueInvestigation(i *investigation) {
	if e.sys.investigating >= servicesMax {
		e.sys.waiting.push(i.call.behalf, i, 0)
		return
	}
	e.sys.investigating++
	e.begin(i)
}

func (e *Engine) begin(i *investigation) {
	i.encoding = strings.ToLower(headerValue(i.call.header, "Accept-Encoding"))
	if i.query == nil {
		i.server = e.identity()
		e.submit(i)
		return
	}
	e.queries = append(e.queries, pendingQuery{i.query, func(e *Engine, a monitor.Answer) {
		i.answer, i.server = a, e.identity()
		e.submit(i)
	}})
}

func (i *investigation) run() {
	body, err := i.answer.Body()
	if body = i.part(body); err == nil && body == nil {
		return
	}
	if text, ok := body.(verbatim); ok {
		i.text = text
		return
	}
	v := &envelope{Server: i.server, Data: json.RawMessage("null")}
	if err == nil {
		v.Data, err = json.Marshal(body)
	}
	if err != nil {
		v.Data, v.Error = json.RawMessage("null"), &serviceError{500, err.Error()}
	}
	i.text, i.header = compressed(mustJSON(v), i.encoding)
}

func (i *investigation) done(e *Engine) {
	if i.text != nil {
		e.respond(i.call, i.header, i.text)
	}
	_, next, ok := e.sys.waiting.pop()
	if !ok {
		e.sys.investigating--
		return
	}
	e.begin(next)
}

// compressed returns the text as the asker likes it best, and the header that says how.
func compressed(text []byte, accepted string) (out, header []byte) {
	if accepted == "" {
		return text, nil
	}
	var b bytes.Buffer
	encoding := "identity"
	switch {
	case strings.Contains(accepted, "snappy"), strings.Contains(accepted, "s2"):
		encoding = "snappy"
		w := s2.NewWriter(&b, s2.WriterSnappyCompat(), s2.WriterConcurrency(1))
		_, err := w.Write(text)
		if err == nil {
			err = w.Close()
		}
		mustWrite(err)
	case strings.Contains(accepted, "gzip"):
		encoding = "gzip"
		w := gzip.NewWriter(&b)
		_, err := w.Write(text)
		if err == nil {
			err = w.Close()
		}
		mustWrite(err)
	default:
		b.Write(text)
	}
	return b.Bytes(), []byte(wire.HeaderLine + "\r\nContent-Encoding: " + encoding + "\r\n\r\n")
}

// mustWrite panics if a write to memory failed.
func mustWrite(err error) {
	if err != nil {
		panic("engine: memory can always be written to: " + err.Error())
	}
}
