package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/config"
)

// measuredAccounts are an account whose services are measured, and one that uses them.
func measuredAccounts(sampling int, more ...func(*config.Import)) []config.Account {
	x := exports(config.Service, "svc")
	x[0].Latency = &config.Latency{Sampling: sampling, Subject: "lat"}
	x[0].ResponseThreshold = time.Second
	return []config.Account{{Name: "A", Exports: x}, {Name: "B", Imports: []config.Import{service("A", "svc", more...)}}}
}

func TestLatency(t *testing.T) {
	const (
		alone = `"requestor":{"acc":"B","rtt":1}`
		full  = `"requestor":{"start":"1970-01-01T00:00:00.000000001Z","host":"127.0.0.1","id":2,"acc":"B","rtt":1,"server":"n","kind":"Client","client_type":"nats"}`
		by    = `"responder":{"start":"1970-01-01T00:00:00.000000001Z","host":"127.0.0.1","id":1,"acc":"A","rtt":1,"server":"n","kind":"Client","client_type":"nats"}`
		begin = `"start":"1970-01-01T00:00:00Z"`
		none  = `"service":0,"system":0,"total":0}`
	)
	for _, c := range []struct {
		name  string
		share bool
		play  func(s *tenants, a, b ConnID)
		want  string
	}{
		{"answered", false, func(s *tenants, a, b ConnID) {
			s.say(b, "PUB svc r 0\r\n\r\n")
			_, reply := s.replySubject(a)
			s.w.now += 100
			s.say(a, "PUB "+reply+" 0\r\n\r\n")
		}, `"status":200,` + alone + `,` + by + `,` + begin + `,"service":99,"system":0,"total":101}`},
		{"shared", true, func(s *tenants, a, b ConnID) {
			s.say(b, "PUB svc r 0\r\n\r\n")
			_, reply := s.replySubject(a)
			s.say(a, "PUB "+reply+" 0\r\n\r\n")
		}, `"status":200,` + full + `,` + by + `,` + begin + `,"service":0,"system":0,"total":1}`},
		{"without reply", false, func(s *tenants, a, b ConnID) { s.say(b, "PUB svc 0\r\n\r\n") },
			`"status":400,"description":"Bad Request",` + alone + `,` + begin + `,` + none},
		{"abandoned", false, func(s *tenants, a, b ConnID) {
			s.say(b, "PUB svc r 0\r\n\r\n")
			turn(s.e, func() { s.e.EOF(b) })
		}, `"status":408,"description":"Request Timeout",` + alone + `,` + begin + `,` + none},
		{"nobody there", false, func(s *tenants, a, b ConnID) {
			s.say(a, "UNSUB 1\r\n")
			s.say(b, "PUB svc r 0\r\n\r\n")
		}, `"status":503,"description":"Service Unavailable",` + alone + `,` + begin + `,` + none},
		{"in vain", false, func(s *tenants, a, b ConnID) {
			s.say(b, "PUB svc r 0\r\n\r\n")
			s.w.advance(s.t, s.e, Instant(time.Second))
		}, `"status":504,"description":"Service Timeout",` + alone + `,` + begin + `,` + none},
	} {
		var more []func(*config.Import)
		if c.share {
			more = append(more, shared)
		}
		s := withAccounts(t, Options{ServerName: "n"}, measuredAccounts(100, more...)...)
		a, b := s.join("A", "SUB svc 1\r\n"), s.join("B", "SUB r 1\r\n")
		watch := s.join("A", "SUB lat 2\r\n")
		c.play(s, a, b)
		s.w.settle(t, s.e)
		all := delivered(t, s.w.take(watch))
		if len(all) != 1 || !strings.HasPrefix(all[0].body, `{"type":"io.nats.server.metric.v1.service_latency","id":"`) || !strings.HasSuffix(all[0].body, c.want) {
			t.Errorf("%s: %q, want %s", c.name, all, c.want)
		}
		s.noReplies()
	}
}

