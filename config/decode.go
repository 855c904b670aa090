package config

import (
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/conf/schema"
)

// Decode reads a tree of conf. What is wrong goes to rep; what is right is in the Config, which is never nil.
func Decode(m *conf.Map, rep *conf.Report) *Config {
	c := &Config{Digest: conf.Digest(m), Empty: len(m.Entries) == 0}
	d := schema.NewDecoder(rep)
	schema.Read(d, m, "", topKeys(), c)
	c.places = d.Places()
	c.check(rep)
	return c
}

// Load reads a file and what it includes, and decodes it. A file with mistakes of syntax is not decoded: what is missing from
// it would only lead to more mistakes.
func Load(r *conf.Reader, file string, rep *conf.Report) *Config {
	m := r.Parse(file, rep)
	if rep.Err() != nil {
		return &Config{}
	}
	return Decode(m, rep)
}

type keys[T any] = []schema.Key[T]

const (
	portMax = 65535
	// sizeMax bounds sizes and counts of single connections and servers, so that arithmetic on them can't overflow.
	sizeMax = math.MaxInt32
)

func topKeys() keys[Config] {
	return append(append(generalKeys(), identityKeys()...), blockKeys()...)
}

// generalKeys are the keys of the server itself.
func generalKeys() keys[Config] {
	type c = Config
	return keys[c]{
		schema.On("host", schema.Text(func(c *c) *string { return &c.Host }), "net"),
		schema.On("port", schema.Int(func(c *c) *int { return &c.Port }, -1, portMax)),
		schema.On("listen", listen(func(c *c) (*string, *int) { return &c.Host, &c.Port })),
		schema.On("client_advertise", schema.Text(func(c *c) *string { return &c.ClientAdvertise })),
		schema.On("server_name", serverName),
		schema.On("server_tags", schema.List(func(c *c) *[]string { return &c.Tags })),
		schema.On("server_metadata", pairs(func(c *c) *[]Pair { return &c.Metadata })),
		schema.On("max_connections", count(func(c *c) *int { return &c.MaxConnections }), "max_conn"),
		schema.On("max_subscriptions", count(func(c *c) *int { return &c.MaxSubscriptions }), "max_subs"),
		schema.On("max_sub_tokens", schema.Int(func(c *c) *int { return &c.MaxSubTokens }, 1, math.MaxUint8), "max_subscription_tokens"),
		schema.On("max_payload", count(func(c *c) *int { return &c.MaxPayload })),
		schema.On("max_control_line", count(func(c *c) *int { return &c.MaxControlLine })),
		schema.On("max_pending", schema.Int(func(c *c) *int { return &c.MaxPending }, math.MinInt64, math.MaxInt64>>1)),
		schema.On("max_closed_clients", count(func(c *c) *int { return &c.MaxClosedClients })),
		schema.On("ping_interval", schema.Duration(func(c *c) *time.Duration { return &c.PingInterval })),
		schema.On("ping_max", count(func(c *c) *int { return &c.PingMax })),
		schema.On("write_deadline", schema.Duration(func(c *c) *time.Duration { return &c.WriteDeadline })),
		schema.On("write_timeout", writeTimeout(func(c *c) *string { return &c.WriteTimeout })),
		schema.On("lame_duck_duration", lameDuck),
		schema.On("lame_duck_grace_period", grace),
		schema.On("no_header_support", schema.Switch(func(c *c) *bool { return &c.NoHeaders })),
		schema.On("disable_sublist_cache", schema.Switch(func(c *c) *bool { return &c.NoSublistCache }), "no_sublist_cache"),
		schema.On("no_fast_producer_stall", schema.Switch(func(c *c) *bool { return &c.NoFastProducerStall })),
		schema.On("allow_non_tls", schema.Switch(func(c *c) *bool { return &c.AllowNonTLS })),
		schema.On("proxy_protocol", schema.Switch(func(c *c) *bool { return &c.ProxyProtocol })),
		schema.On("connect_error_reports", count(func(c *c) *int { return &c.ConnectErrorReports })),
		schema.On("reconnect_error_reports", count(func(c *c) *int { return &c.ReconnectErrorReport })),
		schema.On("feature_flags", schema.Entries(func(d *schema.Decoder, e *conf.Entry, c *c) {
			f := Flag{Pos: e.Pos, Name: e.Key}
			schema.Switch(func(f *Flag) *bool { return &f.On })(d, &e.Value, &f)
			c.FeatureFlags = append(c.FeatureFlags, f)
		})),
		schema.On("debug", schema.Switch(func(c *c) *bool { return &c.Log.Debug })),
		schema.On("trace", schema.Switch(func(c *c) *bool { return &c.Log.Trace })),
		schema.On("trace_verbose", tracing(func(l *Log) *bool { return &l.TraceVerbose })),
		schema.On("trace_headers", tracing(func(l *Log) *bool { return &l.TraceHeaders })),
		schema.On("logtime", func(d *schema.Decoder, v *conf.Value, c *c) {
			shown := !c.Log.NoTime
			schema.Switch(func(*Config) *bool { return &shown })(d, v, c)
			c.Log.NoTime = !shown
		}),
		schema.On("logtime_utc", schema.Switch(func(c *c) *bool { return &c.Log.UTC })),
		schema.On("log_file", schema.Text(func(c *c) *string { return &c.Log.File }), "logfile"),
		schema.On("logfile_size_limit", schema.Size(func(c *c) *int64 { return &c.Log.SizeLimit }, false), "log_size_limit"),
		schema.On("logfile_max_num", count(func(c *c) *int { return &c.Log.MaxFiles }), "log_max_num"),
		schema.On("syslog", schema.Switch(func(c *c) *bool { return &c.Log.Syslog })),
		schema.On("remote_syslog", schema.Text(func(c *c) *string { return &c.Log.RemoteSyslog })),
		schema.On("max_traced_msg_len", count(func(c *c) *int { return &c.Log.MaxTracedLen })),
		schema.On("http", listen(func(c *c) (*string, *int) { return &c.MonitorHost, &c.MonitorPort })),
		schema.On("http_port", schema.Int(func(c *c) *int { return &c.MonitorPort }, -1, portMax), "monitor_port"),
		schema.On("https", listen(func(c *c) (*string, *int) { return &c.MonitorsHost, &c.MonitorsPort })),
		schema.On("https_port", schema.Int(func(c *c) *int { return &c.MonitorsPort }, -1, portMax)),
		schema.On("http_base_path", schema.Text(func(c *c) *string { return &c.BasePath })),
		schema.On("prof_port", schema.Int(func(c *c) *int { return &c.ProfPort }, -1, portMax)),
		schema.On("prof_block_rate", count(func(c *c) *int { return &c.ProfRate })),
		schema.On("pid_file", schema.Text(func(c *c) *string { return &c.PIDFile }), "pidfile"),
		schema.On("ports_file_dir", schema.Text(func(c *c) *string { return &c.PortsDir })),
	}
}

