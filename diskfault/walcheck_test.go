package diskfault

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/natsd/natsd/sim/decision"
	"pgregory.net/rapid"
)

// walRun appends records to a write-ahead log, checkpoints it now and then, and after every death of the process checks
// what the next one recovers: all that was acknowledged, nothing that was not appended, in order.
type walRun struct {
	*world
	bugs    walBug
	log     *wal
	written int // records given to append, acknowledged or not
	acked   int
	crashes int    // power failures
	deaths  int    // and kills
	ops     uint64 // submitted before the last power failure
}

// death ends the process in the middle of an operation, by a power failure or a kill.
func (r *walRun) death(power bool) {
	r.dead = true
	r.deaths++
	if power {
		r.crashes++
		r.d.Crash()
	} else {
		r.d.Kill()
	}
}

// start recovers until that works. It returns what is wrong with what was recovered.
func (r *walRun) start() string {
	for try := 0; ; try++ {
		r.dead = false
		l, err := recoverWAL(r.world, r.bugs)
		switch {
		case err == nil:
			r.log = l
			return r.check(l.records)
		case errors.Is(err, errDead):
			continue
		case errors.Is(err, errDamaged):
			return "the checkpoint is damaged"
		case try > 30:
			r.d.Heal()
		}
		r.death(r.coin("power after an error", try))
	}
}

func (r *walRun) coin(what string, n int) bool {
	k := decision.Key{Kind: decision.DiskDetail, Purpose: purposeOf('w', what), Actor: stormActor, N: uint64(r.deaths<<8 | n)}
	return r.src.Below(k, 2) == 1
}

// check compares recovered records with what was appended.
func (r *walRun) check(records []uint32) string {
	for i, sum := range records {
		if i >= r.written {
			return fmt.Sprintf("record %d was never appended", i)
		}
		if sum != crc32.ChecksumIEEE(payload(i)) {
			return fmt.Sprintf("record %d has another content", i)
		}
	}
	if len(records) < r.acked {
		return fmt.Sprintf("%d records were acknowledged, %d are left", r.acked, len(records))
	}
	// What was not acknowledged but recovered is given out again: it counts as acknowledged from here on.
	r.acked, r.written = len(records), len(records)
	return ""
}

const walBatches = 8

// finish appends what is left to append, with all recoveries on the way, and ends with a last power failure.
func (r *walRun) finish() string {
	if bad := r.start(); bad != "" {
		return bad
	}
	for i := 0; i < walBatches; i++ {
		var batch [][]byte
		for range 1 + i%2 {
			batch = append(batch, payload(r.written))
			r.written++
		}
		err := r.log.append(batch...)
		if err == nil {
			r.acked = r.written
			if i%3 == 2 {
				err = r.log.checkpoint()
			}
		}
		if err == nil && !r.dead {
			continue
		}
		if !r.dead {
			r.death(r.coin("power", i))
		}
		if bad := r.start(); bad != "" {
			return bad
		}
	}
	r.ops = r.d.Submitted()
	r.d.Heal()
	r.death(true)
	return r.start()
}

// runWAL runs one write-ahead log with a death at the nth operation, 0 for none before the end.
func runWAL(seed uint64, cfg Config, bugs walBug, nth uint64, power bool, rules ...Nth) (bad string, r *walRun) {
	r = &walRun{world: seeded(seed, cfg), bugs: bugs}
	for _, n := range rules {
		r.d.FailNth(n)
	}
	if nth > 0 {
		r.d.CrashAt(nth, func() { r.death(power) })
	}
	return r.finish(), r
}

func timings() Config {
	return Config{WriteLatency: Span{1, 20}, SyncLatency: Span{1, 50}, NameLatency: Span{1, 20}, ReadLatency: Span{1, 20}}
}

// failures are the faults that a disk reports; a write-ahead log must not lose anything to them.
func failures() Config {
	cfg := timings()
	cfg.SyncFail, cfg.ShortWrite, cfg.NoSpace, cfg.WriteError = 20_000, 50_000, 10_000, 10_000
	cfg.MetaError, cfg.ReadError, cfg.Sticky = 5_000, 5_000, 200_000
	cfg.TornRename, cfg.Garbage = 0, 200_000
	return cfg
}

// walOps is how many operations a run without faults takes, up to its end.
func walOps(t testing.TB) uint64 {
	bad, r := runWAL(1, timings(), 0, 0, false)
	if bad != "" || r.acked != 12 {
		t.Fatalf("a run without faults: %s, %d acknowledged", bad, r.acked)
	}
	return r.ops
}

// TestWALCrashAtEveryOperation crashes a correct log at every operation of a run, several ways each.
func TestWALCrashAtEveryOperation(t *testing.T) {
	for nth := uint64(1); nth <= walOps(t); nth++ {
		for seed := range uint64(6) {
			bad, r := runWAL(seed, timings(), 0, nth, seed%3 != 2)
			if bad != "" {
				t.Fatalf("seed %d, death at operation %d: %s\n%s", seed, nth, bad, r.d.Plan())
			}
		}
	}
}

