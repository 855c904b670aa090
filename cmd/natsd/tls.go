package main

import (
	"errors"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/tlsconf"
)

// tlsSettings are what flags and configuration file ask for of client connections' TLS.
type tlsSettings struct {
	on       bool
	settings tlsconf.Settings
	config   *tlsconf.Config // made of settings by check; nil when off
	live     *tlsconf.Live   // of the server that was started
}

// flags declares the flags. They are laid over what the file says.
func (s *tlsSettings) flags(str func(p *string, names ...string), on func(p *bool, names ...string)) {
	on(&s.on, "tls")
	str(&s.settings.CertFile, "tlscert")
	str(&s.settings.KeyFile, "tlskey")
	str(&s.settings.CAFile, "tlscacert")
	on(&s.settings.Verify, "tlsverify")
}

// take reads a tls block of the configuration file.
func (s *tlsSettings) take(c *config.TLS, o *engine.TLSOptions) {
	s.on = true
	s.settings = tlsconf.Settings{
		CertFile: c.CertFile, KeyFile: c.KeyFile, CAFile: c.CAFile,
		Verify: c.Verify, VerifyAndMap: c.VerifyAndMap, CheckKnownURLs: c.CheckKnownURLs,
		CipherSuites: c.CipherSuites, AllowInsecureCipherSuites: c.AllowInsecure, CurvePreferences: c.CurvePreferences,
		MinVersion: c.MinVersion, PinnedCerts: c.PinnedCerts,
		CertStore: c.CertStore, CertMatch: c.CertMatch, CertMatchBy: c.CertMatchBy, CACertsMatch: c.CACertsMatch,
	}
	for _, p := range c.Certs {
		s.settings.Certs = append(s.settings.Certs, tlsconf.Pair{CertFile: p.CertFile, KeyFile: p.KeyFile})
	}
	*o = engine.TLSOptions{AllowPlain: c.AllowNonTLS, Timeout: c.Timeout, ConnectionRate: c.ConnectionRate}
	switch c.HandshakeFirst {
	case config.FirstNever:
	case config.FirstAlways:
		o.First = true
	case config.FirstAuto:
		o.First, o.FirstWait = true, c.FirstFallback
	}
}

// check reads the files and says what is wrong with them.
func (s *tlsSettings) check(o *engine.TLSOptions) (err error) {
	o.On = s.on || s.settings.Verify
	if !o.On {
		if s.settings.CertFile != "" || s.settings.KeyFile != "" || s.settings.CAFile != "" {
			return errors.New("a certificate is given and TLS is not on: give --tls or --tlsverify too")
		}
		return nil
	}
	if s.config, err = tlsconf.Server(s.settings); err != nil {
		return err
	}
	o.Verify = s.settings.Verify || s.settings.VerifyAndMap
	o.CertNotAfter = engine.WallTime(s.config.NotAfter().UnixNano())
	return nil
}

// serve returns what handshakes use, from now on and after reloads.
func (s *tlsSettings) serve() *tlsconf.Live {
	s.live = tlsconf.NewLive(s.config)
	return s.live
}

// follow has new handshakes use what next says.
func (s *tlsSettings) follow(next *tlsSettings) { s.live.Replace(next.config) }
