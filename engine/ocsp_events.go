package engine

import (
	"encoding/json"
	"time"
)

// OCSPCert is a certificate in what is told of OCSP.
type OCSPCert struct {
	Subject     string `json:"subject"` // distinguished names (RFC 2253)
	Issuer      string `json:"issuer"`
	Fingerprint string `json:"fingerprint"` // SHA-256, in base64
	Raw         string `json:"raw"`         // DER, in base64
}

// OCSPRefusal tells of a client's certificate that its authority does not vouch for.
type OCSPRefusal struct {
	// Link is the certificate that is not vouched for: the client's, or one that it builds on. Nil: the client is turned away.
	Link   *OCSPCert
	Peer   OCSPCert // the client's
	Reason string
}

const (
	typeLinkInvalid = "io.nats.server.advisory.v1.ocsp_peer_link_invalid"
	typePeerReject  = "io.nats.server.advisory.v1.ocsp_peer_reject"
)

// ocspEvent has its fields in nats-server's order.
type ocspEvent struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Time   string          `json:"timestamp"`
	Kind   string          `json:"kind,omitempty"`
	Link   *OCSPCert       `json:"link,omitempty"`
	Peer   OCSPCert        `json:"peer"`
	Server json.RawMessage `json:"server"`
	Reason string          `json:"reason"`
}

// OCSPRefused has the system account told of what the host found while a client's handshake was under way.
func (e *Engine) OCSPRefused(r OCSPRefusal) {
	ev := &ocspEvent{Type: typeLinkInvalid, Link: r.Link, Peer: r.Peer, Reason: r.Reason}
	subj := "$SYS.SERVER." + e.info.ServerID + ".OCSP.PEER.LINK.INVALID"
	if r.Link == nil {
		ev.Type, ev.Kind = typePeerReject, "Client"
		subj = "$SYS.SERVER." + e.info.ServerID + ".OCSP.PEER.CONN.REJECT"
	}
	if !e.heard(subj) {
		return
	}
	ev.ID, ev.Time = e.sys.ids.make(), e.wall.time().Format(time.RFC3339Nano)
	e.say(subj, func(e *Engine) []byte {
		ev.Server = e.identity()
		return mustJSON(ev)
	})
}
