package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// process is the program, running.
type process struct {
	*exec.Cmd
	t      *testing.T
	dir    string // for its files
	url    string
	addr   string
	http   string // URL of the monitoring port; empty: none
	stderr *output
	exit   chan error
}

// output keeps what a process writes.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// programs runs a test with the program on each host.
func programs(t *testing.T, test func(t *testing.T, start func(args ...string) *process)) {
	t.Helper()
	hosts(t, func(t *testing.T, w *world) {
		test(t, func(args ...string) *process {
			t.Helper()
			if w.portable {
				args = append(args, "--portable")
			}
			return startProgram(t, exec.Command(natsd, args...))
		})
	})
}

// startProgram starts the program on a free port and waits until it serves. cmd may run it through something else.
func startProgram(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: cmd, t: t, dir: t.TempDir(), stderr: &output{}, exit: make(chan error, 1)}
	cmd.Args = append(cmd.Args, "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", p.dir)
	if cmd.Stderr == nil {
		cmd.Stderr = p.stderr
	}
	ok(t, cmd.Start())
	go func() { p.exit <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended already where the test was successful
	var ports struct {
		Nats       []string `json:"nats"`
		Monitoring []string `json:"monitoring"`
	}
	until(t, "the ports file", func() bool {
		select {
		case err := <-p.exit:
			t.Fatalf("the program ended: %v\n%s", err, p.stderr)
		default:
		}
		b, err := os.ReadFile(p.portsFile())
		if errors.Is(err, os.ErrNotExist) {
			return false
		}
		ok(t, err)
		err = json.Unmarshal(b, &ports)
		if cmd.Args[0] == *peer {
			return err == nil // nats-server writes it bit by bit
		}
		ok(t, err) // natsd's is whole as soon as it is there
		return true
	})
	if len(ports.Nats) != 1 {
		t.Fatalf("ports file: %+v", ports)
	}
	p.url = ports.Nats[0]
	p.addr = strings.TrimPrefix(p.url, "nats://")
	if len(ports.Monitoring) == 1 {
		p.http = ports.Monitoring[0]
	}
	return p
}

func (p *process) portsFile() string {
	name := filepath.Base(p.Args[0])
	if strings.HasSuffix(name, ".exe") || name == "sh" {
		name = "natsd"
	}
	return filepath.Join(p.dir, fmt.Sprintf("%s_%d.ports", name, p.Process.Pid))
}

// ends waits for the process to end and checks its status.
func (p *process) ends(status int) {
	p.t.Helper()
	err := receive(p.t, "the program to end", p.exit)
	if got := p.ProcessState.ExitCode(); got != status {
		p.t.Errorf("exit status %d (%v), want %d\n%s", got, err, status, p.stderr)
	}
}

func (p *process) connect(opts ...nats.Option) *nats.Conn {
	p.t.Helper()
	nc, err := nats.Connect(p.url, append(opts, nats.Timeout(patience))...)
	ok(p.t, err)
	p.t.Cleanup(nc.Close)
	return nc
}

// run runs the program to its end.
func run(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(natsd, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	ok(t, cmd.Start())
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }) // then the status is wrong
	defer timer.Stop()
	err := cmd.Wait()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	defer taken.Close()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	logFile := filepath.Join(t.TempDir(), "log")
	for name, c := range map[string]struct {
		args           string
		status         int
		stdout, stderr string // regular expressions; empty: nothing is written
	}{
		"-v":              {"-v", 0, `(?m)\Anatsd: v[0-9.]+.*\nnats-server: v2\.15\.2\n\z`, ""},
		"--version":       {"--version", 0, `(?m)^nats-server: v2\.15\.2$`, ""},
		"-h":              {"-h", 0, `(?s)\AUsage: natsd .*--ports_file_dir`, ""},
		"--help":          {"--help", 0, `\AUsage: natsd `, ""},
		"-t":              {"-t", 0, "", "configuration is valid"},
		"-t, wrong":       {"-t -p x", 1, "", `-p "x"`},
		"unknown flag":    {"-p -1 --frobnicate", 1, "", `\Anatsd: unknown flag -frobnicate.*\n\z`},
		"argument":        {"serve", 1, "", `unexpected argument "serve"`},
		"later":           {"-js", 1, "", "JetStream"},
		"bad port":        {"-p 70000", 1, "", "65535"},
		"bad format":      {"--log_format xml", 1, "", "text or json"},
		"token and user":  {"--auth t --user u --pass p", 1, "", "can't both"},
		"port in use":     {"-a 127.0.0.1 -p " + port, 1, "", `\[FTL\] .*127\.0\.0\.1:` + port + `.*address already in use`},
		"same, portable":  {"--portable -a 127.0.0.1 -p " + port, 1, "", `\[FTL\] .*127\.0\.0\.1:` + port + `.*address already in use`},
		"same, log file":  {"-a 127.0.0.1 -p " + port + " -l " + logFile, 1, "", `\Anatsd: .*address already in use\n\z`},
		"http in use":     {"-a 127.0.0.1 -p -1 -m " + port, 1, "", `\[FTL\] .*monitoring.*address already in use`},
		"no such address": {"-a 192.0.2.1 -p -1", 1, "", `\[FTL\] .*192\.0\.2\.1`},
		"no such pid dir": {"-a 127.0.0.1 -p -1 -P " + natsd + "/pid", 1, "", `\[FTL\] .*pid file`},
		"no such log dir": {"-a 127.0.0.1 -p -1 -l " + natsd + "/log", 1, "", `\Anatsd: .*log file`},
		"no such config":  {"-c " + natsd + "/conf", 1, "", `\Anatsd: .*\n.*/conf`},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, status := run(t, strings.Fields(c.args)...)
			if status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			for _, stream := range []struct{ name, got, want string }{{"output", stdout, c.stdout}, {"error output", stderr, c.stderr}} {
				if stream.want == "" {
					stream.want = `\A\z`
				}
				if !regexp.MustCompile(stream.want).MatchString(stream.got) {
					t.Errorf("%s is %q, want %s", stream.name, stream.got, stream.want)
				}
			}
		})
	}
	if b, err := os.ReadFile(logFile); err != nil || !strings.Contains(string(b), "address already in use") {
		t.Errorf("log file: %q, %v", b, err)
	}
}

