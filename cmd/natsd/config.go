package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/natsd/natsd/conf"
)

// loadConfig reads a configuration file over s. It knows the keys of what natsd has so far; any other is an error, so that
// nothing is accepted and ignored.
func loadConfig(file string, s *settings) error {
	r := conf.Reader{
		Read: os.ReadFile,
		Join: func(from, name string) string {
			if filepath.IsAbs(name) {
				return name
			}
			return filepath.Join(filepath.Dir(from), name)
		},
		Env: os.LookupEnv,
	}
	m, err := r.Parse(file)
	if err != nil {
		return fmt.Errorf("the configuration can't be read: %w", err)
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		set := keys[e.Key]
		if set == nil {
			if e.Used {
				continue // it is there to be named as a variable
			}
			return conf.Errorf(e.Pos, "unknown key %q, or one whose feature natsd does not have yet", e.Key)
		}
		if err := set(s, &e.Value); err != nil {
			return err
		}
	}
	return nil
}

type setter = func(*settings, *conf.Value) error

func text(to func(*settings) *string) setter {
	return func(s *settings, v *conf.Value) (err error) {
		*to(s), err = v.AsString()
		return err
	}
}

func flagOf(to func(*settings) *bool) setter {
	return func(s *settings, v *conf.Value) (err error) {
		*to(s), err = v.AsBool()
		return err
	}
}

func number(to func(*settings) *int, least, most int64) setter {
	return func(s *settings, v *conf.Value) error {
		n, err := v.AsInt()
		if err != nil {
			return err
		}
		if n < least || n > most {
			return conf.Errorf(v.Pos, "%d is out of range: from %d to %d", n, least, most)
		}
		*to(s) = int(n)
		return nil
	}
}

const maxInt = 1 << 30

// keys are the top-level keys and what they set.
var keys map[string]setter

func init() {
	port := func(s *settings) *int { return &s.engine.Port }
	keys = map[string]setter{
		"port": number(port, -1, 65535),
		"host": text(func(s *settings) *string { return &s.engine.Host }),
		"net":  text(func(s *settings) *string { return &s.engine.Host }),
		"listen": func(s *settings, v *conf.Value) error {
			return listen(v, &s.engine.Host, &s.engine.Port)
		},
		"client_advertise":  text(func(s *settings) *string { return &s.engine.ClientAdvertise }),
		"server_name":       text(func(s *settings) *string { return &s.engine.ServerName }),
		"max_payload":       number(func(s *settings) *int { return &s.engine.MaxPayload }, 1, maxInt),
		"max_control_line":  number(func(s *settings) *int { return &s.engine.MaxControlLine }, 1, maxInt),
		"max_pending":       number(func(s *settings) *int { return &s.engine.MaxPending }, 1, maxInt),
		"max_connections":   number(func(s *settings) *int { return &s.engine.MaxConnections }, -1, maxInt),
		"max_conn":          number(func(s *settings) *int { return &s.engine.MaxConnections }, -1, maxInt),
		"max_subscriptions": number(func(s *settings) *int { return &s.engine.MaxSubscriptions }, -1, maxInt),
		"max_subs":          number(func(s *settings) *int { return &s.engine.MaxSubscriptions }, -1, maxInt),
		"max_sub_tokens":    number(func(s *settings) *int { return &s.engine.MaxSubTokens }, 0, 255),
		"ping_max":          number(func(s *settings) *int { return &s.engine.PingMax }, 0, maxInt),
		"ping_interval": func(s *settings, v *conf.Value) (err error) {
			s.engine.PingInterval, err = v.AsDuration()
			return err
		},
		"write_deadline": func(s *settings, v *conf.Value) (err error) {
			s.engine.WriteDeadline, err = v.AsDuration()
			return err
		},
		"lame_duck_duration": func(s *settings, v *conf.Value) (err error) {
			s.engine.LameDuckDuration, err = v.AsDuration()
			return err
		},
		"lame_duck_grace_period": func(s *settings, v *conf.Value) (err error) {
			s.engine.LameDuckGrace, err = v.AsDuration()
			return err
		},
		"no_header_support": flagOf(func(s *settings) *bool { return &s.engine.NoHeaders }),
		"debug":             flagOf(func(s *settings) *bool { return &s.engine.Debug }),
		"trace":             flagOf(func(s *settings) *bool { return &s.engine.Trace }),
		"logtime":           func(s *settings, v *conf.Value) error { on, err := v.AsBool(); s.log.NoTime = !on; return err },
		"logtime_utc":       flagOf(func(s *settings) *bool { return &s.log.UTC }),
		"log_file":          text(func(s *settings) *string { return &s.log.File }),
		"logfile":           text(func(s *settings) *string { return &s.log.File }),
		"pid_file":          text(func(s *settings) *string { return &s.pidFile }),
		"pidfile":           text(func(s *settings) *string { return &s.pidFile }),
		"ports_file_dir":    text(func(s *settings) *string { return &s.portsDir }),
		"http_port":         number(func(s *settings) *int { return &s.httpPort }, -1, 65535),
		"monitor_port":      number(func(s *settings) *int { return &s.httpPort }, -1, 65535),
		"http":              func(s *settings, v *conf.Value) error { return listen(v, &s.httpHost, &s.httpPort) },
		"authorization":     authorization,
	}
}

// listen reads "host:port", "port" or a number.
func listen(v *conf.Value, host *string, port *int) error {
	if v.Kind == conf.Integer {
		*port = int(v.Int)
		return checkPort(v, v.Int)
	}
	text, err := v.AsString()
	if err != nil {
		return err
	}
	h, p, err := net.SplitHostPort(text)
	if err != nil {
		return conf.Errorf(v.Pos, "expected host:port, found %q", text)
	}
	n, err := strconv.ParseInt(p, 10, 64)
	if err != nil {
		return conf.Errorf(v.Pos, "expected host:port, found %q: the port is not a number", text)
	}
	*host, *port = h, int(n)
	return checkPort(v, n)
}

func checkPort(v *conf.Value, n int64) error {
	if n < -1 || n > 65535 {
		return conf.Errorf(v.Pos, "%d is no port: from 0 to 65535, or -1 for any free one", n)
	}
	return nil
}

func authorization(s *settings, v *conf.Value) error {
	m, err := v.AsBlock()
	if err != nil {
		return err
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		switch e.Key {
		case "user", "username":
			s.engine.User, err = e.Value.AsString()
		case "pass", "password":
			s.engine.Pass, err = e.Value.AsString()
		case "token":
			s.engine.Token, err = e.Value.AsString()
		case "timeout":
			s.engine.AuthTimeout, err = e.Value.AsDuration()
		default:
			err = conf.Errorf(e.Pos, "unknown key %q in authorization, or one whose feature natsd does not have yet", e.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
