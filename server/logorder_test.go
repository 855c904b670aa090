package server

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/engine"
)

// lines is a log that keeps what it is told.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Log(_ engine.Level, _, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, text)
}

// take returns the lines since it was called before.
func (l *lines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

// expect finds the beginnings of lines, in that order.
func (l *lines) expect(t *testing.T, beginnings ...string) {
	t.Helper()
	all := l.take()
	rest := all
	for _, b := range beginnings {
		i := slices.IndexFunc(rest, func(line string) bool { return strings.HasPrefix(line, b) })
		if i < 0 {
			t.Errorf("no %q in its place in\n%s", b, strings.Join(all, "\n"))
			return
		}
		rest = rest[i+1:]
	}
	if len(rest) > 0 {
		t.Errorf("more lines at the end:\n%s", strings.Join(rest, "\n"))
	}
}

// The last word at start is that all is ready, and at the end that nothing goes on. What a reload has changed is named.
func TestOrderOfTheLog(t *testing.T) {
	for _, flags := range [][]string{nil, {"--portable"}} {
		l := &lines{}
		file := written(t, "port: -1\nhost: 127.0.0.1\nhttp: -1\nocsp_cache: true\n")
		v, err := Start(Options{ConfigFile: file, Flags: append([]string{"--profile", "-1"}, flags...), Log: l})
		if err != nil {
			t.Fatal(err)
		}
		l.expect(t, "Starting natsd", "  Version:  ", "  Name:     N", "  ID:       N", "profiling port: ", "Using configuration file",
			"Starting http monitor on ", "Listening for client", "Server is ready")
		answer, err := http.Get(v.MonitorURL() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Error(answer.Status)
		}
		for _, c := range []struct {
			text string
			want []string
		}{
			{"port: -1\nhost: 127.0.0.1\nhttp: -1\nping_max: 3\n", []string{"Reloaded: ping_max = 3"}},
			{"port: -1\nhost: 127.0.0.1\nhttp: -1\nping_max: 3\nmax_payload: 1000\n", []string{"Reloaded: max_payload = 1000"}},
			{"port: -1\nhost: 127.0.0.1\nhttp: -1\nping_max: nil\nx: 1\n", nil},
			{"port: -1\nhost: 127.0.0.1\nhttp: -1\n", []string{"Reloaded: max_payload = 1048576", "Reloaded: ping_max = 2"}},
		} {
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			last := []string{"Reloaded server configuration"}
			if c.want == nil { // each mistake has a line of its own
				last = []string{"Failed to reload server configuration: " + file + ":4:11: expected an integer", "Failed to reload server configuration: " + file + ":5:1: unknown key"}
			}
			if err := v.Reload(); (err == nil) != (c.want != nil) {
				t.Error(err)
			}
			l.expect(t, append(c.want, last...)...)
		}
		v.Stop()
		l.expect(t, "Initiating Shutdown", "Server Exiting..")
	}
}

// Where a port for monitoring is taken, or a file can't be written, nobody is let in, and nothing is left.
func TestStartFails(t *testing.T) {
	first, err := Start(Options{Flags: []string{"-m", "-1"}, Log: &lines{}})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Stop()
	taken, gone := first.MonitorURL()[len("http://127.0.0.1:"):], filepath.Join(t.TempDir(), "gone", "x")
	for _, c := range []struct{ flag, value, want string }{
		{"-m", taken, "the monitoring port can't be opened: listen tcp 127.0.0.1:" + taken},
		{"--profile", taken, "the profiling port can't be opened: listen tcp 127.0.0.1:" + taken},
		{"-P", gone, "the pid file can't be written: open " + gone},
		{"--ports_file_dir", gone, "the ports file can't be written: open " + gone},
		{"-p", taken, "the client port could not be opened: listen tcp 127.0.0.1:" + taken},
	} {
		for _, loop := range []string{"", "--portable"} {
			l := &lines{}
			o := Options{Flags: []string{c.flag, c.value}, Log: l}
			if loop != "" {
				o.Flags = append(o.Flags, loop)
			}
			if _, err := Start(o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v", o.Flags, err)
			}
			text := strings.Join(l.take(), "\n")
			if strings.Contains(text, "is ready") || strings.Contains(text, "Listening") || !strings.Contains(text, "  ID: ") {
				t.Errorf("%q:\n%s", o.Flags, text)
			}
			if ran := c.flag == "-P" || c.flag == "--ports_file_dir"; strings.Contains(text, "Shutdown") != ran {
				t.Errorf("%q: was the server run in order to be ended?\n%s", o.Flags, text)
			}
		}
	}
}

// In operator mode the log says whom the server trusts.
func TestOperatorsAreNamed(t *testing.T) {
	text, err := os.ReadFile("../integration/testdata/configs/operator.conf")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "jwt")
	full := "resolver: {type: full, dir: " + strconv.Quote(dir) + "}"
	file := written(t, "port: -1\nhost: 127.0.0.1\n"+strings.Replace(string(text), "resolver: MEMORY", full, 1))
	l := &lines{}
	v, err := Start(Options{ConfigFile: file, Log: l})
	if err != nil {
		t.Fatal(err)
	}
	l.expect(t, "Using configuration file", "Trusted Operators", `  System  : "ADADKXJT55IQ`, `  Operator: "OP"`,
		"  Issued  : 2026-11-30 02:35:36 +0000 UTC", "  Expires : Never", "Starting http monitor", "Managing all jwt in exclusive directory "+dir,
		"Listening", "Server is ready")
	v.Stop()
	// An operator without a system account.
	key, err := nkeys.CreateOperator()
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	op, err := jwt.NewOperatorClaims(public).Encode(key)
	if err != nil {
		t.Fatal(err)
	}
	l.take()
	v, err = Start(Options{ConfigFile: written(t, "operator: "+op+"\nresolver: MEMORY"), Log: l})
	if err != nil {
		t.Fatal(err)
	}
	l.expect(t, "Trusted Operators", "  Expires : Never", "Trusted Operators should utilize a System Account", "Listening", "Server is ready")
	v.Stop()
}