// blockKeys are the blocks.
func blockKeys() keys[Config] {
	type c = Config
	return keys[c]{
		schema.On("tls", tlsBlock(func(c *c) **TLS { return &c.TLS })),
		schema.On("ocsp", ocsp()),
		schema.On("ocsp_cache", ocspCache()),
		schema.On("cluster", block(func(c *c) **Cluster { return &c.Cluster }, "cluster", clusterKeys, func(b *Cluster) *Pos { return &b.Pos })),
		schema.On("gateway", block(func(c *c) **Gateway { return &c.Gateway }, "gateway", gatewayKeys, func(b *Gateway) *Pos { return &b.Pos })),
		schema.On("leafnodes", block(func(c *c) **LeafNodes { return &c.LeafNodes }, "leafnodes", leafKeys, func(b *LeafNodes) *Pos { return &b.Pos }), "leaf"),
		schema.On("websocket", block(func(c *c) **WebSocket { return &c.WebSocket }, "websocket", webSocketKeys, func(b *WebSocket) *Pos { return &b.Pos }), "ws"),
		schema.On("mqtt", block(func(c *c) **MQTT { return &c.MQTT }, "mqtt", mqttKeys, func(b *MQTT) *Pos { return &b.Pos })),
		schema.On("jetstream", jetStream),
		schema.On("store_dir", func(d *schema.Decoder, v *conf.Value, c *c) {
			if s, ok := d.String(v); ok {
				c.jetStream(v.Pos).StoreDir = s
			}
		}, "storedir"),
		schema.On("default_js_domain", pairs(func(c *c) *[]Pair { return &c.DefaultJSDomain })),
	}
}