func TestFilesOfTheProgram(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		dir := t.TempDir()
		pidFile, logFile := filepath.Join(dir, "pid"), filepath.Join(dir, "log")
		p := start("-P", pidFile, "-l", logFile, "-m", "-1", "-n", "filer", "--user", "ann", "--pass", "s3cret")
		b, err := os.ReadFile(pidFile)
		ok(t, err)
		if string(b) != strconv.Itoa(p.Process.Pid) {
			t.Errorf("pid file: %q", b)
		}
		if p.http == "" {
			t.Error("the ports file does not name the monitoring port")
		}
		nc := p.connect(nats.UserInfo("ann", "s3cret"))
		if nc.ConnectedServerName() != "filer" {
			t.Errorf("name %q", nc.ConnectedServerName())
		}
		ok(t, p.stop())
		p.ends(0)
		for _, f := range []string{pidFile, p.portsFile()} {
			if _, err := os.Stat(f); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left behind (%v)", f, err)
			}
		}
		log, err := os.ReadFile(logFile)
		ok(t, err)
		for _, want := range []string{"Starting natsd", "Listening for client connections on " + p.addr, "Server is ready", "Server Exiting"} {
			if !strings.Contains(string(log), want) {
				t.Errorf("the log does not say %q:\n%s", want, log)
			}
		}
		if p.stderr.String() != "" {
			t.Errorf("error output: %q", p.stderr)
		}
	})
}

func TestLogFormats(t *testing.T) {
	textLine := regexp.MustCompile(`^\[\d+\] \d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{6} \[(INF|DBG|TRC|ERR|WRN|FTL)\] .+$`)
	plainLine := regexp.MustCompile(`^\[\d+\] \[(INF|DBG|TRC|ERR|WRN|FTL)\] .+$`)
	programs(t, func(t *testing.T, start func(...string) *process) {
		for name, c := range map[string]struct {
			flags []string
			line  func(string) bool
		}{
			"text":         {[]string{"-DV"}, textLine.MatchString},
			"utc":          {[]string{"-D", "-V", "--logtime_utc"}, textLine.MatchString},
			"without -T":   {[]string{"-DV", "-T=false"}, plainLine.MatchString},
			"json":         {[]string{"-DV", "--log_format", "json"}, isLogObject},
			"text by name": {[]string{"-DV", "--log_format=text"}, textLine.MatchString},
		} {
			p := start(c.flags...)
			ok(t, p.connect().Flush())
			ok(t, p.stop())
			p.ends(0)
			log := p.stderr.String()
			for line := range strings.Lines(log) {
				if !strings.HasSuffix(line, "\n") || !c.line(strings.TrimSuffix(line, "\n")) {
					t.Errorf("%s: not a log line: %q", name, line)
				}
			}
			for _, want := range []string{"cid:1", "PING", "Client connection created"} {
				if !strings.Contains(log, want) {
					t.Errorf("%s: the log does not say %q:\n%s", name, want, log)
				}
			}
		}
	})
}

func isLogObject(line string) bool {
	var o struct {
		Time  time.Time `json:"time"`
		Level string    `json:"level"`
		PID   int       `json:"pid"`
		Conn  string    `json:"conn"`
		Msg   string    `json:"msg"`
	}
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	return d.Decode(&o) == nil && !o.Time.IsZero() && o.Level != "" && o.PID > 0 && o.Msg != ""
}

func TestQuietUnlessAsked(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		p := start()
		ok(t, p.connect().Flush())
		ok(t, p.stop())
		p.ends(0)
		if log := p.stderr.String(); strings.Contains(log, "[DBG]") || strings.Contains(log, "[TRC]") {
			t.Errorf("the log says more than it should:\n%s", log)
		}
	})
}
