package server

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

// written returns the name of a new file with this text.
func written(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "natsd.conf")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// fromFile returns the settings that a configuration file alone makes.
// load reads a configuration file alone.
func (s *settings) load(file string) error {
	s.configFile = file
	s.readConfig(file)
	return s.file.err(s)
}

func fromFile(t *testing.T, text string) (settings, error) {
	t.Helper()
	var s settings
	err := s.load(written(t, text))
	s.file, s.configFile = nil, ""
	s.digest, s.warnings, s.doubts, s.empty = "", nil, false, false
	return s, err
}

// keysSet are lines of a configuration file, at least one for each key, and what they set.
var keysSet = []struct {
	key, line string
	want      settings
}{
	{"port", "port: 4333", settings{engine: engine.Options{Port: 4333}}},
	{"port", "PORT = -1", settings{engine: engine.Options{Port: -1}}},
	{"host", "host: 127.0.0.1", settings{engine: engine.Options{Host: "127.0.0.1"}}},
	{"net", "net: '::1'", settings{engine: engine.Options{Host: "::1"}}},
	{"listen", "listen: 127.0.0.1:4333", settings{engine: engine.Options{Host: "127.0.0.1", Port: 4333}}},
	{"listen", "listen: \"[::1]:4333\"", settings{engine: engine.Options{Host: "::1", Port: 4333}}},
	{"listen", "listen: :4333", settings{engine: engine.Options{Port: 4333}}},
	{"listen", "listen: 4333", settings{engine: engine.Options{Port: 4333}}},
	{"client_advertise", "client_advertise: nats.example:4222", settings{engine: engine.Options{ClientAdvertise: "nats.example:4222"}}},
	{"server_name", "server_name: one", settings{engine: engine.Options{ServerName: "one"}}},
	{"server_name", "server_name: '1'", settings{engine: engine.Options{ServerName: "1"}}},
	{"max_payload", "max_payload: 2mb", settings{engine: engine.Options{MaxPayload: 2 << 20}}},
	{"max_control_line", "max_control_line: 512", settings{engine: engine.Options{MaxControlLine: 512}}},
	{"max_pending", "max_pending: 2m", settings{engine: engine.Options{MaxPending: 2_000_000}}},
	{"max_connections", "max_connections: 7", settings{engine: engine.Options{MaxConnections: 7}}},
	{"max_conn", "max_conn: -1", settings{engine: engine.Options{MaxConnections: -1}}},
	{"max_connections", "max_connections: 0", settings{engine: engine.Options{MaxConnections: -1}}},
	{"max_subscriptions", "max_subscriptions: 7", settings{engine: engine.Options{MaxSubscriptions: 7}}},
	{"max_subs", "max_subs: 7", settings{engine: engine.Options{MaxSubscriptions: 7}}},
	{"max_sub_tokens", "max_sub_tokens: 7", settings{engine: engine.Options{MaxSubTokens: 7}}},
	{"ping_max", "ping_max: 7", settings{engine: engine.Options{PingMax: 7}}},
	{"ping_interval", "ping_interval: '1m30s'", settings{engine: engine.Options{PingInterval: 90 * time.Second}}},
	{"ping_interval", "ping_interval: 3", settings{engine: engine.Options{PingInterval: 3 * time.Second}}},
	{"write_deadline", "write_deadline: 2s", settings{engine: engine.Options{WriteDeadline: 2 * time.Second}}},
	{"lame_duck_duration", "lame_duck_duration: '30s'", settings{engine: engine.Options{LameDuckDuration: 30 * time.Second}}},
	{"lame_duck_grace_period", "lame_duck_grace_period: 500ms", settings{engine: engine.Options{LameDuckGrace: time.Second / 2}}},
	{"no_header_support", "no_header_support: true", settings{engine: engine.Options{NoHeaders: true}}},
	{"proxy_protocol", "proxy_protocol: true", settings{engine: engine.Options{ProxyProtocol: true}}},
	{"debug", "debug: yes", settings{engine: engine.Options{Debug: true}}},
	{"trace", "trace: on", settings{engine: engine.Options{Trace: true}}},
	{"trace_headers", "trace_headers: on", settings{engine: engine.Options{Trace: true, TraceHeaders: true}}},
	{"trace_headers", "trace: false\ntrace_headers: on", settings{engine: engine.Options{Trace: true, TraceHeaders: true}}},
	{"trace_headers", "trace_headers: on\ntrace: false", settings{engine: engine.Options{TraceHeaders: true}}},
	{"trace_headers", "trace: on\ntrace_headers: false", settings{engine: engine.Options{Trace: true}}},
	{"trace_verbose", "trace_verbose: on", settings{engine: engine.Options{Trace: true, TraceVerbose: true}}},
	{"logtime", "logtime: false", settings{log: host.LogOptions{NoTime: true}}},
	{"logtime_utc", "logtime_utc: true", settings{log: host.LogOptions{UTC: true}}},
	{"log_file", "log_file: /var/log/natsd", settings{log: host.LogOptions{File: "/var/log/natsd"}}},
	{"logfile", "logfile: natsd.log", settings{log: host.LogOptions{File: "natsd.log"}}},
	{"pid_file", "pid_file: /run/natsd", settings{pidFile: "/run/natsd"}},
	{"pidfile", "pidfile: natsd.pid", settings{pidFile: "natsd.pid"}},
	{"ports_file_dir", "ports_file_dir: /run", settings{portsDir: "/run"}},
	{"http_port", "http_port: 8222", settings{monitorSettings: monitorSettings{httpPort: 8222}}},
	{"monitor_port", "monitor_port: -1", settings{monitorSettings: monitorSettings{httpPort: -1}}},
	{"http", "http: localhost:8222", settings{monitorSettings: monitorSettings{httpHost: "localhost", httpPort: 8222}}},
	{"http", "http: 8222", settings{monitorSettings: monitorSettings{httpPort: 8222}}},
	{"http_base_path", "http_base_path: /nats", settings{monitorSettings: monitorSettings{basePath: "/nats"}}},
	{"prof_port", "prof_port: 6060", settings{monitorSettings: monitorSettings{profPort: 6060}}},
	{"prof_block_rate", "prof_block_rate: 5", settings{monitorSettings: monitorSettings{profRate: 5}}},
	{"max_closed_clients", "max_closed_clients: 5", settings{engine: engine.Options{MaxClosed: 5}}},
	{"authorization", "authorization { user: ann, password: $2a$10$x, timeout: 1 }",
		settings{engine: engine.Options{User: "ann", Pass: "$2a$10$x", AuthTimeout: time.Second}}},
	{"authorization", "authorization { Username: ann, pass: '1234' }", settings{engine: engine.Options{User: "ann", Pass: "1234"}}},
	{"authorization", "authorization: { token: t }", settings{engine: engine.Options{Token: "t"}}},
	{"port", `{"port": 4333, "authorization": {"token": "t"}}`, settings{engine: engine.Options{Port: 4333, Token: "t"}}},
	{"port", "port: 1\nport: 2", settings{engine: engine.Options{Port: 2}}},
	{"port", "http_p: 4333\nport: $http_p", settings{engine: engine.Options{Port: 4333}}},
}

