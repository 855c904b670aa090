// Package transcript reads and runs recorded conversations between clients and a NATS server: which bytes the clients
// send, which bytes each of them must receive next, when a connection must end, and how much time passes in between.
//
// The format is described in engine/testdata/protocol/README.md, where the transcripts are. Parse turns a file into
// scenarios and Run plays one scenario in a World. There are two worlds: replay/ starts a server binary and speaks to it
// over TCP in real time; the engine's own test lets the same steps happen on a simulated network and clock. Both share
// every rule of matching, so a transcript means the same in both.
//
// The package itself is pure: no sockets, no clock, no goroutines. Read scenario.go first, then run.go.
package transcript
