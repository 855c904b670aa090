package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/natsd/natsd/server"
	"github.com/natsd/natsd/sim"
	"github.com/natsd/natsd/sim/decision"
)

const simUsage = `Usage: natsd sim [flags]

Runs simulated servers and clients in one process, in simulated time, and breaks things. The seed makes every choice: the
same seed gives the same run. Each run prints one line; the exit status is 1 if a property failed.

    -seed <n>        the seed, or the first of them (default 1)
    -for <time>      simulated time in which things happen and go wrong (default 60s)
    -runs <n>        that many seeds from -seed on, over all cores (default 1)
    -with <foci>     runs that are about this, with commas between (-with help lists what there is)
    -v               tell what happens (one run only)

    -log <file>      write the run's decisions to this file (with -shrink: those that are left)
    -replay <file>   make the decisions of this file again
    -shrink          reduce a failing run to the decisions that it needs, and tell it in words
    -budget <n>      runs that -shrink may take (default 3000)

    -workers <n>     processes for -runs (default: one per core)
    -stop            with -runs: stop at the first failure
    -verify          with -runs: run every 20th seed again in another process and compare the hashes
    -verify-every <n>  with -verify: every nth seed instead
    -require-marks   with -runs: it is a failure if a moment worth reaching was not reached in any run
    -run-timeout <t> with -runs: wall time after which a run counts as hanging (default 2m)
    -trace           print every event and effect of the engines (one run only)
    -let-panic       let a panic end the process, with its stack (one run only)
`

// simFlags are the flags of `natsd sim`.
type simFlags struct {
	seed      uint64
	duration  time.Duration
	runs      int
	with      string // names of foci
	foci      []sim.Focus
	verbose   bool
	log       string
	replay    string
	shrink    bool
	budget    int
	workers   int
	stop      bool
	verify    bool
	needMarks bool

	verifyEvery int
	runTimeout  time.Duration
	trace       bool
	letPanic    bool
	worker      bool // this process carries out runs for another

	durationSet bool
}

func parseSimFlags(args []string) (*simFlags, error) {
	o := &simFlags{}
	fs := flag.NewFlagSet("natsd sim", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Uint64Var(&o.seed, "seed", 1, "")
	fs.DurationVar(&o.duration, "for", 60*time.Second, "")
	fs.IntVar(&o.runs, "runs", 1, "")
	fs.StringVar(&o.with, "with", "", "")
	fs.BoolVar(&o.verbose, "v", false, "")
	fs.StringVar(&o.log, "log", "", "")
	fs.StringVar(&o.replay, "replay", "", "")
	fs.BoolVar(&o.shrink, "shrink", false, "")
	fs.IntVar(&o.budget, "budget", 3000, "")
	fs.IntVar(&o.workers, "workers", runtime.NumCPU(), "")
	fs.BoolVar(&o.stop, "stop", false, "")
	fs.BoolVar(&o.verify, "verify", false, "")
	fs.IntVar(&o.verifyEvery, "verify-every", 20, "")
	fs.BoolVar(&o.needMarks, "require-marks", false, "")
	fs.DurationVar(&o.runTimeout, "run-timeout", 2*time.Minute, "")
	fs.BoolVar(&o.trace, "trace", false, "")
	fs.BoolVar(&o.letPanic, "let-panic", false, "")
	fs.BoolVar(&o.worker, "worker", false, "")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if o.with == "help" {
		return o, nil
	}
	var err error
	if o.foci, err = sim.FindFoci(o.with); err != nil {
		return nil, err
	}
	fs.Visit(func(f *flag.Flag) { o.durationSet = o.durationSet || f.Name == "for" })
	switch {
	case fs.NArg() > 0:
		return nil, fmt.Errorf("%q is no flag", fs.Arg(0))
	case o.runs < 1:
		return nil, errors.New("-runs must be positive")
	case o.workers < 1 || o.verifyEvery < 1:
		return nil, errors.New("-workers and -verify-every must be positive")
	case o.duration <= 0:
		return nil, errors.New("-for must be positive")
	case o.with != "" && o.replay != "":
		return nil, errors.New("-with is for seeds: a log has its own choices")
	case o.many() && (o.replay != "" || o.shrink || o.log != "" || o.verbose || o.trace || o.letPanic):
		return nil, errors.New("-v, -trace, -let-panic, -log, -replay and -shrink are for one run: give its -seed")
	}
	return o, nil
}

// many reports whether the runs are carried out by child processes.
func (o *simFlags) many() bool { return o.runs > 1 || o.verify || o.needMarks || o.stop }

// simMain is `natsd sim`. It returns the exit status: 0 if all held, 1 if something failed, 2 for a mistake in its use.
func simMain(args []string) int {
	o, err := parseSimFlags(args)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Print(simUsage)
			return 0
		}
		fmt.Fprintf(os.Stderr, "natsd sim: %v\n\n%s", err, simUsage)
		return 2
	}
	switch {
	case o.with == "help":
		for _, f := range sim.Foci() {
			fmt.Printf("%-12s %s\n", f.Name, f.About)
		}
		return 0
	case o.worker:
		return simWorker(o, os.Stdin, os.Stdout)
	case o.many():
		return simMany(o)
	}
	return simSingle(o)
}

