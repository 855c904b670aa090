package engine

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/natsd/natsd/config"
)

// tenants is an engine with accounts, and connections in them.
type tenants struct {
	t *testing.T
	e *Engine
	w *fakeWorld
}

func withAccounts(t *testing.T, o Options, accounts ...config.Account) *tenants {
	t.Helper()
	for _, err := range CheckAccounts(accounts, config.Located{}) {
		t.Fatal(err)
	}
	o.Accounts = accounts
	e, w := started(t, o)
	return &tenants{t: t, e: e, w: w}
}

func (s *tenants) enforce(accounts ...config.Account) {
	s.t.Helper()
	r := draftRules(accounts, s.e.opts.SystemAccount)
	for _, err := range r.problems {
		s.t.Fatal(err)
	}
	turn(s.e, func() { s.e.enforce(r) })
}

// join connects to an account.
func (s *tenants) join(account, more string) ConnID {
	s.t.Helper()
	id := accept(s.e)
	turn(s.e, func() { s.e.bind(s.e.lookup(id), s.e.byAccount[account]) })
	say(s.e, id, "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true}\r\n"+more)
	s.w.take(id)
	return id
}

func (s *tenants) say(c ConnID, text string) {
	s.t.Helper()
	say(s.e, c, text)
	s.w.settle(s.t, s.e)
}

func (s *tenants) got(c ConnID, want string) {
	s.t.Helper()
	if got := s.w.take(c); got != want {
		s.t.Fatalf("got\n%q, want\n%q", got, want)
	}
}

// replySubject takes what c was sent and returns it with the reply subjects of other accounts replaced, and these.
func (s *tenants) replySubject(c ConnID) (text, reply string) {
	text = s.w.take(c)
	re := regexp.MustCompile(`_R_\.[0-9A-Za-z]{6}\.[0-9A-Za-z]{11}`)
	return re.ReplaceAllString(text, "REPLY"), re.FindString(text)
}

func stream(account, subject string, more ...func(*config.Import)) config.Import {
	im := config.Import{Kind: config.Stream, Account: account, Subject: subject}
	for _, f := range more {
		f(&im)
	}
	return im
}

func service(account, subject string, more ...func(*config.Import)) config.Import {
	im := stream(account, subject, more...)
	im.Kind = config.Service
	return im
}

func to(subject string) func(*config.Import) { return func(im *config.Import) { im.To = subject } }
func prefixed(prefix string) func(*config.Import) {
	return func(im *config.Import) { im.Prefix = prefix }
}
func shared(im *config.Import) { im.Share = true }

func exports(kind config.ExportKind, subjects ...string) (l []config.Export) {
	for _, s := range subjects {
		l = append(l, config.Export{Kind: kind, Subject: s, Public: true})
	}
	return l
}

func TestAccountsAreIsolated(t *testing.T) {
	s := withAccounts(t, Options{}, config.Account{Name: "A"}, config.Account{Name: "B"})
	a, b := s.join("A", "SUB > 1\r\n"), s.join("B", "SUB > 1\r\n")
	s.say(a, "PUB x 1\r\na\r\nPUB _R_.x.y 1\r\na\r\n")
	s.got(a, "MSG x 1 1\r\na\r\nMSG _R_.x.y 1 1\r\na\r\n")
	s.got(b, "")
}

func TestStreamImport(t *testing.T) {
	s := withAccounts(t, Options{},
		config.Account{Name: "A", Exports: exports(config.Stream, "s.>")},
		config.Account{Name: "B", Imports: []config.Import{stream("A", "s.>", prefixed("imp"))}, Exports: exports(config.Stream, "imp.>")},
		config.Account{Name: "C", Imports: []config.Import{stream("B", "imp.s.*")}})
	a := s.join("A", "SUB s.* 1\r\n")
	b := s.join("B", "SUB imp.s.1 1\r\nSUB > 2\r\nSUB *.s.1 3\r\nSUB s.1 4\r\n")
	c := s.join("C", "SUB imp.> 7\r\n")
	p := s.join("A", "")
	s.say(p, "PUB s.1 reply 2\r\nhi\r\nHPUB s.2 22 24\r\nNATS/1.0\r\nFoo: bar\r\n\r\nhi\r\nPUB t 0\r\n\r\n")
	s.got(a, "MSG s.1 1 reply 2\r\nhi\r\nHMSG s.2 1 22 24\r\nNATS/1.0\r\nFoo: bar\r\n\r\nhi\r\n")
	s.got(b, "MSG imp.s.1 1 reply 2\r\nhi\r\nMSG imp.s.1 3 reply 2\r\nhi\r\nMSG imp.s.1 2 reply 2\r\nhi\r\n"+
		"HMSG imp.s.2 2 22 24\r\nNATS/1.0\r\nFoo: bar\r\n\r\nhi\r\n")
	s.got(c, "MSG imp.s.1 7 reply 2\r\nhi\r\nHMSG imp.s.2 7 22 24\r\nNATS/1.0\r\nFoo: bar\r\n\r\nhi\r\n")
	// What is published under the local name stays here.
	s.say(b, "UNSUB 2\r\nUNSUB 3\r\nPUB imp.s.1 1\r\nx\r\n")
	s.got(b, "MSG imp.s.1 1 1\r\nx\r\n")
	s.got(a, "")
	s.got(c, "MSG imp.s.1 7 1\r\nx\r\n")
	// Shadows count towards the max of their subscription.
	s.say(b, "UNSUB 1 3\r\n")
	s.say(p, "PUB s.1 1\r\n1\r\nPUB s.1 1\r\n2\r\n")
	s.got(b, "MSG imp.s.1 1 1\r\n1\r\n")
	// Gone, they leave nothing.
	for _, id := range []ConnID{a, b, c, p} {
		turn(s.e, func() { s.e.EOF(id) })
	}
	s.w.settle(t, s.e)
	for _, acc := range s.e.accounts {
		if n := acc.subs.Count() - len(acc.def.services) - s.e.handlers(acc); n != 0 {
			t.Errorf("%d subscriptions are left in %s", n, acc.name)
		}
	}
}

