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
	OCSPAuto   OCSPMode = iota // those that demand it (must-staple), as far as their responders answer
	OCSPAlways                 // all of them; without a good answer the server does not start, or stops
	OCSPMust                   // the same for those that demand it
	OCSPNever                  // none
)

// How long things may take, and count.
const (
	ocspTimeout = 10 * time.Second // of one request
	ocspRetry   = time.Minute      // after a failure, and the least between two requests
	ocspDay     = 24 * time.Hour
)

// ErrRevoked is wrapped where an authority says that a certificate of the server is not good.
var ErrRevoked = errors.New("the certificate is revoked or unknown to its authority")

// stapled is a certificate that is stapled.
type stapled struct {
	index    int // in tls.Config.Certificates
	leaf     *x509.Certificate
	issuer   *x509.Certificate
	urls     []string
	required bool
	staple   []byte
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
		a := &stapled{index: i, leaf: cert.Leaf, urls: s.OCSP.URLs, required: s.OCSP.Mode != OCSPAuto}
		if len(a.urls) == 0 {
			a.urls = cert.Leaf.OCSPServer
		}
		var err error
		if a.issuer, err = issuer(cert, s.CAFile); err == nil && len(a.urls) == 0 {
			err = errors.New("no available ocsp servers")
		}
		if err != nil {
			if a.required {
				problems = append(problems, fmt.Errorf("OCSP: certificate %q: %w", cert.Leaf.Subject, err))
			}
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
func (c *Config) Staple(ctx context.Context) error {
	var problems []error
	for _, a := range c.staples {
		if err := a.refresh(ctx, time.Now()); err != nil && a.required {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// refresh asks for a new staple.
func (a *stapled) refresh(ctx context.Context, now time.Time) error {
	a.next = now.Add(ocspRetry)
	raw, answer, err := a.ask(ctx)
	if err != nil {
		if !now.Before(a.validity) {
			a.staple = nil
		}
		return a.bad(err)
	}
	a.staple, a.validity = raw, answer.NextUpdate
	if a.validity.IsZero() {
		a.validity = now.Add(ocspDay)
	}
	if answer.Status != ocsp.Good {
		return a.bad(ErrRevoked) // it is shown all the same: clients that look at it learn the truth
	}
	if half := a.validity.Sub(now) / 2; half > ocspRetry {
		a.next = now.Add(half)
	}
	return nil
}

func (a *stapled) bad(err error) error {
	return fmt.Errorf("bad OCSP status update for certificate %q: %w", a.leaf.Subject, err)
}

// ask asks one responder after another.
func (a *stapled) ask(ctx context.Context) (raw []byte, answer *ocsp.Response, err error) {
	question, err := ocsp.CreateRequest(a.leaf, a.issuer, nil)
	if err != nil {
		return nil, nil, err
	}
	var problems []error
	for _, url := range a.urls {
		if raw, err = post(ctx, url, question); err == nil {
			if answer, err = ocsp.ParseResponseForCert(raw, a.leaf, a.issuer); err == nil {
				return raw, answer, nil
			}
		}
		problems = append(problems, fmt.Errorf("%s: %w", url, err))
	}
	return nil, nil, errors.Join(problems...)
}

func post(ctx context.Context, url string, question []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, ocspTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/ocsp-request")
	return revocation.Exchange(r)
}
