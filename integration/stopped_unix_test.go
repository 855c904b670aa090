//go:build unix

package integration

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// A server that was stopped for longer than it gives clients for something does not blame them for it: what arrived
// meanwhile counts, however much it is.
func TestStoppedServerDoesNotBlameClients(t *testing.T) {
	const clients = 400
	programs(t, func(t *testing.T, start func(...string) *process) {
		p := start("-c", configFile(t, `authorization { user: u, password: p, timeout: 1 }`))
		var all []*rawClient
		for range clients {
			all = append(all, dialSilently(t, p.addr))
		}
		for _, c := range all {
			c.expect("INFO {")
		}
		ok(t, p.Process.Signal(syscall.SIGSTOP))
		stopped := time.Now()
		for _, c := range all {
			c.send(`CONNECT {"user":"u","pass":"p","verbose":false,"name":"` + strings.Repeat("n", 1000) + "\"}\r\nPING\r\n")
		}
		until(t, "their time to be over", func() bool { return time.Since(stopped) > 1500*time.Millisecond })
		ok(t, p.Process.Signal(syscall.SIGCONT))
		for _, c := range all {
			c.expect("PONG")
		}
		if log := p.stderr.String(); strings.Contains(log, "Timeout") {
			t.Errorf("log:\n%s", log)
		}
		ok(t, p.stop())
		p.ends(0)
	})
}
