// Package lint holds what `make lint` runs besides go vet and gofmt: the program natsdlint
// (cmd/natsdlint) and the checks it is made of.
//
//	rooms         which package belongs to which room of the house, and what that room may import
//	determinism   what no existing linter sees: statements, map order, package state, floats, addresses
//	names         functions that reach a clock, a global random source or a terminal (forbidigo)
//	imports       import lists per room (depguard)
//	house         the style rules that a machine can check: lengths, docs, skips, sleeps
//	tree          the same for files that are not Go
//
// The module is one of its own so that golang.org/x/tools and the linters built on it stay out of
// the main go.mod. README.md has the rules, D1 to D11 and the house style; every message starts with
// the number of its rule. Read rooms/rooms.go first, then determinism/analyzer.go.
package lint