// simSingle carries out one run in this process, by seed or by log, and shrinks it where that is asked for.
func simSingle(o *simFlags) int {
	run, err := chosenRun(o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "natsd sim: %v\n", err)
		return 2
	}
	r := run.carryOut(func(opts *sim.Options) {
		opts.LetPanic = o.letPanic
		opts.Keep = o.log != "" || o.shrink
		if o.verbose {
			opts.Verbose = func(line string) { fmt.Println(line) }
		}
		if o.trace {
			opts.Observe = func(e sim.Event) { fmt.Println(e) }
		}
	})
	fmt.Println(r.line())
	run.reportDrift(os.Stdout, &r)
	if r.Failure != nil && o.shrink {
		return simShrink(o, run, &r)
	}
	if o.shrink {
		fmt.Println("nothing to shrink: the run did not fail")
	}
	if o.log != "" {
		if err := run.writeLog(o.log, &r, r.Records); err != nil {
			fmt.Fprintf(os.Stderr, "natsd sim: %v\n", err)
			return 2
		}
	}
	if r.Failure != nil {
		run.reportFailure(os.Stdout)
		return 1
	}
	return 0
}

// chosen is a run as the command line chose it.
type chosen struct {
	seed     uint64
	duration time.Duration
	with     string // the names of its foci
	foci     []sim.Focus
	file     string        // of the log; empty: by seed
	log      *decision.Log // nil: by seed
}

// chosen is the run of a seed.
func (o *simFlags) chosen(seed uint64) *chosen {
	return &chosen{seed: seed, duration: o.duration, with: o.with, foci: o.foci}
}

func chosenRun(o *simFlags) (*chosen, error) {
	c := o.chosen(o.seed)
	if o.replay == "" {
		return c, nil
	}
	text, err := os.ReadFile(o.replay)
	if err != nil {
		return nil, err
	}
	log, err := decision.ParseLog(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.replay, err)
	}
	c.file, c.log, c.seed = o.replay, log, log.Seed
	if !o.durationSet && log.For > 0 {
		c.duration = log.For
	}
	return c, nil
}

// options are those of the run without anything that only watches.
func (c *chosen) options() sim.Options {
	o := sim.Options{Seed: c.seed, For: c.duration, With: c.foci}
	if c.log != nil {
		o.Records = c.log.Records
		if o.Records == nil {
			o.Records = []decision.Record{} // no choices is not the same as no log
		}
	}
	return o
}

func (c *chosen) carryOut(edit func(*sim.Options)) simResult {
	opts := c.options()
	edit(&opts)
	began := time.Now()
	r := sim.Run(opts)
	return simResult{Seed: c.seed, Wall: time.Since(began), Result: r}
}

// command is what reproduces the run.
func (c *chosen) command() string {
	if c.log != nil {
		return "natsd sim -replay " + c.file
	}
	command := fmt.Sprintf("natsd sim -seed %d -for %v", c.seed, c.duration)
	if c.with != "" {
		command += " -with " + c.with
	}
	return command
}

// reportFailure says how to go on from a run that failed: the source that it was, and what repeats it there, and makes it smaller.
func (c *chosen) reportFailure(w io.Writer) {
	fmt.Fprintf(w, "commit: %s\nreproduce: %s\nshrink: %s -shrink\n", orUnknown(server.Commit()), c.command(), c.command())
}

// reportDrift says which choices of a replayed log no longer apply, and whether the run is still the one recorded.
func (c *chosen) reportDrift(w io.Writer, r *simResult) {
	if c.log == nil {
		return
	}
	for _, u := range c.log.Unknown {
		fmt.Fprintln(w, "drift: "+u.String())
	}
	for _, d := range r.Drift {
		fmt.Fprintln(w, "drift: "+d.String())
	}
	if h := fmt.Sprintf("%016x", r.Hash); c.log.Hash != "" && c.log.Hash != h {
		fmt.Fprintf(w, "the hash was %s when the log was made, at commit %s: what happens has changed since\n", c.log.Hash, orUnknown(c.log.Commit))
	}
	if p := c.log.Property; p != "" && (r.Failure == nil || r.Failure.Property != p) {
		fmt.Fprintf(w, "the property %q, which failed when the log was made, did not fail\n", p)
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// writeLog writes decisions of the run to a file.
func (c *chosen) writeLog(file string, r *simResult, records []decision.Record) error {
	l := decision.Log{Seed: c.seed, For: c.duration, Commit: server.Commit(), Hash: fmt.Sprintf("%016x", r.Hash), Records: records}
	if r.Failure != nil {
		l.Property, l.Note = r.Failure.Property, oneLine(r.Failure.What)
	}
	return os.WriteFile(file, l.AppendText(nil), 0o644)
}
