package engine

import (
	"regexp"
	"strings"
	"testing"
)

func TestEventsOfOCSP(t *testing.T) {
	s := newSystem(t, Options{})
	cert := func(name string) OCSPCert { return OCSPCert{"CN=" + name, "CN=ca", "f/" + name, "r+" + name} }
	inter := cert("inter")
	turn(s.e, func() {
		s.e.OCSPRefused(OCSPRefusal{Link: &inter, Peer: cert("peer"), Reason: "revoked"})
		s.e.OCSPRefused(OCSPRefusal{Peer: cert("peer"), Reason: "client not OCSP valid"})
	})
	subjects, bodies := s.heard()
	if got := strings.Join(subjects, " "); got != "$SYS.SERVER.ID.OCSP.PEER.LINK.INVALID $SYS.SERVER.ID.OCSP.PEER.CONN.REJECT" {
		t.Fatalf("told %s", got)
	}
	peer := `"peer":{"subject":"CN=peer","issuer":"CN=ca","fingerprint":"f/peer","raw":"r\+peer"}`
	for i, want := range []string{
		`^{"type":"io\.nats\.server\.advisory\.v1\.ocsp_peer_link_invalid","id":"\w{22}","timestamp":"[^"]+",` +
			`"link":{"subject":"CN=inter","issuer":"CN=ca","fingerprint":"f/inter","raw":"r\+inter"},` + peer + `,"server":{.*},"reason":"revoked"}$`,
		`^{"type":"io\.nats\.server\.advisory\.v1\.ocsp_peer_reject","id":"\w{22}","timestamp":"[^"]+","kind":"Client",` + peer +
			`,"server":{.*},"reason":"client not OCSP valid"}$`,
	} {
		if !regexp.MustCompile(want).MatchString(bodies[i]) {
			t.Errorf("got %s", bodies[i])
		}
	}
}
