package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/config"
)

// jsonPaths adds the paths in a value, with their types.
func jsonPaths(path string, v any, to map[string]bool) {
	kind := ""
	switch v := v.(type) {
	case nil:
		kind = "null"
	case bool:
		kind = "bool"
	case float64:
		kind = "number"
	case string:
		kind = "string"
	case []any:
		kind = "array"
		for _, x := range v {
			jsonPaths(path+"[]", x, to)
		}
	case map[string]any:
		kind = "object"
		for k, x := range v { //natsd:orderfree it fills a set
			jsonPaths(path+"."+k, x, to)
		}
	}
	if path == "" {
		path = "."
	}
	to[path+" "+kind] = true
}

// recorded reads testdata/system/paths.txt.
func recorded(t *testing.T) map[string]map[string]bool {
	text, err := os.ReadFile("testdata/system/paths.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]bool{}
	var at map[string]bool
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if label, ok := strings.CutPrefix(line, "== "); ok {
			at = map[string]bool{}
			all[label] = at
			continue
		}
		at[line] = true
	}
	return all
}

// otherwise are the differences that are meant: paths that natsd has besides, or does not have.
var otherwise = []string{
	`\.natsd `, `\.longest_turn_ns `, `\.most_turn_cpu_ns `, `\.turns `, `\.turn_time_ns `, `\.lame_duck_mode `, // natsd's own
	`\.(cluster|gateway|leaf|mqtt|websocket|jetstream|metadata)\b`, // what is not there yet
	`\.tls_`, `\.disk_`, `\.config_digest`,
	`responses\.`,                    // requests under way
	`^\.data\.git_commit `,           // of the build
	`\.stalls? `,                     // only where there are any
	`^\.data\.feature_flags`,         // told of with the server
	`\.subscriptions_list\[\]\.max `, // of auto-unsubscribe, where there is one
}

// delivery is a message as a client got it.
type delivery struct{ subject, header, body string }

