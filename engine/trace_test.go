package engine

import (
	"slices"
	"strings"
	"testing"
)

// traced plays what clients send, in order, and returns the lines, each client by its letter.
func traced(t *testing.T, o Options, script ...[2]string) []string {
	t.Helper()
	o.Trace = true
	e, w := started(t, o)
	at := len(w.log)
	clients := map[string]ConnID{}
	for _, step := range script {
		id, known := clients[step[0]]
		if !known {
			turn(e, func() { id = e.Accepted(clientListener, ConnInfo{IP: "127.0.0.1", Port: int(step[0][0])}) })
			clients[step[0]] = id
		}
		say(e, id, step[1])
	}
	var pairs []string
	for _, c := range e.conns {
		if c != nil {
			id, _, _ := strings.Cut(c.subject(), ` - "`)
			pairs = append(pairs, id, string(rune(c.port)))
		}
	}
	names := strings.NewReplacer(pairs...)
	var lines []string
	for _, l := range w.log[at:] {
		lines = append(lines, names.Replace(l))
	}
	return lines
}

// The lines are those that nats-server 2.15.2 wrote for the same bytes.
func TestTracesAreAsNatsServersAre(t *testing.T) {
	const long = "x\"y\n<\t"
	for _, c := range []struct {
		name   string
		o      Options
		script [][2]string
		want   []string
	}{
		{"the client's name", Options{}, [][2]string{
			{"A", `CONNECT {"verbose":false,"name":"nm","lang":"go","version":"1.2","pass":"sec","user":"usr"}` + "\r\nPING\r\n"},
			{"B", `CONNECT {"verbose":true,"pass" : "x","user":"u" , "pass":"y","jwt":""}` + "\r\n"},
			{"C", `CONNECT {"verbose":false,"version":"1.0"}` + "\r\nPING\r\n"},
			{"D", `CONNECT {"verbose":false,"name":"a\"b\nc"}` + "\r\nPING\r\n"},
		}, []string{
			`A <<- [CONNECT {"verbose":false,"name":"nm","lang":"go","version":"1.2","pass":"[REDACTED]","user":"usr"}]`,
			`A - "v1.2:go:nm" - "$G/user:usr" <<- [PING]`,
			`A - "v1.2:go:nm" - "$G/user:usr" ->> [PONG]`,
			`B <<- [CONNECT {"verbose":true,"pass" : "[REDACTED]","user":"u" , "pass":"[REDACTED]","jwt":"[REDACTED]"}]`,
			`B - "$G/user:u" ->> [OK]`,
			`C <<- [CONNECT {"verbose":false,"version":"1.0"}]`,
			`C - "v1.0" <<- [PING]`,
			`C - "v1.0" ->> [PONG]`,
			`D <<- [CONNECT {"verbose":false,"name":"a\"b\nc"}]`,
			`D - "a\"b\nc" <<- [PING]`,
			`D - "a\"b\nc" ->> [PONG]`,
		}},
		{"messages", Options{}, [][2]string{
			{"A", quietHeaders + "SUB foo 1\r\nSUB h.* q 3\r\n"},
			{"B", `CONNECT {"headers":true,"pedantic":false}` + "\r\nPUB foo 5\r\nhello\r\nPUB foo rep 3\r\nabc\r\nPUB foo 0\r\n\r\nPUB none 2\r\n\x01\xff\r\n"},
			{"B", "HPUB h.1 18 23\r\nNATS/1.0\r\nA: b\r\n\r\nhello\r\n"},
			{"B", "HPUB h.2 re 23 23\r\nNATS/1.0\r\nA: b\r\nC:d\r\n\r\n\r\n"},
			{"B", "PUB foo "}, {"B", "6\r\n" + long[:2]}, {"B", long[2:] + "\r\n"},
		}, []string{
			"A <<- [" + strings.TrimSuffix(quietHeaders, "\r\n") + "]",
			"A <<- [SUB foo 1]", "A <<- [SUB h.* q 3]",
			`B <<- [CONNECT {"headers":true,"pedantic":false}]`, "B ->> [OK]",
			"B <<- [PUB foo 5]", `B <<- MSG_PAYLOAD: ["hello"]`, "B ->> [OK]", "A ->> [MSG foo 1 5]", `A ->> MSG_PAYLOAD: ["hello"]`,
			"B <<- [PUB foo rep 3]", `B <<- MSG_PAYLOAD: ["abc"]`, "B ->> [OK]", "A ->> [MSG foo 1 rep 3]", `A ->> MSG_PAYLOAD: ["abc"]`,
			"B <<- [PUB foo 0]", "B ->> [OK]", "A ->> [MSG foo 1 0]",
			"B <<- [PUB none 2]", `B <<- MSG_PAYLOAD: ["\x01\xff"]`, "B ->> [OK]",
			"B <<- [HPUB h.1 18 23]", `B <<- MSG_PAYLOAD: ["NATS/1.0\r\nA: b\r\n\r\nhello"]`, "B ->> [OK]",
			"A ->> [HMSG h.1 3 18 23]", `A ->> MSG_PAYLOAD: ["NATS/1.0\r\nA: b\r\n\r\nhello"]`,
			"B <<- [HPUB h.2 re 23 23]", `B <<- MSG_PAYLOAD: ["NATS/1.0\r\nA: b\r\nC:d\r\n\r\n"]`, "B ->> [OK]",
			"A ->> [HMSG h.2 3 re 23 23]", `A ->> MSG_PAYLOAD: ["NATS/1.0\r\nA: b\r\nC:d\r\n\r\n"]`,
			"B <<- [PUB foo 6]", `B <<- MSG_PAYLOAD: ["x\"y\n<\t"]`, "B ->> [OK]", "A ->> [MSG foo 1 6]", `A ->> MSG_PAYLOAD: ["x\"y\n<\t"]`,
		}},
		{"the end of subscriptions", Options{}, [][2]string{
			{"A", quietHeaders + "SUB a 1\r\nSUB b 2\r\nUNSUB 2\r\nUNSUB 1 1\r\nPUB a 1\r\nx\r\nPUB a 1\r\ny\r\n"},
		}, []string{
			"A <<- [" + strings.TrimSuffix(quietHeaders, "\r\n") + "]",
			"A <<- [SUB a 1]", "A <<- [SUB b 2]", "A <<- [UNSUB 2]", "A <-> [DELSUB 2]", "A <<- [UNSUB 1 1]",
			"A <<- [PUB a 1]", `A <<- MSG_PAYLOAD: ["x"]`, "A ->> [MSG a 1 1]", `A ->> MSG_PAYLOAD: ["x"]`, "A <-> [DELSUB 1]",
			"A <<- [PUB a 1]", `A <<- MSG_PAYLOAD: ["y"]`,
		}},
		{"cut", Options{MaxTraced: 4}, [][2]string{
			{"A", quietHeaders + "SUB h 1\r\nHPUB h 18 23\r\nNATS/1.0\r\nA: b\r\n\r\nhello\r\nPUB n 4\r\nfour\r\n"},
		}, []string{
			"A <<- [" + strings.TrimSuffix(quietHeaders, "\r\n") + "]",
			"A <<- [SUB h 1]", "A <<- [HPUB h 18 23]", `A <<- MSG_PAYLOAD: ["NATS..."]`, "A ->> [HMSG h 1 18 23]", `A ->> MSG_PAYLOAD: ["NATS..."]`,
			"A <<- [PUB n 4]", `A <<- MSG_PAYLOAD: ["four"]`,
		}},
		{"headers", Options{TraceHeaders: true}, [][2]string{
			{"A", quietHeaders + "SUB h 1\r\nHPUB h 18 23\r\nNATS/1.0\r\nA: b\r\n\r\nhello\r\nPUB h 4\r\nfour\r\n"},
		}, []string{
			"A <<- [" + strings.TrimSuffix(quietHeaders, "\r\n") + "]",
			"A <<- [SUB h 1]", "A <<- [HPUB h 18 23]", `A <<- MSG_PAYLOAD: ["NATS/1.0\r\nA: b"]`,
			"A ->> [HMSG h 1 18 23]", `A ->> MSG_PAYLOAD: ["NATS/1.0\r\nA: b"]`,
			"A <<- [PUB h 4]", "A ->> [MSG h 1 4]",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := traced(t, c.o, c.script...)
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

const quietHeaders = `CONNECT {"verbose":false,"pedantic":false,"headers":true}` + "\r\n"

// A receiver without headers is shown with what it gets, and errors as they are sent.
func TestTracesOfWhatIsSent(t *testing.T) {
	got := traced(t, Options{}, [][2]string{
		{"A", "CONNECT {\"verbose\":false,\"headers\":false}\r\nSUB h 1\r\n"},
		{"B", quietHeaders + "HPUB h 18 23\r\nNATS/1.0\r\nA: b\r\n\r\nhello\r\nSUB . 1\r\n"},
		{"C", "CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\nSUB in 1\r\nPUB nobody in 0\r\n\r\n"},
	}...)
	for _, want := range []string{
		"A ->> [MSG h 1 5]", `A ->> MSG_PAYLOAD: ["hello"]`, "B ->> [-ERR Invalid Subject]",
		"C ->> [HMSG in 1 38 38]", `C ->> MSG_PAYLOAD: ["NATS/1.0 503\r\nNats-Subject: nobody\r\n\r\n"]`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing from\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// What the server publishes by itself is traced only where that was asked for.
func TestVerboseTraces(t *testing.T) {
	for _, verbose := range []bool{false, true} {
		e, w := started(t, Options{Trace: true, TraceVerbose: verbose})
		turn(e, func() { e.publishOwn(e.system, "own.event", "", nil, []byte("body")) })
		if w.logged("SYSTEM <<- [PUB own.event  4]") != verbose || w.logged(`SYSTEM <<- MSG_PAYLOAD: ["body"]`) != verbose {
			t.Errorf("verbose %v: %q", verbose, w.log)
		}
	}
}
