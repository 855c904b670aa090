package tree

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// Finding is one line that breaks a rule.
type Finding struct {
	File    string // from the root, with slashes
	Line    int    // from 1
	Message string
}

// String returns the finding as file:line: message.
func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message) }

// skipped lists directories that are not part of the source: version control, builds, failing runs.
var skipped = []string{".git", "bin", "sim/artifacts"}

// The patterns are put together from halves so that this file does not match them.
var (
	machinePath = regexp.MustCompile(`(^|[^A-Za-z0-9_.\-/*])/` + `(work/|root/|tmp/bash|home/[a-z]+/)`)
	openTask    = regexp.MustCompile(`(^\s*[*-]?|//|/\*|#|<!--)\s*\b(TO` + `DO|FIX` + `ME)\b`)
	issueNumber = regexp.MustCompile(`#[0-9]+`)
)

// sniffLen is how much of a file is looked at to tell text from data.
const sniffLen = 8000

// Check returns the findings below root, in the order of file names and lines.
func Check(root string) ([]Finding, error) {
	var all []Finding
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			if slices.Contains(skipped, name) {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all = append(all, checkText(name, content)...)
		return nil
	})
	return all, err
}

func checkText(name string, content []byte) []Finding {
	if bytes.IndexByte(content[:min(len(content), sniffLen)], 0) >= 0 {
		return nil
	}
	var found []Finding
	for i, line := range bytes.Split(content, []byte("\n")) {
		if machinePath.Match(line) {
			found = append(found, Finding{File: name, Line: i + 1, Message: "style: a path of one machine"})
		}
		if openTask.Match(line) && !issueNumber.Match(line) {
			found = append(found, Finding{File: name, Line: i + 1, Message: "style: an open task without an issue number"})
		}
	}
	return found
}
