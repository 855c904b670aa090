// Package schedule is the one event queue of a simulation: callbacks ordered by (time, order of arrival).
//
// It never reads a clock: Now is the time of the event that is being run, and the queue jumps over idle time.
package schedule
