// Package proxyproto reads the header of the PROXY protocol, versions 1 and 2: what HAProxy and other load balancers send first on a
// connection, to tell whose it is. The specification is HAProxy's (doc/proxy-protocol.txt); where it leaves a receiver a choice, this
// package takes what nats-server 2.15.2 takes, and more of what it must take (docs/differences.md).
//
// It is pure: bytes in, an address out. A Reader takes a header in whatever pieces it arrives, keeps at most 107 bytes of it, and never
// takes a byte that stands behind it. What a header says besides the client's address (where the client connected to, what TLS it
// spoke with the proxy) is checked as far as it is part of the format, and passed over.
//
// Read reader.go first, then v1.go and v2.go.
package proxyproto
