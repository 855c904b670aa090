package host

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/natsd/natsd/engine"
)

// logFiles returns the files put aside, by age, and what all files hold together, in the order of its writing.
func logFiles(t *testing.T, name string) (aside []string, text string) {
	t.Helper()
	aside, err := filepath.Glob(name + ".*")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(aside)
	for _, f := range append(slices.Clone(aside), name) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
	}
	return aside, text
}

// All lines are in the files, in order, whatever was put aside between them and however they came.
func TestLogFilesArePutAside(t *testing.T) {
	for _, limit := range []int64{1, 40, 300, 1000, 1 << 20} {
		name := filepath.Join(t.TempDir(), "nats.log")
		l, err := NewLogger(LogOptions{File: name, SizeLimit: limit, NoTime: true})
		if err != nil {
			t.Fatal(err)
		}
		const n = 200
		for i := range n {
			l.Log(engine.LevelInfo, "", fmt.Sprintf("line %d.", i))
		}
		l.Close()
		aside, text := logFiles(t, name)
		if len(aside) == 0 != (limit == 1<<20) {
			t.Errorf("limit %d: %d files put aside", limit, len(aside))
		}
		for _, f := range aside {
			if !regexp.MustCompile(`\.log\.\d{4}(\.\d\d){5}\.\d{9}$`).MatchString(f) {
				t.Errorf("put aside as %s", f)
			}
			info, err := os.Stat(f)
			if err != nil {
				t.Fatal(err)
			}
			if most := limit + 300; info.Size() <= limit || info.Size() > most {
				t.Errorf("limit %d: a file of %d bytes was put aside", limit, info.Size())
			}
			if !strings.Contains(text, fmt.Sprintf("[INF] Rotated log, backup saved as %q\n", f)) {
				t.Errorf("%s is not named in the next file", f)
			}
		}
		next := 0
		for line := range strings.Lines(text) {
			if strings.HasSuffix(line, fmt.Sprintf("line %d.\n", next)) {
				next++
			} else if !strings.Contains(line, "Rotated log") {
				t.Fatalf("limit %d: %q follows line %d", limit, line, next-1)
			}
		}
		if next != n {
			t.Errorf("limit %d: %d lines of %d", limit, next, n)
		}
	}
}

func TestOldLogFilesArePurged(t *testing.T) {
	for _, most := range []int{1, 2, 4} {
		dir := t.TempDir()
		name := filepath.Join(dir, "nats.log")
		// What only looks like a file put aside stays.
		kept := []string{"nats.log.old", "nats.log.2020.01.01.00.00.00", "other.nats.log.2020.01.01.00.00.00.000000000"}
		old := "nats.log.2020.01.01.00.00.00.000000000"
		for _, f := range append(slices.Clone(kept), old) {
			if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l, err := NewLogger(LogOptions{File: name, SizeLimit: 100, MaxFiles: most, NoTime: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			l.Log(engine.LevelInfo, "", fmt.Sprintf("line %d", i))
		}
		l.Close()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(entries), most+len(kept); got != want {
			t.Errorf("most %d: %d files are left, want %d: %v", most, got, want, entries)
		}
		for _, f := range kept {
			if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
				t.Errorf("most %d: %v", most, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, old)); err == nil {
			t.Errorf("most %d: the oldest is still there", most)
		}
		last, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(last), "[INF] Purged log file \"nats.log.20") {
			t.Errorf("most %d: %q, %v", most, last, err)
		}
	}
}

// A file that was there before counts with its size, and a name opened again with what it then has.
func TestSizeOfLogFilesThatAreThere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "nats.log")
	if err := os.WriteFile(name, []byte(strings.Repeat("x", 500)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := NewLogger(LogOptions{File: name, SizeLimit: 400, NoTime: true})
	if err != nil {
		t.Fatal(err)
	}
	l.Log(engine.LevelInfo, "", "first")
	says := func(text string) {
		t.Helper()
		waitFor(t, text, func() bool {
			b, _ := os.ReadFile(name)
			return strings.Contains(string(b), text)
		})
	}
	says("Rotated log")
	if err := os.Rename(name, name+"-moved"); err != nil {
		t.Fatal(err)
	}
	l.Reopen()
	says("File log re-opened")
	l.Log(engine.LevelInfo, "", strings.Repeat("y", 250))
	l.Log(engine.LevelInfo, "", "last")
	l.Close()
	if aside, _ := filepath.Glob(name + ".*"); len(aside) != 1 {
		t.Errorf("put aside: %v", aside)
	}
	says("last")
}

// A file that somebody else has moved away when it reaches its limit is followed by a new one.
func TestLogFileMovedAway(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	f, err := openLogFile(&LogOptions{File: name, SizeLimit: 10}, func(s string) []byte { return []byte(s + "\n") })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name, name+"-moved"); err != nil {
		t.Fatal(err)
	}
	if err := f.write([]byte("0123456789\nnext\n")); err != nil {
		t.Error(err)
	}
	f.close()
	if aside, text := logFiles(t, name); len(aside) != 0 || text != "next\n" {
		t.Errorf("put aside: %v; in the file: %q", aside, text)
	}
}

