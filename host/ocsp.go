package host

import (
	"crypto/x509"
	"encoding/base64"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/revocation"
)

// TellInvalid has the system account told that a certificate that a client's builds on, or the client's own, is not vouched for by
// its authority. It may be called from any goroutine.
func (s *Server) TellInvalid(link, peer *x509.Certificate, reason string) {
	l := ocspCert(link)
	s.tellRefused(engine.OCSPRefusal{Link: &l, Peer: ocspCert(peer), Reason: reason})
}

// TellRejected has it told that a client is turned away for that.
func (s *Server) TellRejected(peer *x509.Certificate, reason string) {
	s.tellRefused(engine.OCSPRefusal{Peer: ocspCert(peer), Reason: reason})
}

func (s *Server) tellRefused(r engine.OCSPRefusal) {
	s.post(func(e *engine.Engine) { e.OCSPRefused(r) })
}

func ocspCert(c *x509.Certificate) engine.OCSPCert {
	return engine.OCSPCert{
		Subject: c.Subject.String(), Issuer: c.Issuer.String(), Fingerprint: revocation.Fingerprint(c),
		Raw: base64.StdEncoding.EncodeToString(c.Raw),
	}
}
