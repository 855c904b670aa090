package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/conf/schema"
)

func clusterKeys() keys[Cluster] {
	type c = Cluster
	return keys[c]{
		schema.On("name", schema.Text(func(c *c) *string { return &c.Name })),
		schema.On("host", schema.Text(func(c *c) *string { return &c.Host }), "net"),
		schema.On("port", schema.Int(func(c *c) *int { return &c.Port }, -1, portMax)),
		schema.On("listen", listen(func(c *c) (*string, *int) { return &c.Host, &c.Port })),
		schema.On("cluster_advertise", schema.Text(func(c *c) *string { return &c.Advertise }), "advertise"),
		schema.On("no_advertise", schema.Switch(func(c *c) *bool { return &c.NoAdvertise })),
		schema.On("routes", urls(func(c *c) *[]Located { return &c.Routes }, false)),
		schema.On("authorization", oneUser(func(c *c) **Authorization { return &c.Authorization }, "cluster.authorization")),
		schema.On("permissions", permissions(func(c *c) **Permissions { return &c.Permissions })),
		schema.On("tls", tlsBlock(func(c *c) **TLS { return &c.TLS })),
		schema.On("connect_retries", count(func(c *c) *int { return &c.ConnectRetries })),
		schema.On("connect_backoff", schema.Switch(func(c *c) *bool { return &c.ConnectBackoff })),
		schema.On("pool_size", count(func(c *c) *int { return &c.PoolSize })),
		schema.On("accounts", schema.List(func(c *c) *[]string { return &c.Accounts })),
		schema.On("compression", compression(func(c *c) *Compression { return &c.Compression })),
		schema.On("ping_interval", schema.Duration(func(c *c) *time.Duration { return &c.PingInterval })),
		schema.On("ping_max", count(func(c *c) *int { return &c.PingMax })),
		schema.On("write_deadline", schema.Duration(func(c *c) *time.Duration { return &c.WriteDeadline })),
		schema.On("write_timeout", writeTimeout(func(c *c) *string { return &c.WriteTimeout })),
	}
}

// oneUser reads the authorization of servers: one user, no list.
func oneUser[T any](field func(*T) **Authorization, where string) schema.Reader[T] {
	read := authorization(field, where, topAuthKeys)
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		read(d, v, to)
		a := *field(to)
		switch {
		case a == nil:
		case a.Users != nil:
			d.Report.Errorf(a.Pos, "%s has one user, not a list of users", where)
		case a.Token != "":
			d.Report.Errorf(a.Pos, "%s has a user and a password, not a token", where)
		case a.Callout != nil:
			d.Report.Errorf(a.Pos, "%s has a user and a password, not auth_callout", where)
		}
	}
}

// urls reads an array of URLs, or a single one where single says so.
func urls[T any](field func(*T) *[]Located, single bool) schema.Reader[T] {
	list := locatedList(field)
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		if v.Kind != conf.Array && !single {
			d.Wrong(v, "an array of URLs")
			return
		}
		list(d, v, to)
	}
}

// compression reads the mode, true or false, or a block with the mode and its thresholds.
func compression[T any](field func(*T) *Compression) schema.Reader[T] {
	type c = Compression
	thresholds := schema.Items(false, func(d *schema.Decoder, v *conf.Value, c *c) {
		if span, ok := d.Span(v); ok {
			c.Thresholds = append(c.Thresholds, span)
		}
	})
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		in := field(to)
		switch v.Kind {
		case conf.Bool:
			in.Mode = "off"
			if v.Bool {
				in.Mode = "on"
			}
		case conf.String:
			in.Mode = v.Text
		case conf.Block:
			schema.Read(d, v.Block, "compression", keys[c]{
				schema.On("mode", schema.Text(func(c *c) *string { return &c.Mode })),
				schema.On("rtt_thresholds", thresholds, "thresholds", "rtts", "rtt"),
			}, in)
		default:
			d.Wrong(v, "a compression mode, true, false or a block")
		}
		if in.Mode != "" && !knownCompression(in.Mode) {
			d.Report.ValueErrorf(v, "unknown compression mode %q: there are off, accept, on, s2_auto, s2_fast, s2_better, s2_best", in.Mode)
		}
	}
}

func knownCompression(mode string) bool {
	switch strings.ToLower(mode) {
	case "off", "disabled", "false", "accept", "on", "enabled", "true", "auto", "s2_auto", "fast", "s2_fast", "better", "s2_better",
		"best", "s2_best", "s2_uncompressed", "not supported":
		return true
	}
	return false
}

