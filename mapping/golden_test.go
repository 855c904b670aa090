package mapping

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// readGolden calls use with the quoted fields of each line of a file.
func readGolden(t *testing.T, name string, use func(line int, fields []string)) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var fields []string
		for rest := lines.Text(); rest != ""; {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				t.Fatalf("%s:%d: %v", name, n, err)
			}
			field, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("%s:%d: %v", name, n, err)
			}
			fields = append(fields, field)
			rest = strings.TrimPrefix(rest[len(quoted):], " ")
		}
		use(n, fields)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestCompileLikeReference compares what is refused, and the words for it.
func TestCompileLikeReference(t *testing.T) {
	readGolden(t, "compile.txt", func(line int, f []string) {
		got := "ok"
		if _, err := Compile(f[0], f[1]); err != nil {
			got = err.Error()
		}
		if got != f[2] {
			t.Errorf("line %d: Compile(%q, %q)\n got %s\nwant %s", line, f[0], f[1], got, f[2])
		}
	})
}

// TestApplyLikeReference compares results. Where the reference delivers
// nothing, the result is a subject that nothing matches.
func TestApplyLikeReference(t *testing.T) {
	readGolden(t, "apply.txt", func(line int, f []string) {
		tr, err := Compile(f[0], f[1])
		if err != nil {
			t.Errorf("line %d: %v", line, err)
			return
		}
		result, ok := tr.Apply([]byte("dst:"), []byte(f[2]), 0)
		got, kept := strings.CutPrefix(string(result), "dst:")
		if !kept {
			t.Fatalf("line %d: what was in dst is gone", line)
		}
		if !ok {
			if got != "" {
				t.Errorf("line %d: no match, and %q appended", line, got)
			}
			got = f[2]
		}
		if f[3] == "" {
			if !strings.Contains("."+got+".", "..") {
				t.Errorf("line %d: %q reaches somebody", line, got)
			}
			return
		}
		if got != f[3] {
			t.Errorf("line %d: %q → %q of %q: got %q, want %q", line, f[0], f[1], f[2], got, f[3])
		}
		if tr.Match([]byte(f[2])) != ok {
			t.Errorf("line %d: Match says otherwise", line)
		}
	})
}
