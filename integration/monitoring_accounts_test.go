package integration

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// accountPages are compared of servers with accounts and TLS.
var accountPages = []string{
	"/varz", "/connz?subs=detail&auth=1", "/connz?state=closed&subs=detail&auth=1", "/connz?state=any&subs=1", "/connz?acc=A", "/connz?acc=none",
	"/connz?user=a&auth=1", "/connz?cid=99999", "/connz?sort=start&limit=1&offset=1", "/connz?acc=B&state=closed&auth=1",
	"/subsz?subs=1&acc=A", "/subsz?test=foo.x&acc=A", "/subsz?test=foo.x&acc=A&subs=1", "/subsz?acc=none&subs=1", "/subsz?subs=1&limit=1000",
	"/accountz", "/accountz?acc=A", "/accountz?acc=B", "/accountz?acc=SYS", "/accstatz", "/accstatz?unused=1",
	"/routez", "/routez?subs=detail", "/gatewayz", "/gatewayz?accs=1", "/leafz", "/leafz?subs=1", "/jsz", "/jsz?accounts=1&streams=1&consumers=1&config=1&raft=1",
	"/healthz?details=1", "/healthz?js-enabled-only=1", "/healthz?js-server-only=1", "/ipqueuesz",
}

const accountsConfig = `
server_name: fields
system_account: SYS
max_subscriptions: 100
allow_non_tls: true
tls { cert_file: "%s", key_file: "%s", ca_file: "%s", verify: true }
accounts {
  SYS { users: [ { user: sys, password: p } ] }
  A {
    users: [ { user: a, password: p, permissions: { publish: { allow: ["foo.>", "m.*", "t.*.*"] }, allow_responses: { max: 2, expires: "1m" } } } ]
    exports: [
      { service: str, response_type: stream, threshold: "5s" }, { service: chk, response_type: chunked, accounts: [B] },
      { service: one }, { stream: "t.*.*" }, { stream: "p.*", accounts: [B] }
    ]
    mappings: { "m.*": "t.$1.z", wt: [ { destination: "t.a.1", weight: 50 }, { destination: "t.a.2", weight: 50 } ] }
  }
  B {
    users: [ { user: b, password: p } ]
    imports: [
      { service: { account: A, subject: str }, to: my.str }, { service: { account: A, subject: chk } }, { service: { account: A, subject: one }, share: true },
      { stream: { account: A, subject: "t.*.*" }, to: "tt.$2.$1" }, { stream: { account: A, subject: "p.*" }, prefix: pp }
    ]
  }
}
no_auth_user: b
proxies { trusted: [ { key: UC7VH7IM42NHYPMWODFM5T6NL7XB3KBOKGPTBO5BWDFHQD5DVEUN72WP } ] }
`

// accountFields has clients of several accounts, with and without TLS, do the same things at any server, and returns the fields
// of all pages.
func accountFields(t *testing.T, config string, trust *tls.Config, start func(args ...string) *process) []string {
	t.Helper()
	p := start("-m", "-1", "-c", config)
	_, addr, _ := strings.Cut(p.url, "://")
	connect := func(opts ...nats.Option) *nats.Conn {
		nc, err := nats.Connect("nats://"+addr, append(opts, nats.Timeout(patience))...)
		ok(t, err)
		t.Cleanup(nc.Close)
		return nc
	}
	trust = trust.Clone()
	trust.ServerName = "natsd.test"
	a := connect(nats.UserInfo("a", "p"), nats.Name("a"), nats.Secure(trust))
	b := connect(nats.UserInfo("b", "p"), nats.Name("b"))
	gone := connect(nats.Name("gone"), nats.Secure(trust))
	for _, s := range []struct {
		nc       *nats.Conn
		sub, que string
	}{{a, "foo.*", ""}, {a, "foo.>", "q"}, {a, "str", ""}, {b, "tt.>", ""}, {b, "pp.p.*", ""}, {gone, "x", "q"}, {gone, "y", ""}} {
		sub, err := s.nc.QueueSubscribeSync(s.sub, s.que)
		ok(t, err)
		if s.que != "" {
			ok(t, sub.AutoUnsubscribe(100))
		}
		ok(t, s.nc.Flush())
	}
	ok(t, a.Publish("foo.x", []byte("abc")))
	ok(t, a.Publish("m.1", []byte("zz")))
	ok(t, a.Flush())
	ok(t, b.PublishRequest("my.str", "back", []byte("hi"))) // is not answered
	ok(t, b.Flush())
	until(t, "round trip times", func() bool {
		return strings.Count(fetch(t, p.http+"/connz"), `"rtt"`) == 3
	})
	gone.Close()
	if nc, err := nats.Connect("nats://"+addr, nats.UserInfo("nobody", "p"), nats.Timeout(patience)); err == nil {
		nc.Close()
		t.Error("anybody may connect")
	}
	until(t, "the server to have forgotten two", func() bool {
		return strings.Contains(fetch(t, p.http+"/connz?state=closed"), `"total": 2`)
	})
	return pageFields(t, p, accountPages, "accounts ")
}

// differences are why fields are in one server alone. Each has a prefix of "page path" behind the scenario's name.
var differences = []struct{ prefix, why string }{
	{"/varz .natsd", "natsd's own: its version"},
	{"/varz .longest_turn_ns", "natsd's own"},
	{"/varz .most_turn_cpu_ns", "natsd's own"},
	{"/varz .turn_time_ns", "natsd's own"},
	{"/varz .turns", "natsd's own"},
	{"/varz .feature_flags", "the flags that nats-server has are about JetStream, which natsd does not have yet"},
	{"/connz?state=closed&subs=detail&auth=1 .connections[].subscriptions_list_detail[].max", "nats-server forgets it when a connection is closed"},
	{"/accountz?acc=SYS .account_detail.imports", "natsd's system account does not import from itself to answer its own users"},
}

