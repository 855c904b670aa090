package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

// wishWorld is a server whose log is kept by level.
type wishWorld struct {
	*systemWorld
	lines []string // "TRACE who text", since they were taken last
}

// Log implements Log.
func (w *wishWorld) Log(l Level, subject, text string) {
	if name := map[Level]string{LevelDebugWished: "debug", LevelTraceWished: "trace", LevelDebug: "DEBUG", LevelTrace: "TRACE"}[l]; name != "" {
		who, _, _ := strings.Cut(subject, ` - "`)
		if _, cid, named := strings.Cut(who, "cid:"); named {
			who = cid
		}
		w.lines = append(w.lines, name+" "+who+" "+text)
	}
}

func newWishes(t *testing.T, o Options) *wishWorld {
	w := &wishWorld{systemWorld: newSystem(t, o)}
	w.e.env.Log = w
	return w
}

// wish asks for lines, and returns the answer without who gave it.
func (w *wishWorld) wish(body string) string {
	w.t.Helper()
	got := w.request("$SYS.REQ.SERVER."+w.id+".TRACE", body)
	if i := strings.LastIndex(got, `},"data":`); i >= 0 {
		return strings.TrimSuffix(got[i+len(`},"data":`):], "}")
	}
	i := strings.LastIndex(got, `"error":`)
	if i < 0 {
		w.t.Fatalf("%s: %q", body, got)
	}
	return strings.TrimSuffix(got[i+len(`"error":`):], "}")
}

// wished is the answer where so much is logged.
func wishedNow(conns, accounts string) string {
	return `{"server":{"trace":false,"verbose":false,"debug":false},"connections":[` + conns + `],"accounts":[` + accounts + `]}`
}

func (w *wishWorld) logs(what string, want ...string) {
	w.t.Helper()
	w.heard()
	if !slices.Equal(w.lines, want) {
		w.t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(w.lines, "\n"), strings.Join(want, "\n"))
	}
	w.lines = nil
}

func (w *wishWorld) cid(c ConnID) string { return fmt.Sprint(w.e.lookup(c).cid) }

func TestTraceOfOneConnection(t *testing.T) {
	w := newWishes(t, Options{})
	b, other := w.enter("b", "SUB foo 1\r\n"), w.enter("b", "SUB foo 1\r\n")
	n := w.cid(b)
	w.logs("before")
	if got, want := w.wish(`{"cid":`+n+`}`), wishedNow(`{"cid":`+n+`,"trace":true,"verbose":false,"debug":false}`, ""); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	say(w.e, b, "SUB a.* 2\r\nUNSUB 2\r\nPING\r\n")
	say(w.e, other, "PUB foo re 2\r\nhi\r\nHPUB foo 18 20\r\nNATS/1.0\r\nA: b\r\n\r\nho\r\nSUB . 4\r\n")
	say(w.e, b, "PUB foo 3\r\nown\r\nSUB . 3\r\n")
	w.logs("traced",
		"trace "+n+" <<- [SUB a.* 2]", "trace "+n+" <<- [UNSUB 2]", "trace "+n+" <-> [DELSUB 2]", "trace "+n+" <<- [PING]", "trace "+n+" ->> [PONG]",
		"trace "+n+" ->> [MSG foo 1 re 2]", "trace "+n+` ->> MSG_PAYLOAD: ["hi"]`,
		"trace "+n+" ->> [HMSG foo 1 18 20]", "trace "+n+` ->> MSG_PAYLOAD: ["NATS/1.0\r\nA: b\r\n\r\nho"]`,
		"trace "+n+" <<- [PUB foo 3]", "trace "+n+` <<- MSG_PAYLOAD: ["own"]`, "trace "+n+" ->> [MSG foo 1 3]", "trace "+n+` ->> MSG_PAYLOAD: ["own"]`,
		"trace "+n+" <<- [SUB . 3]", "trace "+n+" ->> [-ERR Invalid Subject]",
	)
	if got := w.wish(`{"cid":` + n + `,"off":true}`); got != wishedNow("", "") {
		t.Error(got)
	}
	say(w.e, b, "PING\r\n")
	w.logs("off")
	if w.e.traces || w.wish("") != wishedNow("", "") {
		t.Error("something is traced")
	}
}

