package host

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/natsd/natsd/engine"
)

// logged returns what a Logger with the given options writes of the given lines.
func logged(t *testing.T, o LogOptions, lines func(*Logger)) string {
	t.Helper()
	var out bytes.Buffer
	l, err := newLogger(o, &out)
	if err != nil {
		t.Fatal(err)
	}
	lines(l)
	l.Close()
	return out.String()
}

func TestLogText(t *testing.T) {
	stamp := `\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{6} `
	pid := fmt.Sprintf(`\[%d\] `, os.Getpid())
	for _, c := range []struct {
		name    string
		options LogOptions
		level   engine.Level
		subject string
		text    string
		want    string // regular expression of the whole; empty: no line
	}{
		{"fatal", LogOptions{}, engine.LevelFatal, "", "the end", pid + stamp + `\[FTL\] the end`},
		{"error", LogOptions{}, engine.LevelError, "", "x", pid + stamp + `\[ERR\] x`},
		{"warning", LogOptions{}, engine.LevelWarn, "", "x", pid + stamp + `\[WRN\] x`},
		{"information", LogOptions{}, engine.LevelInfo, "", "x", pid + stamp + `\[INF\] x`},
		{"debug, off", LogOptions{Trace: true}, engine.LevelDebug, "", "x", ""},
		{"debug, on", LogOptions{Debug: true}, engine.LevelDebug, "", "x", pid + stamp + `\[DBG\] x`},
		{"trace, off", LogOptions{Debug: true}, engine.LevelTrace, "", "x", ""},
		{"debug, off, of one connection", LogOptions{}, engine.LevelDebugWished, "", "x", pid + stamp + `\[DBG\] x`},
		{"trace, off, of one connection", LogOptions{}, engine.LevelTraceWished, "", "x", pid + stamp + `\[TRC\] x`},
		{"trace, on", LogOptions{Trace: true}, engine.LevelTrace, "", "x", pid + stamp + `\[TRC\] x`},
		{"subject", LogOptions{}, engine.LevelInfo, "127.0.0.1:5 - cid:7", "gone", pid + stamp + `\[INF\] 127\.0\.0\.1:5 - cid:7 - gone`},
		{"no time", LogOptions{NoTime: true}, engine.LevelInfo, "", "x", pid + `\[INF\] x`},
		{"line breaks", LogOptions{NoTime: true}, engine.LevelInfo, "", "a\r\n[1] [INF] b", pid + `\[INF\] a\\r\\n\[1\] \[INF\] b`},
	} {
		got := logged(t, c.options, func(l *Logger) { l.Log(c.level, c.subject, c.text) })
		if c.want != "" {
			c.want += `\n`
		}
		if !regexp.MustCompile(`\A` + c.want + `\z`).MatchString(got) {
			t.Errorf("%s: got %q, want %s", c.name, got, c.want)
		}
	}
}

func TestLogTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock begins at midnight UTC 2000-01-01
		got := logged(t, LogOptions{UTC: true}, func(l *Logger) { l.Log(engine.LevelInfo, "", "x") })
		if !strings.Contains(got, " 2000/01/01 00:00:00.000000 [INF]") {
			t.Errorf("in UTC: %q", got)
		}
		got = logged(t, LogOptions{}, func(l *Logger) { l.Log(engine.LevelInfo, "", "x") })
		if want := time.Now().Local().Format("2006/01/02 15:04:05.000000"); !strings.Contains(got, want) {
			t.Errorf("in the local zone: %q, want %s", got, want)
		}
	})
}

func TestLogJSON(t *testing.T) {
	got := logged(t, LogOptions{Format: LogJSON, UTC: true}, func(l *Logger) {
		l.Log(engine.LevelWarn, "10.0.0.1:5 - cid:7", "<<- [\"a\nb\"] \xff")
		l.Log(engine.LevelInfo, "", "plain")
	})
	if strings.Count(got, "\n") != 2 || !strings.HasSuffix(got, "\n") {
		t.Fatalf("not two lines: %q", got)
	}
	if strings.Contains(got, `\u003c`) || strings.Contains(strings.Split(got, "\n")[1], "conn") {
		t.Errorf("got %s", got)
	}
	var o struct {
		Time             time.Time
		Level, Conn, Msg string
		PID              int
	}
	if err := json.Unmarshal([]byte(strings.Split(got, "\n")[0]), &o); err != nil {
		t.Fatal(err)
	}
	if o.Level != "warn" || o.Conn != "10.0.0.1:5 - cid:7" || o.Msg != "<<- [\"a\nb\"] \ufffd" || o.PID != os.Getpid() || o.Time.IsZero() {
		t.Errorf("got %+v", o)
	}
}

func change(t *testing.T, l *Logger, o LogOptions) {
	t.Helper()
	if err := l.Change(o); err != nil {
		t.Error(err)
	}
}

func TestLogLevelsChange(t *testing.T) {
	got := logged(t, LogOptions{NoTime: true}, func(l *Logger) {
		l.Log(engine.LevelDebug, "", "before")
		change(t, l, LogOptions{NoTime: true, Debug: true})
		l.Log(engine.LevelDebug, "", "between")
		l.Log(engine.LevelTrace, "", "between, trace")
		change(t, l, LogOptions{NoTime: true, Trace: true})
		l.Log(engine.LevelDebug, "", "after")
		l.Log(engine.LevelTrace, "", "after, trace")
	})
	var texts []string
	for line := range strings.Lines(got) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), "[")
		_, text, _ = strings.Cut(text, "] [")
		texts = append(texts, text)
	}
	if want := "DBG] between|TRC] after, trace"; strings.Join(texts, "|") != want {
		t.Errorf("got %q", texts)
	}
}

