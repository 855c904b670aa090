package tree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCheckText(t *testing.T) {
	const task = "TO" + "DO"
	cases := []struct {
		line string
		want string // "" for a good line
	}{
		{"see /" + "work/main/engine", "style: a path of one machine"},
		{`open("/` + `tmp/bash_jobs/1")`, "style: a path of one machine"},
		{"/" + "home/ann/natsd", "style: a path of one machine"},
		{"the net/" + "work/around is fine", ""},
		{"https://example.com/" + "work/x", ""},
		{"// " + task + ": later", "style: an open task without an issue number"},
		{"- " + task + " later", "style: an open task without an issue number"},
		{"# " + "FIX" + "ME", "style: an open task without an issue number"},
		{"// " + task + "(#12): later", ""},
		{"nothing left " + task, ""},
	}
	for _, c := range cases {
		got := ""
		if found := checkText("x.md", []byte("first\n"+c.line+"\n")); len(found) > 0 {
			got = found[0].Message
			if found[0].Line != 2 {
				t.Errorf("%q: line %d", c.line, found[0].Line)
			}
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.line, got, c.want)
		}
	}
}

func TestCheckSkipsWhatIsNotSource(t *testing.T) {
	root := t.TempDir()
	bad := []byte("/" + "work/\n")
	for _, name := range []string{".git/config", "bin/natsd", "data.bin", ".ci/run", "engine/a.go"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		content := bad
		if name == "data.bin" {
			content = append([]byte{0}, bad...)
		}
		if err := os.WriteFile(filepath.Join(root, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := Check(root)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range found {
		files = append(files, f.File)
	}
	if want := []string{".ci/run", "engine/a.go"}; !slices.Equal(files, want) {
		t.Errorf("found in %v, want %v", files, want)
	}
}