// A queue group has its members in all accounts that get the message.
func TestQueueGroupAcrossAccounts(t *testing.T) {
	s := withAccounts(t, Options{},
		config.Account{Name: "A", Exports: exports(config.Stream, "s")},
		config.Account{Name: "B", Imports: []config.Import{stream("A", "s", prefixed("i"))}})
	a, b := s.join("A", "SUB s q 1\r\n"), s.join("B", "SUB i.s q 1\r\n")
	p := s.join("A", "")
	s.say(p, strings.Repeat("PUB s 0\r\n\r\n", 100))
	inA, inB := strings.Count(s.w.take(a), "MSG s 1 0"), strings.Count(s.w.take(b), "MSG i.s 1 0")
	if inA+inB != 100 || inA < 20 || inB < 20 {
		t.Fatalf("of 100 messages %d were delivered in A, %d in B", inA, inB)
	}
}

func TestServiceImport(t *testing.T) {
	str := exports(config.Service, "str")
	str[0].ResponseType = config.Streamed
	s := withAccounts(t, Options{},
		config.Account{Name: "A", Exports: append(exports(config.Service, "svc.*"), str...)},
		config.Account{Name: "B", Imports: []config.Import{
			service("A", "svc.x", shared, to("loc.svc.x")), service("A", "svc.y"), service("A", "str"),
		}, Exports: exports(config.Service, "svc.y")},
		config.Account{Name: "C", Imports: []config.Import{service("B", "svc.y")}})
	a := s.join("A", "")
	b := s.join("B", "SUB inbox.* 1\r\n")
	c := s.join("C", "SUB in 5\r\n")
	// Nobody listens: the requester is told, under the subject that it asked.
	s.say(b, "PUB svc.y inbox.1 2\r\nhi\r\n")
	s.got(b, "HMSG inbox.1 1 37 37\r\nNATS/1.0 503\r\nNats-Subject: svc.y\r\n\r\n\r\n")
	s.noReplies()
	// An answer comes back, once.
	s.say(a, "SUB svc.* 1\r\nSUB str 2\r\n")
	s.say(b, "PUB svc.y inbox.2 2\r\nhi\r\n")
	text, reply := s.replySubject(a)
	if want := "HMSG svc.y 1 REPLY 52 54\r\nNATS/1.0\r\nNats-Request-Info: {\"acc\":\"B\",\"rtt\":1}\r\n\r\nhi\r\n"; text != want {
		t.Fatalf("got  %q\nwant %q", text, want)
	}
	s.say(a, "PUB "+reply+" 3\r\nans\r\nPUB "+reply+" 4\r\nmore\r\n")
	s.got(b, "MSG inbox.2 1 3\r\nans\r\n")
	s.noReplies()
	// Shared, the service may know more; what the client wrote itself goes.
	s.say(b, "HPUB loc.svc.x inbox.3 54 56\r\nNATS/1.0\r\nFoo: bar\r\nnats-request-info: {\"acc\":\"C\"}\r\n\r\nhi\r\n")
	text, reply = s.replySubject(a)
	if !strings.Contains(text, "\r\nNATS/1.0\r\nFoo: bar\r\nNats-Request-Info: {\"start\":\"1970-01-01T00:00:00.000000001Z\",\"host\":\"127.0.0.1\",\"id\":2,\"acc\":\"B\",") {
		t.Fatalf("got %q", text)
	}
	s.say(a, "PUB "+reply+" 0\r\n\r\n")
	s.got(b, "MSG inbox.3 1 0\r\n\r\n")
	// Streamed: until an empty one. The answers can be answered.
	s.say(b, "PUB str inbox.4 0\r\n\r\n")
	_, reply = s.replySubject(a)
	s.say(a, "PUB "+reply+" 1\r\n1\r\nPUB "+reply+" flow 1\r\n2\r\nPUB "+reply+" 0\r\n\r\nPUB "+reply+" 1\r\n3\r\n")
	text, back := s.replySubject(b)
	if text != "MSG inbox.4 1 1\r\n1\r\nMSG inbox.4 1 REPLY 1\r\n2\r\nMSG inbox.4 1 0\r\n\r\n" {
		t.Fatalf("got %q", text)
	}
	s.say(a, "SUB flow 3\r\n")
	s.say(b, "PUB "+back+" 2\r\nok\r\n")
	s.got(a, "MSG flow 3 2\r\nok\r\n")
	s.w.advance(t, s.e, Instant(defaultThreshold)) // further ones would have been delivered too
	for _, c := range []ConnID{a, b, c} {
		s.w.take(c) // PINGs
	}
	s.noReplies()
	// Through two accounts.
	s.say(c, "PUB svc.y in 2\r\nhi\r\n")
	text, reply = s.replySubject(a)
	if want := "HMSG svc.y 1 REPLY 62 64\r\nNATS/1.0\r\nNats-Request-Info: {\"acc\":\"C\",\"svc\":\"B\",\"rtt\":1}\r\n\r\nhi\r\n"; text != want {
		t.Fatalf("got  %q\nwant %q", text, want)
	}
	s.say(a, "PUB "+reply+" 3\r\nans\r\n")
	s.got(c, "MSG in 5 3\r\nans\r\n")
	s.got(b, "")
	s.noReplies()
}

