// Package tlsconf makes configurations of crypto/tls from the settings of a tls block.
//
// Settings are what the configuration says; Server reads the files they name and checks everything, with nats-server's words
// where something is wrong. The result, a Config, never changes. A Live holds the Config that counts and hands out
// tls.Configs that follow it: new certificates serve the next handshake, and connections that exist are not touched.
//
// What is not here: when a connection changes to TLS and for how long a handshake may take (engine.TLSOptions), and the
// handshake itself (host). What certificates are stapled with is in ocsp.go, and how that is kept fresh in refresh.go; how
// clients' certificates are checked by OCSP is in revocation.
package tlsconf
