package permission

import (
	"encoding/json"
	"fmt"
	"testing"
)

// compile compiles a spec that must be right.
func compile(t testing.TB, spec Spec) *Set {
	t.Helper()
	s, err := Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRulesRefused has nats-server's words.
func TestRulesRefused(t *testing.T) {
	for _, c := range []struct {
		subscribe  bool
		rule, want string
	}{
		{false, "foo bar", `subject "foo bar" is not a valid subject`},
		{false, "foo..x", `subject "foo..x" is not a valid subject`},
		{false, "", `subject "" is not a valid subject`},
		{true, "foo q r", `subject "foo q r" is not a valid subject`},
		{true, " foo", `subject " foo" is not a valid subject`},
		{true, "foo. q", `subject "foo." is not a valid subject`},
		{true, "foo q.", `queue "q." is not a valid queue`},
		{true, "foo q..r", `queue "q..r" is not a valid queue`},
		{true, "foo .q", `queue ".q" is not a valid queue`},
		{true, "foo >.q", `queue ">.q" is not a valid queue`},
	} {
		if err := CheckRule(c.rule, c.subscribe); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.rule, err, c.want)
		}
		spec := Spec{Publish: Lists{Deny: []string{"ok", c.rule}}}
		if c.subscribe {
			spec = Spec{Subscribe: Lists{Allow: []string{"ok", c.rule}}}
		}
		if _, err := Compile(spec); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.rule, err, c.want)
		}
	}
	for _, rule := range []string{"foo", "foo.*", "foo.>", "foo q", "foo  q", "foo\tq", " foo q", "foo q ", "foo q*", "> *.prod"} {
		if err := CheckRule(rule, true); err != nil {
			t.Error(err)
		}
	}
}

