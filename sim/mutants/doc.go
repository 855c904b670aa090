// Command mutants measures the simulator: it plants known bugs in the server, one at a time, and checks that simulated
// runs find each.
//
//	go run ./sim/mutants [-only regexp] [-part i/n] [-seeds N] [-keep]
//
// A mutant is a file in testdata: what is wrong, which promise and property it breaks, and one or more edits as exact
// old and new text (see mutant.go). The edit is applied through `go build -overlay`, so the source tree stays as it is.
// Then `natsd sim` runs seeds until one fails, which the unchanged server must survive. A mutant that survives its seeds
// means that a property is missing: add it.
//
// For some mutants a shrunk log is kept in sim/testdata/logs (-keep makes it): it must find its mutant too, and the unchanged
// server must survive it. The tests of package sim replay all of them.
//
// An edit whose old text is no longer found exactly once is an error: the mutant must follow the source.
//
// The exit status is 1 if a mutant survived or could not be planted.
package main
