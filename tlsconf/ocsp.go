package tlsconf

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/natsd/natsd/revocation"
)

// OCSP says which certificates are stapled: shown together with what their authority says of them, signed and recent.
type OCSP struct {
	Mode OCSPMode
	// URLs are responders to ask instead of those that certificates name.
	URLs []string
}

// OCSPMode chooses the certificates.
type OCSPMode uint8

// The modes.
const (
	OCSPAuto   OCSPMode = iota // those that demand it (must-staple), whatever their authority says of them
	OCSPAlways                 // all of them; where their authority does not say that they are good the server does not start, or stops
	OCSPMust                   // the same for those that demand it
	OCSPNever                  // none
)

// How long things may take, and count.
const (
	ocspTimeout = 10 * time.Second // of one request
	ocspRetry   = time.Minute      // after a failure
	ocspLeast   = time.Second      // between two requests
	ocspSkew    = 30 * time.Second // how far the responder's clock may be ahead
	ocspDay     = 24 * time.Hour
)

// ErrRevoked is matched where an authority says that a certificate of the server is not good.
var ErrRevoked = errors.New("its authority does not vouch for it")

// revokedError tells what an authority says of a certificate that is not good.
type revokedError struct {
	file   string
	status string
	first  bool // the first word about it: nothing is served with it yet
}

func (e *revokedError) Error() string {
	if e.first {
		return fmt.Sprintf("found existing OCSP status for certificate at '%s': %s", e.file, e.status)
	}
	return fmt.Sprintf("Received OCSP status for Client certificate '%s': %s", e.file, e.status)
}

func (e *revokedError) Is(target error) bool { return target == ErrRevoked }

// stapled is a certificate that is stapled.
type stapled struct {
	index    int // in tls.Config.Certificates
	file     string
	leaf     *x509.Certificate
	issuer   *x509.Certificate
	urls     []string
	required bool
	staple   []byte
	untold   error     // what was wrong with the first staple, which is shown all the same
	found    bool      // there is a good one that the log was not told of
	validity time.Time // end of the staple's
	next     time.Time // when to ask again
}

// mustStaple is the TLS feature extension (RFC 7633), whose value names status_request.
var mustStaple = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}

const statusRequest = 5

func demandsStaple(c *x509.Certificate) bool {
	for _, x := range c.Extensions {
		var features []int
		if !x.Id.Equal(mustStaple) {
			continue
		}
		if _, err := asn1.Unmarshal(x.Value, &features); err != nil {
			continue
		}
		for _, f := range features {
			if f == statusRequest {
				return true
			}
		}
	}
	return false
}

// chooseStaples finds the certificates to be stapled, their issuers and their responders.
func (c *Config) chooseStaples(s *Settings) error {
	if s.OCSP.Mode == OCSPNever {
		return nil
	}
	var problems []error
	for i := range c.tls.Certificates {
		cert := &c.tls.Certificates[i]
		if s.OCSP.Mode != OCSPAlways && !demandsStaple(cert.Leaf) {
			continue
		}
		a := &stapled{index: i, file: s.CertFile, leaf: cert.Leaf, urls: s.OCSP.URLs, required: s.OCSP.Mode != OCSPAuto}
		if a.file == "" {
			a.file = s.Certs[i].CertFile
		}
		if len(a.urls) == 0 {
			a.urls = cert.Leaf.OCSPServer
		}
		var err error
		if a.issuer, err = issuer(cert, s.CAFile); err == nil && len(a.urls) == 0 {
			err = errors.New("no available ocsp servers")
		}
		if err != nil {
			problems = append(problems, a.bad(err))
			continue
		}
		c.staples = append(c.staples, a)
	}
	return errors.Join(problems...)
}

// issuer finds who has signed a certificate, in its own file or in that of the authorities.
func issuer(cert *tls.Certificate, caFile string) (*x509.Certificate, error) {
	candidates := cert.Certificate[1:]
	if caFile != "" {
		text, err := os.ReadFile(caFile)
		if err != nil {
			return nil, err
		}
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			candidates = append(candidates, block.Bytes)
		}
	}
	for _, der := range candidates {
		if c, err := x509.ParseCertificate(der); err == nil && cert.Leaf.CheckSignatureFrom(c) == nil {
			return c, nil
		}
	}
	return nil, errors.New("the certificate of its issuer is neither in its own file nor in ca_file")
}

// Staple asks for the first staples. An error means that the server should not start.
func (c *Config) Staple(ctx context.Context) error { return c.staple(ctx, nil) }

