package server

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

func TestChangesAreNamed(t *testing.T) {
	for _, c := range []struct {
		old, next string
		want      []string
	}{
		{"", "", nil},
		{"debug: true", "", []string{"debug = false"}},
		{"", "port: 4333\nserver_name: a\npid_file: x\nhttp: 8222", nil}, // a restart is needed for these
		{"max_payload: 2000", "max_payload: 1MB", []string{"max_payload = 1048576"}},
		{"max_payload: 1048576", "", nil}, // the default
		{"max_pending: 2000", "max_pending: 3000", []string{"max_pending = 3000"}},
		{"", "ping_max: -1\nping_interval: 10s", []string{"ping_interval = 10s", "ping_max = unlimited"}},
		{"", "no_fast_producer_stall: true", []string{"no_fast_producer_stall = true"}},
		{"", "logtime: false\nlog_file: a\nlog_size_limit: 5\ntrace_verbose: true", []string{
			"trace_verbose = true", "logtime = false", "log_file = a", "log_size_limit = 5",
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

// An option is named, or is none that a reload changes. A new one needs a decision.
func TestNoChangeIsForgotten(t *testing.T) {
	silent := map[string]string{
		"ServerName": "restart", "Host": "restart", "Port": "restart", "MaxClosed": "restart", "SystemAccount": "restart", "Operators": "restart",
		"MatchCache": "restart", "NatsdVersion": "built in", "GoVersion": "built in", "GitCommit": "built in", "Guests": "follows from accounts",
		"Checks": "no setting", "TurnWork": "no setting", "MaxCalls": "no setting", "StallMax": "no setting", "Check": "no setting",
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
