package engine

import (
	"slices"

	"github.com/nats-io/nkeys"
)

// proxySignature is a job: it verifies that a trusted proxy, through which the client says it has come, has signed the nonce
// (ADR-55).
type proxySignature struct {
	login *login
	keys  []string // of the trusted proxies
	text  string
	ok    bool
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
	s.ok = slices.ContainsFunc(s.keys, func(k string) bool {
		key, err := nkeys.FromPublicKey(k)
		return err == nil && key.Verify([]byte(s.login.nonce), sig) == nil
	})
}

func (s *proxySignature) done(e *Engine) {
	s.login.working = false
	c := s.login.here(e)
	if c == nil {
		return
	}
	if !s.ok {
		e.refuseLogin(c, "the proxy is not trusted")
		return
	}
	e.endLogin(c)
	c.proxied, c.authEnd = true, 0
	e.connectAs(c)
	e.openAuth(c)
}

// lacksProxy reports whether the connection had to come through a trusted proxy to be who, and has not. nil: it is nobody in
// particular.
func (e *Engine) lacksProxy(c *conn, who *user) bool {
	return !c.proxied && (e.opts.ProxyRequired || who != nil && who.proxyRequired)
}

// refuseDirect turns away who had to come through a trusted proxy, and has not.
func (e *Engine) refuseDirect(c *conn) {
	e.explain(c, "the user must connect through a trusted proxy")
	e.authViolation(c)
}
