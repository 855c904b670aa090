//go:build unix

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// stop ends the program as its user would.
func (p *process) stop() error { return p.Process.Signal(syscall.SIGTERM) }

func TestStopSignals(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			p := start()
			closed := make(chan struct{})
			c := dialSilently(t, p.addr)
			c.expect("INFO {")
			go func() {
				c.expectEnd()
				c.Close()
				close(closed)
			}()
			ok(t, p.Process.Signal(sig))
			p.ends(0)
			receive(t, "the client to see the end", closed)
			if log := p.stderr.String(); !strings.Contains(log, "Initiating Shutdown") || !strings.Contains(log, "Server Exiting") {
				t.Errorf("%v: log:\n%s", sig, log)
			}
		}
	})
}

// A client that does not close its side holds up the end for a bounded time only.
func TestStopWithClientsThatStay(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		p := start()
		for range 10 {
			c := dialSilently(t, p.addr)
			c.send(quiet + "SUB feed 1\r\n")
		}
		ok(t, p.stop())
		p.ends(0)
	})
}

func TestLogIsReopened(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		dir := t.TempDir()
		name, old := filepath.Join(dir, "log"), filepath.Join(dir, "log.1")
		p := start("-l", name)
		ok(t, os.Rename(name, old))
		ok(t, p.Process.Signal(syscall.SIGUSR1))
		until(t, "the new file", func() bool {
			b, err := os.ReadFile(name)
			return err == nil && strings.Contains(string(b), "File log re-opened")
		})
		ok(t, p.connect().Flush())
		ok(t, p.stop())
		p.ends(0)
		before, err := os.ReadFile(old)
		ok(t, err)
		after, err := os.ReadFile(name)
		ok(t, err)
		if !strings.Contains(string(before), "Server is ready") || strings.Contains(string(before), "Server Exiting") {
			t.Errorf("the old file:\n%s", before)
		}
		if strings.Contains(string(after), "Server is ready") || !strings.Contains(string(after), "Server Exiting") {
			t.Errorf("the new file:\n%s", after)
		}
	})
}

func TestLameDuckSignal(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		p := start()
		c := dialSilently(t, p.addr)
		c.expect("INFO {")
		c.send("CONNECT {\"verbose\":false,\"protocol\":1}\r\nPING\r\n")
		c.expect("PONG", "INFO {")
		ok(t, p.Process.Signal(syscall.SIGUSR2))
		line, err := c.line()
		ok(t, err)
		if !strings.Contains(line, `"ldm":true`) {
			t.Errorf("got %q", line)
		}
		ok(t, p.stop())
		p.ends(0)

		idle := start()
		ok(t, idle.Process.Signal(syscall.SIGUSR2))
		idle.ends(0)
	})
}

// Reloading without a configuration file is refused, and nobody notices.
func TestHangUp(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		p := start()
		nc := p.connect()
		ok(t, p.Process.Signal(syscall.SIGHUP))
		until(t, "the refusal", func() bool { return strings.Contains(p.stderr.String(), "Failed to reload") })
		ok(t, nc.FlushTimeout(patience))
		ok(t, p.stop())
		p.ends(0)
	})
}

// The log goes to a pipe whose reader has gone: no reason to end.
func TestLogReaderGoesAway(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		read, write, err := os.Pipe()
		ok(t, err)
		cmd := exec.Command(natsd, "-DV")
		cmd.Stderr = write
		if w.portable {
			cmd.Args = append(cmd.Args, "--portable")
		}
		p := startProgram(t, cmd)
		ok(t, write.Close())
		ok(t, read.Close())
		for range 3 {
			ok(t, p.connect().Flush()) // which is logged
		}
		ok(t, p.stop())
		p.ends(0)
	})
}

// A server without a descriptor for another connection goes on with those that it has, and takes new ones when there is
// room again.
func TestOutOfDescriptors(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		command := "ulimit -n 40; exec \"$0\" \"$@\""
		args := []string{"-c", command, natsd}
		if w.portable {
			args = append(args, "--portable")
		}
		p := startProgram(t, exec.Command("sh", args...))
		first := dialSilently(t, p.addr)
		first.expect("INFO {")
		first.send(quiet + "SUB a 1\r\n")
		first.ping()
		var crowd []*rawClient
		for range 60 {
			crowd = append(crowd, dialSilently(t, p.addr)) // those beyond the limit wait in the listener's queue
		}
		until(t, "the server to run out", func() bool {
			return strings.Contains(p.stderr.String(), "could not be accepted")
		})
		for range 10 {
			first.send("PUB a 1\r\nx\r\n")
			first.expect("MSG a 1 1", "x")
		}
		last := crowd[len(crowd)-1]
		for _, c := range crowd[:len(crowd)-1] {
			ok(t, c.Close())
		}
		last.expect("INFO {")
		last.send(quiet)
		last.ping()
		first.ping()
		ok(t, p.stop())
		p.ends(0)
	})
}
