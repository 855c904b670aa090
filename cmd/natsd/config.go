package main

import (
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

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
	var rep conf.Report
	m := r.Parse(file, &rep)
	if err := rep.Err(); err != nil {
		return fmt.Errorf("the configuration can't be read: %w", err)
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		set := keys[strings.ToLower(e.Key)] // in any letter case
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

// setter reads a value into settings.
type setter = func(*settings, *conf.Value) error

func text(to func(*settings) *string) setter {
	return func(s *settings, v *conf.Value) (err error) {
		*to(s), err = asString(v)
		return err
	}
}

func truth(to func(*settings) *bool) setter {
	return func(s *settings, v *conf.Value) (err error) {
		*to(s), err = asBool(v)
		return err
	}
}

func duration(to func(*settings) *time.Duration) setter {
	return func(s *settings, v *conf.Value) (err error) {
		*to(s), err = asDuration(v)
		return err
	}
}

func number(to func(*settings) *int, least, most int64) setter {
	return func(s *settings, v *conf.Value) error {
		n, err := asInt(v)
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

// sizeMax bounds sizes and counts, so that arithmetic on them can't overflow.
const sizeMax = 1 << 30

// keys are the top-level keys, in lower case, and what they set.
var keys = map[string]setter{
	"port":                   number(func(s *settings) *int { return &s.engine.Port }, -1, portMax),
	"host":                   text(func(s *settings) *string { return &s.engine.Host }),
	"net":                    text(func(s *settings) *string { return &s.engine.Host }),
	"listen":                 func(s *settings, v *conf.Value) error { return listen(v, &s.engine.Host, &s.engine.Port) },
	"client_advertise":       text(func(s *settings) *string { return &s.engine.ClientAdvertise }),
	"server_name":            text(func(s *settings) *string { return &s.engine.ServerName }),
	"max_payload":            number(func(s *settings) *int { return &s.engine.MaxPayload }, 1, sizeMax),
	"max_control_line":       number(func(s *settings) *int { return &s.engine.MaxControlLine }, 1, sizeMax),
	"max_pending":            number(func(s *settings) *int { return &s.engine.MaxPending }, 1, sizeMax),
	"max_connections":        number(func(s *settings) *int { return &s.engine.MaxConnections }, -1, sizeMax),
	"max_conn":               number(func(s *settings) *int { return &s.engine.MaxConnections }, -1, sizeMax),
	"max_subscriptions":      number(func(s *settings) *int { return &s.engine.MaxSubscriptions }, -1, sizeMax),
	"max_subs":               number(func(s *settings) *int { return &s.engine.MaxSubscriptions }, -1, sizeMax),
	"max_sub_tokens":         number(func(s *settings) *int { return &s.engine.MaxSubTokens }, 0, 255),
	"ping_max":               number(func(s *settings) *int { return &s.engine.PingMax }, 0, sizeMax),
	"ping_interval":          duration(func(s *settings) *time.Duration { return &s.engine.PingInterval }),
	"write_deadline":         duration(func(s *settings) *time.Duration { return &s.engine.WriteDeadline }),
	"lame_duck_duration":     duration(func(s *settings) *time.Duration { return &s.engine.LameDuckDuration }),
	"lame_duck_grace_period": duration(func(s *settings) *time.Duration { return &s.engine.LameDuckGrace }),
	"no_header_support":      truth(func(s *settings) *bool { return &s.engine.NoHeaders }),
	"debug":                  truth(func(s *settings) *bool { return &s.engine.Debug }),
	"trace":                  truth(func(s *settings) *bool { return &s.engine.Trace }),
	"logtime":                func(s *settings, v *conf.Value) error { on, err := asBool(v); s.log.NoTime = !on; return err },
	"logtime_utc":            truth(func(s *settings) *bool { return &s.log.UTC }),
	"log_file":               text(func(s *settings) *string { return &s.log.File }),
	"logfile":                text(func(s *settings) *string { return &s.log.File }),
	"pid_file":               text(func(s *settings) *string { return &s.pidFile }),
	"pidfile":                text(func(s *settings) *string { return &s.pidFile }),
	"ports_file_dir":         text(func(s *settings) *string { return &s.portsDir }),
	"http_port":              number(func(s *settings) *int { return &s.httpPort }, -1, portMax),
	"monitor_port":           number(func(s *settings) *int { return &s.httpPort }, -1, portMax),
	"http":                   func(s *settings, v *conf.Value) error { return listen(v, &s.httpHost, &s.httpPort) },
	"authorization":          authorization,
}

// listen reads "host:port" or a port; a host that is not named is left as it is.
func listen(v *conf.Value, host *string, port *int) error {
	if v.Kind == conf.Integer {
		*port = int(v.Int)
		return checkPort(v, v.Int)
	}
	text, err := asString(v)
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
	if n < -1 || n > portMax {
		return conf.Errorf(v.Pos, "%d is no port: from 0 to 65535, or -1 for any free one", n)
	}
	return nil
}

func authorization(s *settings, v *conf.Value) error {
	m, err := asBlock(v)
	if err != nil {
		return err
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		switch strings.ToLower(e.Key) {
		case "user", "username":
			s.engine.User, err = asString(&e.Value)
		case "pass", "password":
			s.engine.Pass, err = asString(&e.Value)
		case "token":
			s.engine.Token, err = asString(&e.Value)
		case "timeout":
			s.engine.AuthTimeout, err = asDuration(&e.Value)
		default:
			err = conf.Errorf(e.Pos, "unknown key %q in authorization, or one whose feature natsd does not have yet", e.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func wrong(v *conf.Value, want conf.Kind) error {
	if v.Kind == conf.Array || v.Kind == conf.Block {
		return conf.Errorf(v.Pos, "expected %v, found %v", want, v.Kind)
	}
	return conf.Errorf(v.Pos, "expected %v, found %q", want, v.Text)
}

func asString(v *conf.Value) (string, error) {
	if v.Kind == conf.Array || v.Kind == conf.Block {
		return "", wrong(v, conf.String)
	}
	return v.Text, nil
}

func asInt(v *conf.Value) (int64, error) {
	if v.Kind != conf.Integer {
		return 0, wrong(v, conf.Integer)
	}
	return v.Int, nil
}

func asBool(v *conf.Value) (bool, error) {
	if v.Kind != conf.Bool {
		return false, wrong(v, conf.Bool)
	}
	return v.Bool, nil
}

func asBlock(v *conf.Value) (*conf.Map, error) {
	if v.Kind != conf.Block {
		return nil, wrong(v, conf.Block)
	}
	return v.Block, nil
}

func asDuration(v *conf.Value) (time.Duration, error) {
	switch v.Kind {
	case conf.Integer:
		if v.Int >= math.MinInt64/int64(time.Second) && v.Int <= math.MaxInt64/int64(time.Second) {
			return time.Duration(v.Int) * time.Second, nil
		}
	case conf.Float, conf.String:
		if d, err := time.ParseDuration(v.Text); err == nil {
			return d, nil
		}
		if d, err := time.ParseDuration(v.Text + "s"); err == nil {
			return d, nil
		}
	case conf.Array, conf.Block:
		return 0, conf.Errorf(v.Pos, "expected a duration such as 10s or 2m, found %v", v.Kind)
	case conf.Bool, conf.Date, conf.Missing:
	}
	return 0, conf.Errorf(v.Pos, "expected a duration such as 10s or 2m, found %q", v.Text)
}