func gatewayKeys() keys[Gateway] {
	type g = Gateway
	return keys[g]{
		schema.On("name", schema.Text(func(g *g) *string { return &g.Name })),
		schema.On("host", schema.Text(func(g *g) *string { return &g.Host }), "net"),
		schema.On("port", schema.Int(func(g *g) *int { return &g.Port }, -1, portMax)),
		schema.On("listen", listen(func(g *g) (*string, *int) { return &g.Host, &g.Port })),
		schema.On("advertise", schema.Text(func(g *g) *string { return &g.Advertise })),
		schema.On("authorization", oneUser(func(g *g) **Authorization { return &g.Authorization }, "gateway.authorization")),
		schema.On("tls", tlsBlock(func(g *g) **TLS { return &g.TLS })),
		schema.On("connect_retries", count(func(g *g) *int { return &g.ConnectRetries })),
		schema.On("connect_backoff", schema.Switch(func(g *g) *bool { return &g.ConnectBackoff })),
		schema.On("reject_unknown_cluster", schema.Switch(func(g *g) *bool { return &g.RejectUnknown }), "reject_unknown"),
		schema.On("gateways", schema.Blocks(func(g *g, at Pos) *RemoteGateway {
			g.Remotes = append(g.Remotes, RemoteGateway{Pos: at})
			return &g.Remotes[len(g.Remotes)-1]
		}, "gateways", remoteGatewayKeys)),
		schema.On("write_deadline", schema.Duration(func(g *g) *time.Duration { return &g.WriteDeadline })),
		schema.On("write_timeout", writeTimeout(func(g *g) *string { return &g.WriteTimeout })),
	}
}

func remoteGatewayKeys() keys[RemoteGateway] {
	type g = RemoteGateway
	return keys[g]{
		schema.On("name", schema.Text(func(g *g) *string { return &g.Name })),
		schema.On("url", func(d *schema.Decoder, v *conf.Value, g *g) {
			if s, ok := d.String(v); ok {
				g.URLs = append(g.URLs, Located{v.Pos, s})
			}
		}),
		schema.On("urls", urls(func(g *g) *[]Located { return &g.URLs }, false)),
		schema.On("tls", tlsBlock(func(g *g) **TLS { return &g.TLS })),
	}
}

func leafKeys() keys[LeafNodes] {
	type l = LeafNodes
	return keys[l]{
		schema.On("host", schema.Text(func(l *l) *string { return &l.Host }), "net"),
		schema.On("port", schema.Int(func(l *l) *int { return &l.Port }, -1, portMax)),
		schema.On("listen", listen(func(l *l) (*string, *int) { return &l.Host, &l.Port })),
		schema.On("advertise", schema.Text(func(l *l) *string { return &l.Advertise }), "leafnode_advertise"),
		schema.On("no_advertise", schema.Switch(func(l *l) *bool { return &l.NoAdvertise })),
		schema.On("authorization", authorization(func(l *l) **Authorization { return &l.Authorization }, "leafnodes.authorization", leafAuthKeys)),
		schema.On("tls", tlsBlock(func(l *l) **TLS { return &l.TLS })),
		schema.On("min_version", minVersion, "minimum_version"),
		schema.On("reconnect", schema.Duration(func(l *l) *time.Duration { return &l.Reconnect }), "reconnect_delay", "reconnect_interval"),
		schema.On("dial_timeout", schema.Duration(func(l *l) *time.Duration { return &l.DialTimeout })),
		schema.On("compression", compression(func(l *l) *Compression { return &l.Compression })),
		schema.On("isolate_leafnode_interest", schema.Switch(func(l *l) *bool { return &l.Isolate }), "isolate"),
		schema.On("remotes", schema.Blocks(func(l *l, at Pos) *RemoteLeaf {
			l.Remotes = append(l.Remotes, RemoteLeaf{Pos: at})
			return &l.Remotes[len(l.Remotes)-1]
		}, "remotes", remoteLeafKeys)),
		schema.On("write_deadline", schema.Duration(func(l *l) *time.Duration { return &l.WriteDeadline })),
		schema.On("write_timeout", writeTimeout(func(l *l) *string { return &l.WriteTimeout })),
	}
}

