package tlsconf

import (
	"context"
	"crypto/tls"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/natsd/natsd/revocation"
)

// Live holds the Config that counts now. It is for use by several goroutines.
type Live struct {
	mu      sync.Mutex // of those who change it
	config  atomic.Pointer[served]
	changed chan struct{} // has one place: another Config counts
	checker *revocation.Checker
}

// served is a Config in the forms that handshakes take.
type served struct {
	config  *Config
	clients *tls.Config
	browser *tls.Config
}

// ErrNone is why a handshake fails while there is no Config.
var ErrNone = errors.New("tls: no certificates configured")

// ErrNoChecker is why a handshake fails whose client is to be checked by OCSP where nobody does that.
var ErrNoChecker = errors.New("tls: nobody checks certificates by OCSP")

// NewLive returns a Live that begins with c; nil: there is none yet.
func NewLive(c *Config) *Live {
	l := &Live{changed: make(chan struct{}, 1)}
	l.Replace(c)
	return l
}

// CheckPeers has clients' certificates checked by c, where the Config that counts says so. It must come before the first
// handshake.
func (l *Live) CheckPeers(c *revocation.Checker) { l.checker = c }

// Staple asks for the first staples of c, which is to replace the Config that counts. Where there are none to be had, those of the
// same certificates serve that are shown now, while they are valid. An error means that nothing should change.
func (l *Live) Staple(ctx context.Context, c *Config) error {
	var shown []tls.Certificate
	if now := l.config.Load(); now != nil {
		shown = now.clients.Certificates
	}
	return c.staple(ctx, shown)
}

// Replace has handshakes that begin from now on use c, or fail where it is nil.
func (l *Live) Replace(c *Config) {
	l.show(c, true)
	select {
	case l.changed <- struct{}{}:
	default: // nobody has looked yet
	}
}

// show has handshakes use c as it is now, if it is new or counts still.
func (l *Live) show(c *Config, isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !isNew && l.Config() != c {
		return
	}
	if c == nil {
		l.config.Store(nil)
		return
	}
	clients := c.withStaples()
	next := &served{config: c, clients: clients, browser: clients.Clone()}
	// Browsers have no certificates for this: verify does not apply to monitoring.
	next.browser.ClientAuth, next.browser.ClientCAs, next.browser.VerifyConnection = tls.NoClientCert, nil, nil
	l.config.Store(next)
}

// Config is the Config that counts now; nil: there is none.
func (l *Live) Config() *Config {
	if now := l.config.Load(); now != nil {
		return now.config
	}
	return nil
}

// Clients is for listeners that NATS clients connect to. It follows Replace.
func (l *Live) Clients() *tls.Config {
	return l.following(func(s *served, hello *tls.ClientHelloInfo) *tls.Config {
		switch {
		case s.config.peers == nil:
			return s.clients
		case l.checker == nil:
			return nil
		}
		return l.checking(s, hello.Context())
	})
}

// Monitoring is for HTTPS. It follows Replace.
func (l *Live) Monitoring() *tls.Config {
	return l.following(func(s *served, _ *tls.ClientHelloInfo) *tls.Config { return s.browser })
}

func (l *Live) following(which func(*served, *tls.ClientHelloInfo) *tls.Config) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			now := l.config.Load()
			if now == nil {
				return nil, ErrNone
			}
			t := which(now, hello)
			if t == nil {
				return nil, ErrNoChecker
			}
			return t, nil
		},
	}
}

// checking is what a handshake uses whose client's certificate is checked by OCSP, behind everything else. A resumed session
// is checked too.
func (l *Live) checking(s *served, ctx context.Context) *tls.Config {
	t := s.clients.Clone()
	before := t.VerifyConnection
	t.VerifyConnection = func(state tls.ConnectionState) error {
		if before != nil {
			if err := before(state); err != nil {
				return err
			}
		}
		return l.checker.Check(ctx, s.config.peers, state.VerifiedChains)
	}
	return t
}