// What can't be put aside goes on being written.
func TestLogFileThatCanNotBePutAside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := openLogFile(&LogOptions{File: filepath.Join(dir, "log"), SizeLimit: 10}, func(s string) []byte { return []byte(s + "\n") })
	if err != nil {
		t.Fatal(err)
	}
	moved := dir + ".moved"
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if err := f.write([]byte("0123456789\n")); err == nil || !strings.Contains(err.Error(), "put aside") {
		t.Errorf("got %v", err)
	}
	if err := f.write([]byte("lost to standard error\n")); err == nil {
		t.Error("written to nowhere")
	}
	if err := os.Rename(moved, dir); err != nil {
		t.Fatal(err)
	}
	if err := f.write([]byte("back\n")); err != nil {
		t.Error(err)
	}
	f.close()
	if _, text := logFiles(t, filepath.Join(dir, "log")); !strings.HasPrefix(text, "0123456789\n") || !strings.Contains(text, "back\n") {
		t.Errorf("got %q", text)
	}
}

// A log that goes elsewhere from now on leaves behind what was logged before.
func TestLogDestinationChanges(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	l, err := NewLogger(LogOptions{File: one, NoTime: true})
	if err != nil {
		t.Fatal(err)
	}
	l.Log(engine.LevelInfo, "", "first")
	if err := l.Change(LogOptions{File: filepath.Join(dir, "no", "such"), NoTime: true}); err == nil {
		t.Error("a file that can't be opened was taken")
	}
	l.Log(engine.LevelInfo, "", "second")
	if err := l.Change(LogOptions{File: two, NoTime: true, Debug: true}); err != nil {
		t.Error(err)
	}
	l.Log(engine.LevelDebug, "", "third")
	if err := l.Change(LogOptions{File: two, NoTime: true, Format: LogJSON}); err != nil {
		t.Error(err)
	}
	l.Log(engine.LevelDebug, "", "not written")
	l.Log(engine.LevelInfo, "", "fourth")
	l.Close()
	if err := l.Change(LogOptions{File: one}); err != nil {
		t.Error(err)
	}
	pid := fmt.Sprintf("[%d] ", os.Getpid())
	if _, got := logFiles(t, one); got != pid+"[INF] first\n"+pid+"[INF] second\n" {
		t.Errorf("the first file: %q", got)
	}
	if _, got := logFiles(t, two); !strings.HasPrefix(got, pid+"[DBG] third\n{") || strings.Contains(got, "not written") || !strings.Contains(got, `"msg":"fourth"`) {
		t.Errorf("the second file: %q", got)
	}
}
