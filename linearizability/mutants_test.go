package linearizability

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var (
	mutants = flag.Bool("mutants", false, "plant the mutants of sim/mutants that are about interest, one after the other")
	part    = flag.String("part", "", "with -mutants: `i/n`, the ith of n parts of them, or that which a commit's hash picks in place of i")
)

// inPart reports whether the ith mutant is in the part that was asked for.
func inPart(t *testing.T, i int) bool {
	if *part == "" {
		return true
	}
	a, b, _ := strings.Cut(*part, "/")
	parts, err := strconv.ParseUint(b, 10, 32)
	if err != nil || parts == 0 {
		t.Fatalf("-part %q has no positive number behind the slash", *part)
	}
	chosen, err := strconv.ParseUint(a, 10, 32)
	if err != nil || chosen >= parts {
		if chosen, err = strconv.ParseUint(a[:min(len(a), 8)], 16, 64); err != nil {
			t.Fatalf("-part %q: neither a part nor a commit", *part)
		}
	}
	return uint64(i)%parts == chosen%parts
}

// TestMutantsAreFound: TestInterestUnderFaults finds each bug of sim/mutants that makes interest something else than a
// register. Each is built into a test binary of its own, which takes seconds.
func TestMutantsAreFound(t *testing.T) {
	if !*mutants {
		t.Skip("builds a test binary for each mutant: run with -args -mutants")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{
		"503-although-queue", "503-missing", "cache-kin-stale", "cache-literal-stale", "cache-pattern-stale", "echo-ignored",
		"memo-stale", "queue-no-skip", "queue-not-merged", "queue-two", "sid-begins-alike", "unsub-waits-for-first",
	} {
		if !inPart(t, i) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			overlay := plant(t, root, name)
			cmd := exec.Command("go", "test", "-overlay", overlay, "-run", "^TestInterestUnderFaults$", "-count=1", "./linearizability")
			cmd.Dir = root
			out, err := cmd.CombinedOutput()
			text := string(out)
			at := strings.Index(text, "is not linearizable")
			if err == nil || at < 0 {
				t.Fatalf("not found: %v\n%s", err, text[:min(len(text), 2000)])
			}
			line := text[strings.LastIndexByte(text[:at], '\n')+1:]
			t.Log(strings.TrimSpace(line[:strings.IndexByte(line, '\n')]))
		})
	}
}

// plant writes an overlay with the edits of a mutant, and returns its path. See sim/mutants for what the files say.
func plant(t *testing.T, root, name string) string {
	t.Helper()
	dir := t.TempDir()
	text := contents(t, filepath.Join(root, "sim", "mutants", "testdata", name+".txt"))
	replace := map[string]string{} // of the overlay: edited copies by source file
	for _, edit := range strings.Split(text, "--- edit ")[1:] {
		place, rest, _ := strings.Cut(edit, "\n")
		before, rest, _ := strings.Cut(rest, "\n--- with\n")
		after, _, _ := strings.Cut(rest, "\n--- end")
		files, err := filepath.Glob(filepath.Join(root, place, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		planted := false
		for _, file := range files {
			source := file
			if replace[file] != "" {
				source = replace[file]
			}
			old := contents(t, source)
			if strings.HasSuffix(file, "_test.go") || strings.Count(old, before) != 1 {
				continue
			}
			planted = true
			replace[file] = filepath.Join(dir, filepath.Base(file))
			if err := os.WriteFile(replace[file], []byte(strings.Replace(old, before, after, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !planted {
			t.Fatalf("%s does not have the text once:\n%s", place, before)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, list, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