// TestWALFailEveryOperation fails every operation in turn, once and for ever, in both ways.
func TestWALFailEveryOperation(t *testing.T) {
	for n := uint64(1); n <= walOps(t); n++ {
		for i := range 4 {
			rule := Nth{N: n, Forever: i&1 != 0, Full: i&2 != 0}
			bad, r := runWAL(n, timings(), 0, 0, false, rule)
			if bad != "" {
				t.Fatalf("%s: %s", rule, bad)
			}
			if len(r.d.Faults()) == 0 {
				t.Fatalf("%s: nothing failed", rule)
			}
		}
	}
}

// TestWALSurvivesFailures runs a correct log on a disk that fails in all ways that it reports.
func TestWALSurvivesFailures(t *testing.T) {
	deaths := 0
	for seed := range uint64(300) {
		bad, r := runWAL(seed, failures(), 0, 1+seed%60, seed%2 == 0)
		if bad != "" {
			t.Fatalf("seed %d: %s\n%s\n%v", seed, bad, r.d.Plan(), r.d.Faults())
		}
		deaths += r.deaths
	}
	if deaths < 600 {
		t.Fatalf("only %d deaths: the disk is too kind", deaths)
	}
}

// TestWALRapid lets rapid draw the rates and the moment of the crash.
func TestWALRapid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := failures()
		for _, rate := range []*uint32{&cfg.SyncFail, &cfg.ShortWrite, &cfg.NoSpace, &cfg.WriteError, &cfg.MetaError, &cfg.ReadError} {
			*rate *= uint32(rapid.IntRange(0, 4).Draw(t, "times"))
		}
		bad, r := runWAL(rapid.Uint64().Draw(t, "seed"), cfg, 0, rapid.Uint64Range(0, 150).Draw(t, "nth"), rapid.Bool().Draw(t, "power"))
		if bad != "" {
			t.Fatalf("%s\n%s\n%v", bad, r.d.Plan(), r.d.Faults())
		}
	})
}

// TestWALSilentDamage runs a correct log on a disk that damages what was synced. One copy can't be saved from that, but
// a loss must be explained by a silent fault that the recovery touched (P13), and what is left must be a true prefix.
func TestWALSilentDamage(t *testing.T) {
	cfg := timings()
	cfg.LostWrite, cfg.Misdirect, cfg.Rot, cfg.Stale, cfg.Truncate, cfg.Missing = 10_000, 10_000, 30_000, 30_000, 20_000, 20_000
	cfg.RotRead, cfg.Lost, cfg.Rollback, cfg.SnapshotSyncs = 10_000, 10_000, 20_000, 3
	losses := 0
	for seed := range uint64(400) {
		bad, r := runWAL(seed, cfg, 0, 1+seed%60, seed%4 != 0)
		if bad == "" {
			continue
		}
		losses++
		if strings.HasPrefix(bad, "record") {
			t.Fatalf("seed %d: damage passed for a record: %s", seed, bad)
		}
		explained := false
		for _, f := range r.d.Faults() {
			explained = explained || f.Kind.Silent() && f.Touched
		}
		if !explained {
			t.Fatalf("seed %d: %s, and no touched fault explains it: %v", seed, bad, r.d.Faults())
		}
	}
	if losses < 20 {
		t.Fatalf("only %d losses: the disk is too kind", losses)
	}
}

// TestWALBugsAreFound plants each bug and demands that the disk shows it within a number of seeds. Each seed is one run
// with one death at an operation that the seed chooses.
func TestWALBugsAreFound(t *testing.T) {
	ops := walOps(t)
	table := []struct {
		name  string
		bugs  walBug
		cfg   Config
		seeds uint64
	}{
		{"no sync before the acknowledgement", bugNoSync, timings(), 20},
		{"rename before sync", bugRenameBeforeSync, timings(), 100},
		{"no SyncDir", bugNoSyncDir, timings(), 20},
		{"failed sync is retried", bugRetrySync, failures(), 200},
		{"sync overtakes the write", bugPipelinedSync, timings(), 40},
		{"the page cache is trusted after a failed sync", bugTrustCache, failures(), 100},
		{"no checksum", bugNoChecksum, timings(), 400},
		{"short writes ignored", bugIgnoreShortWrite, failures(), 40},
		{"old log removed too early", bugRemoveFirst, timings(), 600},
	}
	for _, x := range table {
		t.Run(x.name, func(t *testing.T) {
			for seed := range x.seeds {
				nth := 1 + decision.Noise(decision.Key{N: seed})%ops
				if bad, _ := runWAL(seed, x.cfg, x.bugs, nth, true); bad != "" {
					t.Logf("found by seed %d: %s", seed, bad)
					return
				}
			}
			t.Fatalf("not found by %d seeds", x.seeds)
		})
	}
}
