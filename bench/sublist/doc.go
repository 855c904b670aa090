// Command sublist measures natsd's sublist beside that of nats-server: time to
// insert, match and remove, and bytes held for each subscription.
//
//	go run . [-n subscriptions] [-pairs 5]
//
// Each measurement is a process of its own, so that neither inherits the
// other's heap. The two take turns, and the ratio printed is the median of the
// pairs' ratios. `go test -bench .` has the same measurements as Go benchmarks.
//
// It is a module of its own since it links nats-server, which natsd must not.
//
// Both lists get the same subjects in the same order, and their subscriptions
// are allocated beforehand, so bytes each are the list's alone; the handles
// that natsd's list gives out are counted as part of it.
package main
