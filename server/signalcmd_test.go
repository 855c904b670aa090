package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The texts are nats-server's, where it has the case.
func TestSignalsThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	junk, none := file("junk.pid", "junk\n"), file("none.pid", "\n")
	for arg, want := range map[string]string{
		"bogus": `unknown signal "bogus"`, "STOP=1": `unknown signal "STOP"`, "=5": `unknown signal ""`,
		"stop=abc": "invalid pid: abc", "stop=1x": "invalid pid: 1x", "stop=0": "invalid pid: 0", "stop=-5": "invalid pid: -5",
		"stop=[": "invalid pid: [", "stop=" + dir: "invalid pid: " + dir, "stop=1,2": "invalid pid: 1,2",
		"reload=" + junk: "invalid pid: junk", "reload=" + none: "invalid pid: ",
		"reload=" + filepath.Join(dir, "x*.pid"): "invalid pid: " + filepath.Join(dir, "x*.pid"),
		"reload=" + filepath.Join(dir, "*.pid"):  "invalid pid: junk (in ",
	} {
		if err := sendSignal(arg); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", arg, err, want)
		}
	}
}

func TestPidsInFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.pid": "12", "b.pid": " 34\n", "c.other": "56"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := targets(filepath.Join(dir, "?.pid"))
	if err != nil || len(got) != 2 || got[0] != 12 || got[1] != 34 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := targets(filepath.Join(dir, "b.pid")); err != nil || len(got) != 1 || got[0] != 34 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := targets("7"); err != nil || len(got) != 1 || got[0] != 7 {
		t.Errorf("%v, %v", got, err)
	}
}
