package sim

import (
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// Options say which run to carry out.
type Options struct {
	Seed uint64 // makes every choice, unless Records is given
	// Records are the choices of an earlier run, to be made again; what they lack takes its default. Not nil: Seed is
	// ignored.
	Records []decision.Record
	With    []Focus       // what a run by Seed has for certain
	For     time.Duration // simulated time in which things happen and go wrong; default 60 s
	Keep    bool          // return the choices in Result.Records

	// Verbose is given a line about everything worth telling, without a line end. May be nil.
	Verbose func(line string)
	// Observe is told of everything that enters the trace hash. May be nil. See Event for what may be kept.
	Observe func(Event)
	// LetPanic does not turn a panic into a Failure, so that its stack is printed.
	LetPanic bool
}

// Result says how a run ended.
type Result struct {
	Hash         uint64        // of all events and effects of all engines
	Events       uint64        // of the world's queue
	EngineEvents uint64        // told to the engines, and asked by them
	Simulated    time.Duration // from the first event to the last
	Faults       uint64        // things that went wrong on purpose
	Messages     uint64        // published
	Deliveries   uint64        // read by clients
	Failure      *Failure      // nil: none
	Marks        [engine.NumMarks]uint32
	Records      []decision.Record // the choices, with Options.Keep
	Drift        []decision.Drift  // choices of Options.Records that no longer apply
	Made         uint64            // choices made, defaults included
}

// Failure is a property that did not hold.
type Failure struct {
	Property string // its stable name: see the property_*.go files
	What     string // what happened, in one line
}

// Run carries out a run.
func Run(o Options) (r Result) {
	source := decision.FromSeed(o.Seed)
	if o.Records != nil {
		source = decision.FromLog(o.Records)
	}
	draw{source}.focus(o.With)
	if o.Keep {
		source.Keep()
	}
	if o.For <= 0 {
		o.For = defaultFor
	}
	w := newWorld(o, source)
	w.run(o)
	r = Result{
		Hash: w.trace.hash, Events: w.queue.Fired(), EngineEvents: w.engineEvents, Simulated: time.Duration(w.queue.Now()),
		Faults: w.faultCount(), Messages: w.messages, Deliveries: w.deliveries, Failure: w.failure, Marks: w.marks,
		Records: source.Records(), Made: source.Made(),
	}
	if o.Records != nil && w.failure == nil {
		r.Drift = source.Drifted(o.Records)
	}
	return r
}

const defaultFor = 60 * time.Second

func (w *world) run(o Options) {
	if !o.LetPanic {
		defer func() {
			if v := recover(); v != nil {
				w.caught(v)
			}
		}()
	}
	w.play(schedule.Time(o.For))
}

// faultCount counts what went wrong: what the world ordered, and what befell connections.
func (w *world) faultCount() uint64 {
	n := w.net.Counters()
	return w.struck + n.Stalls + n.Resets + n.HalfOpens + n.Refusals + n.DialHangs
}
