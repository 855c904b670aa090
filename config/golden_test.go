package config

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/natsd/natsd/conf"
)

// load reads a text as a configuration file. With strict, what -t refuses is an error too.
func load(text string, strict bool) (*Config, error) {
	r := &conf.Reader{
		Read: func(name string) ([]byte, error) {
			if name == "f" {
				return []byte(text), nil
			}
			return nil, errors.New("no such file")
		},
		Join: func(_, name string) string { return name },
		Env:  func(string) (string, bool) { return "", false },
	}
	var rep conf.Report
	c := Load(r, "f", &rep)
	for _, w := range rep.Warnings {
		if w.Doubt && strict {
			rep.Errors = append(rep.Errors, w)
		}
	}
	return c, rep.Err()
}

// learnt is a case of testdata/keys.jsonl: what nats-server -t says to a text, and what natsd says where that differs on purpose.
type learnt struct {
	Text      string
	Reference string // "ok" or "refused"
	Natsd     string
}

func TestTakesTheKeysAndTypesThatTheReferenceTakes(t *testing.T) {
	f, err := os.Open("testdata/keys.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	n := 0
	for ; lines.Scan(); n++ {
		var c learnt
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		want := c.Reference
		if c.Natsd != "" {
			want = c.Natsd
		}
		_, err := load(c.Text, true)
		got := "ok"
		if err != nil {
			got = "refused"
		}
		if got != want {
			t.Errorf("%q: %s (%v), want %s", c.Text, got, err, want)
		}
	}
	if n < 1000 {
		t.Errorf("only %d cases", n)
	}
}

func TestMistakesNameTheKeyAndWhatIsExpected(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"prot: 4222", `f:1:1: unknown key "prot": did you mean "port"?`},
		{"cluster { nmae: a }", `f:1:11: unknown key "nmae" in cluster: did you mean "name"?`},
		{"zzz: 1", `f:1:1: unknown key "zzz"`},
		{`port: "4222"`, `f:1:7: expected an integer, found the string "4222"`},
		{"host: 1", `f:1:7: expected a string, found an integer, 1: put it in quotes: "1"`},
		{"debug: 1", "f:1:8: expected true or false, found an integer, 1"},
		{"port: 65536", "f:1:7: 65536 is out of range: from -1 to 65535"},
		{"listen: localhost", `f:1:9: expected "host:port" or a port, found "localhost"`},
		{`listen: "::1:4222"`, `f:1:9: expected "host:port" or a port, found "::1:4222"`},
		{`lame_duck_duration: "10s"`, "f:1:21: lame_duck_duration is 10s: it is 30s at least"},
		{"ping_interval: 2m", `f:1:16: expected a duration such as "10s" or "2m", found the integer 2000000: put it in quotes: "2m"`},
		{"X: true\nport: $X", "f:2:7: expected an integer, found true (the value is from f:1:4)"},
		{`cluster { tls { min_version: "1.1" } }`, `f:1:30: expected 1.2, 1.3, found the string "1.1"`},
		{`accounts { A { exports: [ {service: s, latency: {sampling: 0, subject: l}} ] } }`,
			"f:1:60: latency: sampling is from 1% to 100%, or headers; without latency nothing is measured"},
		{`accounts { A { exports: [ {service: s, latency: {sampling: "0%", subject: l}} ] } }`,
			"f:1:60: latency: sampling is from 1% to 100%, or headers; without latency nothing is measured"},
		{`accounts { A { exports: [ {service: s, latency: {sampling: 101, subject: l}} ] } }`, "f:1:60: 101% is out of range: from 0 to 100"},
		{`accounts { A { exports: [ {service: s, latency: {sampling: headers, subject: l}}, {service: t, latency: {sampling: 1, subject: l}} ] } }`, ""},
		{"accounts { A { users: [ {password: b} ] } }", "f:1:25: a user needs a name (user) or an nkey"},
		{"accounts { A { users: [ {user: a}, {user: a} ] } }", `f:1:36: the user "a" is there twice: first at f:1:25`},
		{"accounts { A { users: [ {nkey: UX} ] } }", `f:1:32: "UX" is not a public user key`},
		{"authorization { user: a, token: b }", "f:1:15: a token and a user or password can't both be required"},
		{"authorization { token: b, users: [] }", "f:1:15: a token and a list of users can't both be set"},
		{"authorization { user: a, password: b, users: [] }", "f:1:15: a user and a list of users can't both be set"},
		{"authorization { token: b }\naccounts { A { users: [ {user: a} ] } }", "f:1:15: a token and users of accounts can't both be set"},
		{"authorization { user: b }\naccounts { A { users: [ {user: a} ] } }", "f:1:15: a user and users of accounts can't both be set: put the user into an account"},
		{"authorization { token: b }\naccounts { A { users: [] } }", ""},
		{"authorization { user: b }\naccounts: [A]", ""},
		{`accounts { A {}, "$G" {} }`, `f:1:18: "$G" is a reserved account: those who are in no other are in it`},
		{`accounts: [A, "$G"]`, `f:1:15: "$G" is a reserved account: those who are in no other are in it`},
		{"resolver { type: full, dir: x, hard_delete: true }", "f:1:10: hard_delete has no effect without allow_delete"},
		{"resolver { type: full, dir: x, hard_delete: true, allow_delete: true }", ""},
		{"resolver { type: cache, dir: x, hard_delete: true }", "f:1:10: hard_delete is not for a resolver of type cache"},
		{"accounts { A { imports: [ {allow_trace: no, service: {account: B, subject: s}} ] } }",
			"f:1:41: allow_trace of an import is for streams only: of a service, its export has it"},
		// All of them at once.
		{"a: 1\nport: x\ncluster { b: 1 }\nhost: [1]", "f:1:1: unknown key \"a\"\nf:2:7: expected an integer, found the string \"x\"\n" +
			"f:3:11: unknown key \"b\" in cluster\nf:4:7: expected a string, found an array"},
	} {
		_, err := load(c.text, false)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}
