package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
)

// unusable is the error about a configuration, and about whatever else may be meant otherwise.
type unusable struct {
	problems error // a line for each
	warnings []string
}

func (u *unusable) Error() string {
	text := "the configuration can't be used:\n" + u.problems.Error()
	for _, w := range u.warnings {
		text += "\nwarning: " + w
	}
	return text
}

func (u *unusable) Unwrap() error { return u.problems }

// readConfig reads a configuration file over s, and notes everything that is wrong with it.
func (s *settings) readConfig(file string) {
	r := &conf.Reader{
		Read: os.ReadFile,
		Join: func(from, name string) string { return filepath.Join(filepath.Dir(from), name) },
		Env:  os.LookupEnv,
	}
	s.file = &configFile{}
	rep := &s.file.rep
	c := config.Load(r, file, rep)
	s.file.Config = c
	rep.Errors = append(rep.Errors, s.takeConfig(c)...)
	s.digest = c.Digest
	if len(rep.Errors) == 0 {
		system := s.engine.SystemAccount
		if s.engine.Operators != nil {
			system = config.Located{} // a JWT describes it
		}
		problems := append(engine.CheckAccounts(s.engine.Accounts, system), engine.CheckUsers(&s.engine)...)
		for _, err := range append(problems, engine.CheckOperators(&s.engine)...) {
			wrong := &conf.Error{What: err.Error()}
			errors.As(err, &wrong)
			rep.Errors = append(rep.Errors, wrong)
		}
		if s.engine.Operators != nil {
			checkAccounts(s.engine.Operators, rep, time.Now())
		}
	}
	unfit(c, rep)
	for _, l := range missing(c) {
		rep.Errorf(l.at, "natsd does not have %s yet", l.feature)
	}
	s.warnings, s.doubts, s.empty = nil, false, c.Empty
	for _, w := range rep.Warnings {
		s.warnings = append(s.warnings, w.Error())
		s.doubts = s.doubts || w.Doubt
	}
}

// configFile is what a configuration file says, and what is wrong with that and with what it names.
type configFile struct {
	*config.Config
	rep conf.Report
}

// at is where a key stands; no place where what counts is not what the file says.
func (f *configFile) at(key string, counts bool) conf.Pos {
	if !counts {
		return conf.Pos{}
	}
	at, _ := f.Where(key)
	return at
}

// err has a line for everything that is wrong; nil: nothing is.
func (f *configFile) err(s *settings) error {
	err := f.rep.Err()
	if err == nil || s.configFile == "" {
		return err
	}
	return &unusable{err, s.warnings}
}

// takeConfig maps what the file says to what there is, and returns what is wrong with files of JWTs.
func (s *settings) takeConfig(c *config.Config) (unread []*conf.Error) {
	s.engine.FromConfig(c)
	unread = s.takeOperators(c)
	if c.TLS != nil {
		s.tls.take(c.TLS, &s.engine.TLS)
	}
	if c.OCSP != nil {
		s.tls.takeOCSP(c.OCSP)
	}
	if c.OCSPCache != nil {
		s.tls.takeOCSPCache(c.OCSPCache)
	}
	l := &c.Log
	s.log.File, s.log.SizeLimit, s.log.MaxFiles, s.log.Syslog, s.log.RemoteSyslog = l.File, l.SizeLimit, l.MaxFiles, l.Syslog, l.RemoteSyslog
	s.log.NoTime, s.log.UTC = l.NoTime, l.UTC
	s.pidFile, s.portsDir = c.PIDFile, c.PortsDir
	s.monitorSettings.take(c)
	return unread
}

// lack is a feature that a configuration asks for and that is not there.
type lack struct {
	at      conf.Pos
	feature string
}

// notYet are keys whose features natsd does not have. They are read and checked like all others.
var notYet = []struct{ key, feature string }{
	{"cluster", "clustering"}, {"gateway", "gateways"}, {"leafnodes", "leaf nodes"}, {"websocket", "WebSocket"}, {"mqtt", "MQTT"},
	{"jetstream", "JetStream"}, {"store_dir", "JetStream"}, {"default_js_domain", "JetStream"},
	{"no_system_account", "servers without a system account"},
	{"write_timeout", "a policy for write timeouts"},
	{"feature_flags", "feature flags"},
	{"connect_error_reports", "clustering"}, {"reconnect_error_reports", "clustering"},
}

// missing lists what c asks for and natsd does not have.
func missing(c *config.Config) (all []lack) {
	for _, n := range notYet {
		if at, there := c.Where(n.key); there && !(n.key == "jetstream" && !c.JetStream.Enabled) {
			all = append(all, lack{at, n.feature})
		}
	}
	for i := range c.Accounts {
		a := &c.Accounts[i]
		if a.JetStream != nil {
			all = append(all, lack{a.JetStream.Pos, "JetStream"})
		}
	}
	return all
}

// valid is what -t prints of settings that can be used.
func (s *settings) valid() string {
	if s.configFile == "" {
		return "configuration is valid"
	}
	return fmt.Sprintf("configuration file %s is valid (%s)", s.configFile, s.digest)
}

// doubtful is the error of -t for a file that a server starts with, but with warnings that should not be overlooked.
func (s *settings) doubtful() error {
	if !s.doubts {
		return nil
	}
	return errors.New("the configuration has doubtful values:\n" + strings.Join(s.warnings, "\n"))
}
