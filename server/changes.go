package server

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
	"github.com/natsd/natsd/revocation"
	"github.com/natsd/natsd/tlsconf"
)

// changed is a setting that a reload can change. The text is empty where what it is has no place in the log.
type changed struct {
	name string
	has  bool // it has changed
	text string
}

// changes says, in nats-server's words, which settings that a reload changes differ, and what they are from now on.
func changes(old, next *settings) (lines []string) {
	a, b := old.engine.Complete(), next.engine.Complete()
	all := append(logChanges(&old.log, &next.log, &a, &b), limitChanges(&a, &b)...)
	all = append(all, identityChanges(&a, &b)...)
	all = append(all, operatorChanges(old, next)...)
	all = append(all, placeChanges(old, next)...)
	for _, c := range append(all, tlsChanges(old, next, &a.TLS, &b.TLS)...) {
		switch {
		case !c.has:
		case c.text == "":
			lines = append(lines, c.name)
		default:
			lines = append(lines, c.name+" = "+c.text)
		}
	}
	return append(lines, contentChanges(&old.tls, &next.tls)...)
}

// value is a setting whose text is that of its value.
func value[T bool | int | int64 | float64 | string | time.Duration](name string, old, next T) changed {
	text := fmt.Sprint(next)
	if any(next) == any(math.MaxInt) {
		text = "unlimited"
	}
	return changed{name, old != next, text}
}

// named is a setting of any type, with the text that is given.
func named[T any](name string, old, next T, text string) changed {
	return changed{name, !same(reflect.ValueOf(&old).Elem(), reflect.ValueOf(&next).Elem()), text}
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
		value("proxy_protocol", a.ProxyProtocol, b.ProxyProtocol),
		value("no_fast_producer_stall", a.StallBytes == math.MaxInt, b.StallBytes == math.MaxInt),
		named("tags", a.Tags, b.Tags, ""),
		named("metadata", a.Metadata, b.Metadata, ""),
	}
}

// identityChanges are those of who may connect, and do what. Passwords have no place in the log, and lists no room.
func identityChanges(a, b *engine.Options) []changed {
	return []changed{
		named("authorization username", a.User, b.User, ""),
		named("authorization password", a.Pass, b.Pass, ""),
		named("authorization token", a.Token, b.Token, ""),
		named("authorization timeout", a.AuthTimeout, b.AuthTimeout, fmt.Sprint(b.AuthTimeout.Seconds())),
		named("authorization users", a.Users, b.Users, ""),
		named("authorization default_permissions", a.DefaultPermissions, b.DefaultPermissions, ""),
		named("authorization auth_callout", a.Callout, b.Callout, ""),
		value("authorization proxy_required", a.ProxyRequired, b.ProxyRequired),
		proxyKeys(a.Proxies).without(b.Proxies, "removed"),
		proxyKeys(b.Proxies).without(a.Proxies, "added"),
		named("no_auth_user", a.NoAuthUser.Text, b.NoAuthUser.Text, strconv.Quote(b.NoAuthUser.Text)),
		named("accounts", a.Accounts, b.Accounts, ""),
	}
}

// proxyKeys are public keys of trusted proxies.
type proxyKeys []config.Located

// without is the change by which those go, or come, that others lacks.
func (all proxyKeys) without(others proxyKeys, how string) changed {
	var keys []string
	for _, k := range all {
		if !slices.ContainsFunc(others, func(o config.Located) bool { return o.Text == k.Text }) {
			keys = append(keys, strconv.Quote(k.Text))
		}
	}
	return changed{"proxies trusted keys [" + strings.Join(keys, " ") + "] were " + how, len(keys) > 0, ""}
}

// operatorChanges are those of operator mode. A sentinel has no place in the log: it lets in whoever has it.
func operatorChanges(old, next *settings) []changed {
	a, b := old.engine.Operators, next.engine.Operators
	if a == nil || b == nil {
		return nil
	}
	type pinned struct {
		some     bool
		accounts []config.Located
	}
	pins := func(o *config.Operators) pinned { return pinned{o.PinnedAccounts != nil, o.PinnedAccounts} }
	return []changed{
		named("resolver", a.Resolver, b.Resolver, ""),
		named("resolver_preload", a.Preload, b.Preload, ""),
		named("resolver_pinned_accounts", pins(a), pins(b), ""),
		named("resolver_tls", old.resolverTLS, next.resolverTLS, ""),
		named("default_sentinel", a.DefaultSentinel, b.DefaultSentinel, ""),
	}
}

// placeChanges are those of where others find out about the server.
func placeChanges(old, next *settings) []changed {
	return []changed{
		value("pid_file", old.pidFile, next.pidFile),
		value("ports_file_dir", old.portsDir, next.portsDir),
		value("prof_block_rate", old.profRate, next.profRate),
	}
}

// tlsChanges are those of the settings of TLS. p and q are complete.
func tlsChanges(old, next *settings, p, q *engine.TLSOptions) []changed {
	type block struct {
		on bool
		tlsconf.Settings
	}
	blockOf := func(s *settings) block {
		b := block{s.engine.TLS.On, s.tls.settings}
		b.PinnedCerts, b.OCSP, b.Peers = nil, tlsconf.OCSP{}, nil // have lines of their own
		return b
	}
	type first struct {
		on   bool
		wait time.Duration
	}
	how := strconv.FormatBool(q.First)
	if q.First && q.FirstWait > 0 {
		how = q.FirstWait.String()
	}
	type cache struct {
		used, none bool
		options    revocation.CacheOptions
	}
	cacheOf := func(s *tlsSettings) cache { return cache{s.checksPeers(), s.noPeerCache, s.peerCache} }
	return []changed{
		named("tls", blockOf(old), blockOf(next), map[bool]string{false: "disabled", true: "enabled"}[q.On]),
		value("tls timeout", p.Timeout.Seconds(), q.Timeout.Seconds()),
		named("tls handshake_first", first{p.First, p.FirstWait}, first{q.First, q.FirstWait}, how),
		named("tls pinned_certs", p.Pinned, q.Pinned, ""),
		value("tls connection_rate_limit", p.ConnectionRate, q.ConnectionRate),
		value("allow_non_tls", p.AllowPlain, q.AllowPlain),
		named("tls ocsp_peer", old.tls.settings.Peers, next.tls.settings.Peers, ""),
		named("ocsp", old.tls.settings.OCSP, next.tls.settings.OCSP, ""),
		named("OCSP peer cache", cacheOf(&old.tls), cacheOf(&next.tls), ""),
	}
}

// contentChanges are the files of TLS that have the name of before and another content: renewed certificates and authorities.
func contentChanges(old, next *tlsSettings) (lines []string) {
	if old.config == nil || next.config == nil {
		return nil
	}
	before, now := old.config.Files(), next.config.Files()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was, there := before[name]; there && was != now[name] {
			lines = append(lines, "tls: content of "+name)
		}
	}
	return lines
}

// same reports whether two values are of one type and the same, wherever in a file they were given.
func same(a, b reflect.Value) bool {
	if a.Type() != b.Type() {
		return false
	}
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