// The lines of a traced connection are those that it has where everything is traced.
func TestTraceOfOneIsThatOfAll(t *testing.T) {
	play := func(all bool) []string {
		w := newWishes(t, Options{Trace: all, Debug: all})
		a, b := w.enter("a", "SUB svc.x 1\r\nSUB ev.> 2\r\n"), w.enter("b", "SUB in 1\r\nSUB ev.> 2\r\n")
		n := w.cid(b)
		if w.wish(`{"cid":` + n + `,"debug":true}`); all {
			w.wish(`{"off":true}`)
		}
		w.lines = nil
		say(w.e, b, "PUB svc.x in 1\r\nq\r\nPUB nobody in 0\r\n\r\nPUB n")
		say(w.e, a, "PUB ev.1 2\r\nxy\r\nPUB ev.2 0\r\n\r\n")
		say(w.e, b, "o 1\r\n1\r\nUNSUB 1 7\r\nCONNECT {\"verbose\":true,\"user\":\"b\",\"pass\":\"p\"}\r\nPING\r\nNONSENSE\r\n")
		w.heard()
		var own []string
		for _, l := range w.lines {
			if strings.Contains(l, " "+n+" ") {
				own = append(own, strings.ToLower(l))
			}
		}
		return own
	}
	one, all := play(false), play(true)
	if !slices.Equal(one, all) || len(one) < 20 || !strings.Contains(strings.Join(one, "\n"), "debug") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(one, "\n"), strings.Join(all, "\n"))
	}
}

// It ends with the connection, whose last subscription is told of yet.
func TestTraceEndsWithItsConnection(t *testing.T) {
	w := newWishes(t, Options{})
	b := w.enter("b", "SUB x 1\r\nSUB y 2\r\n")
	n := w.cid(b)
	w.wish(`{"cid":` + n + `,"debug":true}`)
	turn(w.e, func() { w.e.EOF(b) })
	w.logs("end", "debug "+n+" Client connection closed: Client Closed", "trace "+n+" <-> [DELSUB 2]", "trace "+n+" <-> [DELSUB 1]")
	if w.e.traces || w.wish("{}") != wishedNow("", "") {
		t.Error("something is traced")
	}
	bare := w.enter("b", "")
	w.wish(`{"cid":` + w.cid(bare) + `}`)
	turn(w.e, func() { w.e.EOF(bare) })
	if w.heard(); w.e.traces {
		t.Error("something is traced")
	}
}

// One of an account is about connections that are in it, and about those that come, from their login on.
func TestTraceOfAnAccount(t *testing.T) {
	w := newWishes(t, Options{})
	a := w.enter("a", "")
	before := w.enter("b", "")
	n := w.cid(before)
	one := `{"account":"B","trace":true,"verbose":true,"debug":true}`
	if got := w.wish(`{"account":"B","debug":true,"verbose":true}`); got != wishedNow("", one) {
		t.Error(got)
	}
	say(w.e, a, "SUB other 1\r\nPUB ev.x 1\r\nx\r\n")
	say(w.e, before, "SUB ev.> 1\r\n")
	say(w.e, a, "PUB ev.x 1\r\nx\r\n")
	later := w.enter("b", "SUB y 1\r\n")
	turn(w.e, func() { w.e.publishOwn(w.e.byAccount["A"], "own", "", nil, []byte("1")) })
	turn(w.e, func() { w.e.publishOwn(w.e.byAccount["B"], "own", "", nil, []byte("2")) })
	turn(w.e, func() { w.e.EOF(later) })
	m := fmt.Sprint(w.e.nextCID)
	w.logs("traced", "trace "+n+" <<- [SUB ev.> 1]", "trace "+n+" ->> [MSG ev.x 1 1]", "trace "+n+` ->> MSG_PAYLOAD: ["x"]`,
		"trace "+m+" <<- [SUB y 1]", "trace SYSTEM <<- [PUB own  1]", `trace SYSTEM <<- MSG_PAYLOAD: ["2"]`,
		"debug "+m+" Client connection closed: Client Closed", "trace "+m+" <-> [DELSUB 1]")
	guest := w.enter("nobody", "PING\r\n")
	say(w.e, before, "CONNECT {\"verbose\":false,\"user\":\"a\",\"pass\":\"p\"}\r\nPING\r\n")
	w.logs("as another", `trace `+n+` <<- [CONNECT {"verbose":false,"user":"a","pass":"[REDACTED]"}]`)
	if _, here := w.w.sent[guest]; !here {
		t.Error("nobody was not turned away")
	}
}

// What the server itself publishes in the account of a connection, its debug lines alone, and another wish in the place of one.
func TestKindsOfTraces(t *testing.T) {
	w := newWishes(t, Options{})
	b := w.enter("b", "")
	n := w.cid(b)
	own := func() { w.e.publishOwn(w.e.byAccount["B"], "own", "", nil, nil) }
	w.wish(`{"cid":` + n + `,"verbose":true}`)
	turn(w.e, own)
	w.logs("verbose", "trace SYSTEM <<- [PUB own  0]")
	if got := w.wish(`{"cid":` + n + `,"trace":false,"debug":true}`); got != wishedNow(`{"cid":`+n+`,"trace":false,"verbose":false,"debug":true}`, "") {
		t.Error(got)
	}
	turn(w.e, own)
	say(w.e, b, "PING\r\n")
	w.logs("debug only")
	turn(w.e, func() { w.e.Closed(b, "reset") })
	w.logs("broken", "debug "+n+" Client connection broke: reset", "debug "+n+" Client connection closed: Read Error")
}

