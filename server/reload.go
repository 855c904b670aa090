package server

import (
	"errors"
	"strings"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

// Reload reads the configuration again, as at start: the file, then the flags over it. A bad one changes nothing. It returns
// when the new one is in force. What can't change without a restart is named in the log and stays.
func (v *Server) Reload() error {
	<-v.reloading
	defer func() { v.reloading <- struct{}{} }()
	err := v.reload()
	if err != nil {
		v.log.Log(engine.LevelError, "", "Failed to reload server configuration: "+err.Error())
	}
	return err
}

func (v *Server) reload() error {
	s, err := parseFlags(v.args)
	if err != nil {
		return err
	}
	if s.configFile == "" {
		return errors.New("there is no configuration file (-c)")
	}
	if s.empty { // as a file is that is being written: it would open the server to everybody
		return errors.New(s.configFile + ": config has no values or is empty")
	}
	if err := v.changeLog(&s.log); err != nil {
		return err
	}
	if err := v.started.tls.follow(&s.tls); err != nil {
		_ = v.changeLog(&v.started.log) // which worked before
		return err
	}
	v.started.log = s.log
	changes := changes(v.current, s)
	v.peers.follow(s)
	o := host.Options{Engine: s.engine}
	if v.tune != nil {
		v.tune(&o)
	}
	v.host.Loaded(s.digest, time.Now())
	done := make(chan struct{})
	v.host.Reload(o.Engine, func(needRestart []string) {
		needRestart = append(needRestart, v.started.needRestart(s)...)
		if len(needRestart) > 0 {
			v.log.Log(engine.LevelWarn, "", "Not changed without a restart: "+strings.Join(needRestart, ", "))
		}
		for _, c := range changes {
			v.log.Log(engine.LevelInfo, "", "Reloaded: "+c)
		}
		v.log.Log(engine.LevelInfo, "", "Reloaded server configuration ("+s.digest+")")
		close(done)
	})
	select {
	case <-done:
		v.current = s
		return nil
	case <-v.host.Done():
		return errors.New("the server has ended")
	}
}

// changeLog has the log follow the settings, where it is natsd's own.
func (v *Server) changeLog(o *host.LogOptions) error {
	if v.logger == nil {
		return nil
	}
	return v.logger.Change(*o)
}

// needRestart names, in the words of the configuration file, the settings outside of the engine in which next differs from
// what the server was started with. They stay as they are.
func (s *settings) needRestart(next *settings) (names []string) {
	for _, c := range []struct {
		name    string
		changed bool
	}{
		{"pid_file", next.pidFile != s.pidFile},
		{"ports_file_dir", next.portsDir != s.portsDir},
		{"http", next.httpHost != s.httpHost || next.httpPort != s.httpPort},
		{"https", next.httpsHost != s.httpsHost || next.httpsPort != s.httpsPort},
		{"http_base_path", next.basePath != s.basePath},
		{"prof_port", next.profPort != s.profPort},
		{"prof_block_rate", next.profRate != s.profRate},
	} {
		if c.changed {
			names = append(names, c.name)
		}
	}
	return names
}
