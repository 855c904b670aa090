package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// keptLogs is where the shrunk logs of mutants are kept, by the mutants' names: each finds its mutant in one short run, and
// the unchanged server survives it.
const keptLogs = "sim/testdata/logs"

// keptLog is the log kept for the mutant; empty: none is.
func keptLog(root string, m *mutant) string {
	file := filepath.Join(root, keptLogs, m.name+".log")
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}

// replay makes the decisions of a log again, and returns the property that failed; empty: none did.
func replay(program, log string) (property string, err error) {
	out, err := exec.Command(program, "sim", "-replay", log).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return "", fmt.Errorf("natsd sim -replay %s: %w\n%s", log, err, out)
	}
	for line := range strings.Lines(string(out)) {
		if p := failLine.FindStringSubmatch(strings.TrimSpace(line)); p != nil {
			return p[3], nil
		}
	}
	return "", nil
}

// judgeKept checks that the kept log still finds the mutant and nothing else.
func judgeKept(m *mutant, program, sound, log string) error {
	property, err := replay(program, log)
	if err != nil {
		return err
	}
	if property == "" {
		return fmt.Errorf("its kept log %s does not find it any more: keep another one with -keep -only '^%s$'", log, m.name)
	}
	if property, err = replay(sound, log); err == nil && property != "" {
		return fmt.Errorf("the unchanged server fails with the kept log %s: %s", log, property)
	}
	return err
}

// keep shrinks the run that found the mutant and keeps its log.
func keep(root, program string, f *found) error {
	if f.property == "" || f.property == marksProperty {
		return errors.New("no run to keep")
	}
	log := filepath.Join(root, keptLogs, f.mutant.name+".log")
	if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
		return err
	}
	out, err := exec.Command(program, "sim", "-seed", strconv.FormatUint(f.seed, 10), "-for", f.mutant.duration.String(),
		"-with", f.mutant.with, "-shrink", "-log", log).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		return fmt.Errorf("natsd sim -shrink: %w\n%s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	head, rest, _ := strings.Cut(string(text), "\n")
	finds := "# Finds: " + f.mutant.what + " (the mutant " + f.mutant.name + ", of " + time.Now().UTC().Format(time.DateOnly) + ")\n"
	return os.WriteFile(log, []byte(head+"\n"+finds+rest), 0o644)
}