// Answers are mapped too, in the account that they come into: by each on their way. Whether anybody listens for one is asked behind
// that mapping.
func TestAnswersAreMapped(t *testing.T) {
	mapped := func(from string, to ...config.Destination) []config.Mapping {
		return []config.Mapping{{Subject: from, Destinations: to}}
	}
	s := withAccounts(t, Options{},
		config.Account{Name: "A", Exports: exports(config.Service, "svc"), Mappings: mapped("svc", config.Destination{Subject: "v1", Weight: 100})},
		config.Account{
			Name: "B", Imports: []config.Import{service("A", "svc")},
			Mappings: append(mapped("r.*", config.Destination{Subject: "got.$1", Weight: 100}), mapped("none", config.Destination{Subject: "none", Weight: 0})...),
		})
	a := s.join("A", "SUB v1 1\r\n")
	b := s.join("B", "SUB got.* 1\r\nSUB r.* 2\r\nSUB none 3\r\n")
	s.say(b, "PUB svc r.7 2\r\nhi\r\n")
	text, reply := s.replySubject(a)
	if want := "HMSG v1 1 REPLY 52 54\r\nNATS/1.0\r\nNats-Request-Info: {\"acc\":\"B\",\"rtt\":1}\r\n\r\nhi\r\n"; text != want {
		t.Fatalf("got  %q\nwant %q", text, want)
	}
	s.say(a, "PUB "+reply+" 3\r\nans\r\n")
	s.got(b, "MSG got.7 1 3\r\nans\r\n")
	s.say(b, "PUB svc none 2\r\nhi\r\n")
	_, reply = s.replySubject(a)
	s.say(a, "PUB "+reply+" 3\r\nans\r\n")
	s.got(b, "")
	s.noReplies()
	// Who asks goes away: somebody else listens behind the mapping for one of the answers, before it for the other.
	for _, c := range []struct {
		reply string
		waits int
	}{{"r.1", 1}, {"none", 0}} {
		asks := s.join("B", "PUB svc "+c.reply+" 2\r\nhi\r\n")
		s.w.settle(t, s.e)
		turn(s.e, func() { s.e.Closed(asks, "") })
		s.w.settle(t, s.e)
		if n := len(s.e.byAccount["A"].replies); n != c.waits {
			t.Errorf("%d replies wait for answers on %s, want %d", n, c.reply, c.waits)
		}
		_, reply = s.replySubject(a)
		s.say(a, "PUB "+reply+" 3\r\nans\r\n")
		s.w.take(b)
		s.noReplies()
	}
}

// A request and its answer are between two accounts: who imports streams from one of them gets neither, is not one of a queue group
// that a request is for, and does not count as somebody who listens.
func TestNobodyImportsRequests(t *testing.T) {
	all := func(prefix string) config.Import { return stream(prefix, ">", prefixed(prefix)) }
	open := append(exports(config.Stream, ">"), exports(config.Service, "svc", "q")...)
	s := withAccounts(t, Options{},
		config.Account{Name: "A", Exports: open},
		config.Account{Name: "B", Imports: []config.Import{service("A", "svc"), service("A", "q")}, Exports: open},
		config.Account{Name: "C", Imports: []config.Import{service("B", "svc")}},
		config.Account{Name: "X", Imports: []config.Import{all("A"), all("B")}})
	x := s.join("X", "SUB > 1\r\n"+strings.Repeat("SUB A.q g 2\r\n", 30))
	a, c := s.join("A", ""), s.join("C", "SUB in 1\r\n")
	s.say(c, "PUB svc in 1\r\nr\r\n")
	s.got(x, "")
	s.got(c, "HMSG in 1 35 35\r\nNATS/1.0 503\r\nNats-Subject: svc\r\n\r\n\r\n")
	s.noReplies()
	s.say(a, "SUB svc 1\r\n")
	s.say(c, "PUB svc in 1\r\nr\r\n")
	_, reply := s.replySubject(a)
	s.got(x, "")
	s.say(a, "PUB "+reply+" back 1\r\na\r\n")
	s.got(x, "MSG A."+reply+" 1 back 1\r\na\r\n") // as it was published
	text, back := s.replySubject(c)
	if text != "MSG in 1 REPLY 1\r\na\r\n" {
		t.Fatalf("C got %q", text)
	}
	s.say(a, "SUB back 3\r\n")
	s.say(c, "PUB "+back+" 1\r\nb\r\n")
	s.got(a, "MSG back 3 1\r\nb\r\n")
	s.got(x, "")
	s.noReplies()
	// Of a queue group, each member in the account has the same share.
	a1, a2, b := s.join("A", "SUB q g 1\r\n"), s.join("A", "SUB q g 1\r\n"), s.join("B", "")
	s.say(b, strings.Repeat("PUB q 0\r\n\r\n", 200))
	n1, n2 := strings.Count(s.w.take(a1), "HMSG q 1 "), strings.Count(s.w.take(a2), "HMSG q 1 ")
	if n1+n2 != 200 || n1 < 60 || n2 < 60 {
		t.Errorf("of 200 requests one member got %d, the other %d", n1, n2)
	}
	if got := strings.Count(s.w.take(x), "MSG B.q 1 "); got != 200 {
		t.Errorf("X got %d messages", got)
	}
}

