package main

import (
	"strings"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

// reload reads the configuration again, as at start: the file, then the flags over it. A bad one changes nothing. started is
// what the server was started with.
func reload(srv *host.Server, started *settings, args []string, log *host.Logger) {
	s, err := parseFlags(args)
	if err != nil {
		log.Log(engine.LevelError, "", "Failed to reload server configuration: "+err.Error())
		return
	}
	if s.configFile == "" {
		log.Log(engine.LevelError, "", "Failed to reload server configuration: there is no configuration file (-c)")
		return
	}
	if err := log.Change(s.log); err != nil {
		log.Log(engine.LevelError, "", "Failed to reload server configuration: "+err.Error())
		return
	}
	if err := started.tls.follow(&s.tls); err != nil {
		_ = log.Change(started.log) // which worked before
		log.Log(engine.LevelError, "", "Failed to reload server configuration: "+err.Error())
		return
	}
	started.log = s.log
	srv.Reload(s.engine, func(needRestart []string) {
		needRestart = append(needRestart, started.needRestart(s)...)
		if len(needRestart) > 0 {
			log.Log(engine.LevelWarn, "", "Not changed without a restart: "+strings.Join(needRestart, ", "))
		}
		log.Log(engine.LevelInfo, "", "Reloaded server configuration ("+s.digest+")")
	})
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
	} {
		if c.changed {
			names = append(names, c.name)
		}
	}
	return names
}
