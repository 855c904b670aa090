//go:build unix

package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// namedProgram is the program under a name that nothing else on this machine has: --signal finds processes by name.
func namedProgram(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), fmt.Sprintf("nsd%d", os.Getpid()%100_000_000))
	// Not by this process: what it has open for writing, a program started meanwhile elsewhere may keep open for a moment.
	ok(t, exec.Command("cp", natsd, name).Run())
	return name
}

// runAs runs a program to its end.
func runAs(t *testing.T, program string, args ...string) (output string, status int) {
	t.Helper()
	b, err := exec.Command(program, args...).CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if failed != nil {
		status = failed.ExitCode()
	}
	return string(b), status
}

// signalled runs --signal, which must work.
func signalled(t *testing.T, program, arg string) {
	t.Helper()
	if out, status := runAs(t, program, "--signal", arg); status != 0 || out != "" {
		t.Errorf("--signal %s: status %d, %q", arg, status, out)
	}
}

func (p *process) logs(text string) {
	p.t.Helper()
	until(p.t, text, func() bool { return strings.Contains(p.stderr.String(), text) })
}

func TestSignalFlag(t *testing.T) {
	t.Parallel()
	program := namedProgram(t)
	name := filepath.Base(program)
	if out, status := runAs(t, program, "--signal", "reload"); status != 1 || out != name+": no "+name+" processes running\n" {
		t.Errorf("without a server: status %d, %q", status, out)
	}
	dir := t.TempDir()
	start := func(i int) *process {
		return startProgram(t, exec.Command(program, "-P", filepath.Join(dir, strconv.Itoa(i)+".pid")))
	}
	one := start(1)
	signalled(t, program, "reload")
	one.logs(`Trapped "hangup" signal`)
	signalled(t, program, "reopen=")
	one.logs(`Trapped "user defined signal 1" signal`)

	two := start(2)
	pids := []int{one.Process.Pid, two.Process.Pid}
	if pids[0] > pids[1] {
		pids[0], pids[1] = pids[1], pids[0]
	}
	want := fmt.Sprintf("%s: multiple %s processes running:\n%d\n%d\n", name, name, pids[0], pids[1])
	if out, status := runAs(t, program, "-sl", "reload"); status != 1 || out != want {
		t.Errorf("with two servers: status %d, %q, want %q", status, out, want)
	}
	signalled(t, program, "reload="+strconv.Itoa(two.Process.Pid)+"*")
	two.logs(`Trapped "hangup" signal`)
	signalled(t, program, "reopen="+filepath.Join(dir, "*.pid"))
	two.logs(`Trapped "user defined signal 1" signal`)
	signalled(t, program, "quit="+strconv.Itoa(two.Process.Pid))
	two.logs(`Trapped "interrupt" signal`)
	two.ends(0)
	three := start(3)
	signalled(t, program, "ldm="+filepath.Join(dir, "3.pid"))
	three.ends(0)
	three.logs("Entering lame duck mode")
	signalled(t, program, "term="+filepath.Join(dir, "1.pid"))
	one.ends(0)
	one.logs(`Trapped "terminated" signal`)

	four := start(4)
	signalled(t, program, "stop=*")
	receive(t, "the program to be killed", four.exit)
	if s, killed := four.ProcessState.Sys().(syscall.WaitStatus); !killed || s.Signal() != syscall.SIGKILL {
		t.Errorf("ended with %v", four.ProcessState)
	}
	if _, err := os.Stat(filepath.Join(dir, "4.pid")); err != nil {
		t.Errorf("who is killed removes nothing, yet %v", err)
	}
	if out, status := runAs(t, program, "--signal", "reload="+filepath.Join(dir, "4.pid")); status != 1 ||
		out != fmt.Sprintf("%s: \nsignal \"reload\" %d: no such process\n", name, four.Process.Pid) {
		t.Errorf("a process that is gone: status %d, %q", status, out)
	}
}

