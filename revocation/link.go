package revocation

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"golang.org/x/crypto/ocsp"
)

// link is a certificate of a chain that names responders.
type link struct {
	cert, issuer, peer *x509.Certificate
	urls               []string
	name, key          string
}

// linksOf are the certificates of a verified chain that can be checked, the peer's own first.
func linksOf(chain []*x509.Certificate) (links []link) {
	for i := range len(chain) - 1 {
		c := chain[i]
		if urls := responders(c); len(urls) > 0 {
			links = append(links, link{cert: c, issuer: chain[i+1], peer: chain[0], urls: urls, name: c.Subject.String(), key: Fingerprint(c)})
		}
	}
	return links
}

// responders are those that can be asked on the web.
func responders(c *x509.Certificate) (urls []string) {
	for _, text := range c.OCSPServer {
		if u, err := url.Parse(text); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
			urls = append(urls, text)
		}
	}
	return urls
}

// Fingerprint is the SHA-256 of a certificate, in base64.
func Fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// The reasons.
const (
	noAnswer   = "Failed OCSP response fetch"
	noResponse = "Failed OCSP response parse"
	notCurrent = "OCSP response not in effectivity window"
)

// link reports whether a certificate is vouched for, or is let pass. The error is errGone.
func (c *Checker) link(ctx context.Context, p *Policy, l *link) (good bool, err error) {
	reason, err := c.decide(ctx, p, l)
	switch {
	case err != nil:
		return false, err
	case reason == "":
		return true, nil
	case p.WarnOnly:
		c.witness.Warnf("OCSP verify fail for [%s] but WarnOnly is true so allowing", l.name)
		return true, nil
	}
	c.witness.Debugf("%s", reason)
	c.witness.Invalid(l.cert, l.peer, reason)
	return false, nil
}

// decide says why a certificate is not vouched for; empty: it is, or need not be. The error is errGone.
func (c *Checker) decide(ctx context.Context, p *Policy, l *link) (reason string, err error) {
	c.witness.Debugf("Checking OCSP peer cache for [%s], key [%s]", l.name, l.key)
	a, known := c.remembered(p, l)
	if a == nil {
		raw, err := c.ask(ctx, p, l)
		switch {
		case errors.Is(err, errGone):
			return "", err
		case err != nil:
			return c.unanswered(p, l, err, known.maybe), nil
		}
		if a, reason = c.read(p, l, raw); a == nil {
			return reason, nil
		}
		if a.Status != ocsp.Revoked && a.ThisUpdate.Before(known.since) { // whoever keeps old answers could hand them out
			c.witness.Warnf("New OCSP CA response obtained for [%s] but older than its revocation", l.name)
			return notCurrent, nil
		}
		c.remember(l, a)
	}
	if a.Status == ocsp.Good || a.Status == ocsp.Unknown && p.UnknownIsGood {
		c.witness.Debugf("OCSP verify pass for [%s]", l.name)
		return "", nil
	}
	c.witness.Warnf("OCSP verify fail for [%s] with CA status [%s]", l.name, status(a.Status))
	return "Invalid OCSP response status: " + status(a.Status), nil
}

// unanswered decides about a certificate whose responders have given no answer.
func (c *Checker) unanswered(p *Policy, l *link, err error, wasRevoked bool) (reason string) {
	c.witness.Warnf("Attempt to obtain OCSP response from CA responder for [%s] failed: %v", l.name, err)
	if !p.AllowUnreachable {
		return noAnswer
	}
	if wasRevoked {
		c.witness.Warnf("Failed to obtain OCSP CA response for [%s] but AllowWhenCAUnreachable set; cached revocation exists so rejecting", l.name)
		return noAnswer
	}
	c.witness.Warnf("Failed to obtain OCSP CA response for [%s] but AllowWhenCAUnreachable set; no cached revocation so allowing", l.name)
	return ""
}

