package revocation

import (
	"context"
	"crypto/x509"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Policy is how the certificates of peers are checked.
type Policy struct {
	// Timeout is how long one responder may take.
	Timeout time.Duration
	// Skew is how far the responder's clock may be off.
	Skew time.Duration
	// TTL is for how long an answer counts that does not say so, from when it was made.
	TTL time.Duration
	// WarnOnly accepts everybody, and logs who should not be.
	WarnOnly bool
	// UnknownIsGood accepts certificates that the responder does not know.
	UnknownIsGood bool
	// AllowUnreachable accepts certificates whose responders give no answer, unless one that is remembered, however old, says
	// that the certificate is revoked.
	AllowUnreachable bool
}

// What counts where nothing is chosen.
const (
	DefaultTimeout = 2 * time.Second
	DefaultSkew    = 30 * time.Second
	DefaultTTL     = time.Hour
)

// Witness is told what is found, from several goroutines.
type Witness interface {
	Debugf(format string, args ...any)
	Infof(format string, args ...any)
	Warnf(format string, args ...any)
	Errorf(format string, args ...any)
	// Invalid tells of a certificate that is not vouched for: the peer's own or one that it builds on.
	Invalid(link, peer *x509.Certificate, reason string)
	// Rejected tells of a peer that is not let in.
	Rejected(peer *x509.Certificate, reason string)
}

// ErrRejected is why the handshake of a peer fails that is not vouched for.
var ErrRejected = errors.New("client not OCSP valid")

// errGone is why a check ends whose handshake, or Checker, has ended.
var errGone = errors.New("the handshake has ended")

// Checker checks the certificates of peers. It is for use by several goroutines.
type Checker struct {
	witness Witness
	now     func() time.Time
	cache   atomic.Pointer[cache] // nil: nothing is remembered

	changing sync.Mutex // of those who change the cache

	ctx     context.Context // ends with the Checker
	end     context.CancelFunc
	running sync.WaitGroup
	mu      sync.Mutex // guards asking
	asking  map[string]*question
}

// New returns a Checker without a cache. Close ends it.
func New(w Witness) *Checker {
	c := &Checker{witness: w, now: time.Now, asking: map[string]*question{}}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// Close gives up what is being asked and saves the cache. Nobody is asked from then on, and nothing remembered.
func (c *Checker) Close() {
	c.mu.Lock()
	c.end() // under the lock: whoever asks has begun, and is waited for, or sees that it is too late
	c.mu.Unlock()
	c.running.Wait()
	c.UseCache(nil)
}

// Check returns nil for a peer that is vouched for: one of its verified chains has only certificates that are. The end of a
// chain is trusted and not checked; neither is what names no responder.
func (c *Checker) Check(ctx context.Context, p *Policy, chains [][]*x509.Certificate) error {
	c.witness.Debugf("Peer OCSP enabled: %d TLS client chain(s) will be evaluated", len(chains))
	for i, chain := range chains {
		if good, err := c.chain(ctx, p, i, chain); err != nil || good {
			return err
		}
	}
	c.witness.Debugf("No OCSP valid chains, thus peer is invalid")
	if len(chains) > 0 {
		c.witness.Rejected(chains[0][0], ErrRejected.Error())
	}
	return ErrRejected
}

// chain reports whether all certificates of a chain are vouched for. The error is errGone.
func (c *Checker) chain(ctx context.Context, p *Policy, i int, chain []*x509.Certificate) (good bool, err error) {
	c.witness.Debugf("Chain [%d]: %d total link(s)", i, len(chain))
	links := linksOf(chain)
	switch {
	case len(chain) == 1:
		c.witness.Debugf("Chain [%d] is self-signed, thus peer is valid", i)
		return true, nil
	case len(links) == 0:
		c.witness.Debugf("Chain [%d] has no OCSP eligible links, thus peer is valid", i)
		return true, nil
	}
	c.witness.Debugf("Chain [%d] has %d OCSP eligible link(s)", i, len(links))
	for k := range links {
		if good, err := c.link(ctx, p, &links[k]); err != nil || !good {
			return false, err
		}
	}
	c.witness.Debugf("Chain [%d] is OCSP valid for all eligible links, thus peer is valid", i)
	return true, nil
}
