package server

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
	"github.com/natsd/natsd/revocation"
)

func TestChangesAreNamed(t *testing.T) {
	for _, c := range []struct {
		old, next string
		want      []string
	}{
		{"", "", nil},
		{"debug: true", "", []string{"debug = false"}},
		{"", "port: 4333\nserver_name: a\nhttp: 8222", nil}, // a restart is needed for these
		{"pid_file: x", "pid_file: y\nports_file_dir: z\nprof_block_rate: 5", []string{"pid_file = y", "ports_file_dir = z", "prof_block_rate = 5"}},
		{"max_payload: 2000", "max_payload: 1MB", []string{"max_payload = 1048576"}},
		{"max_payload: 1048576", "", nil}, // the default
		{"max_pending: 2m", "max_pending: 3m", []string{"max_pending = 3000000"}},
		{"", "proxy_protocol: true", []string{"proxy_protocol = true"}},
		{"", "ping_max: -1\nping_interval: 10s", []string{"ping_interval = 10s", "ping_max = unlimited"}},
		{"", "no_fast_producer_stall: true", []string{"no_fast_producer_stall = true"}},
		{"", "logtime: false\nlog_file: a\nlog_size_limit: 5\ntrace_verbose: true", []string{
			"trace = true", "trace_verbose = true", "logtime = false", "log_file = a", "log_size_limit = 5",
		}},
		{"", "server_tags: [x]\nserver_metadata: {a: b}", []string{"tags", "metadata"}},
		{"server_metadata: {a: b}", "server_metadata: {a: c}", []string{"metadata"}},
		{"authorization { user: a, password: b }", "authorization { user: a, password: c, timeout: 3 }", []string{
			"authorization password", "authorization timeout = 3",
		}},
		{"authorization { token: a }", "authorization { users: [{user: a, password: b}] }", []string{"authorization token", "authorization users"}},
		// Where they are in the file does not matter.
		{"accounts { A { users: [{user: a, password: b, permissions: {publish: x}}] } }\nmappings { a: b }", `
			mappings { a: b }
			debug: true
			accounts { A {
				users: [{user: a, password: b, permissions: {publish: x}}]
			} }`, []string{"debug = true"}},
		{"accounts { A { users: [{user: a, permissions: {publish: x}}] } }", "accounts { A { users: [{user: a, permissions: {publish: y}}] } }", []string{"accounts"}},
		{"accounts { A { users: [{user: a}] } }", "accounts { A { users: [{user: a, permissions: {publish: y}}] } }", []string{"accounts"}},
		{"", "mappings { a: b }", []string{"accounts"}},
		{"no_auth_user: a\nauthorization { users: [{user: a}, {user: b}] }", "no_auth_user: b\nauthorization { users: [{user: a}, {user: b}] }", []string{`no_auth_user = "b"`}},
	} {
		old, err := fromFile(t, c.old)
		if err != nil {
			t.Fatal(c.old, err)
		}
		next, err := fromFile(t, c.next)
		if err != nil {
			t.Fatal(c.next, err)
		}
		if got := changes(&old, &next); !slices.Equal(got, c.want) {
			t.Errorf("%q to %q:\n got %q\nwant %q", c.old, c.next, got, c.want)
		}
	}
}

// What is of another type is another value, whatever it looks like: here where the type is known only when it is compared.
func TestSame(t *testing.T) {
	type one struct{ A int }
	type other struct{ A int }
	place := func(text string, line int) config.Located {
		return config.Located{Text: text, Pos: config.Pos{Line: line}}
	}
	for _, c := range []struct {
		a, b any
		want bool
	}{
		{1, 1, true},
		{1, int64(1), false},
		{one{1}, one{1}, true},
		{one{1}, one{2}, false},
		{one{1}, other{1}, false},
		{one{1}, struct{}{}, false},
		{one{1}, "x", false},
		{"x", one{1}, false},
		{nil, one{1}, false},
		{nil, nil, true},
		{&one{1}, &one{1}, true},
		{&one{1}, (*one)(nil), false},
		{&one{1}, &other{1}, false},
		{[]int(nil), []int{}, true},
		{[]int{1}, []int{1, 2}, false},
		{[]any{1}, []any{"1"}, false},
		{[]any{one{1}}, []any{other{1}}, false},
		{map[string]any{"a": 1}, map[string]any{"a": 1}, true},
		{map[string]any{"a": 1}, map[string]any{"a": one{1}}, false},
		{map[string]any{"a": 1}, map[string]any{"b": 1}, false},
		{place("x", 1), place("x", 2), true},
		{place("x", 1), place("y", 1), false},
	} {
		if got := !named("", c.a, c.b, "").has; got != c.want {
			t.Errorf("%#v and %#v: %v", c.a, c.b, got)
		}
		if got := !named("", c.b, c.a, "").has; got != c.want {
			t.Errorf("%#v and %#v: %v", c.b, c.a, got)
		}
	}
}

