// Package revocation asks the authorities of peers' certificates whether these are still good (OCSP, RFC 6960), while the TLS
// handshake waits, and remembers the answers.
//
// A Checker decides about the chains of a peer (checker.go, link.go). It asks responders (ask.go) unless its cache knows
// (cache.go), which survives restarts in nats-server's form (store.go). What it finds is told to a Witness, in nats-server's
// words.
package revocation
