package server

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// complaints are the lines of an error about a file, without its name.
func complaints(t *testing.T, err error, file string) []string {
	t.Helper()
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	lines := strings.Split(strings.ReplaceAll(err.Error(), file, ""), "\n")
	if lines[0] != "the configuration can't be used:" {
		t.Errorf("the first line is %q", lines[0])
	}
	return lines[1:]
}

// All that is wrong with a file and with what it names is told at once, each at its place.
func TestACheckTellsAllAtOnce(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"empty.pem": "", "log": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	quoted := func(name string) string { return strconv.Quote(filepath.Join(dir, name)) }
	for _, c := range []struct {
		text string
		args string
		want []string // how each line begins
	}{
		{"https_port: 8443\nlog_file: " + quoted("no/log"), "", []string{
			":1:1: HTTPS monitoring needs a certificate", ":2:1: the log file can't be opened: stat ",
		}},
		{"\nremote_syslog: 'smtp://x'\nhttps: 1\nmax_payload: x", "", []string{
			":2:1: remote_syslog \"smtp://x\": it must be", ":3:1: HTTPS monitoring needs a certificate", ":4:14: expected",
		}},
		{"tls {\n  cert_file: " + quoted("c.pem") + "\n  key_file: " + quoted("k.pem") + "\n  ca_file: " + quoted("empty.pem") +
			"\n}\nhttps: 1\nmax_payload: x", "", []string{
			":2:3: error parsing X509 certificate/key pair: open ", ":3:3: error parsing X509 certificate/key pair: open ",
			":4:3: failed to parse root ca certificate", ":7:14: expected an integer",
		}},
		{"tls {\n  cert_file: " + quoted("empty.pem") + "\n  key_file: " + quoted("empty.pem") + "\n  pinned_certs: ['x']\n}", "",
			[]string{":2:3: error parsing X509 certificate/key pair: tls: failed to find any PEM data", ":4:18: "}},
		{"tls {\n  certs: [\n    {cert_file: " + quoted("empty.pem") + ", key_file: " + quoted("empty.pem") + "}\n    {cert_file: " +
			quoted("c.pem") + ", key_file: " + quoted("k.pem") + "}\n  ]\n}", "", []string{
			":3:5: error parsing X509", ":4:5: error parsing X509", ":4:5: error parsing X509",
		}},
		{"tls {\n  cert_file: " + quoted("c.pem") + "\n}\nport: x", "", []string{":1:5: cert_file and key_file belong together", ":4:7: expected an integer"}},
		{"operator: /nope\nresolver: MEMORY\nresolver_tls {\n  cert_file: " + quoted("c.pem") + "\n  key_file: " + quoted("k.pem") +
			"\n  ca_file: " + quoted("empty.pem") + "\n}", "", []string{
			":1:11: operator: neither a JWT nor a file", ":4:3: resolver_tls: open ", ":6:3: resolver_tls: " + filepath.Join(dir, "empty.pem") + " has no certificate",
		}},
		{"authorization {token: a, user: b, password: c}", "", []string{":1:15: a token and a user or password can't both be required"}},
		{"authorization {token: a}", "--user b --auth c", []string{"a token and a user or password can't both be required"}},
		{"authorization {token: a}", "--pass b", []string{"a token and a user or password can't both be required", "a password is required of no user"}},
		{"\naccounts {A {users: [{user: u, password: p}]}}", "--user b --pass c", []string{":2:11: --user: a user and users of accounts"}},
		{"\naccounts {A {}, B {users: [{user: u, password: p}]}}", "--auth t", []string{":2:17: --auth: a token and users of accounts"}},
		{"\nauthorization {password: c}\nserver_name: 'a b'\nclient_advertise: 'h:x'", "", []string{
			":2:1: a password is required of no user", ":3:14: ", ":4:1: client_advertise",
		}},
		{"port: -1", "--pass c -n a\u00a0b --client_advertise h:x", []string{
			"server_name", "a password is required of no user", "client_advertise",
		}},
		{"log_file: " + strconv.Quote(dir), "", []string{":1:1: the log file can't be opened: open "}},
		{"log_file: " + quoted("log/x"), "", []string{":1:1: the log file can't be opened: "}},
		{"log_file: x\nport: y", "-l " + filepath.Join(dir, "no", "log") + " --tlscert " + filepath.Join(dir, "c.pem") + " -ms 5", []string{
			":2:7: expected", "the log file can't be opened", "missing 'key_file'",
		}},
	} {
		file := written(t, c.text)
		_, err := parseFlags(append([]string{"-t", "-c", file}, strings.FieldsFunc(c.args, func(r rune) bool { return r == ' ' })...))
		got := complaints(t, err, file)
		same := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			same = same && strings.HasPrefix(got[i], c.want[i])
		}
		if !same {
			t.Errorf("%s\n%s\ngot\n  %s\nwant\n  %s", c.text, c.args, strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
		}
	}
}

// A check makes no log file, and has nothing against one that is there or can be.
func TestACheckOpensNoLog(t *testing.T) {
	dir := t.TempDir()
	there, missing := filepath.Join(dir, "there"), filepath.Join(dir, "missing")
	if err := os.WriteFile(there, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{there, missing, os.DevNull} {
		if _, err := parseFlags([]string{"-t", "-l", file}); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("the log file was made")
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "x" {
		t.Errorf("the log has %q, %v", text, err)
	}
}
