package engine

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
)

// importCase is a line of testdata/system/imports.txt.
type importCase struct{ subject, local, asks, want string }

// importCases are those of a section.
func importCases(t *testing.T, section string) (all []importCase) {
	t.Helper()
	text, err := os.ReadFile("testdata/system/imports.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "== "+section+"\n")
	part, _, _ = strings.Cut(part, "== ")
	for line := range strings.Lines(part) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " | ")
		all = append(all, importCase{f[0], f[1], f[2], f[3]})
	}
	if len(all) < 100 {
		t.Fatalf("%d cases of %s", len(all), section)
	}
	return all
}

// systemJWTs are the exports of the system account's JWT in each section.
func systemJWTs() map[string]jwt.Exports {
	return map[string]jwt.Exports{
		"none": nil,
		"nsc": {
			{Name: "account-monitoring-services", Subject: "$SYS.REQ.ACCOUNT.*.*", Type: jwt.Service, ResponseType: jwt.ResponseTypeStream, AccountTokenPosition: 4},
			{Name: "account-monitoring-streams", Subject: "$SYS.ACCOUNT.*.>", Type: jwt.Stream, AccountTokenPosition: 3},
		},
		"wide": {{Subject: "$SYS.>", Type: jwt.Service, TokenReq: true}},
		"priv": {
			{Subject: "$SYS.DEBUG.SUBSCRIBERS", Type: jwt.Service, TokenReq: true},
			{Subject: "$SYS.REQ.ACCOUNT.*.CONNZ", Type: jwt.Service, ResponseType: jwt.ResponseTypeStream},
			{Subject: "$SYS.REQ.ACCOUNT.*.STATZ", Type: jwt.Service, TokenReq: true},
			{Subject: "$SYS.REQ.USER.*.INFO", Type: jwt.Service, TokenReq: true},
		},
	}
}

// An account's JWT may import what the system account exports, by its JWT or by itself, as with nats-server.
func TestJWTsImportFromTheSystemAccount(t *testing.T) {
	for section, exports := range systemJWTs() { //natsd:orderfree each is a test of its own
		t.Run(section, func(t *testing.T) { testSystemImports(t, importCases(t, section), exports) })
	}
}

func testSystemImports(t *testing.T, cases []importCase, exports jwt.Exports) {
	other := testAccount(2)
	base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	named := func(s string, account nkeys.KeyPair) string {
		return strings.NewReplacer("@", publicOf(account), "#", publicOf(other)).Replace(s)
	}
	preload := []string{base.account(other, nil)}
	for i, c := range cases {
		a := testAccount(10 + i)
		preload = append(preload, base.account(a, func(claims *jwt.AccountClaims) {
			if c.subject == "-" {
				return
			}
			im := &jwt.Import{Account: publicOf(testAccount(1)), Subject: jwt.Subject(named(c.subject, a)), Type: jwt.Service}
			if c.local != c.subject {
				im.LocalSubject = jwt.RenamingSubject(c.local)
			}
			claims.Imports.Add(im)
		}))
	}
	w := newOperatorWorld(t, config.MemoryResolver, func(o *Options) {
		o.Operators.Preload[0].JWT = base.account(testAccount(1), func(c *jwt.AccountClaims) { c.Exports = exports })
	}, preload...)
	u := testUser(4)
	say(w.e, w.login(w.user(u, other, nil), u), "SUB foo 1\r\n")
	for i, c := range cases {
		a := testAccount(10 + i)
		conn := w.login(w.user(u, a, nil), u)
		w.wants(conn, "PONG")
		payload := "0\r\n\r\n"
		if strings.Contains(c.subject+c.asks, "SUBSCRIBERS") {
			payload = "3\r\nfoo\r\n"
		}
		say(w.e, conn, "SUB foo 1\r\nSUB foo 2\r\nSUB _R 3\r\nPUB "+named(c.asks, a)+" _R "+payload)
		w.run()
		if got := answerKind(w.take(conn)); got != c.want {
			t.Errorf("%s as %s, %s asked: %s, want %s", c.subject, c.local, c.asks, got, c.want)
		}
		turn(w.e, func() { w.e.EOF(conn) })
	}
}

// answerKind is what kind of answer a client was sent.
func answerKind(text string) string {
	head, body, _ := strings.Cut(text, "\r\n")
	switch body = strings.TrimSuffix(body, "\r\n"); {
	case strings.HasPrefix(head, "HMSG ") && strings.Contains(text, "503"):
		return "nobody"
	case strings.HasPrefix(body, "{"):
		return "data"
	}
	return body
}

// Who is asked by an import of the system account's services is told of its own account, and users of themselves, whatever the import
// names.
func TestWhoAsksIsToldOfItself(t *testing.T) {
	a, other, u := testAccount(2), testAccount(3), testUser(4)
	base := &operatorWorld{t: t, op: testKey(nkeys.PrefixByteOperator, 1)}
	w := newOperatorWorld(t, config.FullResolver, nil, base.account(a, func(c *jwt.AccountClaims) {
		for subj, local := range map[string]string{
			"$SYS.REQ.USER." + publicOf(other) + ".INFO": "me", "$SYS.REQ.ACCOUNT." + publicOf(a) + ".CONNZ": "conns", "$SYS.DEBUG.SUBSCRIBERS": "count",
		} { //natsd:orderfree each is an import of its own
			c.Imports.Add(&jwt.Import{Account: publicOf(testAccount(1)), Subject: jwt.Subject(subj), LocalSubject: jwt.RenamingSubject(local), Type: jwt.Service})
		}
	}), base.account(other, nil))
	for n := range 2 {
		say(w.e, w.login(w.user(testUser(5+n), other, nil), testUser(5+n)), "SUB R 1\r\n")
	}
	c := w.login(w.user(u, a, nil), u)
	w.wants(c, "PONG")
	say(w.e, c, "SUB R 1\r\n")
	asks := func(question, want string) {
		t.Helper()
		subj, body, _ := strings.Cut(question, " ")
		say(w.e, c, "PUB "+subj+" R "+strconv.Itoa(len(body))+"\r\n"+body+"\r\n")
		w.run()
		if got := w.take(c); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
	all := func() {
		t.Helper()
		asks("me", `"user":"`+publicOf(u)+`","account":"`+publicOf(a)+`"`)
		asks("conns", `"num_connections":1,"total":1`)
		asks("count R", "MSG R 1 1\r\n1\r\n")
	}
	all()
	// What the system account exports by itself stays when its JWT changes.
	w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(testAccount(1), func(c *jwt.AccountClaims) {
		c.Exports.Add(&jwt.Export{Subject: "other", Type: jwt.Service})
	}))
	all()
	// Its JWT may take it back.
	w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(testAccount(1), func(c *jwt.AccountClaims) {
		c.Exports.Add(&jwt.Export{Subject: "$SYS.DEBUG.*", Type: jwt.Service, TokenReq: true})
	}))
	asks("me", `"user":"`+publicOf(u))
	asks("count R", "503")
}

// Who asks for unused accounts too gets an answer where there are none of those named; who does not gets none.
func TestTrafficOfAccountsThatAreNotThere(t *testing.T) {
	w := newOperatorWorld(t, config.MemoryResolver, nil)
	const subj = "$SYS.REQ.ACCOUNT.PING.STATZ"
	if got := w.system(subj, `{"accounts":["NO"],"include_unused":true}`); !strings.Contains(got, `"account_statz":[]`) {
		t.Errorf("with unused ones: %q", got)
	}
	if got := w.system(subj, `{"accounts":["NO"]}`); got != "" {
		t.Errorf("without: %q", got)
	}
}
