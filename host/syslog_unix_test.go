//go:build !windows && !plan9

package host

import (
	"bufio"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/engine"
)

// say logs a line of each level.
func sayAll(l *Logger) {
	for level, text := range []string{"fatal", "error", "warning", "information", "debug", "trace"} {
		l.Log(engine.Level(level), "1.2.3.4:5 - cid:6", text+"\nx")
	}
}

// What nats-server sends for the levels: its priorities, its tag, no time of its own.
var syslogged = []*regexp.Regexp{
	syslogLine(2, `fatal\\nx`), syslogLine(3, `error\\nx`), syslogLine(4, `warning\\nx`),
	syslogLine(5, `information\\nx`), syslogLine(7, `debug\\nx`), syslogLine(5, `trace\\nx`),
}

func syslogLine(priority int, text string) *regexp.Regexp {
	return regexp.MustCompile(`^<` + string(rune('0'+priority)) + `>\S+ \S+ host\.test\[\d+\]: 1\.2\.3\.4:5 - cid:6 - ` + text + `\n$`)
}

func TestRemoteSyslogUDP(t *testing.T) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer pc.Close()
	l, err := NewLogger(LogOptions{RemoteSyslog: "udp://" + pc.LocalAddr().String(), Debug: true, Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	sayAll(l)
	l.Close()
	if err := pc.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for _, want := range syslogged {
		b := make([]byte, 4096)
		n, _, err := pc.ReadFrom(b)
		if err != nil {
			t.Fatal(err)
		}
		if !want.Match(b[:n]) {
			t.Errorf("got %q, want %s", b[:n], want)
		}
	}
}

// The server of the log goes away and comes back: what is logged then reaches it.
func TestRemoteSyslogTCP(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	l, err := NewLogger(LogOptions{RemoteSyslog: "tcp://" + ln.Addr().String(), Debug: true, Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conns := make(chan net.Conn)
	go func() {
		defer close(conns)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			conns <- c
		}
	}()
	for range 2 {
		var c net.Conn
		waitFor(t, "the logger to connect", func() bool {
			l.Log(engine.LevelInfo, "", "are you there?")
			select {
			case c = <-conns:
				return true
			default:
				return false
			}
		})
		lines := make(chan string, 10_000)
		go func() {
			defer close(lines)
			for s := bufio.NewScanner(c); s.Scan(); {
				lines <- s.Text() + "\n"
			}
		}()
		// A line sent into a connection that has just ended may be lost: the first to arrive begins the count.
		waitFor(t, "the log to arrive", func() bool {
			l.Log(engine.LevelInfo, "", "are you there?")
			select {
			case line, ok := <-lines:
				return ok && strings.Contains(line, "are you there?")
			default:
				return false
			}
		})
		sayAll(l)
		for i := 0; i < len(syslogged); {
			line, ok := <-lines
			if !ok {
				t.Fatal("the connection ended")
			}
			if strings.Contains(line, "are you there?") {
				continue
			}
			if !syslogged[i].MatchString(line) {
				t.Errorf("got %q, want %s", line, syslogged[i])
			}
			i++
		}
		c.Close()
	}
}

func TestSyslogsThatAreNone(t *testing.T) {
	for url, want := range map[string]string{
		"127.0.0.1:514": "must be udp://", "http://127.0.0.1:1": "must be udp://", "udp://": "must be udp://", "tcp+tls://a:1": "must be udp://",
		"unix:///no/such/socket": "no such file", "udp://127.0.0.1": "missing port",
	} {
		if l, err := NewLogger(LogOptions{RemoteSyslog: url}); err == nil {
			l.Close()
			t.Errorf("%s was taken", url)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}