// jetStream is the block jetstream, made if need be.
func (c *Config) jetStream(at Pos) *JetStream {
	if c.JetStream == nil {
		c.JetStream = &JetStream{Pos: at}
	}
	return c.JetStream
}

// tracing reads a switch that says how messages are traced, and has them traced. A trace: false below it counts over it.
func tracing(field func(*Log) *bool) schema.Reader[Config] {
	return func(d *schema.Decoder, v *conf.Value, c *Config) {
		schema.Switch(func(c *Config) *bool { return field(&c.Log) })(d, v, c)
		c.Log.Trace = c.Log.Trace || *field(&c.Log)
	}
}

// block reads a block into a struct of its own.
func block[T, U any](field func(*T) **U, where string, keys func() keys[U], pos func(*U) *Pos) schema.Reader[T] {
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		if m := d.Map(v); m != nil {
			b := new(U)
			*pos(b) = v.Pos
			*field(to) = b
			schema.Read(d, m, where, keys(), b)
		}
	}
}

func count[T any](field func(*T) *int) schema.Reader[T] {
	return schema.Int(field, math.MinInt32, sizeMax)
}

func writeTimeout[T any](field func(*T) *string) schema.Reader[T] {
	return schema.OneOf(field, "default", "close", "retry")
}

// pairs reads a block of names and strings.
func pairs[T any](field func(*T) *[]Pair) schema.Reader[T] {
	return schema.Entries(func(d *schema.Decoder, e *conf.Entry, to *T) {
		if s, ok := d.String(&e.Value); ok {
			*field(to) = append(*field(to), Pair{Pos: e.Pos, Name: e.Key, Value: s})
		}
	})
}

// listen reads "host:port" or a port; a host that is not named is left as it is.
func listen[T any](field func(*T) (host *string, port *int)) schema.Reader[T] {
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		host, port := field(to)
		switch v.Kind {
		case conf.Integer:
			if n, ok := d.Int64(v, -1, portMax); ok {
				*port = int(n)
			}
		case conf.String:
			h, p, ok := hostPort(v.Text)
			if !ok {
				d.Report.ValueErrorf(v, `expected "host:port" or a port, found %q`, v.Text)
				return
			}
			*host, *port = h, p
		default:
			d.Wrong(v, `"host:port" or a port`)
		}
	}
}

// hostPort splits "host:port"; an IPv6 address is in brackets.
func hostPort(s string) (host string, port int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	host = s[:i]
	if inner, found := strings.CutPrefix(host, "["); found {
		host = strings.TrimSuffix(inner, "]")
		if addr, bad := netip.ParseAddr(host); bad != nil || !addr.Is6() || len(host) == len(inner) {
			return "", 0, false
		}
	} else if strings.ContainsAny(host, ":[]") {
		return "", 0, false
	}
	return host, n, err == nil && n >= -1 && n <= portMax
}

func serverName(d *schema.Decoder, v *conf.Value, c *Config) {
	s, ok := d.String(v)
	if ok && strings.ContainsFunc(s, unicode.IsSpace) {
		d.Report.ValueErrorf(v, "the server's name %q has spaces: it may have none", s)
	}
	c.ServerName = s
}

// lameDuckMin is the shortest time over which clients are evicted.
const lameDuckMin = 30 * time.Second

func lameDuck(d *schema.Decoder, v *conf.Value, c *Config) {
	if v.Kind != conf.String {
		d.Wrong(v, `a duration such as "2m"`)
	} else if span, ok := d.Span(v); ok && span < lameDuckMin {
		d.Report.ValueErrorf(v, "lame_duck_duration is %v: it is %v at least", span, lameDuckMin)
	} else {
		c.LameDuckDuration = span
	}
}

func grace(d *schema.Decoder, v *conf.Value, c *Config) {
	if v.Kind != conf.String {
		d.Wrong(v, `a duration such as "10s"`)
	} else if span, ok := d.Span(v); ok && span < 0 {
		d.Report.ValueErrorf(v, "lame_duck_grace_period is %v: it is 0 at least", span)
	} else {
		c.LameDuckGrace = span
	}
}
