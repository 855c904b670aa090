//go:build linux

package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// server is a running server under test.
type server struct {
	command *exec.Cmd
	pid     int
	port    int
	tls     *tls.Config // of clients; nil: plaintext
	monitor int         // port of its monitoring, 0 when it is off
	output  *os.File
	files   string        // directory of the certificate and the configuration
	ended   chan struct{} // closed when the process has ended
}

// startLimit is how long a server may take until it accepts clients.
const startLimit = 10 * time.Second

// program is how to start a server: its path, what precedes its flags, and its
// configuration, if any.
type program struct {
	path  string
	args  []string
	rules string
}

// start runs the program on a free port of 127.0.0.1 and returns when it
// accepts clients.
func (p program) start(sc scenario) (*server, error) {
	s := &server{ended: make(chan struct{})}
	var err error
	if s.files, err = os.MkdirTemp("", "bench-*"); err != nil {
		return nil, fmt.Errorf("directory: %w", err)
	}
	if err := p.launch(s, sc); err != nil {
		_ = os.RemoveAll(s.files) // the same
		return nil, err
	}
	if err := s.awaitClients(); err != nil {
		err = fmt.Errorf("%s: %w%s", p.path, err, s.lastWords())
		s.stop()
		return nil, err
	}
	return s, nil
}

// launch starts the process of s.
func (p program) launch(s *server, sc scenario) (err error) {
	if s.port, err = freePort(); err != nil {
		return err
	}
	args := append([]string{}, p.args...)
	args = append(args, "-a", "127.0.0.1", "-p", strconv.Itoa(s.port))
	if sc.monitored {
		if s.monitor, err = freePort(); err != nil {
			return err
		}
		args = append(args, "-m", strconv.Itoa(s.monitor))
	}
	if p.rules != "" {
		file := filepath.Join(s.files, "rules.conf")
		if err := os.WriteFile(file, []byte(p.rules), 0o600); err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		args = append(args, "-c", file)
	}
	if sc.encrypted {
		var flags []string
		if flags, s.tls, err = certificate(s.files); err != nil {
			return fmt.Errorf("certificate: %w", err)
		}
		args = append(args, flags...)
	}
	if s.output, err = os.CreateTemp("", "bench-server-*.log"); err != nil {
		return fmt.Errorf("server output: %w", err)
	}
	s.command = exec.Command(p.path, args...)
	s.command.Stdout, s.command.Stderr = s.output, s.output
	// Whatever ends the generator ends the server too.
	s.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.command.Start(); err != nil {
		s.dropOutput()
		return fmt.Errorf("start %s: %w", p.path, err)
	}
	s.pid = s.command.Process.Pid
	go func() {
		// That it was killed is not news.
		_ = s.command.Wait()
		close(s.ended)
	}()
	return nil
}

// at is where clients connect to.
func (s *server) at() endpoint { return endpoint{s.port, s.tls} }

// awaitClients returns once the server has gone through a whole handshake.
func (s *server) awaitClients() error {
	deadline := time.Now().Add(startLimit)
	for {
		c, err := dial(s.at(), "ready")
		if err == nil {
			c.close()
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it does not accept clients: %w", err)
		}
		select {
		case <-s.ended:
			return errors.New("it ended at once")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// stop kills the server and waits until it is gone.
func (s *server) stop() {
	// Kill fails only when the process has ended already.
	_ = s.command.Process.Kill()
	<-s.ended
	s.dropOutput()
}

func (s *server) dropOutput() {
	_ = os.RemoveAll(s.files)      // the same
	_ = s.output.Close()           // it was for reading
	_ = os.Remove(s.output.Name()) // left behind in the temporary directory it does no harm
}

// lastWords returns the end of the server's output for an error message.
func (s *server) lastWords() string {
	text, err := os.ReadFile(s.output.Name())
	if err != nil || len(text) == 0 {
		return ""
	}
	const wordsBytesMax = 1000
	return "\nits output ends with:\n" + string(text[max(0, len(text)-wordsBytesMax):])
}

// turns asks the monitoring for the longest turn of the engine since the start
// by the clock, and for the most CPU that a turn used. What a server does not
// tell is missing.
func (s *server) turns() (sample, error) {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/varz", s.monitor))
	if err != nil {
		return nil, fmt.Errorf("varz: %w", err)
	}
	defer response.Body.Close()
	var varz struct {
		LongestTurnNs *float64 `json:"longest_turn_ns"`
		MostTurnCPUNs *float64 `json:"most_turn_cpu_ns"`
	}
	if err := json.NewDecoder(response.Body).Decode(&varz); err != nil {
		return nil, fmt.Errorf("varz: %w", err)
	}
	told := sample{}
	for m, ns := range map[metric]*float64{longestTurnNs: varz.LongestTurnNs, mostTurnCPUNs: varz.MostTurnCPUNs} {
		if ns != nil {
			told[m] = *ns
		}
	}
	return told, nil
}

// freePort returns a TCP port of 127.0.0.1 nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return 0, fmt.Errorf("free port: %w", err)
	}
	return port, nil
}
