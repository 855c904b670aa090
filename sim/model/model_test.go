package model

import (
	"fmt"
	"strings"
	"testing"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		subj, pattern string
		want          bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"a.b", "a", false}, {"a.b", "a.*", true}, {"a.b", "*.b", true}, {"a.b", "*", false},
		{"a.b", ">", true}, {"a.b", "a.>", true}, {"a", "a.>", false}, {"a.b.c", "a.*.c", true}, {"a..c", "a.*.c", false}, {"", ">", false},
	} {
		if got := matches(c.subj, c.pattern); got != c.want {
			t.Errorf("matches(%q, %q) = %v", c.subj, c.pattern, got)
		}
	}
}

func TestRewriteAndUndo(t *testing.T) {
	for _, c := range []struct{ subj, source, template, want string }{
		{"a.b", "*.*", "$2.$1", "b.a"}, {"a.b.c", "a.>", "z.>", "z.b.c"}, {"a", "a", "b", "b"}, {"a.b", "*.b", "x.$1.y", "x.a.y"},
		{"a.>", "*.*", "$1.$2", "a.>"},
	} {
		got, ok := rewrite(c.subj, c.source, c.template)
		if !ok || got != c.want {
			t.Errorf("rewrite(%q, %q, %q) = %q, %v", c.subj, c.source, c.template, got, ok)
		}
		back, ok := undo(got, c.source, c.template)
		if !ok || back != c.subj {
			t.Errorf("undo(%q, %q, %q) = %q, %v", got, c.source, c.template, back, ok)
		}
	}
	if got, ok := rewrite("a.>", "*.*", "$2.$1"); ok {
		t.Errorf("a wildcard took a wildcard for a token: %q", got)
	}
	if _, ok := undo("b", "a", "z"); ok {
		t.Error("undone what the template does not make")
	}
}

func TestCoverAndMeet(t *testing.T) {
	for _, c := range []struct {
		a, b         string
		covers, meet bool
	}{
		{"a", ">", true, true}, {"*", "a", false, true}, {"a.*", "*.b", false, true}, {"a.*", "a.>", true, true},
		{"a.>", "a.*", false, true}, {"a", "b", false, false}, {"a.*", "a", false, false}, {">", ">", true, true},
	} {
		if got := coveredBy(c.a, c.b); got != c.covers {
			t.Errorf("coveredBy(%q, %q) = %v", c.a, c.b, got)
		}
		if got := Meet(c.a, c.b); got != c.meet {
			t.Errorf("Meet(%q, %q) = %v", c.a, c.b, got)
		}
	}
}

func testRules() *Rules {
	return &Rules{Accounts: []Account{
		{Name: "A", Exports: []Export{{Kind: Stream, Subject: "s.>"}, {Kind: Service, Subject: "req.*", Accounts: []string{"B"}}}},
		{Name: "B", Imports: []Import{{Kind: Stream, Account: "A", Subject: "s.*", Prefix: "im"}, {Kind: Service, Account: "A", Subject: "req.*", To: "ask.$1"}},
			Exports:  []Export{{Kind: Stream, Subject: "im.>"}},
			Mappings: []Mapping{{Subject: "m", Destinations: []Destination{{"ask.m", 60}, {"m", 10}}}, {Subject: "n", Destinations: []Destination{{"o", 30}}}}},
		{Name: "C", Imports: []Import{{Kind: Stream, Account: "B", Subject: "im.s.*", To: "c.$1"}, {Kind: Service, Account: "A", Subject: "req.*"}}},
	}}
}

func show(choices []Choice) string {
	var b strings.Builder
	for _, c := range choices {
		fmt.Fprintf(&b, "%d:", c.Weight)
		for _, e := range c.Entries {
			for _, l := range e.Leaves {
				fmt.Fprintf(&b, " %s/%s", l.Account, l.Subject)
			}
			b.WriteString(";")
		}
	}
	return b.String()
}

func TestRoutes(t *testing.T) {
	r := testRules()
	for _, c := range []struct{ account, subj, want string }{
		{"A", "x", "100: A/x;"},
		{"A", "s.1", "100: A/s.1 B/im.s.1 C/c.1;"},
		{"A", "s.1.2", "100: A/s.1.2;"},
		{"B", "im.s.1", "100: B/im.s.1 C/c.1;"},
		{"B", "ask.1", "100: B/ask.1; A/req.1;"},
		{"C", "req.1", "100: C/req.1;"}, // not exported to C
		{"B", "m", "60: B/ask.m; A/req.m;10: B/m;"},
		{"B", "n", "30: B/o;70: B/n;"},
	} {
		if got := show(r.Routes(c.account, c.subj)); got != c.want {
			t.Errorf("%s publishes %s: %s, want %s", c.account, c.subj, got, c.want)
		}
	}
}

