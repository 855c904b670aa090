//go:build !windows && !plan9

package host

import (
	"bytes"
	"fmt"
	"log/syslog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/natsd/natsd/engine"
)

// syslogLines is a log in a syslog. Each line has its level as a first byte, which is not written.
type syslogLines struct{ w *syslog.Writer }

// openSyslog opens this machine's syslog, or the one at a URL. Facilities, severities and the tag, which is the name that the
// program was started under, are nats-server's: daemon on this machine, and none for another one.
func openSyslog(remote string) (destination, error) {
	tag := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	var w *syslog.Writer
	if remote == "" {
		local, err := syslog.New(syslog.LOG_DAEMON|syslog.LOG_NOTICE, tag)
		if err != nil {
			return nil, fmt.Errorf("the log can't go to syslog: %w", err)
		}
		w = local
	} else {
		network, addr, err := syslogAddress(remote)
		if err != nil {
			return nil, err
		}
		if w, err = syslog.Dial(network, addr, syslog.LOG_DEBUG, tag); err != nil {
			return nil, fmt.Errorf("the log can't go to the syslog at %s: %w", remote, err)
		}
	}
	return &syslogLines{w}, nil
}

func checkSyslog(remote string) error {
	if remote == "" {
		return nil
	}
	_, _, err := syslogAddress(remote)
	return err
}

// syslogAddress reads the URL of a syslog.
func syslogAddress(remote string) (network, addr string, err error) {
	u, err := url.Parse(remote)
	if err == nil {
		switch u.Scheme {
		case "udp", "tcp":
			if u.Host != "" {
				return u.Scheme, u.Host, nil
			}
		case "unix", "unixgram":
			if u.Path != "" {
				return u.Scheme, u.Path, nil
			}
		}
	}
	return "", "", fmt.Errorf("remote_syslog %q: it must be udp://host:port, tcp://host:port or unix:///path", remote)
}

// write sends the lines. The library connects again once for each; those that fail all the same are lost.
func (s *syslogLines) write(lines []byte) error {
	lost := 0
	var failed error
	for line := range bytes.Lines(lines) {
		if err := s.send(engine.Level(line[0]), string(line[1:len(line)-1])); err != nil {
			failed = err
			lost++
		}
	}
	if failed != nil {
		return fmt.Errorf("%d log lines could not be sent to syslog: %w", lost, failed)
	}
	return nil
}

func (s *syslogLines) send(level engine.Level, text string) error {
	switch level {
	case engine.LevelFatal:
		return s.w.Crit(text)
	case engine.LevelError:
		return s.w.Err(text)
	case engine.LevelWarn:
		return s.w.Warning(text)
	case engine.LevelDebug, engine.LevelDebugWished:
		return s.w.Debug(text)
	default: // information and traces
		return s.w.Notice(text)
	}
}

func (*syslogLines) reopen() (bool, error) { return false, nil }

func (s *syslogLines) close() { s.w.Close() }
