package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim"
)

// simResult is a run with what it cost.
type simResult struct {
	Seed uint64
	Wall time.Duration
	sim.Result
}

// line is what one run prints.
func (r *simResult) line() string {
	s := fmt.Sprintf("seed=%d hash=%016x events=%d simulated=%v wall=%v faults=%d ",
		r.Seed, r.Hash, r.EngineEvents, r.Simulated.Round(time.Millisecond), r.Wall.Round(time.Millisecond), r.Faults)
	if r.Failure != nil {
		return s + "FAIL " + r.Failure.Property + ": " + oneLine(r.Failure.What)
	}
	return s + "ok"
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " | ")
}

// simTotals sums up many runs.
type simTotals struct {
	runs, failures       int
	events, faults       uint64
	messages, deliveries uint64
	simulated, busy      time.Duration
	marks                [engine.NumMarks]uint64
	verified             int
}

func (t *simTotals) add(r *simResult) {
	t.runs++
	if r.Failure != nil {
		t.failures++
	}
	t.events += r.EngineEvents
	t.faults += r.Faults
	t.messages += r.Messages
	t.deliveries += r.Deliveries
	t.simulated += r.Simulated
	t.busy += r.Wall
	for i, n := range r.Marks {
		t.marks[i] += uint64(n)
	}
}

// lines are the totals as they are printed. wall is the time that all runs took together, over all processes; rates per
// core are by the time that the runs took each. marks adds the moments that no run reached.
func (t *simTotals) lines(wall time.Duration, marks bool) []string {
	per := func(n uint64, d time.Duration) uint64 {
		if d <= 0 {
			return 0
		}
		return uint64(float64(n) / d.Seconds())
	}
	out := []string{
		fmt.Sprintf("runs=%d simulated=%v wall=%v ratio=%d events=%d events/s=%d events/s/core=%d messages=%d deliveries=%d faults=%d failures=%d",
			t.runs, t.simulated.Round(time.Second), wall.Round(time.Millisecond), per(uint64(t.simulated.Seconds()), wall),
			t.events, per(t.events, wall), per(t.events, t.busy), t.messages, t.deliveries, t.faults, t.failures),
	}
	if t.verified > 0 {
		out = append(out, fmt.Sprintf("verified: %d runs repeated in other processes", t.verified))
	}
	if !marks {
		return out
	}
	for _, name := range t.unreached() {
		if why := simExcusedMarks[name]; why != "" {
			out = append(out, "never reached, excused: "+name+" ("+why+")")
			continue
		}
		out = append(out, "never reached: "+name)
	}
	return out
}

// unreached are the moments worth reaching that no run reached.
func (t *simTotals) unreached() []string {
	var out []string
	for i, n := range t.marks {
		if n == 0 {
			out = append(out, engine.Mark(i).String())
		}
	}
	return out
}
