package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/natsd/natsd/internal/transcript"
)

const (
	startPatience = 10 * time.Second // for the server to announce its port
	exitPatience  = 10 * time.Second // for the server to end after a signal
)

// server is a running server binary: the real world.
type server struct {
	cmd     *exec.Cmd
	dir     string
	address string
	ended   chan struct{} // closed when the process is gone
	silence time.Duration
}

func startServer(binary string, config []transcript.Setting, more string) (*server, error) {
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, ended: make(chan struct{}), silence: silence}
	args := []string{"-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", dir, "-l", filepath.Join(dir, "server.log")}
	if len(config) > 0 || more != "" {
		file := filepath.Join(dir, "server.conf")
		if err := os.WriteFile(file, []byte(configText(config)+more), 0o600); err != nil {
			return nil, err
		}
		args = append(args, "-c", file)
	}
	s.cmd = exec.Command(binary, args...)
	output, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		return nil, err
	}
	defer output.Close()
	s.cmd.Stdout, s.cmd.Stderr = output, output
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = s.cmd.Wait() // the status is read from ProcessState
		close(s.ended)
	}()
	if err := s.findPort(); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// findPort waits for the ports file.
func (s *server) findPort() error {
	for deadline := time.Now().Add(startPatience); time.Now().Before(deadline); {
		select {
		case <-s.ended:
			said, _ := os.ReadFile(filepath.Join(s.dir, "output")) // best effort: the error below says enough
			return fmt.Errorf("the server ended at once: %s", said)
		case <-time.After(5 * time.Millisecond):
		}
		names, err := filepath.Glob(filepath.Join(s.dir, "*.ports"))
		if err != nil || len(names) == 0 {
			continue
		}
		var ports struct {
			Nats []string `json:"nats"`
		}
		data, err := os.ReadFile(names[0])
		if err != nil || json.Unmarshal(data, &ports) != nil || len(ports.Nats) == 0 {
			continue // not written to its end yet
		}
		at, err := url.Parse(ports.Nats[0])
		if err != nil {
			return fmt.Errorf("ports file: %w", err)
		}
		s.address = at.Host
		return nil
	}
	return errors.New("the server does not announce its port")
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill() // it may be gone already
	<-s.ended
	_ = os.RemoveAll(s.dir) // in the system's temporary directory: nothing depends on it
}

// configText writes the settings in the servers' configuration language. Those about credentials belong into a block.
func configText(config []transcript.Setting) string {
	var top, auth strings.Builder
	for _, c := range config {
		value := c.Value
		if _, err := strconv.Atoi(value); err != nil && value != "true" && value != "false" {
			value = strconv.Quote(value)
		}
		switch c.Key {
		case "user", "token":
			fmt.Fprintf(&auth, "  %s: %s\n", c.Key, strconv.Quote(c.Value))
		case "pass":
			fmt.Fprintf(&auth, "  password: %s\n", strconv.Quote(c.Value))
		case "auth_timeout":
			fmt.Fprintf(&auth, "  timeout: %s\n", value)
		case "nkey":
			fmt.Fprintf(&auth, "  users: [ { nkey: %s } ]\n", value)
		default:
			fmt.Fprintf(&top, "%s: %s\n", c.Key, value)
		}
	}
	if auth.Len() > 0 {
		fmt.Fprintf(&top, "authorization {\n%s}\n", auth.String())
	}
	return top.String()
}

// Dial implements transcript.World.
func (s *server) Dial(window int) (transcript.Peer, bool) {
	c, err := net.DialTimeout("tcp", s.address, startPatience)
	if err != nil {
		return nil, false
	}
	p := &peer{conn: c.(*net.TCPConn), silence: s.silence}
	if window > 0 {
		p.must(p.conn.SetReadBuffer(window))
		p.narrow = true
	}
	p.must(p.conn.SetNoDelay(true))
	return p, true
}

// Advance implements transcript.World.
func (s *server) Advance(d time.Duration) { time.Sleep(d) }

// Signal implements transcript.World.
func (s *server) Signal(name string) {
	if err := s.cmd.Process.Signal(signalNamed(name)); err != nil {
		fmt.Fprintf(os.Stderr, "signal %s: %v\n", name, err)
	}
}

// Exited implements transcript.World.
func (s *server) Exited() (int, bool) {
	select {
	case <-s.ended:
		return s.cmd.ProcessState.ExitCode(), true
	case <-time.After(exitPatience):
		return 0, false
	}
}