// An answer is no request to services that the account imports of which somebody asked.
func TestAnswerIsNoRequest(t *testing.T) {
	s := withAccounts(t, Options{},
		config.Account{Name: "A", Exports: exports(config.Service, ">")},
		config.Account{Name: "B", Imports: []config.Import{service("A", ">")}},
		config.Account{Name: "D", Imports: []config.Import{service("A", "svc"), service("E", "in.*")}},
		config.Account{Name: "E", Exports: exports(config.Service, "in.*")})
	a, e := s.join("A", "SUB > 1\r\n"), s.join("E", "SUB > 1\r\n")
	for _, name := range []string{"B", "D"} {
		c := s.join(name, "SUB in.* 1\r\n")
		s.say(c, "PUB svc in.1 1\r\nr\r\n")
		_, reply := s.replySubject(a)
		s.say(a, "PUB "+reply+" 1\r\na\r\n")
		s.got(c, "MSG in.1 1 1\r\na\r\n")
		s.got(a, "MSG "+reply+" 1 1\r\na\r\n")
		s.got(e, "")
		s.noReplies()
		// Nor is it waited for when only those services would get it.
		turn(s.e, func() { s.e.EOF(c) })
		s.w.settle(t, s.e)
		c = s.join(name, "")
		s.say(c, "PUB svc in.2 1\r\nr\r\n")
		s.w.take(a)
		turn(s.e, func() { s.e.EOF(c) })
		s.w.settle(t, s.e)
		s.noReplies()
	}
}

// A request may go to services of several accounts under one name. Each is waited for by itself: what nobody has got in one account is
// not waited for there, though another one answers; the one who asks is told if nobody has got it anywhere. An account whose own
// subscribers have not got it may lead to others that have.
func TestServicesOfSeveralAccountsUnderOneName(t *testing.T) {
	str := exports(config.Service, "y")
	str[0].ResponseType = config.Streamed
	rules := func(more ...config.Import) []config.Account {
		return []config.Account{
			{Name: "A", Exports: exports(config.Service, "x")},
			{Name: "B", Exports: str, Imports: []config.Import{service("D", "z", to("y"))}},
			{Name: "C", Imports: append([]config.Import{service("A", "x", to("q")), service("B", "y", to("q"))}, more...)},
			{Name: "D", Exports: exports(config.Service, "z")},
		}
	}
	s := withAccounts(t, Options{}, rules()...)
	a, b, d := s.join("A", ""), s.join("B", ""), s.join("D", "")
	c := s.join("C", "SUB r 1\r\n")
	s.say(c, "PUB q r 2\r\nhi\r\n")
	s.got(c, "HMSG r 1 33 33\r\nNATS/1.0 503\r\nNats-Subject: q\r\n\r\n\r\n")
	s.noReplies()
	// One has responders.
	s.say(a, "SUB x 1\r\n")
	s.say(c, "PUB q r 2\r\nhi\r\n")
	_, reply := s.replySubject(a)
	if n := len(s.e.byAccount["B"].replies) + len(s.e.byAccount["D"].replies); n > 0 {
		t.Errorf("%d answers are waited for from whom nobody got the request", n)
	}
	s.say(a, "PUB "+reply+" 1\r\na\r\n")
	s.got(c, "MSG r 1 1\r\na\r\n")
	s.noReplies()
	// Both have; the second only behind its account.
	s.say(d, "SUB z 1\r\n")
	s.say(c, "PUB q r 2\r\nhi\r\n")
	_, first := s.replySubject(a)
	_, second := s.replySubject(d)
	s.say(d, "PUB "+second+" 1\r\nd\r\n")
	s.say(a, "PUB "+first+" 1\r\na\r\n")
	s.got(c, "MSG r 1 1\r\nd\r\nMSG r 1 1\r\na\r\n")
	s.got(b, "")
	// A reload with another import among them: both are what they were, and so are the requests under way.
	s.say(c, "PUB q r 2\r\nhi\r\n")
	_, first = s.replySubject(a)
	_, second = s.replySubject(d)
	before := s.e.byAccount["C"].subs.Count()
	changed := rules(service("D", "z"))
	changed[2].Imports[0], changed[2].Imports[1] = changed[2].Imports[1], changed[2].Imports[0]
	s.enforce(changed...)
	if n := s.e.byAccount["C"].subs.Count(); n != before+1 {
		t.Errorf("%d subscriptions stand for imports, want %d", n, before+1)
	}
	s.say(d, "PUB "+second+" 0\r\n\r\n")
	s.say(a, "PUB "+first+" 1\r\na\r\n")
	s.got(c, "MSG r 1 0\r\n\r\nMSG r 1 1\r\na\r\n")
	s.say(c, "PUB q 2\r\nhi\r\n")
	for _, at := range []ConnID{a, d} {
		if text := s.w.take(at); strings.Count(text, "MSG ") != 1 {
			t.Errorf("behind a reload the service got %q", text)
		}
	}
	s.enforce(slices.Delete(rules(), 2, 3)...)
	if n := len(s.e.byAccount["B"].replies); n > 0 {
		t.Errorf("%d answers are waited for that nobody may get", n)
	}
}

