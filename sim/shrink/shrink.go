package shrink

import (
	"slices"
	"time"

	"github.com/natsd/natsd/sim/decision"
)

// Outcome is how one run ended.
type Outcome struct {
	Property string // that failed; empty: none
	// Records are the decisions that the run made otherwise than by default, in the order in which it made them. Nil if
	// that is not known.
	Records []decision.Record
}

// Run carries out the run of a log.
type Run func(records []decision.Record, duration time.Duration) Outcome

// Options bound the work.
type Options struct {
	Budget int // runs at most; 0: 2000
	// Step is the unit that time is cut to; 0: 10 ms.
	Step time.Duration
	// Progress is told after each run that failed as wanted. May be nil.
	Progress func(runs, records int, duration time.Duration)
}

// Result is what is left.
type Result struct {
	Records  []decision.Record
	For      time.Duration
	Property string // empty: the log did not fail at all, and is unchanged
	Runs     int    // carried out
	Done     bool   // nothing more can be taken away, one decision at a time; false: the budget was used up
}

type shrinker struct {
	run      Run
	opts     Options
	property string
	records  []decision.Record
	duration time.Duration
	runs     int
}

// Shrink makes the failing run of a log small.
func Shrink(records []decision.Record, duration time.Duration, run Run, opts Options) Result {
	if opts.Budget <= 0 {
		opts.Budget = 2000
	}
	if opts.Step <= 0 {
		opts.Step = 10 * time.Millisecond
	}
	s := &shrinker{run: run, opts: opts, records: records, duration: duration}
	first := s.carryOut(records, duration)
	if first.Property == "" {
		return Result{Records: records, For: duration, Runs: s.runs}
	}
	s.property = first.Property
	s.accept(records, duration, first)
	done := false
	for !done && s.left() {
		before := weight(s.records)
		was := s.duration
		s.pass()
		done = s.left() && s.duration == was && weight(s.records) == before
	}
	return Result{Records: s.records, For: s.duration, Property: s.property, Runs: s.runs, Done: done}
}

// size is what shrinks: the number of decisions, then their values.
type size struct {
	records int
	values  uint64
}

func weight(records []decision.Record) size {
	w := size{records: len(records)}
	for _, r := range records {
		w.values += r.Value
	}
	return w
}

// pass goes once from the coarse to the fine.
func (s *shrinker) pass() {
	s.shorten()
	for _, g := range []decision.Group{decision.GroupNumber, decision.GroupFault, decision.GroupOperation, decision.GroupConfig} {
		s.try(without(s.records, func(r decision.Record) bool { return r.Kind.Group() == g }), s.duration)
	}
	s.reduce(s.units(byActor(decision.Client)))
	s.reduce(s.units(byActor(decision.Node)))
	for _, g := range []decision.Group{decision.GroupFault, decision.GroupOperation} {
		s.reduce(s.units(kindOf(g)))
		s.reduce(s.units(actorOf(g)))
		s.reduce(s.units(single(g)))
	}
	s.shorten()
	for _, g := range []decision.Group{decision.GroupConfig, decision.GroupActor} {
		s.reduce(s.units(single(g)))
	}
	s.reduce(s.units(kindOf(decision.GroupNumber)))
	s.reduce(s.units(actorOf(decision.GroupNumber)))
	s.reduce(s.units(single(decision.GroupNumber)))
	s.lower()
	s.shorten()
}

func (s *shrinker) left() bool { return s.runs < s.opts.Budget }

func (s *shrinker) carryOut(records []decision.Record, d time.Duration) Outcome {
	s.runs++
	return s.run(records, d)
}

// try carries out a smaller run and keeps it if the same property fails.
func (s *shrinker) try(records []decision.Record, d time.Duration) bool {
	if !s.left() || len(records) == len(s.records) && d == s.duration && slices.Equal(records, s.records) {
		return false
	}
	out := s.carryOut(records, d)
	if out.Property != s.property {
		return false
	}
	s.accept(records, d, out)
	return true
}

func (s *shrinker) accept(records []decision.Record, d time.Duration, out Outcome) {
	s.records, s.duration = records, d
	if out.Records != nil {
		// What the run did not ask for changes nothing when it goes.
		s.records = out.Records
	}
	if s.opts.Progress != nil {
		s.opts.Progress(s.runs, len(s.records), s.duration)
	}
}

// shorten finds a time that is short and still enough.
func (s *shrinker) shorten() {
	low := time.Duration(0) // not enough, or not possible
	for s.duration-low > s.opts.Step {
		middle := (low + s.duration) / 2 / s.opts.Step * s.opts.Step
		if middle <= low {
			break
		}
		if !s.try(s.records, middle) {
			low = middle
		}
		if !s.left() {
			return
		}
	}
}

// lower makes numbers smaller: each to the least value that still fails, as halving finds it.
func (s *shrinker) lower() {
	for i := 0; i < len(s.records) && s.left(); i++ {
		r := s.records[i]
		if r.Kind.Group() != decision.GroupNumber {
			continue
		}
		low := uint64(0) // not enough: the default was tried when the decision was to be removed
		for high := r.Value; high-low > 1 && s.left(); {
			middle := low + (high-low)/2
			smaller := slices.Clone(s.records)
			smaller[i].Value = middle
			if s.try(smaller, s.duration) {
				high = middle
				if i >= len(s.records) || s.records[i].Key != r.Key {
					return // the run took another course: the next pass goes on
				}
			} else {
				low = middle
			}
		}
	}
}

func without(records []decision.Record, drop func(decision.Record) bool) []decision.Record {
	kept := make([]decision.Record, 0, len(records))
	for _, r := range records {
		if !drop(r) {
			kept = append(kept, r)
		}
	}
	return kept
}
