// Package linearizability records what clients did and saw, and decides whether one object that does one thing at a
// time could have answered so.
//
// Three parts, each usable alone:
//
// A Recorder (recorder.go) takes operations as they are called and as they return, with times that it is given, and
// keeps them in partitions that are judged apart. An operation whose outcome nobody learned stays in the history: it may
// have happened at any moment from its call to the last one at which it still could have. A partition that has reached
// its bound is closed at that moment, so a history is always a prefix of what happened, never a sample of it.
//
// A model is a porcupine.Model: what the object is, one operation at a time. InterestModel (interest_model.go) is the
// one of core NATS: who is subscribed to a subject at one server. Interest (interest.go) records histories for it from
// what a client knows: bytes it sent, PONGs and messages it read. Models to come (publishing with an expectation,
// key-value buckets) need nothing but a Recorder, one partition per subject or key, and a Step that accepts Lost.
//
// Check (check.go, search.go) judges a history within a budget of steps, not of time, so that its verdict is the same on
// every machine. A history for which the budget is too small is a failure, as one that is not linearizable is: make it
// smaller. Of one that is not linearizable, Check finds the shortest prefix that is not, and names the operation whose
// outcome cannot be. Picture (picture.go) draws a partition.
//
// Nothing here has a clock, and nothing runs inside simulated time: record during a run, check after it. porcupine
// checks in a goroutine of its own and Check waits for it, one partition at a time.
//
// Limits: 256 operations in a partition, 64 subscriptions to a subject for Interest. What makes a check long is not how
// many operations there are but how many writes are under way, or lost, at the same time; a dozen is easy.
//
// The tests simulate a server with a few clients under faults: go test ./linearizability -args -seeds 1000 runs more of
// it, -mutants plants bugs into the engine that it must find.
package linearizability
