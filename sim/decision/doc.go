// Package decision makes every choice of the simulated world.
//
// A choice (a delay, a loss, a crash, an operation, a size) is keyed by what it is for: a kind, the actor it happens to,
// a purpose within the actor, and an occurrence. Its value is a function of the seed and the key alone, never of how many
// choices came before, so removing or adding one choice leaves all others as they were. A run is therefore a seed, or a
// log of its choices, and a log can be made smaller choice by choice.
//
// Every choice has a default, the least eventful value: no fault, no operation, the smallest number. A log holds only the
// choices that were made otherwise; what a log lacks takes its default. Replaying the log of a run repeats the run.
//
// Callers choose actors and occurrences so that they survive small changes of the run: "the fourth operation slot of
// client 3", not "the 812th choice".
package decision
