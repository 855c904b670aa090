package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// logFile is a log in a file. Where it has a limit, the line that goes beyond it is the last one: the file is put aside under
// its name with the time behind it, as nats-server does, and a new one begun.
type logFile struct {
	name  string
	limit int64 // bytes; 0 or less: none
	most  int   // of files that are kept; 0 or less: all
	note  func(text string) []byte

	f       *os.File // nil: it could not be opened
	size    int64
	retryAt int64 // size beyond which putting it aside is tried next
}

// asideForm is the form of what stands behind the name of a file put aside: the local time to the nanosecond.
const asideForm = ".2006.01.02.15.04.05.000000000"

var asideName = regexp.MustCompile(`^\.\d{4}(\.\d\d){5}\.\d{9}$`)

func openLogFile(o *LogOptions, note func(string) []byte) (*logFile, error) {
	l := &logFile{name: o.File, limit: o.SizeLimit, most: o.MaxFiles, note: note}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return fmt.Errorf("the log file can't be opened: %w", err)
	}
	size := int64(0)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	if l.f != nil {
		l.f.Close()
	}
	l.f, l.size, l.retryAt = f, size, l.limit
	return nil
}

func (l *logFile) reopen() (bool, error) { return true, l.open() }

func (l *logFile) close() {
	if l.f != nil {
		l.f.Close()
	}
}

func (l *logFile) write(lines []byte) error {
	var failed error
	for len(lines) > 0 {
		n := len(lines)
		if l.limit > 0 {
			n = l.fits(lines)
		}
		if err := l.put(lines[:n]); err != nil {
			failed = err
		}
		lines = lines[n:]
		if l.limit > 0 && l.size > l.retryAt {
			if err := l.rotate(); err != nil {
				failed = err
				l.retryAt = l.size + l.limit
			}
		}
	}
	return failed
}

// fits returns the length of the first lines that go beyond the limit together, or of all.
func (l *logFile) fits(lines []byte) int {
	room := l.retryAt - l.size
	if int64(len(lines)) <= room {
		return len(lines)
	}
	from := max(room, 0)
	return int(from) + bytes.IndexByte(lines[from:], '\n') + 1
}

// put writes lines. What the file does not take goes to standard error: it is the only place left.
func (l *logFile) put(lines []byte) error {
	if l.f == nil { // its name could not be opened after it was put aside
		if err := l.open(); err != nil {
			os.Stderr.Write(lines)
			return err
		}
	}
	n, err := l.f.Write(lines)
	l.size += int64(n)
	if err != nil {
		os.Stderr.Write(lines[n:])
		return fmt.Errorf("the log can't be written: %w", err)
	}
	return nil
}

// rotate puts the file aside and begins a new one.
func (l *logFile) rotate() error {
	aside := l.name + time.Now().Format(asideForm)
	if _, err := os.Lstat(aside); err == nil {
		return fmt.Errorf("the log file can't be put aside: %s is there already", aside)
	}
	switch err := l.move(aside); {
	case errors.Is(err, fs.ErrNotExist) && l.f != nil:
		return nil // somebody moved it away: the new one is empty
	case err != nil:
		return fmt.Errorf("the log file can't be put aside: %w", err)
	}
	text := l.note(fmt.Sprintf("Rotated log, backup saved as %q", aside))
	purged, err := l.purge()
	for _, name := range purged {
		text = append(text, l.note(fmt.Sprintf("Purged log file %q", name))...)
	}
	return errors.Join(err, l.put(text))
}

// move renames the file and opens its name again. Some systems rename no open file: it is closed before.
func (l *logFile) move(aside string) error {
	l.f.Close()
	err := os.Rename(l.name, aside)
	l.f = nil
	return errors.Join(err, l.open())
}

// purge removes the oldest files put aside, those beyond what is kept, and returns their names.
func (l *logFile) purge() (removed []string, failed error) {
	if l.most <= 0 {
		return nil, nil
	}
	dir, base := filepath.Split(l.name)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("old log files can't be found: %w", err)
	}
	var aside []string
	for _, e := range entries {
		if name := e.Name(); len(name) > len(base) && name[:len(base)] == base && asideName.MatchString(name[len(base):]) {
			aside = append(aside, name)
		}
	}
	slices.Sort(aside) // by time
	for _, name := range aside[:max(len(aside)-(l.most-1), 0)] {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, fmt.Errorf("an old log file can't be removed: %w", err))
			continue
		}
		removed = append(removed, name)
	}
	return removed, failed
}
