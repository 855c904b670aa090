package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	ok(t, err)
	for _, f := range found {
		all = append(all, f.Name())
	}
	return all
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	for _, text := range []string{"first", "", "the second"} {
		n, err := Replace(file, 0o640, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		ok(t, err)
		got, err := os.ReadFile(file)
		ok(t, err)
		if string(got) != text || n != int64(len(text)) {
			t.Errorf("%q with a size of %d, want %q", got, n, text)
		}
	}
	info, err := os.Stat(file)
	ok(t, err)
	if os.PathSeparator == '/' && info.Mode() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
	if all := names(t, dir); !slices.Equal(all, []string{"f"}) {
		t.Errorf("there are %q", all)
	}
}

func TestReplaceAll(t *testing.T) {
	dir := t.TempDir()
	ok(t, os.Mkdir(filepath.Join(dir, "taken"), 0o700))
	var files []File
	for i := range 3 * together {
		files = append(files, File{Name: strconv.Itoa(i), Text: strconv.Itoa(i * i)})
	}
	files = append(files, File{Name: "taken"}, File{Name: "no/such"})
	for _, problems := range [][]error{ReplaceAll(dir, 0o640, files), ReplaceAll(dir, 0o640, files)} {
		for i, p := range problems {
			if bad := i >= len(files)-2; bad != (p != nil) {
				t.Errorf("%s: %v", files[i].Name, p)
			}
		}
	}
	for _, f := range files[:len(files)-2] {
		got, err := os.ReadFile(filepath.Join(dir, f.Name))
		ok(t, err)
		if string(got) != f.Text {
			t.Errorf("%s has %q", f.Name, got)
		}
	}
	if all := names(t, dir); len(all) != len(files)-1 {
		t.Errorf("there are %q", all)
	}
	if p := ReplaceAll(filepath.Join(dir, "none"), 0o640, files[:1]); p[0] == nil {
		t.Error("written to a directory that is not there")
	}
	if p := ReplaceAll(filepath.Join(dir, "none"), 0o640, nil); len(p) != 0 {
		t.Errorf("problems of nothing: %v", p)
	}
}

// Where names can't be made to last, it is said which files have their new content nevertheless.
func TestReplaceAllThatMayNotLast(t *testing.T) {
	dir := t.TempDir()
	ok(t, os.Mkdir(filepath.Join(dir, "taken"), 0o700))
	odd := errors.New("odd")
	problems := replaceAll(dir, 0o640, []File{{Name: "f", Text: "new"}, {Name: "taken"}}, func(string) error { return odd })
	var m *MayNotLast
	if !errors.As(problems[0], &m) || !errors.Is(problems[0], odd) {
		t.Errorf("f: %v", problems[0])
	}
	if problems[1] == nil || errors.As(problems[1], &m) {
		t.Errorf("taken: %v", problems[1])
	}
	got, err := os.ReadFile(filepath.Join(dir, "f"))
	ok(t, err)
	if string(got) != "new" {
		t.Errorf("f has %q", got)
	}
}

func TestReplaceInThisDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := Replace("f", 0o600, func(io.Writer) error { return nil })
	ok(t, err)
	if all := names(t, "."); !slices.Equal(all, []string{"f"}) {
		t.Errorf("there are %q", all)
	}
}

// What fails leaves nothing behind, and the file as it was.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	ok(t, os.WriteFile(file, []byte("old"), 0o600))
	odd := errors.New("odd")
	_, err := Replace(file, 0o600, func(w io.Writer) error {
		if _, err := io.WriteString(w, "new"); err != nil {
			return err
		}
		return odd
	})
	if !errors.Is(err, odd) {
		t.Error(err)
	}
	text, err := os.ReadFile(file)
	ok(t, err)
	if all := names(t, dir); string(text) != "old" || !slices.Equal(all, []string{"f"}) {
		t.Errorf("%q; there are %q", text, all)
	}
	ok(t, os.Mkdir(filepath.Join(dir, "d"), 0o700))
	for _, file := range []string{filepath.Join(dir, "d"), filepath.Join(dir, "none", "f")} {
		if _, err := Replace(file, 0o600, func(io.Writer) error { return nil }); err == nil {
			t.Errorf("%s: no error", file)
		}
	}
	if all := names(t, dir); !slices.Equal(all, []string{"d", "f"}) {
		t.Errorf("there are %q", all)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	kept := []string{".1.tmp", "a", "a..tmp", "a.1", "a.1.tmp.tmp", "a.1x.tmp", "a.tmp", "b.1.tmp"}
	for _, name := range append([]string{"a.1.tmp", "a.0123456789.tmp"}, kept...) {
		ok(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	ok(t, Sweep(dir, func(name string) bool { return name == "a" }))
	if all := names(t, dir); !slices.Equal(all, kept) {
		t.Errorf("there are %q", all)
	}
	ok(t, Sweep(filepath.Join(dir, "none"), nil))
	if err := Sweep(filepath.Join(dir, "a"), nil); err == nil {
		t.Error("swept a file")
	}
}
