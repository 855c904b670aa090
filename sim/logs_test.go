package sim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/sim/decision"
)

// keptLogs reads the logs that are kept, by file.
func keptLogs(t *testing.T) map[string]*decision.Log {
	t.Helper()
	files, err := filepath.Glob("testdata/logs/*.log")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d logs, %v", len(files), err)
	}
	all := make(map[string]*decision.Log)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\n# Finds: ") {
			t.Errorf("%s does not say what it found", file)
		}
		log, err := decision.ParseLog(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[file] = log
	}
	return all
}

// replayKept carries out the run of a log. No choices are not the same as no log.
func replayKept(records []decision.Record, span time.Duration) Result {
	return Run(Options{Records: append([]decision.Record{}, records...), For: span})
}

// TestKeptLogs replays the shrunk runs that found a mistake once: none may fail now. That they still find it is checked
// where mutants are planted. What no longer applies takes its default and is only told.
func TestKeptLogs(t *testing.T) {
	for file, log := range keptLogs(t) { //natsd:orderfree each is tested for itself
		r := replayKept(log.Records, log.For)
		if r.Failure != nil {
			t.Errorf("%s fails: %s: %s (once found: %s: %s)", file, r.Failure.Property, r.Failure.What, log.Property, log.Note)
		}
		if n := len(r.Drift) + len(log.Unknown); n > 0 {
			t.Logf("%s: %d choices no longer apply", file, n)
		}
	}
}

// TestLogsOfAnotherTime replays the logs with choices that no code asks for, clients that are not there and values that are
// none any more: the run goes its way, and says what did not apply.
func TestLogsOfAnotherTime(t *testing.T) {
	for file, log := range keptLogs(t) { //natsd:orderfree each is tested for itself
		records := append([]decision.Record(nil), log.Records...)
		for i := range records {
			records[i].Range += 1000
			records[i].Value += 1000 // clamped to the last that there is, except where there are as many
		}
		records = append(records,
			decision.Record{Key: decision.Key{Kind: decision.SimOperation, Actor: decision.Of(decision.Client, 4000), N: 7}, Range: 9, Value: 8},
			decision.Record{Key: decision.Key{Kind: decision.SimConfig, Actor: decision.Of(decision.World, 0), Purpose: 9999}, Range: 3, Value: 2},
			decision.Record{Key: decision.Key{Kind: decision.SimFault, Actor: decision.Of(decision.Node, 77), Purpose: 55, N: 1}, Range: 2, Value: 1})
		r := replayKept(records, min(log.For, 5*time.Second))
		if r.Failure != nil {
			t.Errorf("%s: %s: %s", file, r.Failure.Property, r.Failure.What)
		} else if len(r.Drift) < 3 {
			t.Errorf("%s: %d choices did not apply", file, len(r.Drift))
		}
	}
}
