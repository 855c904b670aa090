package integration

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/tlsconf"
)

// A reload of what TLS demands ends only the connections of clients whose certificates are no longer pinned.
func TestTLSPinnedCertificatesReloaded(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		r := newResponder(t)
		stays, goes := r.peer("stays", ""), r.peer("goes", "")
		s, write := w.serveChecking(r, "")
		ended := make(chan struct{})
		kept := s.secure(r.trust(stays))
		s.secure(r.trust(goes), nats.ClosedHandler(func(*nats.Conn) { close(ended) }), nats.ErrorHandler(nil))
		write(`pinned_certs: [ "` + tlsconf.SPKI(stays.Leaf) + `" ]`)
		ok(t, s.Reload())
		receive(t, "who is not pinned to be let go", ended)
		until(t, "that to be logged", func() bool { return s.log.contains("Disconnect 1 clients due to pinned certs reload") })
		s.refuses(r.trust(goes))
		roundTrip(t, kept, "x", 100)
		roundTrip(t, s.secure(r.trust(stays)), "y", 100)
		write(`min_version: "1.3", handshake_first: true`)
		ok(t, s.Reload())
		roundTrip(t, kept, "x", 100)
		roundTrip(t, s.secure(r.trust(goes), nats.TLSHandshakeFirst()), "y", 100)
	})
}