func TestEachKeySetsItsOption(t *testing.T) {
	for _, c := range keysSet {
		if got, err := fromFile(t, c.line); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", c.line, got, err, c.want)
		}
	}
}

func TestWrongValuesAreRefusedWhereTheyStand(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"port: x", `:1:7: expected an integer, found the string "x"`},
		{"port: -2", ":1:7: -2 is out of range: from -1 to 65535"},
		{"listen: a:65536", `:1:9: expected "host:port" or a port, found "a:65536"`},
		{"\n\n  max_payload: 3g", ":3:16: 3g is out of range"},
		{"max_sub_tokens: 256", "from 1 to 255"},
		{"debug: 1\nhost { a: 1 }", ":2:6: expected a string, found a block"},
		{"ping_interval: soon", `expected a duration such as "10s" or "2m", found the string "soon"`},
		{"authorization: yes", "expected a block, found yes"},
		{"jetstream {}", ":1:1: natsd does not have JetStream yet"},
		{"accounts { A { users: [ {user: a, password: b, proxy_required: 7} ] } }", ":1:64: "},
		{"accounts { A { imports: [ {stream: {account: B, subject: s}} ] } }", ":1:27: "},
		{"proxies { trusted: [ {} ] }", ":1:22: a trusted proxy needs a key"},
		{"system_account: A", ":1:17: system_account: there is no account \"A\""},
		{"a: 1\nport: $b", "$b is defined neither above nor in the environment"},
		{"port: {", "the configuration can't be used:\n"},
		{"include 'gone'", "gone"},
	} {
		if _, err := fromFile(t, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestWhatDoesNotFitIsRefusedTogether(t *testing.T) {
	_, err := fromFile(t, "max_payload: 70m\nlame_duck_grace_period: '3m'\nclient_advertise: 'h:x'\nhttp: 1\nhttps: 2\nserver_name: 'a\tb'\n"+
		"resolver_preload { A: b }\ndefault_sentinel: s\nresolver: {type: full, dir: d}\n")
	for _, want := range []string{
		":1:1: max_payload (70000000) is more than max_pending (67108864)",
		":2:1: lame_duck_grace_period (3m0s) must be less than lame_duck_duration (2m0s)",
		":3:1: client_advertise \"h:x\": \"x\" is no port",
		":5:1: can't specify both HTTP (1) and HTTPs (2) ports",
		`:6:14: the server's name "a\tb" has spaces`,
		":7:1: resolver_preload has no effect without an operator",
		":8:1: default_sentinel has no effect without an operator",
		":9:1: resolver has no effect without an operator",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, text := range []string{"client_advertise: h", "client_advertise: '[::1]:4'", "client_advertise: 'h:4'", "lame_duck_duration: '30s'"} {
		var s settings
		if err := s.load(written(t, text)); err != nil || len(s.warnings) > 0 {
			t.Errorf("%s: %v, %v", text, err, s.warnings)
		}
	}
	for text, most := range map[string]int{"max_payload: 8mb": 0, "max_payload: 8388609": 1} {
		var s settings
		if err := s.load(written(t, text)); err != nil || len(s.warnings) != most || s.doubts {
			t.Errorf("%s: %v, %v", text, err, s.warnings)
		}
	}
	for _, text := range []string{"resolver: MEMORY", "resolver_tls {}", "resolver_pinned_accounts: []"} {
		var s settings
		if err := s.load(written(t, text)); err != nil || len(s.warnings) != 1 || !strings.Contains(s.warnings[0], "has no effect without an operator") {
			t.Errorf("%s: %v, %v", text, err, s.warnings)
		}
	}
}

func TestACheckRefusesDoubts(t *testing.T) {
	s, err := parseFlags([]string{"-c", written(t, "ping_interval: 3"), "-t"})
	if err != nil || s.doubtful() == nil || len(s.warnings) != 1 || s.engine.PingInterval != 3*time.Second {
		t.Fatalf("%+v, %v", s, err)
	}
	s, err = parseFlags([]string{"-c", written(t, "port: 4222"), "-t"})
	const digest = "sha256:797533ebd0dfba7d34a0f9337ecf147e442871f48ddfd07ed751575a5737267e" // as nats-server prints it
	if err != nil || s.doubtful() != nil || !strings.HasSuffix(s.valid(), "is valid ("+digest+")") {
		t.Errorf("%v, %v", s.valid(), err)
	}
}

func TestIncludesAreBesideTheFile(t *testing.T) {
	main := written(t, "include 'part/ports.conf'\n")
	dir := filepath.Join(filepath.Dir(main), "part")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"ports.conf": "port: 4333\ninclude http.conf\n", "http.conf": "http: 8333\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var s settings
	if err := s.load(main); err != nil || s.engine.Port != 4333 || s.httpPort != 8333 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestFlagsWinOverTheFile(t *testing.T) {
	file := written(t, "port: 1\nhost: a\nserver_name: b\nhttp: c:2\nlog_file: d\npid_file: e\nports_file_dir: f\nclient_advertise: g\n"+
		"debug: true\nlogtime: false\nlogtime_utc: true\nauthorization { user: h, password: i }\nmax_payload: 9\n")
	kept, err := parseFlags([]string{"-c", file})
	if err != nil {
		t.Fatal(err)
	}
	if e := kept.engine; e.Port != 1 || e.Host != "a" || e.ServerName != "b" || !e.Debug || e.Trace || e.User != "h" || e.Pass != "i" ||
		kept.httpPort != 2 || kept.httpHost != "c" || kept.log.File != "d" || !kept.log.NoTime || !kept.log.UTC || !kept.log.Debug {
		t.Errorf("from the file: %+v", kept)
	}
	s, err := parseFlags(strings.Fields("-c " + file + " -p 11 -a aa -n bb -m 12 -l dd -P ee --ports_file_dir ff --client_advertise gg" +
		" -D=false -V -T --logtime_utc=false --user hh --pass ii"))
	if err != nil {
		t.Fatal(err)
	}
	if e := s.engine; e.Port != 11 || e.Host != "aa" || e.ServerName != "bb" || e.ClientAdvertise != "gg" || e.Debug || !e.Trace ||
		e.User != "hh" || e.Pass != "ii" || e.MaxPayload != 9 {
		t.Errorf("engine: %+v", e)
	}
	if s.httpHost != "c" || s.httpPort != 12 || s.pidFile != "ee" || s.portsDir != "ff" ||
		s.log != (host.LogOptions{File: "dd", Trace: true}) {
		t.Errorf("%+v", s)
	}
}

func TestFlagsByAllTheirNames(t *testing.T) {
	for _, c := range []struct{ args, same string }{
		{"-a h", "--addr h"}, {"-a h", "--net h"}, {"-p 5", "--port 5"}, {"-n s", "--name s"}, {"-n s", "--server_name s"},
		{"-P f", "--pid f"}, {"-m 5", "--http_port 5"}, {"-l f", "--log f"}, {"-T=false", "--logtime=false"}, {"-D", "--debug"},
		{"-V", "--trace"}, {"-DV", "-D -V"}, {"-v", "--version"}, {"-h", "--help"}, {"-T", ""}, {"-p 0", "-port=0"},
	} {
		a, errA := parseFlags(strings.Fields(c.args))
		b, errB := parseFlags(strings.Fields(c.same))
		if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s and %s: %v, %v\n%+v\n%+v", c.args, c.same, errA, errB, a, b)
		}
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-p 65536", `-p "65536": a port is a number`},
		{"-m x", `-m "x"`},
		{"-T=maybe", "invalid boolean value"},
		{"-pass x", "--user too"},
		{"-auth t -user u", "can't both be required"},
		{"-tls", "missing 'cert_file' in TLS configuration"},
		{"-bogus", "unknown flag -bogus"},
		{"-prot 4222", "unknown flag -prot: did you mean -port?"},
		{"--tlscret x", "did you mean -tlscert?"},
		{"-p", "needs an argument"},
		{"-client_advertise a:b:c", `client_advertise "a:b:c"`},
		{"-c ", "needs an argument"},
	} {
		if _, err := parseFlags(strings.Fields(c.args)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"server_name: 'a b'":                  "has spaces",
		"max_payload: 11\nmax_pending: 10":    "max_payload (11) is more than max_pending (10)",
		"max_payload: 70m":                    "max_payload (70000000) is more than max_pending (67108864)",
		"max_pending: 1m":                     "max_payload (1048576) is more than max_pending (1000000)",
		"authorization { password: p }":       "--user too",
		"authorization { token: t, user: u }": "can't both be required",
		"client_advertise: 'a:b:c'":           "client_advertise",
		"authorization { user: u }\ntoken: t": "unknown key \"token\"",
	} {
		if _, err := parseFlags([]string{"-c", written(t, text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestReloadNamesWhatNeedsARestart(t *testing.T) {
	var started settings
	for _, c := range []struct {
		text string
		want []string
	}{
		{"debug: true\nmax_payload: 1", nil},
		{"log_file: f\nlogtime: false\nlogtime_utc: true\npid_file: f\nports_file_dir: f\nprof_block_rate: 1\nhttp: 1", []string{"http"}},
		{"http_base_path: x\nhttps: 2\nprof_port: 3", []string{"https", "http_base_path", "prof_port"}},
	} {
		next, err := fromFile(t, c.text)
		if got := started.needRestart(&next); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
}
