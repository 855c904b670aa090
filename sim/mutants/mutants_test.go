package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func allMutants(t *testing.T) []*mutant {
	t.Helper()
	all, err := readMutants("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A mutant that no longer fits the source tests nothing: it must follow.
func TestEveryMutantFitsTheSource(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range allMutants(t) {
		if _, err := m.plant(root); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// A log that is kept for a mutant that is gone proves nothing.
func TestEveryKeptLogHasItsMutant(t *testing.T) {
	names := map[string]bool{}
	for _, m := range allMutants(t) {
		names[m.name] = true
	}
	logs, err := filepath.Glob("../testdata/logs/*.log")
	if err != nil || len(logs) == 0 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	for _, log := range logs {
		if name := strings.TrimSuffix(filepath.Base(log), ".log"); !names[name] {
			t.Errorf("%s: no such mutant", log)
		}
	}
}

func TestThereAreMutantsOfEachPart(t *testing.T) {
	parts := map[string]int{}
	for _, m := range allMutants(t) {
		for _, e := range m.edits {
			parts[e.dir]++
		}
	}
	for _, part := range []string{"engine", "sublist", "wire", "subject"} {
		if parts[part] == 0 {
			t.Errorf("no mutant of %s", part)
		}
	}
}

func TestThePartsAreAllOfThem(t *testing.T) {
	all := allMutants(t)
	seen := map[string]int{}
	for _, part := range []string{"0/4", "1/4", "2/4", "3/4"} {
		chosen, err := choose(all, &options{part: part})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range chosen {
			seen[m.name]++
		}
	}
	for _, m := range all {
		if seen[m.name] != 1 {
			t.Errorf("%s is in %d parts", m.name, seen[m.name])
		}
	}
	for _, bad := range []options{{part: "4/4"}, {part: "1"}, {part: "x/4"}, {pick: "xyz/4"}, {pick: "abc/0"}} {
		if _, err := choose(all, &bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	if part, parts, err := rotation(&options{pick: "1a0876adeadbeef/7"}); err != nil || parts != 7 || part != 0x1a0876ad%7 {
		t.Errorf("%d of %d, %v", part, parts, err)
	}
}

func TestMutantFilesAreRead(t *testing.T) {
	text := "what: a\npromise: P16\nproperty: lost, order\nseeds: 7\nfor: 3s\nverify: yes\nwith: garbage,slow\n\n--- edit x\n\told\n\n\tmore\n--- with\n\tnew\n--- end\n"
	m, err := parseMutant("m", text)
	if err != nil {
		t.Fatal(err)
	}
	if m.seeds != 7 || m.duration != 3*time.Second || !m.verify || m.with != "garbage,slow" || !m.expects("order") || m.expects("x") || len(m.edits) != 1 {
		t.Errorf("%+v", m)
	}
	if e := m.edits[0]; e.dir != "x" || e.old != "\told\n\n\tmore" || e.new != "\tnew" {
		t.Errorf("%+v", e)
	}
	for _, bad := range []string{"", "what: a", "bogus: x\n" + text, "with: nonsense\n" + text, text + "--- edit y\nz\n--- with\n", strings.Replace(text, "\tnew", "\told\n\n\tmore", 1)} {
		if _, err := parseMutant("m", bad); err == nil {
			t.Errorf("accepted: %q", bad)
		}
	}
}

func TestWhatAHuntPrintsIsRead(t *testing.T) {
	f := found{mutant: &mutant{}}
	runs := f.read("seed=4 hash=00 events=1 simulated=1m0s wall=2ms faults=0 ok\n" +
		"seed=5 hash=00 events=1 simulated=30s wall=2ms faults=0 FAIL lost: what: a line\ncommit: 0123456\nreproduce: x\nshrink: x -shrink\nseed=6 FAIL determinism: no\nruns=2\n")
	if runs != 3 || f.seed != 5 || f.property != "lost" || f.what != "what: a line" || f.simulated != 90*time.Second {
		t.Errorf("%d runs, %+v", runs, f)
	}
}
