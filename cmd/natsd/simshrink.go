package main

import (
	"fmt"
	"os"
	"time"

	"github.com/natsd/natsd/server"
	"github.com/natsd/natsd/sim"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/shrink"
)

// simShrink reduces a failing run, tells what is left of it in words, and keeps its log where -log says.
func simShrink(o *simFlags, run *chosen, failed *simResult) int {
	terminal := isTerminal(os.Stderr)
	began := time.Now()
	left := shrink.Shrink(failed.Records, run.duration, func(records []decision.Record, d time.Duration) shrink.Outcome {
		r := sim.Run(sim.Options{Seed: run.seed, Records: records, For: d, Keep: true})
		out := shrink.Outcome{Records: r.Records}
		if r.Failure != nil {
			out.Property = r.Failure.Property
		}
		return out
	}, shrink.Options{Budget: o.budget, Progress: func(runs, records int, d time.Duration) {
		if terminal {
			fmt.Fprintf(os.Stderr, "\r\x1b[K%d runs: %d decisions, %v", runs, records, d)
		}
	}})
	if terminal {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
	if left.Property == "" {
		fmt.Printf("FAIL determinism: the decisions of the run, made again, did not break %q\n", failed.Failure.Property)
		return 1
	}
	small := &chosen{seed: run.seed, duration: left.For, log: &decision.Log{Seed: run.seed, For: left.For, Records: left.Records}, file: o.log}
	var story []string
	r := small.carryOut(func(opts *sim.Options) { opts.Verbose = func(line string) { story = append(story, line) } })
	fmt.Printf("\nshrunk from %d decisions to %d, from %v to %v, in %d runs and %v%s\n\n", len(failed.Records), len(left.Records),
		run.duration, left.For, left.Runs, time.Since(began).Round(time.Millisecond), unfinished(left.Done))
	teller := sim.NewStoryteller(left.Records)
	tell := func(r decision.Record) shrink.Line {
		at, words := teller.Tell(r)
		return shrink.Line{At: at, Words: words}
	}
	for _, line := range shrink.Scenario(left.Records, tell) {
		fmt.Println(line)
	}
	fmt.Println("\nwhat happens:")
	for _, line := range story {
		fmt.Println(line)
	}
	fmt.Println(r.line())
	if o.log == "" {
		fmt.Println("keep it with -log FILE")
		return 1
	}
	if err := small.writeLog(o.log, &r, left.Records); err != nil {
		fmt.Fprintf(os.Stderr, "natsd sim: %v\n", err)
		return 2
	}
	fmt.Printf("commit: %s\nreproduce: %s\n", orUnknown(server.Commit()), small.command())
	return 1
}

func unfinished(done bool) string {
	if done {
		return ""
	}
	return " (the budget was used up)"
}
