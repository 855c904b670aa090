package engine

// openingState is how far a connection is that does not speak the protocol yet, or may still become TLS: a proxy's header comes
// first, if one does, then the handshake. Zero: it is what it stays, plaintext or TLS.
type openingState uint8

const (
	proxyFirst     openingState = iota + 1 // the first bytes are a proxy's header, or the protocol
	proxyBeforeTLS                         // the same, but TLS is expected, or may be, instead of the protocol
	tlsAwaited                             // the first bytes decide
	tlsWanted                              // they have come; what was to be sent in plaintext is not all sent
	tlsHandshake                           // StartTLS was called
)

// openingReceived takes what arrived before the protocol: a proxy's header, the beginning of a handshake. It returns what is left for
// the protocol.
func (e *Engine) openingReceived(c *conn, data []byte) []byte {
	if c.proxyAwaited() {
		data = e.proxyReceived(c, data)
	}
	if len(data) > 0 && c.opening != 0 && e.tlsReceived(c, data) {
		return nil
	}
	return data
}

// openingEOF takes the end of the stream of a connection that does not speak the protocol yet. It returns false if it ends as any
// other does.
func (e *Engine) openingEOF(c *conn) bool {
	if c.proxyAwaited() {
		return e.proxyEOF(c)
	}
	return e.tlsEOF(c)
}
