package engine

import (
	"slices"
	"strconv"
)

// unpinned closes a connection whose certificate is not, or is no longer, among the pinned ones, and reports whether it has. One
// whose handshake is under way is held against them when that has succeeded: its host may have begun it with those of before.
func (e *Engine) unpinned(c *conn) bool {
	c.repin = c.opening == tlsHandshake
	pins := e.opts.TLS.Pinned
	if c.tlsInfo == nil || len(pins) == 0 {
		return false
	}
	key := ""
	if len(c.tlsInfo.Peer) > 0 {
		key = c.tlsInfo.Peer[0].SPKISHA256
	}
	if slices.Contains(pins, key) {
		return false
	}
	if e.debugs(c) {
		e.logf(e.debugLevel(), c.subject(), "Failed pinned cert test for key id: "+key)
	}
	if e.sweep.on {
		e.sweep.unpinned++
	} else {
		e.tellUnpinned(1)
	}
	e.closeConn(c, ReasonTLSHandshake, "")
	return true
}

// tellUnpinned logs how many connections were closed.
func (e *Engine) tellUnpinned(n int) {
	if n > 0 {
		e.logf(LevelInfo, "", "Disconnect "+strconv.Itoa(n)+" clients due to pinned certs reload")
	}
}
