package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

// The counts are nats-server's, but for what a second space in a question means there.
func TestServicesCountSubscriptions(t *testing.T) {
	debug := config.Import{Kind: config.Service, Account: "SYS", Subject: "$SYS.DEBUG.SUBSCRIBERS"}
	onward := debug
	onward.Account = "A"
	s := withAccounts(t, Options{SystemAccount: config.Located{Text: "SYS"}},
		config.Account{Name: "A", Imports: []config.Import{debug}, Exports: append(exports(config.Stream, "st.>"), exports(config.Service, debug.Subject)...)},
		config.Account{Name: "B", Imports: []config.Import{debug, {Kind: config.Stream, Account: "A", Subject: "st.>"}}},
		config.Account{Name: "C", Imports: []config.Import{onward}},
		config.Account{Name: "SYS", Exports: exports(config.Service, debug.Subject)})
	a := s.join("A", "SUB foo 1\r\nSUB foo q 2\r\nSUB foo q 3\r\nSUB foo r 4\r\nSUB foo.* 5\r\nSUB bar.> 6\r\nSUB r 7\r\n")
	b := s.join("B", "SUB st.1 1\r\nSUB st.1 v 2\r\nSUB r 7\r\n")
	c := s.join("C", "SUB x 1\r\nSUB r 7\r\n")
	sys := s.join("SYS", "SUB r 7\r\n")
	ask := func(who ConnID, subj, body string) string {
		t.Helper()
		s.say(who, fmt.Sprintf("PUB %s r %d\r\n%s\r\n", subj, len(body), body))
		for range 3 {
			s.w.settle(t, s.e)
			s.w.finishJobs(s.e)
		}
		s.w.settle(t, s.e)
		got := s.w.take(who)
		if got == "" {
			return ""
		}
		n, ok := strings.CutPrefix(got, "MSG r 7 1\r\n")
		if !ok {
			t.Errorf("%s %q: %q", subj, body, got)
		}
		return strings.TrimSpace(n)
	}
	for who, want := range map[ConnID]map[string]string{ //natsd:orderfree each is asked by itself
		a: {"": "0", " ": "0", "foo": "4", "foo q": "2", "foo  q": "2", "foo r": "1", "foo s": "0", "foo q x": "2", "  foo\n": "4",
			"foo.bar": "1", "foo.*": "1", "foo.>": "1", "*": "5", "* q": "2", "bar.*.y": "0", "bar.x.y": "1", "bar.>": "1",
			"st.1": "2", "st.*": "2", "st.> v": "1", "foo..": "0", ".foo": "0", ">": "9", "$SYS.>": "0", "$SYS.REQ.USER.INFO": "0"},
		b:   {"foo": "0", "st.1": "2", ">": "3"},
		c:   {"foo": "4", "x": "0"}, // A's service, so A's subscriptions
		sys: {"foo": "0", ">": "1"},
	} {
		for _, body := range slices.Sorted(maps.Keys(want)) {
			if got := ask(who, debug.Subject, body); got != want[body] {
				t.Errorf("%q: %s, want %s", body, got, want[body])
			}
		}
	}
	for body, want := range map[string]string{ //natsd:orderfree each is asked by itself
		`{"acc":"A","subject":"foo"}`: "4", `{"acc":"A","subject":"foo","queue":"cQ=="}`: "2", `{"acc":"A","subject":"foo.>"}`: "1",
		`{"acc":"N","subject":"foo"}`: "", `{"acc":"A"}`: "0", `{"subject":"foo"}`: "", `{"acc":"$G","subject":">"}`: "", "x": "", "": "",
		`{"acc":"A","subject":"foo","queue":"?"}`: "",
	} {
		if got := ask(sys, "$SYS.REQ.ACCOUNT.NSUBS", body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	s.noReplies()
}

// A count takes turns like all else that looks at everything.
func TestCountsAreSliced(t *testing.T) {
	s := withAccounts(t, Options{}, config.Account{Name: "A"})
	var subs strings.Builder
	const n = 20 * queryPerTurn
	for i := range n {
		fmt.Fprintf(&subs, "SUB s.%d %d\r\n", i, i)
	}
	s.join("A", subs.String())
	for s.e.byAccount["A"].subs.Count() < n {
		turn(s.e, func() {})
	}
	q := &countQuery{account: s.e.byAccount["A"], subject: []byte("s.*")}
	steps := 1
	turn(s.e, func() {
		for q.step(s.e, queryPerTurn) == queryGoesOn {
			steps++
		}
	})
	if q.count != n || steps < n/queryPerTurn {
		t.Errorf("%d in %d steps", q.count, steps)
	}
}