// minVersion reads the oldest version of leaf servers: 2.10.0.
func minVersion(d *schema.Decoder, v *conf.Value, l *LeafNodes) {
	const parts = 3
	s, ok := d.String(v)
	numbers := strings.Split(strings.TrimPrefix(s, "v"), ".")
	right := len(numbers) == parts
	for _, n := range numbers {
		_, err := strconv.ParseUint(n, 10, 16)
		right = right && err == nil
	}
	if ok && !right {
		d.Report.ValueErrorf(v, "%q is no version such as 2.10.0", s)
	}
	l.MinVersion = s
}

func remoteLeafKeys() keys[RemoteLeaf] {
	type r = RemoteLeaf
	return keys[r]{
		schema.On("urls", urls(func(r *r) *[]Located { return &r.URLs }, true), "url"),
		schema.On("account", schema.Text(func(r *r) *string { return &r.Account }), "local"),
		schema.On("credentials", schema.Text(func(r *r) *string { return &r.Credentials }), "creds"),
		schema.On("nkey", func(d *schema.Decoder, v *conf.Value, r *r) {
			s, ok := d.String(v)
			if ok && !strings.HasPrefix(s, "SU") {
				d.Report.ValueErrorf(v, "expected the seed of a user key: it begins with SU")
			}
			r.NKey = s
		}, "seed"),
		schema.On("tls", tlsBlock(func(r *r) **TLS { return &r.TLS })),
		schema.On("hub", schema.Switch(func(r *r) *bool { return &r.Hub })),
		schema.On("disabled", schema.Switch(func(r *r) *bool { return &r.Disabled })),
		schema.On("no_randomize", schema.Switch(func(r *r) *bool { return &r.NoRandomize }), "dont_randomize"),
		schema.On("ignore_discovered_servers", schema.Switch(func(r *r) *bool { return &r.IgnoreDiscovered })),
		schema.On("deny_imports", func(d *schema.Decoder, v *conf.Value, r *r) { r.DenyImports = subjects(d, v, false) }, "deny_import"),
		schema.On("deny_exports", func(d *schema.Decoder, v *conf.Value, r *r) { r.DenyExports = subjects(d, v, false) }, "deny_export"),
		schema.On("compression", compression(func(r *r) *Compression { return &r.Compression })),
		schema.On("ws_compression", schema.Switch(func(r *r) *bool { return &r.WSCompression }), "ws_compress", "websocket_compression", "websocket_compress"),
		schema.On("ws_no_masking", schema.Switch(func(r *r) *bool { return &r.WSNoMasking }), "websocket_no_masking"),
		schema.On("isolate_leafnode_interest", schema.Switch(func(r *r) *bool { return &r.Isolate }), "isolate"),
		schema.On("request_isolation", schema.Switch(func(r *r) *bool { return &r.RequestIsolation })),
		schema.On("dial_timeout", schema.Duration(func(r *r) *time.Duration { return &r.DialTimeout })),
		schema.On("first_info_timeout", schema.Duration(func(r *r) *time.Duration { return &r.FirstInfoTimeout })),
		schema.On("jetstream_cluster_migrate", migrate, "js_cluster_migrate"),
		schema.On("proxy", block(func(r *r) **LeafProxy { return &r.Proxy }, "proxy", leafProxyKeys, func(p *LeafProxy) *Pos { return &p.Pos })),
	}
}

// migrate reads true or false, or a block with the delay.
func migrate(d *schema.Decoder, v *conf.Value, r *RemoteLeaf) {
	if v.Kind == conf.Bool {
		if v.Bool {
			r.Migrate = &Migrate{Pos: v.Pos}
		}
		return
	}
	block(func(r *RemoteLeaf) **Migrate { return &r.Migrate }, "jetstream_cluster_migrate", func() keys[Migrate] {
		return keys[Migrate]{
			schema.On("leader_migrate_delay", schema.Duration(func(m *Migrate) *time.Duration { return &m.Delay })),
		}
	}, func(m *Migrate) *Pos { return &m.Pos })(d, v, r)
}

func leafProxyKeys() keys[LeafProxy] {
	type p = LeafProxy
	return keys[p]{
		schema.On("url", schema.Text(func(p *p) *string { return &p.URL })),
		schema.On("username", schema.Text(func(p *p) *string { return &p.Username })),
		schema.On("password", schema.Text(func(p *p) *string { return &p.Password })),
		schema.On("timeout", schema.Duration(func(p *p) *time.Duration { return &p.Timeout })),
		schema.On("tls", tlsBlock(func(p *p) **TLS { return &p.TLS })),
	}
}
