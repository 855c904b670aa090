package engine

import (
	"slices"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/wire"
)

// proxySignature is a job: it verifies that a trusted proxy, through which the client says it has come, has signed the nonce
// (ADR-55).
type proxySignature struct {
	login *login
	keys  []string // of the trusted proxies
	text  string
	key   string // that has made it; empty: none of them has
}

// direct is the verdict about who had to come through a proxy, and has not.
func direct() *verdict {
	return &verdict{directText, wire.ErrAuthorization, ReasonNoProxy}
}

func (e *Engine) verifyProxy(c *conn) {
	l := &login{answer: true, nonce: c.nonce}
	e.beginLogin(c, l)
	s := &proxySignature{login: l, text: c.connect.ProxySig}
	for _, k := range e.opts.Proxies {
		s.keys = append(s.keys, k.Text)
	}
	e.toil(l, s)
}

func (s *proxySignature) run() {
	sig, ok := decodeSignature(s.text)
	if !ok || s.login.nonce == "" {
		return
	}
	i := slices.IndexFunc(s.keys, func(k string) bool {
		key, err := nkeys.FromPublicKey(k)
		return err == nil && key.Verify([]byte(s.login.nonce), sig) == nil
	})
	if i >= 0 {
		s.key = s.keys[i]
	}
}

func (s *proxySignature) done(e *Engine) {
	s.login.working = false
	c := s.login.here(e)
	if c == nil {
		return
	}
	if s.key == "" || !e.trustsProxy(s.key) { // it may be no longer
		e.refuseAs(c, &verdict{"the proxy is not trusted", wire.ErrAuthorization, ReasonProxy})
		return
	}
	e.endLogin(c)
	c.proxy, c.authEnd = s.key, 0
	e.connectAs(c)
	e.openAuth(c)
}

// lacksProxy reports whether the connection had to come through a trusted proxy to be who, and has not. nil: it is nobody in
// particular.
func (e *Engine) lacksProxy(c *conn, who *user) bool {
	return c.proxy == "" && (e.opts.ProxyRequired || who != nil && who.proxyRequired)
}

func (e *Engine) trustsProxy(key string) bool {
	return slices.ContainsFunc(e.opts.Proxies, func(k config.Located) bool { return k.Text == key })
}

// distrusted closes a connection that came through a proxy that is not trusted any more, whoever it is, and reports whether it has.
func (e *Engine) distrusted(c *conn) bool {
	if c.proxy == "" || e.trustsProxy(c.proxy) {
		return false
	}
	e.violates(c, ReasonProxy)
	return true
}
