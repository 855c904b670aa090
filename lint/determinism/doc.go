// Package determinism is the pass for what existing linters cannot see in pure packages:
//
//   - D1: go statements, select, channel types and operations                (statements.go)
//   - D2: time.Unix without UTC, which carries the machine's time zone       (statements.go)
//   - D4: iteration over maps, as a statement or through package maps        (mapiteration.go)
//   - D5: %p, and fmt verbs that print an address inside a value             (addresses.go)
//   - D5: files that only some builds contain, assembly, println             (statements.go)
//   - D6: floating point                                                     (floats.go)
//   - D9: package-level variables that are no sentinel and no constant table (globals.go, writes.go)
//
// Two comments make an exception, each with a reason that a reviewer can check:
//
//	//natsd:orderfree <why>   on or above an iteration over a map: no effect depends on its order
//	//natsd:float <why>       on or above a line, or in the doc comment of a declaration
//
// A comment without a reason, or one that excuses nothing, is an error.
//
// What it does not see: writes through an alias of a table (a slice handed to a function that
// writes it), and what dependencies do. The trace hash is there for these.
package determinism
