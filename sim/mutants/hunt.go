package main

import (
	"bufio"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// found says how a mutant fared.
type found struct {
	mutant    *mutant
	err       error // it could not be planted or run
	seed      uint64
	property  string // empty: it survived
	what      string
	runs      int // until it was found, over all seeds tried
	simulated time.Duration
	wall      time.Duration // without the build
	build     time.Duration
	kept      bool // its kept log finds it too
}

// marksProperty is what fails when a moment worth reaching was reached by no run.
const marksProperty = "marks"

// failLine is a run that failed, as `natsd sim` prints it.
var failLine = regexp.MustCompile(`^seed=(\d+) (?:.*?simulated=(\S+) .*)?FAIL ([^:]+): (.*)$`)

// hunt runs seeds of a mutant until one fails that the unchanged server survives.
func hunt(m *mutant, program, sound string, first uint64, seeds int, hangs time.Duration) found {
	f := found{mutant: m}
	began := time.Now()
	for left := seeds; left > 0; {
		out, err := simulate(program, m, first, left, hangs)
		if err != nil {
			f.err = err
			break
		}
		if runs := f.read(out); f.property == "" || runs == 0 {
			break
		}
		at, runs := f.seed, 1
		if f.property == marksProperty {
			at, runs = first, left
		}
		fails, err := failsAlone(sound, m, at, runs, hangs)
		if err != nil {
			f.err = err
			break
		}
		if !fails || f.property == marksProperty {
			if fails {
				f.err = errors.New("the unchanged server does not reach every moment either")
			}
			break
		}
		// The server fails there without the mutant: that proves nothing.
		left -= int(f.seed-first) + 1
		first = f.seed + 1
		f.property, f.what = "", ""
	}
	f.wall = time.Since(began)
	return f
}

// read takes in what a hunt printed and returns how many runs it had.
func (f *found) read(out string) int {
	runs := 0
	lines := bufio.NewScanner(strings.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if what, ok := strings.CutPrefix(line, "FAIL "+marksProperty+": "); ok && f.property == "" {
			f.property, f.what = marksProperty, what
		}
		if !strings.HasPrefix(line, "seed=") {
			continue
		}
		runs++
		if _, rest, ok := strings.Cut(line, " simulated="); ok {
			text, _, _ := strings.Cut(rest, " ")
			if d, err := time.ParseDuration(text); err == nil {
				f.simulated += d
			}
		}
		if p := failLine.FindStringSubmatch(line); p != nil && f.property == "" {
			f.seed, _ = strconv.ParseUint(p[1], 10, 64) // digits only: it cannot fail but for size
			f.property, f.what = p[3], p[4]
		}
	}
	f.runs += runs
	return runs
}

// simulate runs seeds until one fails and returns what was printed.
func simulate(program string, m *mutant, first uint64, runs int, hangs time.Duration) (string, error) {
	args := []string{"sim", "-seed", strconv.FormatUint(first, 10), "-runs", strconv.Itoa(runs), "-for", m.duration.String(),
		"-with", m.with, "-run-timeout", hangs.String()}
	switch {
	case m.verify:
		args = append(args, "-verify", "-verify-every", "2")
	case m.marks:
		args = append(args, "-require-marks")
	default:
		args = append(args, "-stop")
	}
	out, err := exec.Command(program, args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return "", fmt.Errorf("natsd sim: %w\n%s", err, out)
	}
	return string(out), nil
}

// failsAlone reports whether the unchanged server fails with the seeds.
func failsAlone(sound string, m *mutant, seed uint64, runs int, hangs time.Duration) (bool, error) {
	out, err := simulate(sound, m, seed, runs, hangs)
	return strings.Contains(out, "FAIL "), err
}
