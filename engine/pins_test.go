package engine

import (
	"strings"
	"testing"
)

func pinnedInfo(key string) TLSInfo {
	return TLSInfo{Version: "1.3", CipherSuite: "S", Peer: []TLSCert{{SPKISHA256: key}}}
}

// A reload that leaves out a pinned certificate ends the connections of its clients, those whose handshakes are under way among
// them, and no others.
func TestPinnedCertificatesChange(t *testing.T) {
	e, w := startedTLS(t, TLSOptions{AllowPlain: true})
	shake := func() ConnID {
		id := accept(e)
		w.take(id)
		turn(e, func() { e.Received(id, []byte{tlsHandshakeRecord}) })
		return id
	}
	meet := func(info TLSInfo) ConnID {
		id := shake()
		turn(e, func() { e.TLSUp(id, info) })
		say(e, id, "CONNECT {\"verbose\":false}\r\nPING\r\n")
		if got := w.take(id); !strings.Contains(got, "PONG") {
			t.Fatalf("got %q", got)
		}
		return id
	}
	kept, lost, bare := meet(pinnedInfo("aa")), meet(pinnedInfo("bb")), meet(TLSInfo{Version: "1.3"})
	plain := accept(e)
	say(e, plain, "CONNECT {\"verbose\":false}\r\n")
	early, late := shake(), shake()
	reload := func(pins ...string) {
		o := e.opts
		o.TLS.Pinned = pins
		turn(e, func() { e.Reload(o) })
		w.settle(t, e)
	}
	there := func(id ConnID) bool {
		c := e.lookup(id)
		return c != nil && c.gate&gateClosed == 0
	}
	expect := func(what string, want bool, ids ...ConnID) {
		t.Helper()
		for i, id := range ids {
			if there(id) != want {
				t.Errorf("%s: connection %d is there: %v", what, i, !want)
			}
		}
	}
	reload("aa")
	expect("pinned", true, kept, plain, early, late)
	expect("not pinned", false, lost, bare)
	if r := w.reason(t, e); r != ReasonTLSHandshake {
		t.Errorf("closed: %s", r)
	}
	if !w.logged("Failed pinned cert test for key id: bb") || !w.logged("Disconnect 2 clients due to pinned certs reload") {
		t.Errorf("log:\n%s", strings.Join(w.log, "\n"))
	}
	turn(e, func() { e.TLSUp(early, pinnedInfo("bb")) })
	turn(e, func() { e.TLSUp(late, pinnedInfo("aa")) })
	expect("whose handshake began before, not pinned", false, early)
	expect("whose handshake began before, pinned", true, late, kept, plain)
	if !w.logged("Disconnect 1 clients due to pinned certs reload") {
		t.Errorf("log:\n%s", strings.Join(w.log, "\n"))
	}
	reload("aa")
	expect("nothing has changed", true, kept, plain, late)
	reload()
	expect("none is pinned", true, kept, plain, late)
}