// An account may import what it exports itself: under another name, or under the same, by which it comes once more. What has come by
// such an import does not go on by it again.
func TestAccountsImportFromThemselves(t *testing.T) {
	s := withAccounts(t, Options{}, config.Account{
		Name: "A", Exports: append(exports(config.Service, "x", "y"), exports(config.Stream, "s", "u")...),
		Imports: []config.Import{service("A", "x"), service("A", "y", to("z")), stream("A", "s"), stream("A", "u", to("t"))},
	})
	a := s.join("A", "SUB x 1\r\nSUB y 2\r\nSUB s 3\r\nSUB t 4\r\n")
	asks := s.join("A", "SUB r 1\r\n")
	s.say(asks, "PUB x r 1\r\na\r\n")
	text, reply := s.replySubject(a)
	if want := "MSG x 1 r 1\r\na\r\nHMSG x 1 REPLY 52 53\r\nNATS/1.0\r\nNats-Request-Info: {\"acc\":\"A\",\"rtt\":1}\r\n\r\na\r\n"; text != want {
		t.Fatalf("got  %q\nwant %q", text, want)
	}
	s.say(a, "PUB "+reply+" 2\r\nok\r\n")
	s.got(asks, "MSG r 1 2\r\nok\r\n")
	s.say(asks, "PUB z r 1\r\na\r\n")
	_, reply = s.replySubject(a)
	s.say(a, "PUB "+reply+" 2\r\nok\r\n")
	s.got(asks, "MSG r 1 2\r\nok\r\n")
	s.noReplies()
	s.say(asks, "PUB s 1\r\na\r\nPUB u 1\r\na\r\n")
	if text := s.w.take(a); strings.Count(text, "MSG s 3 1\r\n") != 2 || strings.Count(text, "MSG t 4 1\r\n") != 1 || strings.Count(text, "MSG") != 3 {
		t.Errorf("of a stream came %q", text)
	}
	x, err := explainIn(&Options{Accounts: []config.Account{{
		Name: "A", Exports: exports(config.Service, "x"), Imports: []config.Import{service("A", "x")},
	}}}, "A", "x", "")
	if err != nil || len(x.Goes) != 1 || len(x.Comes) != 1 {
		t.Errorf("explained as %+v, %v", x, err)
	}
}

// noReplies checks that no request is remembered.
func (s *tenants) noReplies() {
	s.t.Helper()
	for _, a := range s.e.accounts {
		if len(a.replies) > 0 {
			s.t.Fatalf("%d replies are left in %s", len(a.replies), a.name)
		}
	}
	for i := range s.e.timers.heap {
		if s.e.timers.heap[i].of != nil {
			s.t.Fatal("a timer of an export is left")
		}
	}
}

// Requests that are never answered end with their time, with the connection that made them, or with the export.
func TestRequestsLeaveNothing(t *testing.T) {
	rules := func() []config.Account {
		return []config.Account{
			{Name: "A", Exports: exports(config.Service, "svc")},
			{Name: "B", Imports: []config.Import{service("A", "svc")}},
		}
	}
	for _, c := range []struct {
		name string
		end  func(s *tenants, asker ConnID)
	}{
		{"their time", func(s *tenants, c ConnID) { s.w.advance(s.t, s.e, Instant(defaultThreshold)) }},
		{"their asker", func(s *tenants, c ConnID) { turn(s.e, func() { s.e.EOF(c) }); s.w.settle(s.t, s.e) }},
		{"their export", func(s *tenants, c ConnID) { r := rules(); r[0].Exports, r[1].Imports = nil, nil; s.enforce(r...) }},
		{"their import", func(s *tenants, c ConnID) { r := rules(); r[1].Imports = nil; s.enforce(r...) }},
		{"their accounts", func(s *tenants, c ConnID) { s.enforce() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := withAccounts(t, Options{}, rules()...)
			a, b := s.join("A", "SUB svc 1\r\n"), s.join("B", "SUB inbox 1\r\n")
			s.say(b, "PUB svc inbox 0\r\n\r\n")
			_, reply := s.replySubject(a)
			if reply == "" {
				t.Fatal("the request did not arrive")
			}
			c.end(s, b)
			s.noReplies()
			s.w.take(b)
			s.say(a, "PUB "+reply+" 0\r\n\r\n")
			s.got(b, "")
		})
	}
	// A reload that changes nothing leaves requests under way alone; somebody else may be waiting for the answer.
	s := withAccounts(t, Options{}, rules()...)
	a, b, c := s.join("A", "SUB svc 1\r\n"), s.join("B", ""), s.join("B", "SUB inbox 1\r\n")
	s.say(b, "PUB svc inbox 0\r\n\r\n")
	_, reply := s.replySubject(a)
	s.enforce(rules()...)
	turn(s.e, func() { s.e.EOF(b) })
	s.w.settle(t, s.e)
	s.say(a, "PUB "+reply+" 2\r\nhi\r\n")
	s.got(c, "MSG inbox 1 2\r\nhi\r\n")
	s.noReplies()
}

