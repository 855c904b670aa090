package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/natsd/natsd/sim"
)

// mutant is one planted bug. Its file begins with a header, lines of "name: value":
//
//	what:      what is wrong, in a sentence
//	promise:   the promise of docs/guarantees.md that it breaks
//	property:  the properties expected to fail, with commas between; others count too, but are told
//	seeds:     how many seeds may be needed at most; 0 or none: 200
//	for:       simulated time of each run; none: 20s
//	with:      foci of the runs (natsd sim -with), if the plain mixture of runs finds it too seldom
//	verify:    yes, if it only shows when a run is repeated in another process
//	marks:     yes, if it shows in a moment that is no longer reached: all seeds are run then
//
// Edits follow. Each is the line "--- edit PACKAGE", the old text, the line "--- with", the new text, and the line
// "--- end".
type mutant struct {
	name     string
	what     string
	promise  string
	property []string
	seeds    int
	duration time.Duration
	with     string
	verify   bool
	marks    bool
	edits    []edit
}

// edit replaces a text that occurs exactly once in the files of a package, tests apart: code may move between files.
type edit struct {
	dir      string // of the package, from the root of the repository
	old, new string
}

const (
	defaultSeeds    = 200
	defaultDuration = 20 * time.Second
)

// readMutants reads the mutants of a directory, by name.
func readMutants(dir string) ([]*mutant, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var all []*mutant
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		m, err := parseMutant(strings.TrimSuffix(filepath.Base(f), ".txt"), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no mutants in %s", dir)
	}
	return all, nil
}

func parseMutant(name, text string) (*mutant, error) {
	m := &mutant{name: name, seeds: defaultSeeds, duration: defaultDuration}
	lines := strings.Split(text, "\n")
	i := 0
	for ; i < len(lines) && !strings.HasPrefix(lines[i], "--- "); i++ {
		if strings.TrimSpace(lines[i]) == "" {
			continue
		}
		if err := m.header(lines[i]); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for i < len(lines) {
		if lines[i] == "" {
			i++
			continue
		}
		dir, ok := strings.CutPrefix(lines[i], "--- edit ")
		if !ok {
			return nil, fmt.Errorf("line %d: %q where \"--- edit PACKAGE\" is expected", i+1, lines[i])
		}
		with, end := after(lines, i, "--- with"), after(lines, i, "--- end")
		if with < 0 || end < with {
			return nil, fmt.Errorf("line %d: an edit without \"--- with\" and \"--- end\"", i+1)
		}
		e := edit{dir: dir, old: strings.Join(lines[i+1:with], "\n"), new: strings.Join(lines[with+1:end], "\n")}
		if e.old == "" || e.old == e.new {
			return nil, fmt.Errorf("line %d: the edit changes nothing", i+1)
		}
		m.edits = append(m.edits, e)
		i = end + 1
	}
	if m.what == "" || m.promise == "" || len(m.property) == 0 || len(m.edits) == 0 {
		return nil, errors.New("what, promise, property and an edit are needed")
	}
	return m, nil
}

// after is the index of the first line from i on that is text; -1: none.
func after(lines []string, i int, text string) int {
	if at := slices.Index(lines[i:], text); at >= 0 {
		return i + at
	}
	return -1
}

func (m *mutant) header(line string) (err error) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch name {
	case "what":
		m.what = value
	case "promise":
		m.promise = value
	case "property":
		for p := range strings.SplitSeq(value, ",") {
			m.property = append(m.property, strings.TrimSpace(p))
		}
	case "seeds":
		if m.seeds, err = strconv.Atoi(value); err == nil && m.seeds <= 0 {
			m.seeds = defaultSeeds
		}
	case "for":
		m.duration, err = time.ParseDuration(value)
	case "with":
		m.with = value
		_, err = sim.FindFoci(value)
	case "marks":
		m.marks = value == "yes"
	case "verify":
		m.verify = value == "yes"
	default:
		return fmt.Errorf("%q is no header of a mutant", name)
	}
	return err
}

// expects reports whether the property is one that the mutant is meant to break.
func (m *mutant) expects(property string) bool { return slices.Contains(m.property, property) }

// plant returns the edited files by their paths from the root.
func (m *mutant) plant(root string) (map[string]string, error) {
	edited := make(map[string]string)
	for _, e := range m.edits {
		files, err := filepath.Glob(filepath.Join(root, e.dir, "*.go"))
		if err != nil {
			return nil, err
		}
		count := 0
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file := e.dir + "/" + filepath.Base(path)
			text, ok := edited[file]
			if !ok {
				b, err := os.ReadFile(path)
				if err != nil {
					return nil, err
				}
				text = string(b)
			}
			if n := strings.Count(text, e.old); n > 0 {
				count += n
				edited[file] = strings.Replace(text, e.old, e.new, 1)
			}
		}
		if count != 1 {
			return nil, fmt.Errorf("%s has the old text %d times, not once:\n%s", e.dir, count, e.old)
		}
	}
	return edited, nil
}
