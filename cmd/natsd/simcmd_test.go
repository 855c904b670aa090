package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/sim"
	"github.com/natsd/natsd/sim/decision"
)

// The parent of many runs starts its own program as workers: in tests that is the test binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "sim" {
		os.Exit(simMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// output returns what f prints.
func output(t *testing.T, f func() int) (string, int) {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = file
	status := f()
	os.Stdout = stdout
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), status
}

var lineForm = regexp.MustCompile(`^seed=\d+ hash=[0-9a-f]{16} events=\d+ simulated=\S+ wall=\S+ faults=\d+ (ok|FAIL [^:]+: .*)$`)

func TestARunPrintsOneLine(t *testing.T) {
	out, _ := output(t, func() int { return simMain([]string{"-seed", "5", "-for", "2s"}) })
	if line, _, _ := strings.Cut(out, "\n"); !lineForm.MatchString(line) {
		t.Errorf("%q", out)
	}
}

func TestManyRunsAreTheSameAsSingleOnes(t *testing.T) {
	hash := regexp.MustCompile(`^seed=\d+ hash=[0-9a-f]{16}`)
	many, status := output(t, func() int {
		return simMain([]string{"-seed", "7", "-runs", "6", "-for", "2s", "-workers", "2", "-verify", "-verify-every", "3"})
	})
	if status != 0 {
		t.Fatalf("status %d: %s", status, many)
	}
	lines := strings.Split(many, "\n")
	for i := range 6 {
		one, _ := output(t, func() int { return simMain([]string{"-seed", fmt.Sprint(7 + i), "-for", "2s"}) })
		if got, want := hash.FindString(lines[i]), hash.FindString(one); got == "" || got != want {
			t.Errorf("in a worker %q, alone %q", got, want)
		}
	}
	if !strings.HasPrefix(lines[6], "runs=6 ") || !strings.Contains(lines[6], " failures=0") {
		t.Errorf("totals: %q", lines[6])
	}
	if !strings.Contains(many, "verified: 2 runs") {
		t.Errorf("not verified: %s", many)
	}
}

// A focus reaches the workers, and the command that repeats a run.
func TestAFocusIsPassedOn(t *testing.T) {
	hash := regexp.MustCompile(`hash=[0-9a-f]{16}`)
	plain, _ := output(t, func() int { return simMain([]string{"-seed", "7", "-for", "2s"}) })
	one, _ := output(t, func() int { return simMain([]string{"-seed", "7", "-for", "2s", "-with", "garbage"}) })
	many, _ := output(t, func() int { return simMain([]string{"-seed", "7", "-runs", "2", "-for", "2s", "-with", "garbage"}) })
	if a, b := hash.FindString(one), hash.FindString(many); a != b || a == "" || a == hash.FindString(plain) {
		t.Errorf("alone %q, in a worker %q, without %q", one, many, plain)
	}
	run := chosen{seed: 7, duration: 2 * time.Second, with: "garbage"}
	if got, want := run.command(), "natsd sim -seed 7 -for 2s -with garbage"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	help, status := output(t, func() int { return simMain([]string{"-with", "help"}) })
	if status != 0 || strings.Count(help, "\n") != len(sim.Foci()) {
		t.Errorf("status %d: %s", status, help)
	}
}

func TestALogReplaysToTheSameHash(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.log")
	first, _ := output(t, func() int { return simMain([]string{"-seed", "11", "-for", "3s", "-log", file}) })
	again, _ := output(t, func() int { return simMain([]string{"-replay", file}) })
	hash := regexp.MustCompile(`hash=[0-9a-f]{16}`)
	if a, b := hash.FindString(first), hash.FindString(again); a != b || a == "" {
		t.Errorf("by seed %q, by log %q", first, again)
	}
	if strings.Contains(again, "drift") || strings.Contains(again, "changed since") {
		t.Errorf("drift: %s", again)
	}
}

func TestDriftIsTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.log")
	l := decision.Log{Seed: 1, For: time.Second, Hash: "0123456789abcdef", Property: "lost", Records: []decision.Record{
		{Key: decision.Key{Kind: decision.SimOperation, Actor: decision.Of(decision.Client, 4000)}, Range: 3, Value: 1},
	}, Unknown: []decision.UnknownLine{{Text: "sim.prayer node:0 purpose=0 n=0 value=1 of=2"}}}
	if err := os.WriteFile(file, l.AppendText(nil), 0o600); err != nil {
		t.Fatal(err)
	}
	out, status := output(t, func() int { return simMain([]string{"-replay", file}) })
	for _, want := range []string{"drift: line 8: sim.prayer", "drift: sim.operation client:4000", "the hash was 0123456789abcdef", `the property "lost"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not told: %s", want, out)
		}
	}
	if status != 0 {
		t.Errorf("status %d: drift is no failure", status)
	}
}

func TestMistakesInUseAreRefused(t *testing.T) {
	stderr := os.Stderr
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = null
	defer func() { os.Stderr = stderr }()
	for _, args := range []string{"-runs 0", "-bogus", "x", "-for 0s", "-runs 3 -v", "-runs 3 -shrink", "-runs 3 -let-panic", "-verify -trace", "-replay nowhere.log", "-workers 0", "-with nonsense", "-with accounts,passwords", "-with slow -replay x.log"} {
		if status := simMain(strings.Fields(args)); status != 2 {
			t.Errorf("%q: status %d", args, status)
		}
	}
}

func TestAFailureIsOneLineWithItsProperty(t *testing.T) {
	r := simResult{Seed: 3, Wall: time.Millisecond}
	r.Failure = &sim.Failure{Property: "lost", What: "this\nand that"}
	if line := r.line(); !lineForm.MatchString(line) || !strings.HasSuffix(line, "FAIL lost: this | and that") {
		t.Errorf("%q", line)
	}
}

// Below the line of a run that failed is all that is needed to go on.
func TestAFailureSaysHowToGoOn(t *testing.T) {
	for _, c := range []struct {
		run  chosen
		want string
	}{
		{chosen{seed: 7, duration: 2 * time.Second, with: "garbage"}, "natsd sim -seed 7 -for 2s -with garbage"},
		{chosen{file: "x.log", log: &decision.Log{}}, "natsd sim -replay x.log"},
	} {
		var b strings.Builder
		c.run.reportFailure(&b)
		form := regexp.MustCompile(`^commit: ([0-9a-f]{7}|unknown)\nreproduce: ` + regexp.QuoteMeta(c.want) + `\nshrink: ` + regexp.QuoteMeta(c.want) + ` -shrink\n$`)
		if !form.MatchString(b.String()) {
			t.Errorf("%q", b.String())
		}
	}
}

func TestAWorkerThatHangsOrDiesIsAFailureOfItsRun(t *testing.T) {
	w := &workerProcess{o: &simFlags{}}
	defer w.stop()
	for _, c := range []struct {
		duration, timeout time.Duration
		property, what    string
	}{
		{time.Hour * 100_000, time.Millisecond, "hang", "no end after 1ms"},
		{0, time.Minute, "crash", "-for must be positive"},
	} {
		w.o.duration, w.o.runTimeout = c.duration, c.timeout
		r, err := w.run(3)
		if err != nil || r.Seed != 3 || r.Failure == nil || r.Failure.Property != c.property || !strings.Contains(r.Failure.What, c.what) {
			t.Errorf("%+v, %v", r.Failure, err)
		}
		w.o.duration, w.o.runTimeout = time.Second, time.Minute
		if r, err := w.run(4); err != nil || r.Seed != 4 || r.Failure != nil || r.EngineEvents == 0 {
			t.Errorf("the next run: %+v, %v", r, err)
		}
		w.stop()
	}
}