// Messages cross whatever their size and however small the turns are.
func TestCrossingSliced(t *testing.T) {
	for _, work := range []int{0, 1, 4} {
		for _, size := range []int{0, 2, shareMin, 3 * shareMin} {
			s := withAccounts(t, Options{TurnWork: work},
				config.Account{Name: "A", Exports: append(exports(config.Service, "svc"), exports(config.Stream, "svc")...)},
				config.Account{Name: "B", Imports: []config.Import{service("A", "svc"), service("A", "svc", to("a.svc"))}},
				config.Account{Name: "C", Imports: []config.Import{stream("A", "svc", prefixed("x"))}})
			var subs, shadows []ConnID
			for range 20 {
				subs = append(subs, s.join("A", "SUB svc 1\r\n"))
				shadows = append(shadows, s.join("C", "SUB x.svc 1\r\n"))
			}
			b := s.join("B", "SUB > 9\r\nSUB in 10\r\n")
			s.w.take(b)
			body := strings.Repeat("x", size)
			n := rapid.StringN(0, 0, 0).Example() + body
			s.say(b, "PUB svc in "+itoa(size)+"\r\n"+n+"\r\nPUB svc 1\r\ny\r\nPING\r\n")
			if got := s.w.take(b); !strings.HasSuffix(got, "PONG\r\n") || strings.Count(got, "MSG svc 9") != 2 {
				t.Fatalf("size %d work %d: publisher got %.200q", size, work, got)
			}
			for i := range subs {
				text, _ := s.replySubject(subs[i])
				info := "NATS/1.0\r\nNats-Request-Info: {\"acc\":\"B\",\"rtt\":1}\r\n\r\n"
				want := "HMSG svc 1 REPLY 52 " + itoa(52+size) + "\r\n" + info + body + "\r\nHMSG svc 1 52 53\r\n" + info + "y\r\n"
				if text != want {
					t.Fatalf("size %d work %d: receiver %d got\n%.300q\nwant\n%.300q", size, work, i, text, want)
				}
				s.got(shadows[i], "")
			}
			s.w.advance(t, s.e, Instant(defaultThreshold))
			s.noReplies()
			if f := s.e.Footprint(); f.Fanouts != 0 || f.Chunks != 0 {
				t.Fatalf("left: %+v", f)
			}
		}
	}
}

func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(b []byte, n int) []byte {
	if n >= 10 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

func TestRulesRefused(t *testing.T) {
	priv := exports(config.Service, "p")
	priv[0].Public, priv[0].Accounts = false, []string{"C"}
	tok := exports(config.Stream, "t.*")
	tok[0].TokenPosition = 2
	for _, c := range []struct {
		name     string
		accounts []config.Account
		want     string
	}{
		{"unknown account", []config.Account{{Name: "B", Imports: []config.Import{service("X", "p")}}}, "account missing"},
		{"not exported", []config.Account{{Name: "A"}, {Name: "B", Imports: []config.Import{service("A", "p")}}}, "service import not authorized"},
		{"too wide", []config.Account{{Name: "A", Exports: exports(config.Stream, "a.b")}, {Name: "B", Imports: []config.Import{stream("A", "a.*")}}}, "stream import not authorized"},
		{"private", []config.Account{{Name: "A", Exports: priv}, {Name: "B", Imports: []config.Import{service("A", "p")}}, {Name: "C"}}, "service import not authorized"},
		{"another's token", []config.Account{{Name: "A", Exports: tok}, {Name: "B", Imports: []config.Import{stream("A", "t.C")}}}, "stream import not authorized"},
		{"twice", []config.Account{{Name: "A"}, {Name: "A"}}, "there twice"},
		{"two services in one place", []config.Account{{Name: "A", Exports: exports(config.Service, "p")}, {Name: "B", Imports: []config.Import{service("A", "p"), service("A", "p")}}},
			`Duplicate service import subject "p", previously used in import for account "A", subject "p"`},
		{"wildcards for none", []config.Account{{Name: "A", Exports: exports(config.Stream, "p")}, {Name: "B", Imports: []config.Import{stream("A", "p", to("d.*"))}}},
			`"d.*" has wildcards, and what is imported has none to take their place`},
		{"a stream twice", []config.Account{{Name: "A", Exports: exports(config.Stream, "p")}, {Name: "B", Imports: []config.Import{stream("A", "p"), stream("A", "p")}}},
			"Duplicate stream import"},
		{"a cycle", []config.Account{
			{Name: "A", Exports: exports(config.Service, "p"), Imports: []config.Import{service("B", "p")}},
			{Name: "B", Exports: exports(config.Service, "p"), Imports: []config.Import{service("A", "p")}}}, "import forms a cycle"},
	} {
		problems := CheckAccounts(c.accounts, config.Located{})
		if len(problems) == 0 || !strings.Contains(problems[0].Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, problems, c.want)
		}
	}
	tok[0].Accounts = nil
	ok := []config.Account{{Name: "A", Exports: append(tok, priv...)}, {Name: "B", Imports: []config.Import{stream("A", "t.B")}}, {Name: "C", Imports: []config.Import{service("A", "p")}}}
	if p := CheckAccounts(ok, config.Located{}); len(p) > 0 {
		t.Error(p)
	}
}

