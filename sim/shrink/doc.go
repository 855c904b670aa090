// Package shrink makes a failing run small: it takes the decisions out of a decision log that the failure does not need.
//
// Shrink is a pure function of a log and of a function that carries a run out. A smaller log counts only if the same
// property fails. It goes from the coarse to the fine: less time, no small numbers at all, whole clients and nodes, whole
// kinds of fault, single faults, single operations, the configuration, the rest, and at last smaller numbers; and again
// from the top as long as that helps. Within each group it is delta debugging: half of them, quarters, … one by one.
//
// What a run does not ask for is dropped for nothing, since a run reports which decisions it made. Nothing is drawn at
// random: the same log and the same run shrink to the same result.
//
// Read first: shrink.go, then scenario.go (the result in words).
package shrink