func TestLogFileIsReopened(t *testing.T) {
	dir := t.TempDir()
	name, old := filepath.Join(dir, "log"), filepath.Join(dir, "log.1")
	if err := os.WriteFile(name, []byte("from before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := NewLogger(LogOptions{File: name, NoTime: true})
	if err != nil {
		t.Fatal(err)
	}
	l.Log(engine.LevelInfo, "", "first")
	if err := os.Rename(name, old); err != nil {
		t.Fatal(err)
	}
	l.Reopen()
	waitFor(t, "the file to be there again", func() bool { _, err := os.Stat(name); return err == nil })
	l.Log(engine.LevelInfo, "", "second")
	l.Close()
	l.Log(engine.LevelInfo, "", "too late")
	l.Close()
	for file, want := range map[string]string{
		old:  "from before\n[PID] [INF] first\n",
		name: "[PID] [INF] File log re-opened\n[PID] [INF] second\n",
	} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(string(b), fmt.Sprintf("[%d]", os.Getpid()), "[PID]"); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", file, got, want)
		}
	}
}

// Who asks for the file to be opened again where there is none is told.
func TestLogReopenWithoutFile(t *testing.T) {
	r, w := io.Pipe()
	l, err := newLogger(LogOptions{NoTime: true}, w)
	if err != nil {
		t.Fatal(err)
	}
	l.Reopen()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil || !strings.HasSuffix(line, "[INF] File log re-open ignored, not a file logger\n") {
		t.Errorf("%q, %v", line, err)
	}
	l.Close()
}

// A name that can't be opened again leaves the log where it is.
func TestLogReopenFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := NewLogger(LogOptions{File: filepath.Join(dir, "log"), NoTime: true})
	if err != nil {
		t.Fatal(err)
	}
	l.Log(engine.LevelInfo, "", "first")
	moved := dir + ".moved"
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	l.Reopen()
	l.Log(engine.LevelInfo, "", "second")
	l.Close()
	b, err := os.ReadFile(filepath.Join(moved, "log"))
	if err != nil || !strings.Contains(string(b), "first") || !strings.Contains(string(b), "second") {
		t.Errorf("log: %q, %v", b, err)
	}
}

func TestLogFileThatCanNotBeOpened(t *testing.T) {
	_, err := NewLogger(LogOptions{File: filepath.Join(t.TempDir(), "no", "such", "dir")})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// stuckWriter takes nothing until it is released.
type stuckWriter struct {
	release chan struct{}
	mu      sync.Mutex
	got     bytes.Buffer
}

func (w *stuckWriter) Write(b []byte) (int, error) {
	<-w.release
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.got.Write(b)
}

// A log that can't be written does not hold up who logs; it says how many lines are missing when it goes on.
func TestLogCountsLostLines(t *testing.T) {
	w := &stuckWriter{release: make(chan struct{})}
	l, err := newLogger(LogOptions{NoTime: true}, w)
	if err != nil {
		t.Fatal(err)
	}
	const line = 1000
	text := strings.Repeat("x", line)
	const n = 3 * logBuffer / line // more than the buffer and what the writer has taken can hold
	for range n {
		l.Log(engine.LevelInfo, "", text)
	}
	close(w.release)
	l.Close()
	got := w.got.String()
	kept := strings.Count(got, text)
	var lost int
	if i := strings.Index(got, "[WRN] "); i < 0 {
		t.Fatal("no line says that lines were lost")
	} else if _, err := fmt.Sscanf(got[i:], "[WRN] %d log lines were lost", &lost); err != nil {
		t.Fatal(err)
	}
	if kept+lost != n || lost == 0 {
		t.Errorf("%d lines are there and %d lost, of %d", kept, lost, n)
	}
	if len(got) > 2*(logBuffer+2*line) {
		t.Errorf("%d bytes were kept", len(got))
	}
}

// Close gives up on a log that takes nothing: the program must be able to end.
func TestLogCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &stuckWriter{release: make(chan struct{})}
		l, err := newLogger(LogOptions{}, w)
		if err != nil {
			t.Fatal(err)
		}
		l.Log(engine.LevelInfo, "", "x")
		synctest.Wait()
		l.Close()
		close(w.release) // so that its goroutine ends too
	})
}

func TestLogFromManyGoroutines(t *testing.T) {
	const writers, each = 8, 500
	got := logged(t, LogOptions{NoTime: true}, func(l *Logger) {
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				for j := range each {
					l.Log(engine.LevelInfo, "", fmt.Sprintf("w%d n%d", i, j))
				}
			})
		}
		wg.Wait()
	})
	next := map[int]int{}
	for line := range strings.Lines(got) {
		var pid, w, n int
		if _, err := fmt.Sscanf(line, "[%d] [INF] w%d n%d\n", &pid, &w, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if n != next[w] {
			t.Fatalf("writer %d: line %d follows line %d", w, n, next[w]-1)
		}
		next[w]++
	}
	for i := range writers {
		if next[i] != each {
			t.Errorf("writer %d: %d lines of %d", i, next[i], each)
		}
	}
}

// waitFor waits for a condition that nothing announces.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