// A program that is linked as nats-server answers to that name.
func TestLinkNamedNatsServer(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "nats-server")
	ok(t, os.Symlink(namedProgram(t), link))
	if out, status := runAs(t, link, "--frobnicate"); status != 1 || !strings.HasPrefix(out, "nats-server: unknown flag -frobnicate") {
		t.Errorf("status %d, %q", status, out)
	}
	p := startProgram(t, exec.Command(link))
	ok(t, p.connect().Flush())
	signalled(t, link, "term="+strconv.Itoa(p.Process.Pid)) // others run servers of that name
	p.ends(0)
}

// SIGQUIT is for whoever looks for what is wrong: the stacks of all goroutines, and an exit status that says so.
func TestQuitSignalShowsStacks(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		p := start()
		ok(t, p.Process.Signal(syscall.SIGQUIT))
		p.ends(2)
		if log := p.stderr.String(); !strings.Contains(log, "SIGQUIT: quit") || !strings.Contains(log, "goroutine 1 ") {
			t.Errorf("log:\n%s", log)
		}
	})
}

// The log goes on in the right file when it is put aside by size and opened again by signal, at the same time.
func TestLogIsPutAsideAndReopened(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		dir := t.TempDir()
		name := filepath.Join(dir, "nats.log")
		p := start("-V", "-c", configFile(t, fmt.Sprintf("log_file: %q\nlogfile_size_limit: 2kb\nlogfile_max_num: 3\n", name)))
		nc := p.connect()
		logged := func(file, text string) func() bool {
			return func() bool {
				b, err := os.ReadFile(file)
				return err == nil && strings.Contains(string(b), text)
			}
		}
		next := func(text string) {
			for range 50 {
				ok(t, nc.Publish("a", []byte(text)))
			}
			ok(t, nc.Flush())
		}
		next("first")
		until(t, "a file to be put aside", logged(name, "Rotated log, backup saved as"))
		next("second")
		until(t, "old files to go", func() bool {
			files, err := filepath.Glob(name + ".20*")
			ok(t, err)
			return len(files) == 2 && logged(name, `Purged log file "nats.log.20`)()
		})
		// While the server puts a file aside, there is a moment without one.
		until(t, "a file to move", func() bool { return os.Rename(name, name+".moved") == nil })
		ok(t, p.Process.Signal(syscall.SIGUSR1))
		until(t, "the file to be opened again", logged(name, "File log re-opened"))
		ok(t, p.stop())
		p.ends(0)
		if !logged(name, "Server Exiting")() {
			t.Error("the end is not in the last file")
		}
	})
}

// A reload moves the log; one that can't be opened is refused.
func TestReloadMovesTheLog(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		dir := t.TempDir()
		one, two := filepath.Join(dir, "one.log"), filepath.Join(dir, "two.log")
		config := configFile(t, fmt.Sprintf("log_file: %q\n", one))
		p := start("-c", config)
		reload := func(text, file, says string) {
			t.Helper()
			ok(t, os.WriteFile(config, []byte(text), 0o600))
			ok(t, p.Process.Signal(syscall.SIGHUP))
			until(t, says, func() bool {
				b, err := os.ReadFile(file)
				return err == nil && strings.Contains(string(b), says)
			})
		}
		reload(fmt.Sprintf("log_file: %q\n", filepath.Join(dir, "no", "two.log")), one, "Failed to reload server configuration: the log file can't be opened")
		reload(fmt.Sprintf("log_file: %q\ntrace: true\nmax_traced_msg_len: 3\n", two), two, "Reloaded server configuration")
		nc := p.connect()
		ok(t, nc.Publish("a", []byte("hello")))
		ok(t, nc.Flush())
		until(t, "a trace", func() bool {
			b, err := os.ReadFile(two)
			return err == nil && strings.Contains(string(b), `<<- MSG_PAYLOAD: ["hel..."]`)
		})
		ok(t, p.stop())
		p.ends(0)
	})
}
