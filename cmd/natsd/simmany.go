package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/natsd/natsd/engine"
)

// simMany carries out many runs in child processes, one at a time in each.
func simMany(o *simFlags) int {
	began := time.Now()
	m := &manyRuns{o: o, results: make(map[uint64]*simResult), began: began, terminal: isTerminal(os.Stderr)}
	if err := m.all(m.seeds(1), nil, m.finished); err != nil {
		fmt.Fprintf(os.Stderr, "natsd sim: %v\n", err)
		return 2
	}
	m.clearProgress()
	wrong := m.totals.failures > 0
	if o.verify && !(o.stop && wrong) {
		differ, err := m.verify()
		if err != nil {
			fmt.Fprintf(os.Stderr, "natsd sim: %v\n", err)
			return 2
		}
		wrong = wrong || differ
	}
	for _, line := range m.totals.lines(time.Since(began), !o.stop) {
		fmt.Println(line)
	}
	if o.needMarks {
		for _, name := range m.totals.unreached() {
			if simExcusedMarks[name] == "" {
				fmt.Printf("FAIL marks: no run reached %q\n", name)
				wrong = true
			}
		}
	}
	if wrong {
		return 1
	}
	return 0
}

// manyRuns is the parent's side of -runs.
type manyRuns struct {
	o        *simFlags
	began    time.Time
	terminal bool

	mu       sync.Mutex
	results  map[uint64]*simResult // by seed, until they are printed
	hashes   []uint64              // by place of the seed
	printed  uint64                // seeds whose lines are out, from the first on
	totals   simTotals
	stopping atomic.Bool
	shown    time.Time
}

func (m *manyRuns) seeds(every uint64) []uint64 {
	var out []uint64
	for i := uint64(0); i < uint64(m.o.runs); i += every {
		out = append(out, m.o.seed+i)
	}
	return out
}

// all carries out the runs of some seeds, over all workers, and hands over each result.
func (m *manyRuns) all(seeds []uint64, env []string, done func(simResult)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	workers := min(m.o.workers, len(seeds))
	errs := make([]error, workers)
	for i := range workers {
		wg.Go(func() {
			w := &workerProcess{o: m.o, env: env}
			defer w.stop()
			for !m.stopping.Load() {
				at := next.Add(1) - 1
				if at >= int64(len(seeds)) {
					return
				}
				r, err := w.run(seeds[at])
				if err != nil {
					errs[i] = err
					m.stopping.Store(true)
					return
				}
				done(r)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	m.flush()
	return nil
}

// finished takes the result of a run. Lines are printed in the order of the seeds.
func (m *manyRuns) finished(r simResult) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[r.Seed] = &r
	m.totals.add(&r)
	if r.Failure != nil && m.o.stop {
		m.stopping.Store(true)
	}
	m.clearProgress()
	for {
		next := m.results[m.o.seed+m.printed]
		if next == nil {
			break
		}
		m.print(next)
	}
	m.progress()
}

// print prints the line of the next run.
func (m *manyRuns) print(r *simResult) {
	delete(m.results, r.Seed)
	m.printed++
	m.hashes = append(m.hashes, r.Hash)
	fmt.Println(r.line())
	if r.Failure != nil {
		m.o.chosen(r.Seed).reportFailure(os.Stdout)
	}
}

// flush prints what came after a run that never finished, because the others were stopped.
func (m *manyRuns) flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range uint64(m.o.runs) {
		if r := m.results[m.o.seed+i]; r != nil {
			m.print(r)
		}
	}
}

// verify runs some seeds again, in processes whose collector and scheduler are set otherwise, and compares the hashes.
func (m *manyRuns) verify() (differ bool, err error) {
	m.stopping.Store(false)
	env := []string{"GOGC=30", "GOMAXPROCS=1"}
	err = m.all(m.seeds(uint64(m.o.verifyEvery)), env, func(r simResult) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.totals.verified++
		if first := m.hashes[r.Seed-m.o.seed]; first != r.Hash {
			differ = true
			m.totals.failures++
			fmt.Printf("seed=%d FAIL determinism: the hash was %016x, in another process it is %016x\n", r.Seed, first, r.Hash)
		}
	})
	return differ, err
}

// progress shows how far the runs are, on a terminal.
func (m *manyRuns) progress() {
	if !m.terminal || time.Since(m.shown) < 200*time.Millisecond && m.totals.runs < m.o.runs {
		return
	}
	m.shown = time.Now()
	wall := time.Since(m.began)
	fmt.Fprintf(os.Stderr, "\r%d of %d runs, %d failed, %v simulated in %v ",
		m.totals.runs, m.o.runs, m.totals.failures, m.totals.simulated.Round(time.Second), wall.Round(time.Second))
}

func (m *manyRuns) clearProgress() {
	if m.terminal {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// simExcusedMarks are the moments that -require-marks does not ask for, each with the reason.
var simExcusedMarks = map[string]string{
	engine.MarkTLSStart.String():   "simulated servers have no TLS: handshakes are the host's, and tested over real sockets",
	engine.MarkTLSFailed.String():  "the same",
	engine.MarkTLSTimeout.String(): "the same",

	engine.MarkRecastHurried.String(): "imports would have to change nine times before all subscriptions have followed, or 64 MiB to wait; a test of the engine has them change",
	engine.MarkSearchGivenUp.String(): "64 MiB would have to wait, or a reload to come amid a thousand searches; a test of the engine has",
	engine.MarkRoomMade.String():      "hardly ever do many go on in one turn with max_pending waiting for each; a test of the engine has",
	engine.MarkRequestsMax.String():   "no simulated client has 65536 requests unanswered; a test of the engine has",
	engine.MarkHopsMax.String():       "simulated configurations have fewer accounts than that",
}
