package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// LogOptions configure a Logger. Lines go to the file where one is named, else to the remote syslog, else to this machine's,
// else to standard error: never to two of them.
type LogOptions struct {
	File      string
	SizeLimit int64 // bytes, about, of a file before it is put aside; 0 or less: none
	MaxFiles  int   // of files, the one in use among them, that are kept; 0 or less: all

	RemoteSyslog string // udp://host:port or tcp://host:port
	Syslog       bool   // this machine's

	Format LogFormat
	Debug  bool // write [DBG] lines
	Trace  bool // write [TRC] lines
	NoTime bool // leave the time out of text lines
	UTC    bool // times in UTC instead of the local zone
}

// sameDestination reports whether lines go where they go with o.
func (p *LogOptions) sameDestination(o *LogOptions) bool {
	return p.File == o.File && p.RemoteSyslog == o.RemoteSyslog && p.Syslog == o.Syslog && p.SizeLimit == o.SizeLimit && p.MaxFiles == o.MaxFiles
}

// Check finds what can't work without opening anything: the address of a remote syslog that can't be read, any syslog on Windows.
func (p *LogOptions) Check() error {
	if !p.toSyslog() {
		return nil
	}
	return checkSyslog(p.RemoteSyslog)
}

// CheckFile says why the file can't be opened, as far as that shows without making it; nil where no file is named.
func (p *LogOptions) CheckFile() error {
	if p.File == "" {
		return nil
	}
	info, err := os.Stat(p.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		var dir fs.FileInfo
		if dir, err = os.Stat(filepath.Dir(p.File)); err == nil && !dir.IsDir() {
			err = fmt.Errorf("%s is no directory", filepath.Dir(p.File))
		}
	case err != nil:
	case info.IsDir() || info.Mode().IsRegular(): // else opening it may have an effect, or wait for somebody
		var f *os.File
		if f, err = os.OpenFile(p.File, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		return fmt.Errorf("the log file can't be opened: %w", err)
	}
	return nil
}

// destination is where lines go. Only the writing goroutine uses it.
type destination interface {
	// write writes whole lines.
	write(lines []byte) error
	// reopen opens the file again; it reports whether there is any.
	reopen() (bool, error)
	// close writes nothing more.
	close()
}

// plain is a destination that is nobody's to close.
type plain struct{ io.Writer }

func (s plain) write(lines []byte) error {
	_, _ = s.Write(lines) // there is nobody left to complain to
	return nil
}
func (plain) reopen() (bool, error) { return false, nil }
func (plain) close()                {}

// Logger writes log lines from a goroutine of its own: a slow disk or a blocked pipe does not stop the server. Lines that
// find the buffer full are counted and reported when there is room again.
type Logger struct {
	pid     int
	std     io.Writer // where lines go when they go nowhere else
	stopped chan struct{}
	failing seldom // complaints about the destination

	mu     sync.Mutex
	wake   sync.Cond
	opts   LogOptions
	dest   destination
	buf    []byte
	before []waiting // for destinations of earlier
	lost   int
	closed bool
	again  bool // the file is to be opened again
}

// waiting are lines for a destination that gets no more than these.
type waiting struct {
	dest destination
	buf  []byte
}

const logBuffer = 4 << 20 // bytes that may wait to be written

// logPatience is how long Close waits for a log that can't be written.
const logPatience = 2 * time.Second

// logComplaints is how often standard error says that the log can't be written.
const logComplaints = 10 * time.Second

// NewLogger opens the destination and starts the writer. It fails where the file can't be opened, or the syslog can't be reached or
// there is none, and opens nothing then.
func NewLogger(o LogOptions) (*Logger, error) { return newLogger(o, os.Stderr) }

// newLogger makes a Logger that writes to std where nothing else is named.
func newLogger(o LogOptions, std io.Writer) (*Logger, error) {
	l := &Logger{opts: o, pid: os.Getpid(), stopped: make(chan struct{}), std: std}
	l.failing.every = logComplaints
	l.wake.L = &l.mu
	d, err := l.open(&o)
	if err != nil {
		return nil, err
	}
	l.dest = d
	go l.write()
	return l, nil
}

func (l *Logger) open(o *LogOptions) (destination, error) {
	switch {
	case o.File != "":
		return openLogFile(o, l.note)
	case o.RemoteSyslog != "" || o.Syslog:
		return openSyslog(o.RemoteSyslog)
	default:
		return plain{l.std}, nil
	}
}

// note is a line of the log's own.
func (l *Logger) note(text string) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.append(nil, time.Now(), engine.LevelInfo, "", text)
}

