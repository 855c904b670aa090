package sim

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/sim/decision"
)

// sample are the seeds of the tests that run them several times.
var sample = []uint64{1, 2, 3, 5, 8, 13, 21, 34}

const sampleFor = 15 * time.Second

func TestSameSeedSameHash(t *testing.T) {
	for _, seed := range sample {
		o := Options{Seed: seed, For: sampleFor}
		a, b := Run(o), Run(o)
		if a.Hash != b.Hash || a.Events != b.Events {
			t.Errorf("seed %d: %016x after %d events, then %016x after %d", seed, a.Hash, a.Events, b.Hash, b.Events)
		}
	}
}

// TestSameSeedInEveryProcess runs the sample in processes with other settings of the runtime, and with the race detector.
func TestSameSeedInEveryProcess(t *testing.T) {
	if os.Getenv("NATSD_SIM_HASHES") != "" {
		printHashes(t)
		return
	}
	want := hashes(t)
	for _, env := range [][]string{{"GOMAXPROCS=1"}, {"GOMAXPROCS=7", "GOGC=5"}, {"GOGC=off", "GODEBUG=asyncpreemptoff=1"}} {
		cmd := exec.Command(os.Args[0], "-test.v", "-test.run", "^TestSameSeedInEveryProcess$")
		compare(t, strings.Join(env, " "), cmd, env, want)
	}
	if testing.Short() {
		return
	}
	race := exec.Command("go", "test", "-race", "-count=1", "-v", "-run", "^TestSameSeedInEveryProcess$", ".")
	compare(t, "-race", race, nil, want)
}

func compare(t *testing.T, name string, cmd *exec.Cmd, env []string, want map[string]string) {
	t.Helper()
	cmd.Env = append(append(os.Environ(), "NATSD_SIM_HASHES=1"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	found := 0
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		_, line, _ := strings.Cut(lines.Text(), "seed=")
		seed, hash, ok := strings.Cut(line, " hash=")
		if !ok {
			continue
		}
		found++
		if hash != want[seed] {
			t.Errorf("%s: seed %s has hash %s there, %s here", name, seed, hash, want[seed])
		}
	}
	if found != len(want) {
		t.Errorf("%s: %d hashes, want %d:\n%s", name, found, len(want), out)
	}
}

func hashes(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, seed := range sample {
		r := Run(Options{Seed: seed, For: sampleFor})
		all[strconv.FormatUint(seed, 10)] = fmt.Sprintf("%016x", r.Hash)
	}
	return all
}

func printHashes(t *testing.T) {
	for _, seed := range sample {
		r := Run(Options{Seed: seed, For: sampleFor})
		t.Logf("seed=%d hash=%016x", seed, r.Hash)
	}
}

// TestReplayOfALog: the choices of a run, made again from its log, give the same run.
func TestReplayOfALog(t *testing.T) {
	for _, seed := range sample {
		a := Run(Options{Seed: seed, For: sampleFor, Keep: true})
		b := Run(Options{Records: a.Records, For: sampleFor, Keep: true})
		if a.Hash != b.Hash {
			t.Errorf("seed %d: hash %016x, replayed %016x", seed, a.Hash, b.Hash)
		}
		if len(b.Drift) > 0 {
			t.Errorf("seed %d: %d choices of the log did not apply, the first: %+v", seed, len(b.Drift), b.Drift[0])
		}
		if len(a.Records) != len(b.Records) {
			t.Errorf("seed %d: %d choices, %d in the replay", seed, len(a.Records), len(b.Records))
		}
	}
}

// TestEmptyLogIsTheDefault: a run without choices has no clients, and nothing goes wrong in it.
func TestEmptyLogIsTheDefault(t *testing.T) {
	r := Run(Options{Records: []decision.Record{}, For: sampleFor})
	if r.Failure != nil || r.Faults != 0 || r.Messages != 0 {
		t.Errorf("failure %v, %d faults, %d messages", r.Failure, r.Faults, r.Messages)
	}
}

// TestSeeds runs seeds as they come: none may fail.
func TestSeeds(t *testing.T) {
	const first, count = 100, 150
	var marks [len(Result{}.Marks)]int
	for seed := uint64(first); seed < first+count; seed++ {
		r := Run(Options{Seed: seed, For: 30 * time.Second})
		if r.Failure != nil {
			t.Errorf("seed %d -for 30s: %s: %s", seed, r.Failure.Property, r.Failure.What)
		}
		for i, n := range r.Marks {
			if n > 0 {
				marks[i]++
			}
		}
	}
}

// TestKeptSeeds runs the seeds that failed once. Each line of the file is a seed, a duration and what it found.
func TestKeptSeeds(t *testing.T) {
	text, err := os.ReadFile("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		seed, err1 := strconv.ParseUint(f[0], 10, 64)
		text, names, _ := strings.Cut(f[1], "/")
		span, err2 := time.ParseDuration(text)
		with, err3 := FindFoci(names)
		if err1 != nil || err2 != nil || err3 != nil || len(f) < 3 {
			t.Fatalf("not a seed, a duration and what it found: %q", line)
		}
		if r := Run(Options{Seed: seed, For: span, With: with}); r.Failure != nil {
			t.Errorf("seed %d %s fails: %s: %s (once found: %s)", seed, f[1], r.Failure.Property, r.Failure.What, strings.Join(f[2:], " "))
		}
	}
}