func TestTraceRequestsThatAreWrong(t *testing.T) {
	w := newWishes(t, Options{})
	n := w.cid(w.enter("b", ""))
	for body, want := range map[string]string{
		`{`:                               `{"code":400,"description":"the request is an object such as {`,
		`[1]`:                             `{"code":400,"description":"the request is an object such as {`,
		`{"acc":"A"}`:                     `{"code":400,"description":"the request is an object such as {`,
		`{"cid":"1"}`:                     `{"code":400,"description":"the request is an object such as {`,
		`{"cid":-1}`:                      `{"code":400,"description":"the request is an object such as {`,
		`{"account":"B"} x`:               `{"code":400,"description":"the request is an object such as {`,
		`{"cid":99}`:                      `{"code":500,"description":"there is no connection 99"}`,
		`{"cid":99,"off":true}`:           `{"code":500,"description":"there is no connection 99"}`,
		`{"account":"N"}`:                 `{"code":500,"description":"there is no account \"N\""}`,
		`{"cid":1,"account":"B"}`:         `{"code":400,"description":"the request names a connection or an account, not both"}`,
		`{"debug":true}`:                  `{"code":400,"description":"the request names neither a connection (cid) nor an account"}`,
		`{"cid":` + n + `,"trace":false}`: `{"code":400,"description":"\"trace\": false leaves nothing to be logged`,
	} { //natsd:orderfree nothing comes of any of them
		if got := w.wish(body); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	if w.e.traces {
		t.Error("something is traced")
	}
}

func TestTracesAreBounded(t *testing.T) {
	w := newWishes(t, Options{})
	var last ConnID
	for i := range wishesMax {
		last = w.enter("b", "")
		w.wish(`{"cid":` + w.cid(last) + `}`)
		if got := strings.Count(w.wish(""), `"cid"`); got != i+1 {
			t.Fatalf("%d are traced, want %d", got, i+1)
		}
	}
	full := `{"code":500,"description":"64 connections and accounts are traced, and more can't be: end one of them first"}`
	for _, body := range []string{`{"cid":` + w.cid(w.enter("b", "")) + `}`, `{"account":"B"}`} {
		if got := w.wish(body); got != full {
			t.Errorf("%s: %s", body, got)
		}
	}
	if got := w.wish(`{"cid":` + w.cid(last) + `,"debug":true}`); strings.Contains(got, "code") {
		t.Error("one can't be changed: " + got)
	}
	w.wish(`{"cid":` + w.cid(last) + `,"off":true}`)
	if got := w.wish(`{"account":"B"}`); !strings.Contains(got, `{"account":"B","trace":true,`) {
		t.Error(got)
	}
	if got := w.wish(`{"off":true}`); got != wishedNow("", "") || w.e.traces {
		t.Error(got)
	}
}

// A reload changes what is traced by the configuration, and nothing else.
func TestTracesStayOverReloads(t *testing.T) {
	w := newWishes(t, Options{})
	b := w.enter("b", "")
	n := w.cid(b)
	w.wish(`{"cid":` + w.cid(w.sys) + `,"trace":false,"debug":true}`)
	w.wish(`{"account":"B"}`)
	reload := func(change func(*Options)) {
		t.Helper()
		o := w.e.opts
		o.Accounts = systemAccounts()
		change(&o)
		turn(w.e, func() {
			if names := w.e.Reload(o); len(names) > 0 {
				t.Fatal(names)
			}
		})
		w.heard()
		w.lines = nil
	}
	ping := func(what, want string) {
		t.Helper()
		say(w.e, b, "PING\r\n")
		w.logs(what, want+" "+n+" <<- [PING]", want+" "+n+" ->> [PONG]")
	}
	reload(func(*Options) {})
	ping("the same", "trace")
	reload(func(o *Options) { o.Trace = true })
	ping("with trace", "TRACE")
	reload(func(o *Options) { o.Trace = false })
	ping("without", "trace")
	reload(func(o *Options) {
		o.Accounts = slices.DeleteFunc(o.Accounts, func(a config.Account) bool { return a.Name == "B" })
	})
	if got := w.wish(""); !strings.Contains(got, `"accounts":[{"account":"B",`) || !strings.Contains(got, `"connections":[{"cid":`) {
		t.Error(got)
	}
	reload(func(*Options) {})
	w.lines = nil
	b = w.enter("b", "")
	n = w.cid(b)
	ping("the account is back", "trace")
	reload(func(o *Options) {
		o.Accounts = slices.DeleteFunc(o.Accounts, func(a config.Account) bool { return a.Name == "B" })
	})
	if got := w.wish(`{"account":"B","off":true}`); !strings.Contains(got, `"accounts":[]`) {
		t.Error(got)
	}
	if got := w.wish(`{"account":"B"}`); !strings.Contains(got, "there is no account") {
		t.Error(got)
	}
}