func TestChangesOfOperatorModeAreNamed(t *testing.T) {
	for _, c := range []struct {
		change func(s *settings, o *config.Operators)
		want   []string
	}{
		{func(*settings, *config.Operators) {}, nil},
		{func(_ *settings, o *config.Operators) { o.Resolver.Pos.Line = 7 }, nil},
		{func(_ *settings, o *config.Operators) { o.Resolver.URL = "x" }, []string{"resolver"}},
		{func(_ *settings, o *config.Operators) { o.Resolver.Limit = 5 }, []string{"resolver"}},
		{func(_ *settings, o *config.Operators) { o.Preload[0].JWT = "b" }, []string{"resolver_preload"}},
		{func(_ *settings, o *config.Operators) { o.PinnedAccounts = []config.Located{} }, []string{"resolver_pinned_accounts"}},
		{func(_ *settings, o *config.Operators) { o.DefaultSentinel.Text = "secret" }, []string{"default_sentinel"}},
		{func(s *settings, _ *config.Operators) { s.resolverTLS = &config.TLS{} }, []string{"resolver_tls"}},
		{func(s *settings, _ *config.Operators) { s.engine.Operators = nil }, nil}, // needs a restart
	} {
		var all [2]settings
		for i := range all {
			all[i].engine.Operators = &config.Operators{Preload: []config.PreloadedJWT{{Account: "A", JWT: "a"}}}
		}
		c.change(&all[1], all[1].engine.Operators)
		if got := changes(&all[0], &all[1]); !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestChangesOfTLSAreNamed(t *testing.T) {
	for _, c := range []struct {
		change func(s *settings)
		want   []string
	}{
		{func(*settings) {}, nil},
		{func(s *settings) { s.engine.TLS.On = false }, []string{"authorization timeout = 2", "tls = disabled"}},
		{func(s *settings) { s.tls.settings.CAFile = "x" }, []string{"tls = enabled"}},
		{func(s *settings) { s.tls.settings.MinVersion = "1.3" }, []string{"tls = enabled"}},
		{func(s *settings) { s.engine.TLS.Timeout = 5 * time.Second }, []string{"authorization timeout = 6", "tls timeout = 5"}},
		{func(s *settings) { s.engine.TLS.First = true }, []string{"tls handshake_first = true"}},
		{func(s *settings) { s.engine.TLS.First, s.engine.TLS.FirstWait = true, time.Second }, []string{"tls handshake_first = 1s"}},
		{func(s *settings) { s.engine.TLS.Pinned = []string{"x"} }, []string{"tls pinned_certs"}},
		{func(s *settings) { s.engine.TLS.ConnectionRate = 5 }, []string{"tls connection_rate_limit = 5"}},
		{func(s *settings) { s.engine.TLS.AllowPlain = true }, []string{"allow_non_tls = true"}},
		{func(s *settings) { s.tls.settings.OCSP.Mode = 1 }, []string{"ocsp"}},
		{func(s *settings) { s.tls.settings.Peers = &revocation.Policy{} }, []string{"tls ocsp_peer"}},
		{func(s *settings) { s.tls.noPeerCache = true }, []string{"OCSP peer cache"}},
		{func(s *settings) { s.engine.TLS.CertNotAfter = 1 }, nil}, // it is another certificate, whose file is named
	} {
		var old, next settings
		old.engine.TLS.On, next.engine.TLS.On = true, true
		c.change(&next)
		if got := changes(&old, &next); !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// An option is named, or is none that a reload changes. A new one needs a decision.
func TestNoChangeIsForgotten(t *testing.T) {
	silent := map[string]string{
		"ServerName": "restart", "Host": "restart", "Port": "restart", "MaxClosed": "restart", "SystemAccount": "restart", "Operators": "TestChangesOfOperatorModeAreNamed",
		"MatchCache": "restart", "NatsdVersion": "built in", "GoVersion": "built in", "GitCommit": "built in", "Guests": "follows from accounts",
		"Checks": "no setting", "TurnWork": "no setting", "MatchWork": "no setting", "MaxCalls": "no setting", "StallMax": "no setting", "Check": "no setting",
		"Format": "a flag",
	}
	for _, of := range []reflect.Type{reflect.TypeFor[engine.Options](), reflect.TypeFor[host.LogOptions]()} {
		for i := range of.NumField() {
			f := of.Field(i)
			var old, next settings
			at := reflect.ValueOf(&next.engine).Elem()
			if of == reflect.TypeFor[host.LogOptions]() {
				at = reflect.ValueOf(&next.log).Elem()
				if f.Name == "Debug" || f.Name == "Trace" {
					continue // are the engine's
				}
			}
			change(t, at.Field(i))
			if lines := changes(&old, &next); (len(lines) > 0) == (silent[f.Name] != "") {
				t.Errorf("%s.%s: %q, %s", of, f.Name, lines, silent[f.Name])
			}
		}
	}
}

// change gives a field a value that is not its default.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Interface().(type) {
	case config.Located:
		v.Set(reflect.ValueOf(config.Located{Text: "x"}))
		return
	case engine.TLSOptions:
		v.Set(reflect.ValueOf(engine.TLSOptions{On: true}))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Uint8:
		if v.CanUint() {
			v.SetUint(1)
			return
		}
		v.SetInt(math.MaxInt)
	case reflect.String:
		v.SetString("x")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"a": "b"}))
	default:
		t.Fatal(v.Type())
	}
}