// delivered finds the messages in what a client was sent.
func delivered(t *testing.T, text string) []delivery {
	all, err := parseDelivered(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func parseDelivered(text string) (all []delivery, err error) {
	for text != "" {
		line, rest, _ := strings.Cut(text, "\r\n")
		text = rest
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "MSG" && f[0] != "HMSG" {
			continue
		}
		size, err := strconv.Atoi(f[len(f)-1])
		head := 0
		if f[0] == "HMSG" && err == nil {
			head, err = strconv.Atoi(f[len(f)-2])
		}
		if err != nil || size+2 > len(text) {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		all = append(all, delivery{f[1], text[:head], text[head:size]})
		text = text[size+2:]
	}
	return all, nil
}

type systemWorld struct {
	*tenants
	saw map[string]map[string]bool
	id  string
	sys ConnID
}

var wireID = regexp.MustCompile(`\bN[A-Z2-7]{55}\b`)

// hear takes down what a connection was sent; label names the answers on _R.
func (s *systemWorld) hear(c ConnID, label string) {
	s.t.Helper()
	for range 4 {
		s.w.settle(s.t, s.e)
		s.w.finishJobs(s.e)
	}
	s.w.settle(s.t, s.e)
	for _, m := range delivered(s.t, s.w.take(c)) {
		what := "event " + m.subject
		if m.subject == "_R" {
			what = label
		} else if m.header != "" || strings.HasPrefix(m.subject, "$SYS.REQ") || !strings.HasPrefix(m.subject, "$SYS") {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(m.body), &v); err != nil {
			s.t.Errorf("%s: %q: %v", what, m.body, err)
			continue
		}
		what = wireID.ReplaceAllString(what, "<ID>")
		if s.saw[what] == nil {
			s.saw[what] = map[string]bool{}
		}
		jsonPaths("", v, s.saw[what])
	}
}

// asks plays the question that a label stands for.
func (s *systemWorld) asks(label string, conns map[string]ConnID) {
	who, question, _ := strings.Cut(label, " asks ")
	subj, body, _ := strings.Cut(question, " ")
	subj = strings.Replace(subj, "<ID>", s.id, 1)
	if strings.Contains(body, "CID") {
		body = strings.Replace(body, "CID", fmt.Sprint(s.e.lookup(conns["b"]).cid), 1)
	}
	c := conns[who]
	say(s.e, c, fmt.Sprintf("PUB %s _R %d\r\n%s\r\n", subj, len(body), body))
	s.hear(c, label)
	if c != s.sys {
		s.hear(s.sys, "")
	}
}

func systemAccounts() []config.Account {
	text := func(s ...string) (l []config.Subject) {
		for _, x := range s {
			l = append(l, config.Subject{Text: x})
		}
		return l
	}
	perms := &config.Permissions{
		Publish: &config.SubjectPermission{Allow: text(">"), Deny: text("q")}, Subscribe: &config.SubjectPermission{Allow: text(">"), Deny: text("x")},
		AllowResponses: &config.ResponsePermission{Max: 3, Expires: 5 * time.Second},
	}
	return []config.Account{
		{Name: "A", Users: []config.User{{Name: "a", Password: "p", Permissions: perms}}, Exports: append(exports(config.Service, "svc.>"), exports(config.Stream, "ev.>")...)},
		{Name: "B", Users: []config.User{{Name: "b", Password: "p"}}, Imports: []config.Import{
			service("A", "svc.x"), {Kind: config.Stream, Account: "A", Subject: "ev.>"},
		}},
		{Name: "SYS", Users: []config.User{{Name: "s", Password: "p"}}},
	}
}

// newSystem starts an engine with a user of its system account who listens to everything.
func newSystem(t *testing.T, o Options) *systemWorld {
	o.Accounts, o.SystemAccount, o.ServerName, o.Host, o.Tags = systemAccounts(), config.Located{Text: "SYS"}, "srv1", "127.0.0.1", []string{"az:1", "x"}
	e, w := started(t, o)
	s := &systemWorld{tenants: &tenants{t: t, e: e, w: w}, saw: map[string]map[string]bool{}, id: e.info.ServerID}
	s.sys = s.enter("s", "SUB $SYS.> 1\r\nSUB _R 2\r\n")
	return s
}

// enter connects a user.
func (s *systemWorld) enter(name, more string) ConnID {
	c := accept(s.e)
	say(s.e, c, `CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"user":"`+name+`","pass":"p","name":"n","lang":"go","version":"1"}`+"\r\n"+more)
	s.w.settle(s.t, s.e)
	s.w.take(c)
	return c
}

// Every event and every answer has the fields that nats-server's has.
func TestSystemIsLikeReference(t *testing.T) {
	want := recorded(t)
	s := newSystem(t, Options{})
	conns := map[string]ConnID{"s": s.sys}
	conns["a"] = s.enter("a", "SUB foo 1\r\nSUB bar.* q 2\r\nUNSUB 2 5\r\nSUB _R 3\r\n")
	conns["b"] = s.enter("b", "SUB _R 3\r\n")
	bad := accept(s.e)
	say(s.e, bad, "CONNECT {\"user\":\"a\",\"pass\":\"bad\"}\r\n")
	s.hear(s.sys, "")
	s.w.advance(t, s.e, Instant(300*time.Millisecond))
	labels := slices.Sorted(maps.Keys(want))
	slices.SortStableFunc(labels, func(x, y string) int { // those that end something come last
		ends := func(l string) int { return strings.Count(l, "CID") }
		return ends(x) - ends(y)
	})
	for _, l := range labels {
		if strings.Contains(l, " asks ") {
			s.asks(l, conns)
		}
	}
	turn(s.e, func() { s.e.EOF(conns["a"]) })
	s.hear(s.sys, "")
	turn(s.e, s.e.LameDuck)
	s.hear(s.sys, "")
	turn(s.e, s.e.Stop)
	s.hear(s.sys, "")
	if len(s.saw["event $SYS.SERVER.<ID>.SHUTDOWN"]) == 0 {
		t.Error("the end is not told of")
	}
	meant := regexp.MustCompile(strings.Join(otherwise, "|"))
	for _, l := range labels {
		got := s.saw[l]
		if got == nil {
			t.Errorf("%s: nothing", l)
			continue
		}
		for _, p := range slices.Sorted(maps.Keys(want[l])) {
			if !got[p] && !meant.MatchString(p) {
				t.Errorf("%s: %s is missing", l, p)
			}
		}
		for _, p := range slices.Sorted(maps.Keys(got)) {
			if !want[l][p] && !meant.MatchString(p) {
				t.Errorf("%s: %s is too many", l, p)
			}
		}
	}
}