// Of several exports that cover what is imported, the most specific one says who may, in whatever order they are.
func TestMostSpecificExportDecides(t *testing.T) {
	for _, c := range []struct {
		exports string // subjects, and behind a : who may import
		subject string
		want    string // the export by which C may; empty: it may not
	}{
		{"admin.reset:B >", "admin.reset", ""}, {"admin.*:B >", "admin.reset", ""}, {"admin.*:B admin.> >", "admin.reset", ""},
		{"admin.*:B >", "admin.reset.now", ">"}, {"admin.reset >:B", "admin.reset", "admin.reset"}, {"admin.*:C >:B", "admin.reset", "admin.*"},
		{"admin.*:C >", "admin.reset", "admin.*"}, {"admin.*:B *.reset", "admin.reset", ""}, {"admin.*:B *.reset:C", "admin.reset", ""},
		{"admin.*:B *.reset:C admin.reset", "admin.reset", "admin.reset"}, {"admin.reset:B >", "admin.*", ">"},
		{"p:B p", "p", ""}, {"p:B p:C", "p", "p"}, {"p:C p", "p", "p"}, {"t.*:# >", "t.B", ""}, {"t.*:# >", "t.C", "t.*"}, {"t.*:# >", "t.*", ""},
	} {
		for _, kind := range []config.ExportKind{config.Stream, config.Service} {
			d := config.Account{Name: "D"}
			for _, x := range strings.Fields(c.exports) {
				subj, who, some := strings.Cut(x, ":")
				e := config.Export{Kind: kind, Subject: subj, Public: !some}
				if who == "#" {
					e.Public, e.TokenPosition = true, 2
				} else if some {
					e.Accounts = []string{who}
				}
				d.Exports = append(d.Exports, e)
			}
			for range 2 {
				slices.Reverse(d.Exports)
				im := config.Import{Kind: kind, Account: "D", Subject: c.subject}
				s := draftRules([]config.Account{d, {Name: "B"}, {Name: "C", Imports: []config.Import{im}}}, config.Located{})
				got := ""
				for _, list := range [][]importDraft{s.accounts[2].streams, s.accounts[2].services} {
					for i := range list {
						x := &d.Exports[list[i].export]
						got = x.Subject
						if !x.Public && x.Accounts[0] != "C" {
							t.Errorf("%s: C imports %s by an export to %v", c.exports, c.subject, x.Accounts)
						}
					}
				}
				if got != c.want || len(s.problems) > 0 != (c.want == "") {
					t.Errorf("%s: C imports %s by %q, want %q: %v", c.exports, c.subject, got, c.want, s.problems)
				}
			}
		}
	}
}

// Imports that lead back to an account are a cycle only if the same subject goes on by the same import again.
func TestImportsThatLeadBack(t *testing.T) {
	type im struct{ by, of, subject, to string }
	for _, c := range []struct {
		name    string
		imports []im
		want    string
	}{
		{"another name", []im{{"A", "B", "help", ""}, {"B", "C", "nohelp", ""}, {"C", "A", "*", ""}}, ""},
		{"the same name", []im{{"A", "B", "help", ""}, {"B", "C", "help", ""}, {"C", "A", "*", ""}}, "import forms a cycle"},
		{"mapped to another", []im{{"A", "B", "help", ""}, {"B", "A", "back", "help"}}, ""},
		{"mapped to another and back", []im{{"A", "B", "b", "a"}, {"B", "C", "c", "b"}, {"C", "A", "a", "c"}}, "import forms a cycle"},
		{"some of all", []im{{"A", "B", "x.*", ""}, {"B", "A", "*.y", ""}}, "import forms a cycle"},
		{"narrowed to nothing", []im{{"A", "B", "*.h", ""}, {"B", "C", "x.*", ""}, {"C", "A", "*.i", ""}}, ""},
		{"tokens exchanged", []im{{"A", "B", "*.x", ""}, {"B", "A", "*.*", "$2.$1"}}, "import forms a cycle"},
		{"tokens exchanged and apart", []im{{"A", "B", "y.x", ""}, {"B", "A", "*.*", "$2.$1"}}, ""},
		{"a cycle of others", []im{{"A", "B", "p", ""}, {"B", "C", "p", ""}, {"C", "B", "p", ""}}, "imports follow one another"},
		{"twice around", []im{{"A", "B", "a.*", ""}, {"B", "A", "b.*", "a.$1"}, {"A", "B", "c.*", "b.$1"}, {"B", "A", "d.*", "c.$1"}}, ""},
	} {
		for _, kind := range []config.ExportKind{config.Stream, config.Service} {
			accounts := []config.Account{{Name: "A"}, {Name: "B"}, {Name: "C"}}
			for _, im := range c.imports {
				accounts[im.by[0]-'A'].Imports = append(accounts[im.by[0]-'A'].Imports, config.Import{Kind: kind, Account: im.of, Subject: im.subject, To: im.to})
			}
			for i := range accounts {
				accounts[i].Exports = exports(kind, ">")
			}
			problems := CheckAccounts(accounts, config.Located{})
			if (len(problems) == 0) != (c.want == "") || len(problems) > 0 && !strings.Contains(problems[0].Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.name, problems, c.want)
			}
		}
	}
}