// TestDescription: what monitoring shows is what was configured, and changing
// it changes nothing.
func TestDescription(t *testing.T) {
	spec := Spec{Publish: Lists{Allow: []string{"a", "b.>"}}, Subscribe: Lists{Deny: []string{"> *.prod"}}, Responses: &ResponseLimit{Max: 5}}
	s := compile(t, spec)
	spec.Publish.Allow[0] = "changed"
	s.Spec().Subscribe.Deny[0] = "changed"
	s.Spec().Responses.Max = 9
	text, err := json.Marshal(s.Spec())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"publish":{"allow":["a","b.\u003e"]},"subscribe":{"deny":["\u003e *.prod"]},"responses":{"max":5,"ttl":120000000000}}`
	if string(text) != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
	if text, err := json.Marshal(Spec{}); err != nil || string(text) != `{"publish":{},"subscribe":{}}` {
		t.Errorf("nothing is shown as %s, %v", text, err)
	}
	if limit, ok := s.Responses(); !ok || limit.Max != 5 || limit.Expires != ResponseExpiresDefault {
		t.Errorf("responses %+v, %v", limit, ok)
	}
	if s.Unlimited() || !compile(t, Spec{Publish: Lists{Allow: []string{}}}).Unlimited() ||
		compile(t, Spec{Responses: &ResponseLimit{}}).Unlimited() {
		t.Error("Unlimited is wrong")
	}
}

func TestExplain(t *testing.T) {
	s := compile(t, Spec{
		Publish:   Lists{Allow: []string{"orders.>", "ping"}, Deny: []string{"orders.*.secret"}},
		Subscribe: Lists{Allow: []string{"*", "*.>", "jobs w.*"}, Deny: []string{"audit.>", "> *.prod"}},
	})
	for _, c := range []struct {
		subject string
		want    Explanation
	}{
		{"orders.eu.new", Explanation{Allowed: true, List: "publish.allow", Rule: "orders.>"}},
		{"orders.eu.secret", Explanation{List: "publish.deny", Rule: "orders.*.secret"}},
		{"other", Explanation{List: "publish.allow"}},
		{"orders..x", Explanation{List: "publish.allow"}},
	} {
		if got := s.ExplainPublish([]byte(c.subject)); got != c.want {
			t.Errorf("publish %q: %+v, want %+v", c.subject, got, c.want)
		}
	}
	for _, c := range []struct {
		subject, queue string
		want           Explanation
	}{
		{">", "", Explanation{Allowed: true, List: "subscribe.allow", Rule: "*.>", Filter: "audit.>"}},
		{"audit.x", "", Explanation{List: "subscribe.deny", Rule: "audit.>"}},
		{"x", "a.prod", Explanation{List: "subscribe.deny", Rule: "> *.prod"}},
		{"jobs", "w.1", Explanation{Allowed: true, List: "subscribe.allow", Rule: "jobs w.*"}},
		{"jobs", "v", Explanation{List: "subscribe.allow", Rule: "jobs w.*"}},
		{"*", "v", Explanation{List: "subscribe.allow", Rule: "jobs w.*"}},
	} {
		if got := s.ExplainSubscribe([]byte(c.subject), []byte(c.queue)); got != c.want {
			t.Errorf("subscribe %q %q: %+v, want %+v", c.subject, c.queue, got, c.want)
		}
	}
	open := compile(t, Spec{})
	if got := open.ExplainPublish([]byte("x")); got != (Explanation{Allowed: true}) {
		t.Errorf("without lists: %+v", got)
	}
	closed := compile(t, Spec{Publish: Lists{Deny: []string{"y"}}, Responses: &ResponseLimit{}})
	if got := closed.ExplainPublish([]byte("x")); got != (Explanation{List: "responses"}) {
		t.Errorf("with responses: %+v", got)
	}
}

// TestViolations has the texts of nats-server, odd bytes included.
func TestViolations(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{string(AppendPublishViolation(nil, []byte("foo"))), `Permissions Violation for Publish to "foo"`},
		{string(AppendPublishViolation(nil, []byte(`x"y`))), `Permissions Violation for Publish to "x\"y"`},
		{string(AppendPublishViolation(nil, []byte("é"))), `Permissions Violation for Publish to "é"`},
		{string(AppendSubscribeViolation(nil, []byte("foo"), nil)), `Permissions Violation for Subscription to "foo"`},
		{string(AppendSubscribeViolation(nil, []byte("\xe9"), []byte("q\xff"))), `Permissions Violation for Subscription to "\xe9" using queue "q\xff"`},
		{string(AppendPublishLog(nil, []byte("zz.1"))), `Publish Violation - Subject "zz.1"`},
		{string(AppendSubscribeLog(nil, []byte("x"), nil, []byte("1"))), `Subscription Violation - Subject "x", SID 1`},
		{string(AppendSubscribeLog(nil, []byte("x"), []byte("q"), []byte("2"))), `Subscription Violation - Subject "x", Queue: "q", SID 2`},
	} {
		if c.got != c.want {
			t.Errorf("got %s\nwant %s", c.got, c.want)
		}
	}
}

// TestOddSubjects: subjects that a client may send although nothing can match them.
func TestOddSubjects(t *testing.T) {
	s := compile(t, Spec{Publish: Lists{Allow: []string{"a.*", "b.>", "a.b.c"}, Deny: []string{"a.>"}}})
	for subj, want := range map[string]bool{ //natsd:orderfree each is asked about alone
		"a.*": false, "b.*": true, "b.>": true, "a..b": false, "b..b": false, "b.": false, "a.>": false, "": false, ".": false,
	} {
		if got := s.CanPublish([]byte(subj)); got != want {
			t.Errorf("%q: %v", subj, got)
		}
	}
	s = compile(t, Spec{Subscribe: Lists{Allow: []string{"a *"}, Deny: []string{"a *.x"}}})
	for queue, want := range map[string]Verdict{"*": Allowed, "q.": Denied, ".q": Denied, ".x": Denied, "q*": Allowed} { //natsd:orderfree alone
		if got := s.CanSubscribe([]byte("a"), []byte(queue)); got != want {
			t.Errorf("queue %q: %d", queue, got)
		}
	}
}

// large returns lists of n entries each.
func large(n int) Spec {
	var spec Spec
	for i := range n {
		spec.Publish.Allow = append(spec.Publish.Allow, fmt.Sprintf("tenant.%d.orders.*", i))
		spec.Publish.Deny = append(spec.Publish.Deny, fmt.Sprintf("tenant.%d.orders.secret", i))
		spec.Subscribe.Allow = append(spec.Subscribe.Allow, fmt.Sprintf("tenant.%d.>", i), fmt.Sprintf("jobs w%d", i))
		spec.Subscribe.Deny = append(spec.Subscribe.Deny, fmt.Sprintf("tenant.*.hidden.%d", i))
	}
	return spec
}

// questions are the questions about large lists, as they come to a server.
func questions(s *Set) []struct {
	name string
	ask  func() bool
} {
	order, inbox := []byte("tenant.777.orders.new"), []byte("tenant.777.hidden.8")
	all, jobs, w := []byte("tenant.777.>"), []byte("jobs"), []byte("w777")
	return []struct {
		name string
		ask  func() bool
	}{
		{"CanPublish", func() bool { return s.CanPublish(order) }},
		{"MayDeliver", func() bool { return s.MayDeliver(nil, order) && !s.MayDeliver(w, inbox) }},
		{"CanSubscribe", func() bool { return s.CanSubscribe(order, nil) == Allowed }},
		{"CanSubscribeQueue", func() bool { return s.CanSubscribe(jobs, w) == Allowed }},
		{"CanSubscribeWildcard", func() bool { return s.CanSubscribe(all, w) == Filtered }},
	}
}

func TestAnswersAllocateNothing(t *testing.T) {
	s := compile(t, large(1000))
	for _, q := range questions(s) {
		if n := testing.AllocsPerRun(50, func() {
			if !q.ask() {
				t.Fatalf("%s: wrong answer", q.name)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", q.name, n)
		}
	}
}

func BenchmarkSmall(b *testing.B) {
	s := compile(b, Spec{Publish: Lists{Allow: []string{"orders.>", "_INBOX.>"}, Deny: []string{"orders.secret.>"}}})
	subj := []byte("orders.europe.customer-1234567.created")
	b.ReportAllocs()
	for b.Loop() {
		s.CanPublish(subj)
	}
}

func BenchmarkLarge(b *testing.B) {
	s := compile(b, large(10_000))
	for _, q := range questions(s) {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q.ask()
			}
		})
	}
	spec := large(10_000)
	b.Run("Compile", func(b *testing.B) {
		for b.Loop() {
			compile(b, spec)
		}
	})
}
