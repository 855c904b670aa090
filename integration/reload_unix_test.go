//go:build unix

package integration

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
)

// configFile writes a configuration file.
func configFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "natsd.conf")
	ok(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestReload(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		name := configFile(t, "max_payload: 1000\nauthorization { user: ann, password: one }\n")
		p := start("-c", name)
		refused, closed := make(chan error, 10), make(chan struct{})
		old := p.connect(nats.UserInfo("ann", "one"), nats.NoReconnect(),
			nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }),
			nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
		ok(t, old.Flush())

		reload := func(text, answer string) {
			t.Helper()
			ok(t, os.WriteFile(name, []byte(text), 0o600))
			ok(t, p.Process.Signal(syscall.SIGHUP))
			until(t, answer, func() bool { return strings.Contains(p.stderr.String(), answer) })
		}
		reload("max_payload: {", "Failed to reload server configuration: ")
		ok(t, old.Flush())
		reload("", "natsd.conf: config has no values or is empty") // as a file is that is being written
		ok(t, old.Flush())
		if old.MaxPayload() != 1000 {
			t.Errorf("max_payload is %d", old.MaxPayload())
		}
		reload("max_payload: 2000\nauthorization { user: ann, password: one }\ndebug: true\n", "Reloaded server configuration")
		until(t, "the client to be told", func() bool { return old.MaxPayload() == 2000 })
		reload("server_name: other\nmax_payload: 3000\nauthorization { user: ann, password: two }\n", "config reload not supported for server_name: ")
		ok(t, old.Flush()) // as before
		reload("max_payload: 3000\nauthorization { user: ann, password: two }\n", "Reloaded: max_payload = 3000")
		if err := receive(t, "the old password to be refused", refused); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("got %v", err)
		}
		receive(t, "its user to be thrown out", closed)
		fresh := p.connect(nats.UserInfo("ann", "two"))
		if fresh.MaxPayload() != 3000 {
			t.Errorf("max_payload is %d", fresh.MaxPayload())
		}
		ok(t, p.stop())
		p.ends(0)
	})
}

// The whole of lame duck mode, from the signal to the exit: the first client is evicted after the grace period, and those whose
// time would come later leave by themselves.
func TestLameDuckToTheEnd(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		p := start("-c", configFile(t, "lame_duck_grace_period: \"20ms\"\nlame_duck_duration: \"30s\"\n"))
		const clients = 4
		told, closed := make(chan struct{}, clients), make(chan struct{}, clients)
		var all []*nats.Conn
		for range clients {
			nc := p.connect(nats.NoReconnect(), nats.LameDuckModeHandler(func(*nats.Conn) { told <- struct{}{} }),
				nats.ClosedHandler(func(*nats.Conn) { closed <- struct{}{} }))
			ok(t, nc.Flush())
			all = append(all, nc)
		}
		ok(t, p.Process.Signal(syscall.SIGUSR2))
		for range clients {
			receive(t, "a client to be told", told)
		}
		receive(t, "a client to be evicted", closed)
		for _, nc := range all {
			nc.Close()
		}
		p.ends(0)
		if log := p.stderr.String(); !strings.Contains(log, "Entering lame duck mode") || !strings.Contains(log, "Server Exiting") {
			t.Errorf("log:\n%s", log)
		}
	})
}

// SIGTERM does not end lame duck mode: an orchestrator sends it as soon as its hook has asked for that. SIGINT does.
func TestTermInLameDuckMode(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		p := start("-c", configFile(t, "lame_duck_grace_period: \"30s\"\nlame_duck_duration: \"60s\"\n"))
		told := make(chan struct{}, 1)
		nc := p.connect(nats.NoReconnect(), nats.LameDuckModeHandler(func(*nats.Conn) { told <- struct{}{} }))
		ok(t, nc.Flush())
		ok(t, p.Process.Signal(syscall.SIGUSR2))
		receive(t, "the client to be told", told)
		for i := range 2 {
			ok(t, p.Process.Signal(syscall.SIGTERM))
			until(t, "the signal to be noted", func() bool { return strings.Count(p.stderr.String(), `Trapped "terminated" signal`) > i })
			ok(t, nc.Flush())
		}
		ok(t, p.Process.Signal(syscall.SIGINT))
		p.ends(0)
	})
}

func TestConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	for text, status := range map[string]int{
		"port: 4222\n": 0, "": 1, "port: 99999999\n": 1, "no_such_key: 1\n": 1, "port: {\n": 1, "authorization { user: a, token: b }\n": 1,
	} {
		name := configFile(t, text)
		_, stderr, got := run(t, "-t", "-c", name)
		if got != status {
			t.Errorf("%q: status %d, want %d: %s", text, got, status, stderr)
		}
		if status != 0 && !strings.HasPrefix(stderr, "natsd: ") {
			t.Errorf("%q: %q", text, stderr)
		}
	}
}