// staple is Staple where certificates with staples have been shown so far: those serve where there is no newer one.
func (c *Config) staple(ctx context.Context, shown []tls.Certificate) error {
	var problems []error
	for _, a := range c.staples {
		now := time.Now()
		err := a.refresh(ctx, now)
		switch {
		case err == nil || !errors.Is(err, ErrRevoked) && a.keep(shown, now):
		case a.required || !errors.Is(err, ErrRevoked):
			var revoked *revokedError
			if errors.As(err, &revoked) {
				revoked.first = true
			}
			problems = append(problems, err)
		default:
			a.untold = err
		}
	}
	return errors.Join(problems...)
}

// keep takes over the staple that the same certificate was shown with, if that is still good.
func (a *stapled) keep(shown []tls.Certificate, now time.Time) bool {
	for _, s := range shown {
		if s.Leaf == nil || !s.Leaf.Equal(a.leaf) || s.OCSPStaple == nil {
			continue
		}
		if answer, err := a.believe(s.OCSPStaple, now); err == nil && answer.Status == ocsp.Good {
			a.take(s.OCSPStaple, answer, now)
			return true
		}
	}
	return false
}

// refresh asks for a new staple. The former is kept while it is valid.
func (a *stapled) refresh(ctx context.Context, now time.Time) error {
	raw, answer, err := a.ask(ctx, now)
	if err != nil {
		a.next = now.Add(ocspRetry)
		switch {
		case !now.Before(a.validity):
			a.staple = nil
		case a.validity.Before(a.next):
			a.next = a.validity // when it goes
		}
		return a.bad(err)
	}
	a.take(raw, answer, now)
	if answer.Status != ocsp.Good { // it is shown all the same: clients that look at it learn the truth
		return &revokedError{file: a.file, status: statusName(answer.Status)}
	}
	return nil
}

// take has an answer shown, and another asked for when half of its time is over.
func (a *stapled) take(raw []byte, answer *ocsp.Response, now time.Time) {
	a.staple, a.validity = raw, answer.NextUpdate
	if a.validity.IsZero() {
		a.validity = now.Add(ocspDay)
	}
	wait := max(a.validity.Sub(now)/2, ocspLeast)
	a.found = answer.Status == ocsp.Good
	if answer.Status != ocsp.Good {
		wait = min(wait, ocspRetry)
	}
	a.next = now.Add(wait)
}

func statusName(status int) string {
	if status == ocsp.Revoked {
		return "revoked"
	}
	return "unknown"
}

func (a *stapled) bad(err error) error {
	return fmt.Errorf("bad OCSP status update for certificate at '%s': %w", a.file, err)
}

// word is the line of the log about a good staple that was found at now.
func (a *stapled) word(now time.Time) string {
	return fmt.Sprintf("Found OCSP status for Client certificate at '%s': good, next update %s, checking again in %s",
		a.file, a.validity.UTC().Format(time.RFC3339), a.next.Sub(now))
}

// ask asks one responder after another.
func (a *stapled) ask(ctx context.Context, now time.Time) (raw []byte, answer *ocsp.Response, err error) {
	question, err := ocsp.CreateRequest(a.leaf, a.issuer, nil)
	if err != nil {
		return nil, nil, err
	}
	var problems []error
	for _, url := range a.urls {
		if raw, err = request(ctx, url, question); err == nil {
			if answer, err = a.believe(raw, now); err == nil {
				return raw, answer, nil
			}
		}
		problems = append(problems, fmt.Errorf("%s: %w", url, err))
	}
	return nil, nil, fmt.Errorf("exhausted ocsp servers: %w", errors.Join(problems...))
}

// believe verifies that an answer is one about the certificate, by who may give it, and current: clients would not believe it else.
func (a *stapled) believe(raw []byte, now time.Time) (*ocsp.Response, error) {
	answer, err := revocation.Believe(raw, a.leaf, a.issuer, now, ocspSkew)
	if err != nil {
		return nil, err
	}
	if end := answer.NextUpdate; !end.IsZero() && !now.Before(end) {
		return nil, fmt.Errorf("invalid ocsp NextUpdate, is past time: %s", end.UTC().Format(time.RFC3339))
	}
	return answer, nil
}

// request asks a responder by POST and, if there is no answer, by GET: some know only the one, some only the other.
func request(ctx context.Context, url string, question []byte) ([]byte, error) {
	raw, posted := send(ctx, http.MethodPost, url, question)
	if posted == nil {
		return raw, nil
	}
	raw, err := send(ctx, http.MethodGet, revocation.GetURL(url, question), nil)
	if err != nil {
		return nil, fmt.Errorf("by POST: %w; by GET: %w", posted, err)
	}
	return raw, nil
}

func send(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, ocspTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/ocsp-request")
	}
	return revocation.Exchange(r)
}