func unexplained(golden string) (lines []string) {
	for line := range strings.Lines(golden) {
		if line[0] == '=' {
			continue
		}
		field := strings.TrimPrefix(strings.TrimSpace(line[2:]), "accounts ")
		if !slices.ContainsFunc(differences, func(d struct{ prefix, why string }) bool { return strings.HasPrefix(field, d.prefix) }) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// TestMonitoringFieldsWithAccounts does as TestMonitoringFields, with accounts, exports, imports, mappings and TLS.
func TestMonitoringFieldsWithAccounts(t *testing.T) {
	const file = "testdata/monitoring_accounts.txt"
	ca := newAuthority(t)
	cert, key := ca.server("server", "natsd.test")
	trust := ca.trust(ca.client("client"))
	config := filepath.Join(t.TempDir(), "natsd.conf")
	ok(t, os.WriteFile(config, fmt.Appendf(nil, accountsConfig, cert, key, ca.caFile), 0o600))
	programs(t, func(t *testing.T, start func(...string) *process) {
		compareFields(t, file, accountFields(t, config, trust, start), func() []string {
			return accountFields(t, config, trust, func(args ...string) *process { return startProgram(t, exec.Command(*peer, args...)) })
		})
	})
}

// refusals are requests whose answers are compared word for word.
var refusals = []string{
	"/connz?sort=x", "/connz?sort=stop", "/connz?sort=reason", "/connz?state=any&sort=stop", "/connz?state=x", "/connz?subs=x", "/connz?subs=2",
	"/connz?auth=x", "/connz?limit=x", "/connz?offset=x", "/connz?cid=x", "/connz?cid=-1", "/connz?limit=99999999999999999999",
	"/subsz?subs=x", "/subsz?subs=detail", "/subsz?test=a..b", "/subsz?test=*", "/subsz?offset=x", "/subsz?limit=x", "/routez?subs=x",
	"/gatewayz?accs=x", "/leafz?subs=x", "/accountz?acc=nope", "/accstatz?unused=x", "/jsz?accounts=x", "/jsz?streams=x", "/jsz?consumers=x",
	"/jsz?config=x", "/jsz?offset=x", "/jsz?limit=x", "/jsz?raft=x", "/jsz?leader-only=x", "/jsz?leader-only=1", "/jsz?direct-consumers=x",
	"/healthz?js-enabled-only=x", "/healthz?js-enabled=x", "/healthz?js-server-only=x", "/healthz?stream=x", "/healthz?consumer=y",
	"/healthz?stream=x&details=1", "/healthz?details=x", "/healthz?account=x&stream=y", "/healthz", "/healthz?js-enabled=true", "/raftz", "/raftz?acc=x",
	"/varz/", "/nope", "/healthz/", "/VARZ", "/ipqueuesz", "/ipqueuesz?all=x", "/ipqueuesz?queues=x",
}

// TestMonitoringRefusals compares what is said to wrong requests with what nats-server 2.15.2 says: testdata/monitoring_refusals.txt.
func TestMonitoringRefusals(t *testing.T) {
	const file = "testdata/monitoring_refusals.txt"
	ask := func(p *process) string {
		var b strings.Builder
		for _, path := range refusals {
			status, body := get(t, p.http+path)
			fmt.Fprintf(&b, "%s %d %s\n", path, status, strings.TrimSpace(body))
		}
		return b.String()
	}
	programs(t, func(t *testing.T, start func(...string) *process) {
		if *peer != "" && *rewrite {
			ok(t, os.WriteFile(file, []byte(ask(startProgram(t, exec.Command(*peer, "-m", "-1")))), 0o644))
		}
		golden, err := os.ReadFile(file)
		ok(t, err)
		want, got := strings.Split(string(golden), "\n"), strings.Split(ask(start("-m", "-1")), "\n")
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i] != got[i] {
				t.Fatalf("line %d\ngot  %v\nwant %v", i, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
			}
		}
	})
}

// A page is served by HTTPS and below a base path as by HTTP, and profiles on a port of their own.
func TestMonitoringByHTTPS(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.server("server", "natsd.test")
	config := filepath.Join(t.TempDir(), "natsd.conf")
	ok(t, os.WriteFile(config, fmt.Appendf(nil, "https: \"127.0.0.1:-1\"\nhttp_base_path: /nats\nprof_port: -1\ntls { cert_file: %q, key_file: %q }\n", cert, key), 0o600))
	programs(t, func(t *testing.T, start func(...string) *process) {
		p := start("-c", config)
		trust := ca.trust()
		trust.ServerName = "natsd.test"
		client := http.Client{Timeout: patience, Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}}
		if !strings.HasPrefix(p.http, "https://") {
			t.Fatalf("monitoring is at %s", p.http)
		}
		for path, want := range map[string]int{"/nats/varz": 200, "/nats/": 200, "/varz": 404, "/": 404} { //natsd:orderfree each stands alone
			r, err := client.Get(p.http + path)
			ok(t, err)
			r.Body.Close()
			if r.StatusCode != want {
				t.Errorf("%s: %s", path, r.Status)
			}
		}
		_, port, _ := strings.Cut(p.stderr.String(), "profiling port: ")
		port, _, _ = strings.Cut(port, "\n")
		if status, body := get(t, "http://127.0.0.1:"+port+"/debug/pprof/"); status != 200 || !strings.Contains(body, "heap") {
			t.Errorf("profiles: %d", status)
		}
	})
}
