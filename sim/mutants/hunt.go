package main

import (
	"bufio"
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
}

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
		runs := f.read(out)
		if f.property == "" || runs == 0 {
			break
		}
		fails, err := failsAlone(sound, m, f.seed, hangs)
		if err != nil {
			f.err = err
			break
		}
		if !fails {
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
		"-run-timeout", hangs.String()}
	if m.verify {
		args = append(args, "-verify", "-verify-every", "2")
	} else {
		args = append(args, "-stop")
	}
	out, err := exec.Command(program, args...).CombinedOutput()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
		return "", fmt.Errorf("natsd sim: %w\n%s", err, out)
	}
	return string(out), nil
}

// failsAlone reports whether the unchanged server fails with the seed.
func failsAlone(sound string, m *mutant, seed uint64, hangs time.Duration) (bool, error) {
	out, err := simulate(sound, m, seed, 1, hangs)
	return strings.Contains(out, " FAIL "), err
}
