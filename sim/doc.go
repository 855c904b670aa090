// Package sim is the simulated world: servers, clients, network and clocks in one process, in simulated time, every
// choice of it made by one seed.
//
// Run carries out one run and says how it ended. A run is a seed, or the decisions of an earlier run (package
// sim/decision); both give the same trace hash in every process, on every machine.
//
// The world has one event queue (sim/schedule), one network (netsim), servers (node.go: an engine with clocks, entropy
// and a pace of its own) and clients (client.go: state machines that speak the protocol pedantically). The seed draws
// the configuration (config.go), the clients (population.go), what they do (operations.go) and what goes wrong
// (faults.go). For Options.For of simulated time things go wrong; then the world is healed, every client that wants to
// be connected must be within a bounded time, though the link of one may stay bad (lasting.go), and when all have left
// nothing may be left of them (ending.go).
//
// What is checked is in the property_*.go files, one property each, in ledger.go (answers come in order), parser.go (the
// protocol), ending.go (recovery, leaks) and sim/oracle (who gets which message). An assertion of the engine that fails,
// or a panic, ends the run as a failure too.
//
// One run uses no goroutine, and nothing but its own memory: runs in several processes, or one after another, never
// disturb each other. Read first: world.go, then node.go and client.go.
package sim
