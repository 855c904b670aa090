package server

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

// changed is a setting that a reload can change. The text is empty where what it is has no place in the log.
type changed struct {
	name     string
	old, new any
	text     string
}

// changes says, in nats-server's words, which settings that a reload changes differ, and what they are from now on.
func changes(old, next *settings) (lines []string) {
	a, b := old.engine.Complete(), next.engine.Complete()
	all := append(logChanges(&old.log, &next.log, &a, &b), limitChanges(&a, &b)...)
	all = append(all, identityChanges(&a, &b)...)
	for _, c := range append(all, tlsChanges(old, next)...) {
		switch {
		case same(reflect.ValueOf(c.old), reflect.ValueOf(c.new)):
		case c.text == "":
			lines = append(lines, c.name)
		default:
			lines = append(lines, c.name+" = "+c.text)
		}
	}
	return lines
}

// value is a setting whose text is that of its value.
func value[T bool | int | int64 | string | time.Duration](name string, old, next T) changed {
	text := fmt.Sprint(next)
	if any(next) == any(math.MaxInt) {
		text = "unlimited"
	}
	return changed{name, old, next, text}
}

func logChanges(p, q *host.LogOptions, a, b *engine.Options) []changed {
	return []changed{
		value("client_advertise", a.ClientAdvertise, b.ClientAdvertise),
		value("trace", a.Trace, b.Trace),
		value("debug", a.Debug, b.Debug),
		value("trace_verbose", a.TraceVerbose, b.TraceVerbose),
		value("trace_headers", a.TraceHeaders, b.TraceHeaders),
		value("max_traced_msg_len", max(a.MaxTraced, 0), max(b.MaxTraced, 0)),
		value("logtime", !p.NoTime, !q.NoTime),
		value("logtime_utc", p.UTC, q.UTC),
		value("log_file", p.File, q.File),
		value("log_size_limit", p.SizeLimit, q.SizeLimit),
		value("logfile_max_num", p.MaxFiles, q.MaxFiles),
		value("syslog", p.Syslog, q.Syslog),
		value("remote_syslog", p.RemoteSyslog, q.RemoteSyslog),
	}
}

func limitChanges(a, b *engine.Options) []changed {
	return []changed{
		value("max_connections", a.MaxConnections, b.MaxConnections),
		value("max_subscriptions", a.MaxSubscriptions, b.MaxSubscriptions),
		value("max_sub_tokens", a.MaxSubTokens, b.MaxSubTokens),
		value("max_payload", a.MaxPayload, b.MaxPayload),
		value("max_control_line", a.MaxControlLine, b.MaxControlLine),
		value("max_pending", a.MaxPending, b.MaxPending),
		value("write_deadline", a.WriteDeadline, b.WriteDeadline),
		value("ping_interval", a.PingInterval, b.PingInterval),
		value("ping_max", a.PingMax, b.PingMax),
		value("lame_duck_duration", a.LameDuckDuration, b.LameDuckDuration),
		value("lame_duck_grace_period", a.LameDuckGrace, b.LameDuckGrace),
		value("no_header_support", a.NoHeaders, b.NoHeaders),
		value("no_fast_producer_stall", a.StallBytes == math.MaxInt, b.StallBytes == math.MaxInt),
		{"tags", a.Tags, b.Tags, ""},
		{"metadata", a.Metadata, b.Metadata, ""},
	}
}

// identityChanges are those of who may connect, and do what. Passwords have no place in the log, and lists no room.
func identityChanges(a, b *engine.Options) []changed {
	return []changed{
		{"authorization username", a.User, b.User, ""},
		{"authorization password", a.Pass, b.Pass, ""},
		{"authorization token", a.Token, b.Token, ""},
		{"authorization timeout", a.AuthTimeout, b.AuthTimeout, fmt.Sprint(b.AuthTimeout.Seconds())},
		{"authorization users", a.Users, b.Users, ""},
		{"authorization default_permissions", a.DefaultPermissions, b.DefaultPermissions, ""},
		{"authorization auth_callout", a.Callout, b.Callout, ""},
		value("authorization proxy_required", a.ProxyRequired, b.ProxyRequired),
		{"proxies", a.Proxies, b.Proxies, ""},
		{"no_auth_user", a.NoAuthUser.Text, b.NoAuthUser.Text, strconv.Quote(b.NoAuthUser.Text)},
		{"accounts", a.Accounts, b.Accounts, ""},
	}
}

// tlsChanges are those of TLS: of the settings, or of a certificate in a file that was read again.
func tlsChanges(old, next *settings) []changed {
	state := map[bool]string{false: "disabled", true: "enabled"}[next.engine.TLS.On]
	certificates := func(s *settings) []any { return []any{s.engine.TLS, s.tls.settings} }
	cache := func(s *settings) []any { return []any{s.tls.checksPeers(), s.tls.noPeerCache, s.tls.peerCache} }
	return []changed{
		{"tls", certificates(old), certificates(next), state},
		{"OCSP peer cache", cache(old), cache(next), ""},
	}
}

// same reports whether two values of one type are the same, wherever in a file they were given.
func same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type() != reflect.TypeFor[conf.Pos]() && !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return same(a.Elem(), b.Elem())
	case reflect.Slice:
		for i := range min(a.Len(), b.Len()) {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return a.Len() == b.Len()
	case reflect.Map:
		for _, k := range a.MapKeys() {
			if x := b.MapIndex(k); !x.IsValid() || !same(a.MapIndex(k), x) {
				return false
			}
		}
		return a.Len() == b.Len()
	default:
		return a.Equal(b)
	}
}
