package server

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/engine/assert"
	"github.com/natsd/natsd/host"
)

// Reload reads the configuration again, as at start: the file, then the flags over it. It returns when the new one is in force. With an
// error nothing has changed, and the log has it too: there is no file, or what is wrong with it, or the new log, files or certificates
// can't be opened, or it changes what can't change without a restart, whose names are in the error then, or the server has ended.
func (v *Server) Reload() error {
	<-v.reloading
	defer func() { v.reloading <- struct{}{} }()
	err := v.reload()
	if err != nil {
		v.logRefusal(err)
	}
	return err
}

// logRefusal logs why a reload was refused: each problem has a line that begins as nats-server's, so that who looks for them finds all.
func (v *Server) logRefusal(err error) {
	var u *unusable
	if errors.As(err, &u) {
		err = u.problems
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		v.log.Log(engine.LevelError, "", "Failed to reload server configuration: "+line)
	}
	if u == nil {
		return
	}
	for _, w := range u.warnings {
		v.log.Log(engine.LevelWarn, "", w)
	}
}

var errEnded = errors.New("the server has ended")

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
	if v.tune != nil { // before anything is compared, or said
		o := host.Options{Engine: s.engine}
		v.tune(&o)
		s.engine = o.Engine
	}
	<-v.host.Ready() // before, the files of the start are not there
	select {
	case <-v.host.Done():
		return errEnded
	default:
	}
	names := append(v.host.NeedRestart(s.engine), v.started.needRestart(s)...)
	if len(names) > 0 {
		return fmt.Errorf("config reload not supported for %s: this needs a restart, and nothing has changed", strings.Join(names, ", "))
	}
	written, err := v.takeOver(s)
	if err != nil {
		return err
	}
	told := make(chan []string, 1)
	v.host.Loaded(s.digest, time.Now())
	v.host.Reload(s.engine, func(needRestart []string) { // in the turn in which the engine takes over the URL
		v.host.FetchWith(s.fetch)
		told <- needRestart
	})
	select {
	case names := <-told:
		assert.Thatf(len(names) == 0, "a reload that needs no restart needs one: %v", names)
		v.reloaded(s)
		return nil
	case <-v.host.Done():
		written.remove()
		return errEnded
	}
}

// takeOver does what can fail: it has the log follow the settings, writes the files that were not there, which it returns, and has
// new handshakes use their certificates. On an error all is as before.
func (v *Server) takeOver(s *settings) (written files, err error) {
	if err := v.changeLog(&s.log); err != nil {
		return files{}, err
	}
	written = filesOf(s).without(v.files)
	if err = written.write(v.portsText(v.host.Port())); err == nil {
		if err = v.started.tls.follow(&s.tls); err == nil {
			return written, nil
		}
		written.remove()
	}
	_ = v.changeLog(&v.current.log) // which worked before
	return files{}, err
}

// reloaded does what can't fail, when the engine has taken over the settings, and logs what is new.
func (v *Server) reloaded(s *settings) {
	v.files.without(filesOf(s)).remove()
	v.files = filesOf(s)
	if s.profRate != v.current.profRate {
		v.profileBlocking(s.profRate)
	}
	v.peers.follow(s)
	for _, c := range changes(v.current, s) {
		v.say(engine.LevelInfo, "Reloaded: "+c)
	}
	v.say(engine.LevelInfo, "Reloaded server configuration ("+s.digest+")")
	v.current = s
}

// changeLog has the log follow the settings, where it is natsd's own.
func (v *Server) changeLog(o *host.LogOptions) error {
	if v.logger == nil {
		return nil
	}
	return v.logger.Change(*o)
}

// needRestart names, in the words of the configuration file, the settings outside of the engine in which next differs from
// what the server was started with.
func (s *settings) needRestart(next *settings) (names []string) {
	for _, c := range []struct {
		name    string
		changed bool
	}{
		{"http", next.httpHost != s.httpHost || next.httpPort != s.httpPort},
		{"https", next.httpsHost != s.httpsHost || next.httpsPort != s.httpsPort},
		{"http_base_path", next.basePath != s.basePath},
		{"prof_port", next.profPort != s.profPort},
	} {
		if c.changed {
			names = append(names, c.name)
		}
	}
	return names
}