// The headers and what nats-server made of each of them.
func TestSampledBy(t *testing.T) {
	for _, c := range []struct{ header, want string }{
		{"", ""},
		{"x: y", ""},
		{"traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01|tracestate: a=b|baggage: x",
			"map[Traceparent:[00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01] Tracestate:[a=b]]"},
		{"traceparent: a-b-c-02", ""},
		{"traceparent: a-b-c-1", ""},
		{"traceparent: a-b-c-d-01", ""},
		{"traceparent: 00-zz-zz-0b", "map[Traceparent:[00-zz-zz-0b]]"},
		{"traceparent: garbage", ""},
		{"Uber-Trace-Id: 1:2:3:1|Uberctx-X: y|uberctx-z: 3|Jaeger-x: 1", "map[Uber-Trace-Id:[1:2:3:1] Uberctx-X:[y] Uberctx-Z:[3]]"},
		{"Uber-Trace-Id: 1:2:3:f", "map[Uber-Trace-Id:[1:2:3:f]]"},
		{"Uber-Trace-Id: 1:2:3", ""},
		{"Uber-Trace-Id: 1:2:3:x", ""},
		{"Uber-Trace-Id: 1:2:3:0|traceparent: a-b-c-01", ""},
		{"X-B3-Sampled: 0|Uber-Trace-Id: 1:2:3:1", "map[Uber-Trace-Id:[1:2:3:1]]"},
		{"X-B3-Flags: 1", ""},
		{"X-B3-SpanId: 1", ""},
		{"X-B3-Sampled: true", ""},
		{"X-B3-TraceId: 1|X-B3-Flags: 1|X-B3-Sampled: 1", "map[X-B3-Sampled:[1] X-B3-Traceid:[1]]"},
		{"X-B3-TraceId: 80f1|X-B3-Sampled: 0", ""},
		{"X-B3-TraceId: 1|B3: 0", "map[X-B3-Traceid:[1]]"},
		{"X-B3-Sampled: 1|X-B3-Sampled: 0", "map[X-B3-Sampled:[1 0]]"},
		{"B3: d", "map[B3:[d]]"},
		{"B3: ", "map[B3:[]]"},
		{"B3: 0", ""},
		{"b3: a-b", "map[B3:[a-b]]"},
		{"B3: a-b-0-d", ""},
		{"B3: a-b-true", "map[B3:[a-b-true]]"},
		{"B3: 1|traceparent: a-b-c-01", "map[B3:[1]]"},
	} {
		block := ""
		if c.header != "" {
			block = "NATS/1.0\r\n" + strings.ReplaceAll(c.header, "|", "\r\n") + "\r\n\r\n"
		}
		got := ""
		if m := sampledBy([]byte(block)); m != nil {
			got = fmt.Sprint(m)
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.header, got, c.want)
		}
	}
}

// A part of the requests is measured, or those whose headers ask for it; nothing is where nobody listens.
func TestLatencySampling(t *testing.T) {
	for _, c := range []struct{ sampling, least, most int }{{100, 400, 400}, {50, 150, 250}, {1, 0, 20}, {0, 0, 0}} {
		s := withAccounts(t, Options{}, measuredAccounts(c.sampling)...)
		b := s.join("B", "")
		watch := s.join("A", "SUB lat 2\r\n")
		s.say(b, strings.Repeat("PUB svc 0\r\n\r\n", 400))
		if n := strings.Count(s.w.take(watch), "MSG lat"); n < c.least || n > c.most {
			t.Errorf("%d%%: %d of 400", c.sampling, n)
		}
		h := "NATS/1.0\r\nB3: 1\r\n\r\n"
		s.say(b, fmt.Sprintf("HPUB svc %d %d\r\n%s\r\n", len(h), len(h), h))
		if got := s.w.take(watch); c.sampling == 0 && !strings.Contains(got, `"header":{"B3":["1"]}`) {
			t.Errorf("%q", got)
		}
		s.say(watch, "UNSUB 2\r\n")
		s.say(b, "PUB svc 0\r\n\r\n")
		if s.e.internalDue() {
			t.Error("a measurement that nobody hears")
		}
	}
}
