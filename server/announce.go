package server

import (
	"fmt"
	"runtime"
	"time"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
)

// What the log says at start, in the order and the words that those who read nats-server's logs know.

func (v *Server) say(level engine.Level, text string) { v.log.Log(level, "", text) }

func (v *Server) sayVersion() {
	v.say(engine.LevelInfo, "Starting natsd")
	v.say(engine.LevelInfo, "  Version:  "+version+" (nats-server "+engine.NatsVersion+")")
	if c := Commit(); c != "" {
		v.say(engine.LevelInfo, "  Git:      ["+c+"]")
	}
	if v.started.engine.Debug {
		v.say(engine.LevelDebug, "  Go build: "+runtime.Version())
	}
}

func (v *Server) sayIdentity() {
	name, id := v.host.Identity()
	v.say(engine.LevelInfo, "  Name:     "+name)
	v.say(engine.LevelInfo, "  ID:       "+id)
	if plainPasswords(&v.started.engine) {
		v.say(engine.LevelWarn, "Plaintext passwords detected, use nkeys or bcrypt")
	}
}

func (v *Server) sayConfiguration() {
	s := v.started
	if s.configFile != "" {
		v.say(engine.LevelInfo, "Using configuration file: "+s.configFile+" ("+s.digest+")")
	}
	for _, w := range s.warnings {
		v.say(engine.LevelWarn, w)
	}
	o := s.engine.Operators
	if o == nil {
		return
	}
	served := s.engine.SystemAccount.Text != ""
	for _, x := range o.Operators {
		if op, err := claims.DecodeOperator(x.Text); err == nil { // else it would not have been taken
			v.sayOperator(op)
			served = served || op.SystemAccount != ""
		}
	}
	if !served {
		v.say(engine.LevelWarn, "Trusted Operators should utilize a System Account")
	}
}

func (v *Server) sayAccountDir() {
	o := v.started.engine.Operators
	if v.started.accountDir == "" || o == nil {
		return
	}
	kind := map[config.ResolverKind]string{config.FullResolver: "all", config.CacheResolver: "some"}[o.Resolver.Kind]
	v.say(engine.LevelInfo, "Managing "+kind+" jwt in exclusive directory "+v.started.accountDir)
}

func (v *Server) sayOperator(op *claims.Operator) {
	moment := func(s int64) string { return time.Unix(s, 0).UTC().String() }
	expires := "Never"
	if op.Expires != 0 {
		expires = moment(op.Expires)
	}
	v.say(engine.LevelInfo, "Trusted Operators")
	v.say(engine.LevelInfo, fmt.Sprintf("  System  : %q", op.SystemAccount))
	v.say(engine.LevelInfo, fmt.Sprintf("  Operator: %q", op.Label))
	v.say(engine.LevelInfo, "  Issued  : "+moment(op.IssuedAt))
	v.say(engine.LevelInfo, "  Expires : "+expires)
}
