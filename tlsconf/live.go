package tlsconf

import (
	"crypto/tls"
	"sync/atomic"
)

// Live holds the Config that counts now. It is for use by several goroutines.
type Live struct {
	config atomic.Pointer[served]
}

// served is a Config in the forms that handshakes take.
type served struct {
	config  *Config
	clients *tls.Config
	browser *tls.Config
}

// NewLive returns a Live that begins with c.
func NewLive(c *Config) *Live {
	l := &Live{}
	l.Replace(c)
	return l
}

// Replace has handshakes that begin from now on use c.
func (l *Live) Replace(c *Config) {
	next := &served{config: c, clients: c.tls, browser: c.tls.Clone()}
	// Browsers have no certificates for this: verify does not apply to monitoring.
	next.browser.ClientAuth, next.browser.ClientCAs, next.browser.VerifyConnection = tls.NoClientCert, nil, nil
	l.config.Store(next)
}

// Config is the Config that counts now.
func (l *Live) Config() *Config { return l.config.Load().config }

// Clients is for listeners that NATS clients connect to. It follows Replace.
func (l *Live) Clients() *tls.Config {
	return l.following(func(s *served) *tls.Config { return s.clients })
}

// Monitoring is for HTTPS. It follows Replace.
func (l *Live) Monitoring() *tls.Config {
	return l.following(func(s *served) *tls.Config { return s.browser })
}

func (l *Live) following(which func(*served) *tls.Config) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return which(l.config.Load()), nil
		},
	}
}
