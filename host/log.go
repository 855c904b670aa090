package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/natsd/natsd/engine"
)

// LogFormat is how lines are written.
type LogFormat uint8

// Formats.
const (
	LogText LogFormat = iota // nats-server's: "[pid] 2026/01/31 15:04:05.000000 [INF] text"
	LogJSON                  // one object a line: time, level, pid, conn, msg
)

// LogOptions configure a Logger.
type LogOptions struct {
	File   string // empty: standard error
	Format LogFormat
	Debug  bool // write [DBG] lines
	Trace  bool // write [TRC] lines
	NoTime bool // leave the time out of text lines
	UTC    bool // times in UTC instead of the local zone
}

// Logger writes log lines from a goroutine of its own: a slow disk or a blocked pipe does not stop the server. Lines that
// find the buffer full are counted and reported when there is room again.
type Logger struct {
	opts LogOptions
	pid  int

	mu      sync.Mutex
	wake    sync.Cond
	buf     []byte
	lost    int
	closed  bool
	reopen  bool
	stopped chan struct{}
	out     io.Writer
	file    *os.File
}

const logBuffer = 4 << 20 // bytes that may wait to be written

// logPatience is how long Close waits for a log that can't be written.
const logPatience = 2 * time.Second

// NewLogger opens the file, if one is named, and starts the writer.
func NewLogger(o LogOptions) (*Logger, error) { return newLogger(o, os.Stderr) }

// newLogger makes a Logger that writes to out where no file is named.
func newLogger(o LogOptions, out io.Writer) (*Logger, error) {
	l := &Logger{opts: o, pid: os.Getpid(), stopped: make(chan struct{}), out: out}
	l.wake.L = &l.mu
	if err := l.open(); err != nil {
		return nil, err
	}
	go l.write()
	return l, nil
}

func (l *Logger) open() error {
	if l.opts.File == "" {
		return nil
	}
	f, err := os.OpenFile(l.opts.File, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return fmt.Errorf("the log file can't be opened: %w", err)
	}
	if l.file != nil {
		l.file.Close()
	}
	l.file, l.out = f, f
	return nil
}

var tags = [...]string{"FTL", "ERR", "WRN", "INF", "DBG", "TRC"}
var levels = [...]string{"fatal", "error", "warn", "info", "debug", "trace"}

// Log implements engine.Log. It may be called from any goroutine.
func (l *Logger) Log(level engine.Level, subject, text string) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if level == engine.LevelDebug && !l.opts.Debug || level == engine.LevelTrace && !l.opts.Trace {
		return
	}
	if l.closed {
		return
	}
	if len(l.buf) > logBuffer {
		l.lost++
		return
	}
	l.reportLost(now)
	l.buf = l.append(l.buf, now, level, subject, text)
	l.wake.Signal()
}

// reportLost tells in the log how many lines are missing from it.
func (l *Logger) reportLost(now time.Time) {
	if n := l.lost; n > 0 {
		l.lost = 0
		l.buf = l.append(l.buf, now, engine.LevelWarn, "", fmt.Sprintf("%d log lines were lost: the log could not be written fast enough", n))
	}
}

func (l *Logger) append(b []byte, now time.Time, level engine.Level, subject, text string) []byte {
	if l.opts.UTC {
		now = now.UTC()
	}
	if l.opts.Format == LogJSON {
		return l.appendJSON(b, now, level, subject, text)
	}
	b = fmt.Appendf(b, "[%d] ", l.pid)
	if !l.opts.NoTime {
		b = now.AppendFormat(b, "2006/01/02 15:04:05.000000 ")
	}
	b = append(append(append(b, '['), tags[level]...), "] "...)
	if subject != "" {
		b = append(append(b, subject...), " - "...)
	}
	if strings.ContainsAny(text, "\r\n") {
		text = lineBreaks.Replace(text) // one line is one entry, whatever a peer sent that is quoted in it
	}
	return append(append(b, text...), '\n')
}

var lineBreaks = strings.NewReplacer("\r", `\r`, "\n", `\n`)

func (l *Logger) appendJSON(b []byte, now time.Time, level engine.Level, subject, text string) []byte {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Time  string `json:"time"`
		Level string `json:"level"`
		PID   int    `json:"pid"`
		Conn  string `json:"conn,omitempty"`
		Msg   string `json:"msg"`
	}{now.Format(time.RFC3339Nano), levels[level], l.pid, subject, text})
	if err != nil {
		return b // strings and numbers always encode
	}
	return append(b, line.Bytes()...)
}

func (l *Logger) write() {
	defer close(l.stopped)
	var spare []byte
	for {
		l.mu.Lock()
		for len(l.buf) == 0 && !l.closed && !l.reopen {
			l.wake.Wait()
		}
		b, end, reopen := l.buf, l.closed, l.reopen
		l.buf, l.reopen = spare[:0], false
		l.mu.Unlock()
		if len(b) > 0 {
			if _, err := l.out.Write(b); err != nil && l.file != nil {
				// The log is the only place to complain at; standard error is what is left.
				fmt.Fprintf(os.Stderr, "natsd: the log can't be written: %v\n%s", err, b) // b ends its last line
			}
		}
		if reopen {
			if err := l.open(); err != nil {
				fmt.Fprintf(os.Stderr, "natsd: %v\n", err)
			} else if l.opts.File != "" {
				l.Log(engine.LevelInfo, "", "File log re-opened")
			}
		}
		if end && len(b) == 0 {
			return
		}
		spare = b
		if cap(spare) > 1<<20 {
			spare = nil
		}
	}
}

// SetLevels says whether [DBG] and [TRC] lines are written from now on.
func (l *Logger) SetLevels(debug, trace bool) {
	l.mu.Lock()
	l.opts.Debug, l.opts.Trace = debug, trace
	l.mu.Unlock()
}

// Reopen closes the log file and opens the name again, after it was renamed. Lines logged before go to the old file.
func (l *Logger) Reopen() {
	l.mu.Lock()
	l.reopen = true
	l.wake.Signal()
	l.mu.Unlock()
}

// Close writes what waits and ends; it gives up on a log that takes nothing. What is logged later is dropped.
func (l *Logger) Close() {
	l.mu.Lock()
	if !l.closed {
		l.reportLost(time.Now())
	}
	l.closed = true
	l.wake.Signal()
	l.mu.Unlock()
	select {
	case <-l.stopped:
		if l.file != nil {
			l.file.Close()
		}
	case <-time.After(logPatience):
	}
}