func TestNarrowestExportDecides(t *testing.T) {
	a := &Account{Exports: []Export{
		{Kind: Service, Subject: ">"}, {Kind: Service, Subject: "a.*", Accounts: []string{"B"}}, {Kind: Service, Subject: "*.c"},
		{Kind: Service, Subject: "a.d"}, {Kind: Stream, Subject: "a.e"},
	}}
	for _, c := range []struct{ subj, to, by string }{
		{"a.b", "B", "a.*"}, {"a.b", "C", ""}, {"a.c", "C", ""}, {"a.c", "B", "a.*"}, {"b.c", "C", "*.c"}, {"a.d", "C", "a.d"}, {"a.>", "C", ">"}, {"a.e", "C", ""},
	} {
		by := ""
		if x := a.exports(&Import{Kind: Service, Subject: c.subj}, c.to); x != nil {
			by = x.Subject
		}
		if by != c.by {
			t.Errorf("%s imports %s by %q, want %q", c.to, c.subj, by, c.by)
		}
	}
}

// What crosses is mapped by the account that it comes into, by each on its way; what it drops reaches nobody there.
func TestRoutesAreMappedOnTheWay(t *testing.T) {
	r := &Rules{Accounts: []Account{
		{
			Name: "A", Exports: []Export{{Kind: Service, Subject: "q.*"}},
			Mappings: []Mapping{{Subject: "q.1", Destinations: []Destination{{"v", 33}, {"w", 33}}}, {Subject: "q.2", Destinations: []Destination{{"v", 30}, {"q.2", 10}}}},
		},
		{
			Name: "B", Exports: []Export{{Kind: Service, Subject: "p.*"}}, Imports: []Import{{Kind: Service, Account: "A", Subject: "q.*"}},
			Mappings: []Mapping{{Subject: "p.*", Destinations: []Destination{{"q.$1", 50}}}},
		},
		{Name: "C", Imports: []Import{{Kind: Service, Account: "B", Subject: "p.*"}}},
	}}
	for _, c := range []struct{ account, subj, want string }{
		{"B", "q.3", "100: B/q.3; A/q.3;"},
		{"B", "q.1", "33: B/q.1; A/v;33: B/q.1; A/w;34: B/q.1; A/q.1;"},
		{"B", "q.2", "30: B/q.2; A/v;10: B/q.2; A/q.2;60: B/q.2;"},
		{"C", "p.2", "15: C/p.2; B/q.2; A/v;5: C/p.2; B/q.2; A/q.2;30: C/p.2; B/q.2;50: C/p.2; B/p.2;"},
		{"C", "p.1", "16: C/p.1; B/q.1; A/v;16: C/p.1; B/q.1; A/w;18: C/p.1; B/q.1; A/q.1;50: C/p.1; B/p.1;"},
	} {
		if got := show(r.Routes(c.account, c.subj)); got != c.want {
			t.Errorf("%s publishes %s: %s, want %s", c.account, c.subj, got, c.want)
		}
	}
}

func TestPermissions(t *testing.T) {
	u := &User{May: &Permissions{
		Publish:   Lists{Allow: []string{"a.>", "b"}, Deny: []string{"a.x"}},
		Subscribe: Lists{Allow: []string{"*", "*.>", "w v1"}, Deny: []string{"d.>", "q g1"}},
	}}
	for subj, want := range map[string]bool{"a.b": true, "a.x": false, "b": true, "c": false, "a": false} { //natsd:orderfree each for itself
		if u.MayPublish(subj) != want {
			t.Errorf("publish %s: %v", subj, !want)
		}
	}
	for _, c := range []struct {
		pattern, queue string
		want           bool
	}{
		{"a", "", true}, {">", "", true}, {"d.x", "", false}, {"d.>", "", false}, {"d.*", "", false}, {"*.x", "", true},
		{"q", "", true}, {"q", "g1", false}, {"q", "g2", true}, {"w", "v1", true}, {"w", "v2", false}, {"w", "", true}, {">", "v2", false},
	} {
		if got := u.MaySubscribe(c.pattern, c.queue); got != c.want {
			t.Errorf("subscribe %q %q: %v", c.pattern, c.queue, got)
		}
	}
	if u.MayReceive("d.x", "") || !u.MayReceive("a", "") || u.MayReceive("q", "g1") || !u.MayReceive("q", "") {
		t.Error("a deny list keeps away what it does not name, or lets through what it does")
	}
	if !(&User{}).MaySubscribe(">", "") || !(&User{}).MayPublish("x") || !(&User{}).MayReceive("x", "") {
		t.Error("without permissions something is forbidden")
	}
}
