// Package engine is natsd's core: connections, the client protocol, routing and limits, as one single-threaded
// deterministic state machine. See ARCHITECTURE.md for the picture; read env.go (what it asks of the world), then
// engine.go (what the world tells it).
package engine
