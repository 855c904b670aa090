package server

import (
	"crypto/x509"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
	"github.com/natsd/natsd/monitor"
	"github.com/natsd/natsd/revocation"
)

// takeOCSPPeer reads the block ocsp_peer.
func (s *tlsSettings) takeOCSPPeer(c *config.OCSPPeer) {
	if !c.Verify {
		return
	}
	chosen := func(d, otherwise time.Duration) time.Duration {
		if d < 0 {
			return otherwise
		}
		return d
	}
	p := &revocation.Policy{
		Timeout: c.CATimeout, Skew: chosen(c.ClockSkew, revocation.DefaultSkew), TTL: chosen(c.TTLUnset, revocation.DefaultTTL),
		WarnOnly: c.WarnOnly, UnknownIsGood: c.UnknownIsGood, AllowUnreachable: c.AllowUnreachable,
	}
	if p.Timeout <= 0 {
		p.Timeout = revocation.DefaultTimeout
	}
	s.settings.Peers = p
}

// takeOCSPCache reads the block ocsp_cache.
func (s *tlsSettings) takeOCSPCache(c *config.OCSPCache) {
	s.noPeerCache = c.Type == "none"
	s.peerCache = revocation.CacheOptions{Dir: c.LocalStore, PreserveRevoked: c.PreserveRevoked, SaveEvery: c.SaveInterval}
}

// peers checks the certificates of a server's clients by OCSP, as far as its settings say so.
type peers struct {
	*revocation.Checker
	witness *witness
}

func newPeers(log engine.Log) *peers {
	w := &witness{log: log}
	return &peers{revocation.New(w), w}
}

// follow has the cache be as the settings say.
func (p *peers) follow(s *settings) {
	p.witness.debug.Store(s.engine.Debug)
	switch {
	case !s.tls.checksPeers():
		p.UseCache(nil)
	case s.tls.noPeerCache:
		p.UseCache(nil)
		p.witness.Infof("OCSP peer cache online, type [none]")
	default:
		p.UseCache(&s.tls.peerCache)
	}
}

// stats are for monitoring.
func (p *peers) stats() *monitor.OCSPCache {
	s, ok := p.Stats()
	if !ok {
		return nil
	}
	return &monitor.OCSPCache{
		Type: "local", Hits: s.Hits, Misses: s.Misses, Responses: s.Responses, Revoked: s.Revoked, Good: s.Good, Unknown: s.Unknown,
	}
}

// witness tells the log and the system account.
type witness struct {
	log   engine.Log
	debug atomic.Bool
	host  *host.Server // set before the first handshake
}

func (w *witness) say(level engine.Level, format string, args []any) {
	if level != engine.LevelDebug || w.debug.Load() {
		w.log.Log(level, "", fmt.Sprintf(format, args...))
	}
}

// Debugf implements revocation.Witness.
func (w *witness) Debugf(format string, args ...any) { w.say(engine.LevelDebug, format, args) }

// Infof implements revocation.Witness.
func (w *witness) Infof(format string, args ...any) { w.say(engine.LevelInfo, format, args) }

// Warnf implements revocation.Witness.
func (w *witness) Warnf(format string, args ...any) { w.say(engine.LevelWarn, format, args) }

// Errorf implements revocation.Witness.
func (w *witness) Errorf(format string, args ...any) { w.say(engine.LevelError, format, args) }

// Invalid implements revocation.Witness.
func (w *witness) Invalid(link, peer *x509.Certificate, reason string) {
	w.host.TellInvalid(link, peer, reason)
}

// Rejected implements revocation.Witness.
func (w *witness) Rejected(peer *x509.Certificate, reason string) { w.host.TellRejected(peer, reason) }
