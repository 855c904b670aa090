package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/natsd/natsd/config"
)

// heard are the subjects of what the system's user was sent since it was last asked, and the bodies.
func (s *systemWorld) heard() (subjects, bodies []string) {
	for range 3 {
		s.w.settle(s.t, s.e)
		s.w.finishJobs(s.e)
	}
	s.w.settle(s.t, s.e)
	for _, m := range delivered(s.t, s.w.take(s.sys)) {
		if m.header == "" {
			subjects, bodies = append(subjects, strings.ReplaceAll(m.subject, s.id, "ID")), append(bodies, m.body)
		}
	}
	return subjects, bodies
}

func (s *systemWorld) events(what string, want ...string) {
	s.t.Helper()
	got, _ := s.heard()
	if strings.Join(got, " ") != strings.Join(want, " ") {
		s.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestEventsOfConnections(t *testing.T) {
	s := newSystem(t, Options{})
	come := []string{"$SYS.SERVER.ACCOUNT.A.CONNS", "$SYS.ACCOUNT.A.SERVER.CONNS", "$SYS.ACCOUNT.A.CONNECT"}
	raw := accept(s.e)
	s.events("an open connection")
	say(s.e, raw, "CONNECT {\"user\":\"a\",\"pass\":\"p\"}\r\n")
	s.events("CONNECT", come...)
	say(s.e, raw, "CONNECT {\"user\":\"a\",\"pass\":\"p\"}\r\nPING\r\n")
	s.events("the same CONNECT again")
	say(s.e, raw, "CONNECT {\"user\":\"b\",\"pass\":\"p\"}\r\n")
	s.events("CONNECT as another", "$SYS.SERVER.ACCOUNT.A.CONNS", "$SYS.ACCOUNT.A.SERVER.CONNS", "$SYS.SERVER.ACCOUNT.B.CONNS",
		"$SYS.ACCOUNT.B.SERVER.CONNS", "$SYS.ACCOUNT.B.CONNECT")
	turn(s.e, func() { s.e.EOF(raw) })
	s.events("end", "$SYS.SERVER.ACCOUNT.B.CONNS", "$SYS.ACCOUNT.B.SERVER.CONNS", "$SYS.ACCOUNT.B.DISCONNECT")
	raw = accept(s.e)
	say(s.e, raw, "PING\r\n")
	s.events("refused", "$SYS.SERVER.ID.CLIENT.AUTH.ERR", "$SYS.ACCOUNT.$G.DISCONNECT")
	raw = accept(s.e)
	turn(s.e, func() { s.e.Closed(raw, "reset") })
	s.events("gone", "$SYS.ACCOUNT.$G.DISCONNECT")
	for _, a := range s.e.accounts {
		if want := map[string]int{"SYS": 1}[a.name]; a.conns != want {
			t.Errorf("%s has %d connections, want %d", a.name, a.conns, want)
		}
	}
}

// What a connection has subscribed to is gone for those who count when it has closed, though it takes turns to remove it.
func TestClosedConnectionsAreNotCounted(t *testing.T) {
	s := newSystem(t, Options{})
	s.enter("a", "SUB y 1\r\n")
	var subs strings.Builder
	for i := range 5 * reapPerTurn {
		fmt.Fprintf(&subs, "SUB x.%d %d\r\n", i, i)
	}
	goes := s.enter("a", subs.String())
	s.heard()
	before := s.e.subscriptions()
	turn(s.e, func() { s.e.EOF(goes) })
	if len(s.e.reaping) == 0 {
		t.Fatal("all are removed at once")
	}
	if n := before - s.e.subscriptions(); n != 5*reapPerTurn {
		t.Errorf("%d less", n)
	}
	subjects, bodies := s.heard()
	if i := slices.Index(subjects, "$SYS.SERVER.ACCOUNT.A.CONNS"); i < 0 || !strings.Contains(bodies[i], `"num_subscriptions":1,`) {
		t.Errorf("%q: %q", subjects, bodies)
	}
}

// Many changes in a turn are told of once.
func TestConnsEventsAreBounded(t *testing.T) {
	s := newSystem(t, Options{})
	turn(s.e, func() {
		for range 100 {
			c := s.e.Accepted(clientListener, ConnInfo{IP: "127.0.0.1", Port: 5})
			s.e.Received(c, []byte("CONNECT {\"user\":\"a\",\"pass\":\"p\"}\r\n"))
		}
	})
	subjects, bodies := s.heard()
	count := map[string]int{}
	for i, subj := range subjects {
		if count[subj]++; subj == "$SYS.SERVER.ACCOUNT.A.CONNS" && !strings.Contains(bodies[i], `"conns":100,`) {
			t.Error(bodies[i])
		}
	}
	if count["$SYS.ACCOUNT.A.CONNECT"] != 100 || count["$SYS.SERVER.ACCOUNT.A.CONNS"] != 1 {
		t.Errorf("%v", count)
	}
	s.e.sys.dropped.n = 3
	turn(s.e, func() { s.e.publishOwn(s.e.system, "x", "", nil, nil) })
	s.w.settle(t, s.e)
	if !s.w.logged("3 events were lost") {
		t.Errorf("%q", s.w.log)
	}
}

// Where nobody listens, nothing is made.
func TestEventsNobodyHears(t *testing.T) {
	s := newSystem(t, Options{})
	say(s.e, s.sys, "UNSUB 1\r\n")
	said := s.e.sys.said
	for range 10 {
		s.enter("a", "")
	}
	s.w.advance(t, s.e, Instant(time.Minute))
	if s.e.sys.said != said {
		t.Errorf("%d were made", s.e.sys.said-said)
	}
}

func TestEventsAgainAndAgain(t *testing.T) {
	s := newSystem(t, Options{PingInterval: -1})
	at := func(d time.Duration, want ...string) {
		t.Helper()
		s.w.advance(t, s.e, 1+Instant(d)-(s.w.now-s.e.startMono))
		s.events(d.String(), want...)
	}
	const statsz = "$SYS.SERVER.ID.STATSZ"
	for _, d := range []time.Duration{250, 1250, 3250, 7250, 15250, 25250} {
		at(d*time.Millisecond - 2)
		at(d*time.Millisecond, statsz)
	}
	s.enter("a", "")
	s.heard()
	at(50*time.Second, "$SYS.SERVER.ACCOUNT.SYS.CONNS", "$SYS.ACCOUNT.SYS.SERVER.CONNS", statsz, statsz)
	at(56*time.Second, statsz, "$SYS.SERVER.ACCOUNT.A.CONNS", "$SYS.ACCOUNT.A.SERVER.CONNS")
}

// Other accounts hear nothing of it, and reach nothing but what is about themselves.
func TestSystemIsHidden(t *testing.T) {
	s := newSystem(t, Options{})
	b := s.enter("b", "SUB > 1\r\n")
	s.enter("a", "")
	say(s.e, b, "PUB x 2\r\nhi\r\n")
	gone := accept(s.e)
	turn(s.e, func() { s.e.EOF(gone) })
	s.w.advance(t, s.e, Instant(2*time.Minute))
	if got := strings.ReplaceAll(s.w.take(b), "PING\r\n", ""); got != "MSG x 1 2\r\nhi\r\n" {
		t.Errorf("%q", got)
	}
	b = s.enter("b", "SUB r 1\r\n")
	answers := map[string]bool{
		"$SYS.REQ.USER.INFO": true, "$SYS.REQ.ACCOUNT.PING.CONNZ": true, "$SYS.REQ.ACCOUNT.PING.STATZ": true,
		"$SYS.REQ.SERVER.PING.CONNZ": true, "$SYS.REQ.SERVER.PING": false, "$SYS.REQ.ACCOUNT.A.CONNZ": false,
		"$SYS.REQ.SERVER.PING.VARZ": false, "$SYS.REQ.ACCOUNT.A.INFO": false, "$SYS.REQ.SERVER." + s.id + ".KICK": false,
	}
	for _, subj := range slices.Sorted(maps.Keys(answers)) {
		answered := answers[subj]
		body := `{"acc":"A","accounts":["A","SYS"],"auth":true,"cid":1}`
		say(s.e, b, fmt.Sprintf("PUB %s r %d\r\n%s\r\n", subj, len(body), body))
		s.heard()
		got := s.w.take(b)
		if strings.HasPrefix(got, "MSG r") != answered {
			t.Errorf("%s: %q", subj, got)
		}
		if strings.Contains(got, `"account":"A"`) || strings.Contains(got, `"acc":"A"`) || strings.Contains(got, `"acc":"SYS"`) {
			t.Errorf("%s tells of others: %q", subj, got)
		}
	}
	s.w.advance(t, s.e, Instant(defaultThreshold)) // other servers might answer too
	s.noReplies()
}

// request asks as the system's user and returns the answer; "" if there is none.
func (s *systemWorld) request(subj, body string) string {
	say(s.e, s.sys, fmt.Sprintf("PUB %s _R %d\r\n%s\r\n", subj, len(body), body))
	subjects, bodies := s.heard()
	for i := range subjects {
		if subjects[i] == "_R" {
			return bodies[i]
		}
	}
	return ""
}

func TestServicesChooseServers(t *testing.T) {
	s := newSystem(t, Options{})
	answers := map[string]bool{
		"": true, "{}": true, "null": true, `{"server_name":"rv"}`: true, `{"server_name":"SRV"}`: false,
		`{"server_name":"srv","exact_match":true}`: false, `{"server_name":"srv1","exact_match":true}`: true,
		`{"host":"127"}`: true, `{"host":"127","exact_match":true}`: false, `{"cluster":"x"}`: false, `{"cluster":""}`: true,
		`{"tags":["X"]}`: true, `{"tags":["az:1","x"]}`: true, `{"tags":["az:1","q"]}`: false, `{"tags":["az"]}`: false,
		`{"domain":"d"}`: false, `{"limit":1}`: true,
	}
	for _, body := range slices.Sorted(maps.Keys(answers)) {
		answered := answers[body]
		for _, x := range []string{"PING", "PING.VARZ", "PING.CONNZ", s.id + ".STATSZ", s.id + ".RAFTZ"} {
			if got := s.request("$SYS.REQ.SERVER."+x, body); (got != "") != answered || strings.Contains(got, `"error"`) {
				t.Errorf("%s %s: %q", x, body, got)
			}
		}
	}
	if got := s.request("$SYS.REQ.SERVER.PING", "{bad"); !strings.Contains(got,
		`"error":{"code":400,"description":"invalid character 'b' looking for beginning of object key string"}`) {
		t.Errorf("%q", got)
	}
}

func TestServicesForOperators(t *testing.T) {
	s := newSystem(t, Options{})
	b := s.enter("b", "PING\r\n")
	cid := s.e.lookup(b).cid
	server := "$SYS.REQ.SERVER." + s.id
	if got := s.request(server+".LDM", fmt.Sprintf(`{"cid":%d}`, cid)); strings.Contains(got, "error") || got == "" {
		t.Errorf("LDM: %q", got)
	}
	if got := s.w.take(b); !strings.Contains(got, `"ldm":true`) {
		t.Errorf("%q", got)
	}
	if got := s.request(server+".KICK", fmt.Sprintf(`{"cid":%d}`, cid)); strings.Contains(got, "error") || got == "" {
		t.Errorf("KICK: %q", got)
	}
	if !s.w.fin[b] && !s.w.gone[b] {
		t.Error("the kicked client is still there")
	}
	answers := map[string]string{
		`{"user":"a","subject":"q"}`:             `"publish":{"allowed":false,"list":"publish.deny","rule":"q"}`,
		`{"user":"b","subject":"svc.x"}`:         `"goes":[{"kind":"service","from":"B"`,
		`{"account":"B","subject":"svc.x"}`:      `"goes":[{"kind":"service","from":"B"`,
		`{"user":"a","subject":"x","queue":"g"}`: `"queue":"g"`,
		`{"user":"nobody","subject":"x"}`:        `"error":{"code":500,"description":"there is no user \"nobody\""}`,
		`{"account":"N","subject":"x"}`:          `there is no account`,
		`{"user":"a","subject":"a..b"}`:          `is not a subject`,
		`{`:                                      `"error":{"code":400,"description":"the question is an object of strings, such as {`,
		`[1]`:                                    `"error":{"code":400,"description":"the question is an object of strings, such as {`,
		`{"user":1}`:                             `"error":{"code":400,"description":"the question is an object of strings, such as {`,
	}
	for _, question := range slices.Sorted(maps.Keys(answers)) {
		want := answers[question]
		if got := s.request(server+".EXPLAIN", question); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %s", question, got, want)
		}
	}
}

// rereader is an Operator that takes down what it is asked for.
type rereader struct{ asked []ReloadID }

func (r *rereader) Reload(id ReloadID) { r.asked = append(r.asked, id) }

func TestServiceReload(t *testing.T) {
	s := newSystem(t, Options{})
	subj := "$SYS.REQ.SERVER." + s.id + ".RELOAD"
	if got := s.request(subj, ""); !strings.Contains(got, `"code":500`) {
		t.Errorf("without a configuration: %q", got)
	}
	var r rereader
	s.e.env.Operator = &r
	for _, problem := range []string{"", "line 1: no"} {
		if got := s.request(subj, ""); got != "" || len(r.asked) != 1 {
			t.Fatalf("answered before it is over: %q", got)
		}
		turn(s.e, func() { s.e.Reloaded(r.asked[0], problem); s.e.Reloaded(r.asked[0], "again") })
		_, got := s.heard()
		if len(got) != 1 || strings.Contains(got[0], "error") != (problem != "") || !strings.Contains(got[0], problem) {
			t.Errorf("%q", got)
		}
		r.asked = nil
	}
}

// What is answered over several turns, and by jobs, is bounded, and everybody is answered.
func TestServicesWaitForEachOther(t *testing.T) {
	s := newSystem(t, Options{})
	const n = 10 * servicesMax
	say(s.e, s.sys, "UNSUB 1\r\n"+strings.Repeat("PUB $SYS.REQ.SERVER.PING.CONNZ _R 0\r\n\r\n", n))
	most := 0
	answers := 0
	for range 10 * n {
		s.w.settle(t, s.e)
		most = max(most, len(s.w.jobs)+len(s.e.queries))
		s.w.finishJobs(s.e)
		answers += strings.Count(s.w.take(s.sys), "MSG _R ")
	}
	if most > servicesMax || answers != n || s.e.sys.investigating != 0 {
		t.Errorf("%d at a time, %d answers, %d left", most, answers, s.e.sys.investigating)
	}
}

func TestAnswersAreCompressed(t *testing.T) {
	s := newSystem(t, Options{})
	answers := map[string]string{"gzip": "gzip", "Snappy, gzip": "snappy", "s2": "snappy", "br": "identity"}
	for _, accepted := range slices.Sorted(maps.Keys(answers)) {
		want := answers[accepted]
		h := "NATS/1.0\r\naccept-encoding: " + accepted + "\r\n\r\n"
		say(s.e, s.sys, fmt.Sprintf("UNSUB 1\r\nHPUB $SYS.REQ.SERVER.PING.VARZ _R %d %d\r\n%s\r\n", len(h), len(h), h))
		for range 3 {
			s.w.settle(t, s.e)
			s.w.finishJobs(s.e)
		}
		s.w.settle(t, s.e)
		got := s.w.take(s.sys)
		line, rest, _ := strings.Cut(got, "\r\n")
		var head, size int
		if _, err := fmt.Sscanf(line, "HMSG _R 2 %d %d", &head, &size); err != nil {
			t.Fatalf("%q", got)
		}
		if h := rest[:head]; h != "NATS/1.0\r\nContent-Encoding: "+want+"\r\n\r\n" {
			t.Errorf("%s: %q", accepted, h)
		}
		var r io.Reader = strings.NewReader(rest[head:size])
		switch want {
		case "gzip":
			var err error
			if r, err = gzip.NewReader(r); err != nil {
				t.Fatal(err)
			}
		case "snappy":
			r = s2.NewReader(r)
		}
		text, err := io.ReadAll(r)
		if err != nil || !json.Valid(text) || !bytes.Contains(text, []byte(`"server_name":"srv1"`)) {
			t.Errorf("%s: %q, %v", accepted, text, err)
		}
	}
}

// An account of the configuration may have something else in place of what is imported for it.
func TestSystemImportsGiveWay(t *testing.T) {
	const subj = "$SYS.REQ.USER.INFO"
	s := withAccounts(t, Options{},
		config.Account{Name: "A", Exports: exports(config.Service, subj)},
		config.Account{Name: "B", Imports: []config.Import{service("A", subj)}},
		config.Account{Name: "no.token"})
	a := s.join("A", "SUB "+subj+" 1\r\n")
	b := s.join("B", "")
	s.say(b, "PUB "+subj+" r 0\r\n\r\n")
	if got := s.w.take(a); !strings.Contains(got, "MSG "+subj) {
		t.Errorf("%q", got)
	}
	if n := len(s.e.byAccount["no.token"].def.services); n != 0 {
		t.Errorf("%d imports", n)
	}
}
