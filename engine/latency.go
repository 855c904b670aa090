package engine

import (
	"strconv"
	"strings"
	"time"

	"github.com/natsd/natsd/wire"
)

// An account may have its services measured: how long a part of the requests from other accounts took is published in it. The
// fields, their order and the status codes are nats-server's.

const typeLatency = "io.nats.server.metric.v1.service_latency"

// latencyMetric is what is published.
type latencyMetric struct {
	Type      string              `json:"type"`
	ID        string              `json:"id"`
	Time      string              `json:"timestamp"`
	Status    int                 `json:"status"`
	Error     string              `json:"description,omitempty"`
	Requestor requestInfo         `json:"requestor"`
	Responder *requestInfo        `json:"responder,omitempty"`
	Header    map[string][]string `json:"header,omitempty"`
	Start     string              `json:"start"`
	Service   int64               `json:"service"` // nanoseconds, without the way to both
	System    int64               `json:"system"`  // in the server
	Total     int64               `json:"total"`   // as the requestor sees it
}

// measurement is of a request under way.
type measurement struct {
	from  requestInfo
	at    Instant // of the request
	start WallTime
	trace map[string][]string // what of its header asked for it
}

// latencyStatus is how a request ended.
type latencyStatus int

const (
	latencyOK          latencyStatus = 200
	latencyBadRequest  latencyStatus = 400 // it has no reply subject
	latencyAbandoned   latencyStatus = 408 // the requestor has gone
	latencyUnavailable latencyStatus = 503 // nobody got it
	latencyTimeout     latencyStatus = 504
)

var latencyTexts = map[latencyStatus]string{
	latencyBadRequest: "Bad Request", latencyAbandoned: "Request Timeout", latencyUnavailable: "Service Unavailable",
	latencyTimeout: "Service Timeout",
}

// measure begins to measure e.out, a request that crosses by x, if it is one of those to be measured; nil: it is not. The measurement
// says all of who asks if both the account of that one and the import of x share it.
func (e *Engine) measure(x *crossing) *measurement {
	im := x.service
	l, m := im.export.Latency, &e.out
	var trace map[string][]string
	switch {
	case l == nil:
		return nil
	case l.Sampling == 0:
		if trace = sampledBy(m.body[:m.header]); trace == nil {
			return nil
		}
	case l.Sampling < 100 && e.rng.IntN(100) >= l.Sampling:
		return nil
	}
	trip := m.from.roundTrip()
	shared, _ := m.shared(x)
	y := &measurement{from: e.who(m.from, shared && im.share), at: e.now - trip, start: e.wall - WallTime(trip), trace: trace}
	if len(m.reply) == 0 {
		e.measured(im.export, y, latencyBadRequest, nil)
		return nil
	}
	return y
}

// measured publishes a measurement that has come to its end, by an answer of from or without one.
func (e *Engine) measured(ex *export, x *measurement, status latencyStatus, from *conn) {
	if x == nil || ex.Latency == nil {
		return
	}
	m := &latencyMetric{
		Type: typeLatency, ID: e.sys.ids.make(), Time: e.wall.time().Format(time.RFC3339Nano), Status: int(status),
		Error: latencyTexts[status], Requestor: x.from, Header: x.trace, Start: x.start.time().Format(time.RFC3339Nano),
	}
	if from != nil {
		who := e.who(from, true)
		m.Responder = &who
		m.Total = int64(e.now - x.at)
		m.Service = max(m.Total-x.from.RTT-who.RTT, 0)
	}
	e.sayIn(ex.account, ex.Latency.Subject, func(*Engine) []byte { return mustJSON(m) })
}

// sampledBy returns those lines of a header block by which a trace asks that the request be measured; nil if it does not. It
// understands the headers of Jaeger, Zipkin and the W3C, in this order: the first of them that is there decides.
func sampledBy(block []byte) map[string][]string {
	if len(block) == 0 {
		return nil
	}
	h := map[string][]string{}
	for line := range strings.SplitSeq(strings.TrimPrefix(string(block), wire.HeaderLine+"\r\n"), "\r\n") {
		if k, v, ok := strings.Cut(line, ":"); ok {
			k = canonicalKey(k)
			h[k] = append(h[k], strings.TrimSpace(v))
		}
	}
	switch {
	case h["Uber-Trace-Id"] != nil:
		parts := strings.Split(h["Uber-Trace-Id"][0], ":")
		return pick(h, len(parts) == 4 && odd(parts[3]), func(k string) bool { return k == "Uber-Trace-Id" || strings.HasPrefix(k, "Uberctx-") })
	case h["X-B3-Sampled"] != nil || h["X-B3-Traceid"] != nil:
		sampled := h["X-B3-Sampled"] == nil || h["X-B3-Sampled"][0] == "1"
		return pick(h, sampled, func(k string) bool {
			return k == "X-B3-Sampled" || k == "X-B3-Traceid" || k == "X-B3-Parentspanid" || k == "X-B3-Spanid"
		})
	case h["B3"] != nil:
		parts := strings.Split(h["B3"][0], "-")
		state := ""
		if n := len(parts); n == 1 || n > 2 {
			state = parts[min(n-1, 2)]
		}
		return pick(h, state != "0", func(k string) bool { return k == "B3" })
	case h["Traceparent"] != nil:
		parts := strings.Split(h["Traceparent"][0], "-")
		return pick(h, len(parts) == 4 && len(parts[3]) == 2 && odd(parts[3]), func(k string) bool { return k == "Traceparent" || k == "Tracestate" })
	}
	return nil
}

// canonicalKey writes the words of a header key with a capital letter each.
func canonicalKey(key string) string {
	b := []byte(key)
	begin := true
	for i, c := range b {
		if begin && c >= 'a' && c <= 'z' || !begin && c >= 'A' && c <= 'Z' {
			b[i] = c ^ 0x20
		}
		begin = c == '-'
	}
	return string(b)
}

// odd reports whether the last bit of a hexadecimal number is set.
func odd(hex string) bool {
	n, err := strconv.ParseUint(hex, 16, 64)
	return err == nil && n&1 == 1
}

// pick returns the lines that belong to a trace, if it is sampled.
func pick(h map[string][]string, sampled bool, belongs func(key string) bool) map[string][]string {
	if !sampled {
		return nil
	}
	for k := range h { //natsd:orderfree each goes or stays for itself
		if !belongs(k) {
			delete(h, k)
		}
	}
	return h
}
