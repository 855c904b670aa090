package server

import (
	"context"
	"flag"
	"strconv"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
	"github.com/natsd/natsd/revocation"
	"github.com/natsd/natsd/tlsconf"
)

// tlsSettings are what flags and configuration file ask for of client connections' TLS.
type tlsSettings struct {
	on       bool // it is asked for; so it is where a certificate is given
	off      bool // it is not to be, whatever else is said: --tls=false
	settings tlsconf.Settings
	config   *tlsconf.Config // made of settings by check; nil when off
	live     *tlsconf.Live   // of the server that was started

	peerCache   revocation.CacheOptions // of OCSP answers about clients' certificates
	noPeerCache bool                    // there is none
}

// flags declares the flags. They are laid over what the file says.
func (s *tlsSettings) flags(fs *flag.FlagSet, str func(p *string, names ...string), on func(p *bool, names ...string)) {
	fs.BoolFunc("tls", "", func(v string) (err error) {
		s.on, err = strconv.ParseBool(v)
		s.off = !s.on
		return err
	})
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
	if c.OCSPPeer != nil {
		s.takeOCSPPeer(c.OCSPPeer)
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

// takeOCSP reads an ocsp block.
func (s *tlsSettings) takeOCSP(c *config.OCSP) {
	modes := map[string]tlsconf.OCSPMode{"always": tlsconf.OCSPAlways, "must": tlsconf.OCSPMust, "never": tlsconf.OCSPNever}
	s.settings.OCSP = tlsconf.OCSP{Mode: modes[c.Mode], URLs: c.OverrideURLs} // any other mode is auto
}

// check reads the files and says what is wrong with them.
func (s *tlsSettings) check(o *engine.TLSOptions) []*tlsconf.Fault {
	if s.off {
		*o = engine.TLSOptions{}
		return nil
	}
	o.On = s.on || s.settings.Verify || s.settings.CertFile != "" || s.settings.KeyFile != "" || s.settings.CAFile != ""
	if !o.On {
		return nil
	}
	var err error
	if s.config, err = tlsconf.Server(s.settings); err != nil {
		return tlsconf.Faults(err)
	}
	o.Verify, o.Map = s.settings.Verify || s.settings.VerifyAndMap, s.settings.VerifyAndMap
	o.OCSPPeer, o.Pinned = s.checksPeers(), s.config.Pinned()
	o.CertNotAfter = engine.WallTime(s.config.NotAfter().UnixNano())
	return nil
}

// checksPeers reports whether clients' certificates are checked by OCSP.
func (s *tlsSettings) checksPeers() bool { return s.config != nil && s.settings.Peers != nil }

// serve makes ready what handshakes use, from now on and after reloads.
func (s *tlsSettings) serve(p *peers) error {
	if s.config != nil {
		if err := s.config.Staple(context.Background()); err != nil {
			return err
		}
	}
	s.live = tlsconf.NewLive(s.config)
	s.live.CheckPeers(p.Checker)
	return nil
}

// keepStapled renews what certificates are stapled with until the returned function is called.
func (s *tlsSettings) keepStapled(srv *host.Server, log engine.Log) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	say := func(line string) { log.Log(engine.LevelInfo, "", line) }
	go s.live.KeepStapled(ctx, say, func(err error, fatal bool) {
		log.Log(engine.LevelError, "", err.Error())
		if fatal {
			log.Log(engine.LevelError, "", "natsd stops because its settings demand a certificate with a good OCSP status")
			srv.Stop()
		}
	})
	return cancel
}

// follow has new handshakes use what next says. On an error all stays as it is.
func (s *tlsSettings) follow(next *tlsSettings) error {
	if next.config != nil {
		if err := s.live.Staple(context.Background(), next.config); err != nil {
			return err
		}
	}
	s.live.Replace(next.config)
	return nil
}