// read reads a new answer and verifies that it may be believed. Where it may not, the answer is nil.
func (c *Checker) read(p *Policy, l *link, raw []byte) (a *ocsp.Response, reason string) {
	a, err := l.parse(raw)
	if err != nil {
		c.witness.Errorf("Could not parse OCSP CA response for [%s]: %v", l.name, err)
		return nil, noResponse
	}
	now := c.now()
	if s, ok := l.delegate(a); !ok || p.lapsed(s, now) {
		reason = "Invalid OCSP response delegation: " + l.name
		c.witness.Warnf("%s", reason)
		return nil, reason
	}
	if why := p.outdated(a, now); why != "" {
		c.witness.Debugf("%s", why)
		c.witness.Warnf("New OCSP CA response obtained for [%s] but not current", l.name)
		return nil, notCurrent
	}
	return a, ""
}

// Believe reads an answer about a certificate and verifies that it may be believed: it is signed by the certificate's issuer, or by
// somebody whom that has entitled and whose certificate is valid now, and it is not from the future by more than skew. Whether
// it is too old is for the caller to say.
func Believe(raw []byte, cert, issuer *x509.Certificate, now time.Time, skew time.Duration) (*ocsp.Response, error) {
	l := link{cert: cert, issuer: issuer}
	a, err := l.parse(raw)
	if err != nil {
		return nil, err
	}
	p := Policy{Skew: skew}
	switch s, ok := l.delegate(a); {
	case !ok:
		return nil, errors.New("OCSP response signer missing authorization by CA to act as OCSP signer")
	case p.lapsed(s, now):
		return nil, errors.New("the certificate of the OCSP responder is not valid now")
	case a.ThisUpdate.After(now.Add(skew)):
		return nil, fmt.Errorf("invalid ocsp ThisUpdate, is future time: %s", a.ThisUpdate.UTC().Format(time.RFC3339))
	}
	return a, nil
}

// parse reads an answer and verifies its signature: the issuer's, or that of somebody whose certificate the issuer has signed.
func (l *link) parse(raw []byte) (*ocsp.Response, error) {
	a, err := ocsp.ParseResponseForCert(raw, l.cert, l.issuer)
	if err == nil {
		return a, nil
	}
	// An issuer may send its own certificate along (RFC 6960, 4.2.1). Where it is no root, another has signed that, which the above
	// does not accept. Without an issuer, the signature is verified by what was sent along: it must be the issuer's key.
	if own, err := ocsp.ParseResponseForCert(raw, l.cert, nil); err == nil && l.isIssuer(own.Certificate) {
		return own, nil
	}
	return nil, err
}

// isIssuer reports whether a certificate, or nil, is the issuer's: one issuer may have several, all with one key.
func (l *link) isIssuer(c *x509.Certificate) bool {
	return c != nil && bytes.Equal(c.RawSubjectPublicKeyInfo, l.issuer.RawSubjectPublicKeyInfo)
}

// delegate is the certificate of the signer of an answer, whose signature was verified; nil: it is the issuer itself. ok reports
// whether the issuer has certified it for that.
func (l *link) delegate(a *ocsp.Response) (s *x509.Certificate, ok bool) {
	if s = a.Certificate; s == nil || l.isIssuer(s) {
		return nil, true
	}
	return s, slices.Contains(s.ExtKeyUsage, x509.ExtKeyUsageOCSPSigning)
}

// lapsed reports whether a delegate's certificate is not valid now.
func (p *Policy) lapsed(s *x509.Certificate, now time.Time) bool {
	return s != nil && (now.Add(p.Skew).Before(s.NotBefore) || now.Add(-p.Skew).After(s.NotAfter))
}

// outdated says why an answer does not count now; empty: it does.
func (p *Policy) outdated(a *ocsp.Response, now time.Time) string {
	end, what := a.NextUpdate, "NextUpdate"
	if end.IsZero() {
		end, what = a.ThisUpdate.Add(p.TTL), "cache expiry"
	}
	text := func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
	switch {
	case a.ThisUpdate.After(now.Add(p.Skew)):
		return fmt.Sprintf("OCSP response ThisUpdate [%s] is after now [%s] with clockskew [%s]", text(a.ThisUpdate), text(now), p.Skew)
	case end.Before(now.Add(-p.Skew)):
		return fmt.Sprintf("OCSP response %s [%s] is before now [%s] with clockskew [%s]", what, text(end), text(now), p.Skew)
	}
	return ""
}

func status(s int) string {
	switch s {
	case ocsp.Good:
		return "good"
	case ocsp.Revoked:
		return "revoked"
	}
	return "unknown"
}