// A message that imports lead back is delivered on each of its ways and no other.
func TestMessageThatComesBack(t *testing.T) {
	s := withAccounts(t, Options{},
		config.Account{Name: "A", Exports: exports(config.Service, ">"), Imports: []config.Import{service("B", "help", to("ask"))}},
		config.Account{Name: "B", Exports: exports(config.Service, ">"), Imports: []config.Import{service("A", "back", to("help"))}})
	a, b := s.join("A", "SUB ask 1\r\nSUB back 2\r\nSUB in 3\r\n"), s.join("B", "SUB help 1\r\n")
	s.say(a, "PUB ask in 1\r\nr\r\n")
	text, reply := s.replySubject(a)
	if want := "MSG ask 1 in 1\r\nr\r\nHMSG back 2 REPLY 62 63\r\nNATS/1.0\r\nNats-Request-Info: {\"acc\":\"A\",\"svc\":\"B\",\"rtt\":1}\r\n\r\nr\r\n"; text != want {
		t.Fatalf("got  %q\nwant %q", text, want)
	}
	s.say(a, "PUB "+reply+" 1\r\na\r\n")
	s.got(a, "MSG in 3 1\r\na\r\n")
	if text, _ := s.replySubject(b); !strings.HasPrefix(text, "HMSG help 1 REPLY ") {
		t.Fatalf("B got %q", text)
	}
	s.noReplies()
}

func TestMappings(t *testing.T) {
	s := withAccounts(t, Options{}, config.Account{Name: "A", Mappings: []config.Mapping{
		{Subject: "m.*", Destinations: []config.Destination{{Subject: "t.$1.z", Weight: 100}}},
		{Subject: "w", Destinations: []config.Destination{{Subject: "w.1", Weight: 50}, {Subject: "w.2", Weight: 20}}},
		{Subject: "lost", Destinations: []config.Destination{{Subject: "lost", Weight: 50}}},
		{Subject: "t.x.z", Destinations: []config.Destination{{Subject: "twice", Weight: 100}}},
	}})
	a := s.join("A", "SUB > 1\r\n")
	for range 2 {
		s.say(a, "PUB m.x 1\r\na\r\n")
		s.got(a, "MSG t.x.z 1 1\r\na\r\n")
	}
	s.say(a, strings.Repeat("PUB w 0\r\n\r\nPUB lost 0\r\n\r\n", 200))
	text := s.w.take(a)
	n1, n2, kept, lost := strings.Count(text, "MSG w.1 "), strings.Count(text, "MSG w.2 "), strings.Count(text, "MSG w 1"), strings.Count(text, "MSG lost ")
	if n1+n2+kept != 200 || n1 < 70 || n2 < 20 || kept < 30 || lost < 70 || lost > 130 {
		t.Fatalf("%d to w.1, %d to w.2, %d kept, %d not lost", n1, n2, kept, lost)
	}
	s.say(a, "PUB x _R_.a.b 0\r\n\r\n")
	s.got(a, "-ERR 'Permissions Violation for Publish with Reply of \"_R_.a.b\"'\r\n")
}

// Messages that are under way at the same time, over several turns, are each judged by their own subject.
func TestFilteredShadowsSliced(t *testing.T) {
	b := userWith("b", nil, lists("", "imp.s.evil"))
	e, w := started(t, Options{TurnWork: 8, Accounts: []config.Account{
		{Name: "A", Users: []config.User{{Name: "a", Password: "p"}}, Exports: exports(config.Stream, "s.*")},
		{Name: "B", Users: []config.User{b}, Imports: []config.Import{stream("A", "s.*", prefixed("imp"))}},
	}})
	var receivers []ConnID
	for range 40 {
		receivers = append(receivers, as(e, w, "b", "SUB imp.> 1\r\n"))
		w.settle(t, e)
	}
	p, others := as(e, w, "a", ""), []ConnID{as(e, w, "a", ""), as(e, w, "a", ""), as(e, w, "a", "")}
	w.settle(t, e)
	say(e, p, "PUB s.good 0\r\n\r\n")
	for _, q := range others {
		say(e, q, "PUB s.evil 0\r\n\r\n")
	}
	w.settle(t, e)
	for i, c := range receivers {
		if got := w.take(c); got != "MSG imp.s.good 1 0\r\n\r\n" {
			t.Fatalf("receiver %d got %q", i, got)
		}
	}
}
