// Package wire is the codec of the NATS client protocol: control lines, CONNECT, INFO, message headers and the errors a
// server answers. It is pure: bytes in, values out. Slices in results are borrowed from the input.
//
// The rules are those of the client protocol reference (docs.nats.io, reference/protocols/client) and, where it is
// silent, what nats-server 2.15.2 does; docs/differences.md lists where natsd deliberately does otherwise.
package wire
