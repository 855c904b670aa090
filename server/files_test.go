package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/natsd/natsd/engine"
)

func content(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPidAndPortsFiles(t *testing.T) {
	dir := t.TempDir()
	s := &settings{engine: engine.Options{Host: "127.0.0.1"}, monitorSettings: monitorSettings{httpHost: "::1"}, pidFile: filepath.Join(dir, "pid"), portsDir: dir}
	f := filesOf(s)
	if err := f.write(portsText(s, 4222, 8222, 6060)); err != nil {
		t.Fatal(err)
	}
	if got := content(t, f.pid); got != strconv.Itoa(os.Getpid()) || f.pid != s.pidFile {
		t.Errorf("%s: %q", f.pid, got)
	}
	var ports map[string][]string
	if err := json.Unmarshal([]byte(content(t, f.ports)), &ports); err != nil {
		t.Fatal(err)
	}
	if want := map[string][]string{"nats": {"nats://127.0.0.1:4222"}, "monitoring": {"http://[::1]:8222"}, "profile": {"http://127.0.0.1:6060"}}; !reflect.DeepEqual(ports, want) {
		t.Errorf("%v, want %v", ports, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("in the directory: %v, %v", left, err)
	}
}

func TestFilesThatCanNotBeWritten(t *testing.T) {
	dir := t.TempDir()
	for f, want := range map[files]string{
		{filepath.Join(dir, "pid"), filepath.Join(dir, "gone", "x")}: "ports file",
		{filepath.Join(dir, "gone", "pid"), filepath.Join(dir, "x")}: "pid file",
	} {
		if err := f.write(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", f, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("left in the directory: %v, %v", left, err)
		}
	}
}

func TestFilesAreReplacedWhole(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pid")
	for _, text := range []string{"a longer one", "short"} {
		if err := writeWhole(name, []byte(text), 0o600); err != nil || content(t, name) != text {
			t.Errorf("%q, %v", content(t, name), err)
		}
	}
	// What is no plain file is written to, not replaced.
	if err := writeWhole(os.DevNull, []byte("x"), 0o600); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}

func TestReachable(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1": "nats://127.0.0.1:1", "::1": "nats://[::1]:1", "nats.example": "nats://nats.example:1",
	} {
		if got := reachable("nats", addr, 1); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
	for _, addr := range []string{"", "0.0.0.0", "::"} {
		for _, url := range reachable("nats", addr, 1) {
			if strings.Contains(url, "0.0.0.0") || strings.Contains(url, "[::]") || !strings.HasSuffix(url, ":1") {
				t.Errorf("%q: %s", addr, url)
			}
		}
	}
}

// A pid file names who runs: one that was overwritten by a server started later is not removed with this one.
func TestOnlyOwnFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	f := files{filepath.Join(dir, "pid"), filepath.Join(dir, "ports")}
	for _, other := range []bool{false, true} {
		if err := f.write(nil); err != nil {
			t.Fatal(err)
		}
		if other {
			if err := os.WriteFile(f.pid, []byte("1"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f.remove()
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 0 != other {
			t.Errorf("other %v: left %v, %v", other, left, err)
		}
	}
	files{}.remove()
}

func TestPortsFileNamesTLS(t *testing.T) {
	s := &settings{engine: engine.Options{Host: "127.0.0.1", TLS: engine.TLSOptions{On: true}}}
	if text := string(portsText(s, 4222, 0, 0)); text != `{"nats":["tls://127.0.0.1:4222"]}` {
		t.Error(text)
	}
}
