package server

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/tlsconf"
)

// check refuses what can't work: all of it at once, each at its place where a file says so. What the file's own mistakes have
// as a consequence is not among it.
func (s *settings) check() error {
	f := s.file
	if f == nil {
		f = &configFile{Config: &config.Config{}}
	}
	wrong := func(at conf.Pos, err error) {
		if err != nil {
			f.rep.Errorf(at, "%v", err)
		}
	}
	mistaken := len(f.rep.Errors) > 0
	o := &s.engine
	if o.ServerName != f.ServerName && strings.ContainsFunc(o.ServerName, unicode.IsSpace) {
		wrong(conf.Pos{}, fmt.Errorf("server_name %q: a name has no spaces", o.ServerName))
	}
	s.checkCredentials(f.rep.Errorf)
	if o.Pass != "" && o.User == "" {
		wrong(f.at("authorization", o.Pass == s.said().Pass), errors.New("a password is required of no user: give --user too"))
	}
	if o.ClientAdvertise != f.ClientAdvertise {
		wrong(conf.Pos{}, advertisable(o.ClientAdvertise))
	}
	wrong(f.at("remote_syslog", s.log.RemoteSyslog == f.Log.RemoteSyslog), s.log.Check())
	if s.testOnly { // else it is opened
		wrong(f.at("log_file", s.log.File == f.Log.File), s.log.CheckFile())
	}
	for _, p := range s.tls.check(&o.TLS) {
		if !mistaken || p.File || f.TLS == nil {
			wrong(s.tls.place(f, p), p.Err)
		}
	}
	var problems []*tlsconf.Fault
	s.fetch, problems = s.fetchTLS()
	for _, p := range problems {
		wrong(f.at("resolver_tls."+p.Key, true), p.Err)
	}
	s.monitorSettings.check(f, o)
	return f.err(s)
}

// check refuses ports of monitoring that can't be served.
func (s *monitorSettings) check(f *configFile, o *engine.Options) {
	switch {
	case s.httpPort != 0 && s.httpsPort != 0:
		if f.MonitorPort == 0 || f.MonitorsPort == 0 { // else the file has been checked
			f.rep.Errorf(conf.Pos{}, "can't specify both HTTP (%d) and HTTPs (%d) ports", s.httpPort, s.httpsPort)
		}
	case s.httpsPort != 0 && !o.TLS.On:
		at := f.at(theOne(f.Config, "https", "https_port"), s.httpsPort == f.MonitorsPort)
		f.rep.Errorf(at, "HTTPS monitoring needs a certificate: there is no tls block, and no --tls")
	}
}

// place is where the settings say what is wrong with them.
func (s *tlsSettings) place(f *configFile, p *tlsconf.Fault) conf.Pos {
	switch c := f.TLS; {
	case c == nil:
	case p.Key == "certs" && p.Pair < len(c.Certs):
		return c.Certs[p.Pair].Pos
	case p.Key == "cert_file" && s.settings.CertFile != c.CertFile, p.Key == "key_file" && s.settings.KeyFile != c.KeyFile,
		p.Key == "ca_file" && s.settings.CAFile != c.CAFile: // a flag says so
	default:
		if at, there := f.Where("tls." + p.Key); there {
			return at
		}
		return c.Pos
	}
	return conf.Pos{}
}