// Change takes over other options. Lines logged before are written as they would have been. When the new destination can't be
// opened, which the error says as that of NewLogger, nothing changes.
func (l *Logger) Change(o LogOptions) error {
	l.mu.Lock()
	same := l.opts.sameDestination(&o)
	l.mu.Unlock()
	var next destination
	if !same {
		var err error
		if next, err = l.open(&o); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed && next != nil:
		next.close()
	case next != nil:
		l.before = append(l.before, waiting{l.dest, l.buf})
		l.dest, l.buf = next, nil
		l.wake.Signal()
	}
	l.opts = o
	return nil
}

var tags = [...]string{"FTL", "ERR", "WRN", "INF", "DBG", "TRC", "DBG", "TRC"}
var levels = [...]string{"fatal", "error", "warn", "info", "debug", "trace", "debug", "trace"}

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
	if l.opts.toSyslog() {
		b = append(b, byte(level)) // see syslogLines
	}
	if l.opts.Format == LogJSON {
		return l.appendJSON(b, now, level, subject, text)
	}
	if l.opts.toSyslog() { // which adds time and process
		return appendText(b, subject, text)
	}
	b = fmt.Appendf(b, "[%d] ", l.pid)
	if !l.opts.NoTime {
		b = now.AppendFormat(b, "2006/01/02 15:04:05.000000 ")
	}
	b = append(append(append(b, '['), tags[level]...), "] "...)
	return appendText(b, subject, text)
}

// toSyslog reports whether lines go to a syslog.
func (p *LogOptions) toSyslog() bool { return p.File == "" && (p.Syslog || p.RemoteSyslog != "") }

func appendText(b []byte, subject, text string) []byte {
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
		for len(l.buf) == 0 && len(l.before) == 0 && !l.closed && !l.again {
			l.wake.Wait()
		}
		before, dest, b, end, again := l.before, l.dest, l.buf, l.closed, l.again
		l.before, l.buf, l.again = nil, spare[:0], false
		l.mu.Unlock()
		for _, w := range before {
			l.hand(w.dest, w.buf)
			w.dest.close()
		}
		l.hand(dest, b)
		if again {
			if is, err := dest.reopen(); err != nil {
				l.complain(err)
			} else if is {
				l.Log(engine.LevelInfo, "", "File log re-opened")
			} else {
				l.Log(engine.LevelInfo, "", "File log re-open ignored, not a file logger")
			}
		}
		if end && len(b) == 0 && len(before) == 0 {
			dest.close()
			return
		}
		spare = b
		if cap(spare) > 1<<20 {
			spare = nil
		}
	}
}

func (l *Logger) hand(d destination, lines []byte) {
	if len(lines) == 0 {
		return
	}
	if err := d.write(lines); err != nil {
		l.complain(err)
	}
}

// complain says on standard error what the log can't say.
func (l *Logger) complain(err error) {
	if text := l.failing.say(time.Now(), "natsd: "+err.Error()); text != "" {
		fmt.Fprintln(os.Stderr, text)
	}
}

// Reopen closes the log file and opens the name again, after it was renamed. Lines logged before go to the old file.
func (l *Logger) Reopen() {
	l.mu.Lock()
	l.again = true
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
	case <-time.After(logPatience):
	}
}
