// Package integration tests natsd with real clients over real sockets: github.com/nats-io/nats.go where a client library
// is what matters, plain sockets where it must not help. There is no code here that anything imports.
//
// What can be tested inside the process is, on every host that this system has (hosts in world_test.go); what belongs to
// the program (flags, signals, files, exit status, limits of the process) is tested with the program, which TestMain
// builds. Nothing here sleeps: a test waits for a condition (until), for a line (rawClient), or for a callback.
//
// The engine's behaviour to the byte is not the subject: engine/testdata/protocol has that.
package integration
