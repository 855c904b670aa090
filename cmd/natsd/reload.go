package main

import (
	"strings"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

// reload reads the configuration again, as at start: the file, then the flags over it. A bad one changes nothing.
func reload(srv *host.Server, args []string, log *host.Logger) {
	s, err := parseFlags(args)
	if err != nil {
		log.Log(engine.LevelError, "", "Failed to reload server configuration: "+err.Error())
		return
	}
	if s.configFile == "" {
		log.Log(engine.LevelError, "", "Failed to reload server configuration: there is no configuration file (-c)")
		return
	}
	srv.Reload(s.engine, func(needRestart []string) {
		if len(needRestart) > 0 {
			log.Log(engine.LevelWarn, "", "Not changed without a restart: "+strings.Join(needRestart, ", "))
		}
		log.SetLevels(s.log.Debug, s.log.Trace)
		log.Log(engine.LevelInfo, "", "Reloaded server configuration")
	})
}
