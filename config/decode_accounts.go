package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/conf/schema"
	"github.com/natsd/natsd/subject"
)

// globalAccount is there without being named.
const globalAccount = "$G"

// accounts reads the block accounts, or an array of names.
func accounts(d *schema.Decoder, v *conf.Value, c *Config) {
	reserved := func(at Pos, name string) bool {
		if name == globalAccount {
			d.Report.Errorf(at, "%q is a reserved account: those who are in no other are in it", name)
		}
		return name == globalAccount
	}
	if v.Kind == conf.Array {
		for _, s := range d.Strings(v) {
			if !reserved(s.Pos, s.Text) {
				c.Accounts = append(c.Accounts, Account{Pos: s.Pos, Name: s.Text})
			}
		}
		return
	}
	schema.Entries(func(d *schema.Decoder, e *conf.Entry, c *Config) {
		if e.Used {
			return // it is there to be named as a variable: its users, or permissions, are those of others
		}
		if reserved(e.Pos, e.Key) {
			return
		}
		c.Accounts = append(c.Accounts, Account{Pos: e.Pos, Name: e.Key})
		if m := d.Map(&e.Value); m != nil {
			schema.Read(d, m, "account "+strconv.Quote(e.Key), accountKeys(), &c.Accounts[len(c.Accounts)-1])
		}
	})(d, v, c)
}

func accountKeys() keys[Account] {
	type a = Account
	return keys[a]{
		schema.On("nkey", func(d *schema.Decoder, v *conf.Value, a *a) {
			publicKey(d, v, accountKey, "a public account key")
			a.NKey = v.Text
		}),
		schema.On("users", users(func(a *a) *[]User { return &a.Users }, userKeys)),
		schema.On("exports", exports),
		schema.On("imports", imports),
		schema.On("mappings", schema.Entries(func(d *schema.Decoder, e *conf.Entry, a *a) { mapping(d, e, &a.Mappings) }), "maps"),
		schema.On("default_permissions", permissions(func(a *a) **Permissions { return &a.DefaultPermissions })),
		schema.On("limits", func(d *schema.Decoder, v *conf.Value, a *a) {
			if m := d.Map(v); m != nil {
				a.Limits.Pos = v.Pos
				schema.Read(d, m, "limits", limitKeys(), &a.Limits)
			}
		}),
		schema.On("jetstream", accountJetStream),
		schema.On("msg_trace", msgTrace, "trace_dest"),
	}
}

// limit reads a bound. With text a string is refused in words that fit sizes.
func limit[T any](field func(*T) *Limit) schema.Reader[T] {
	read := schema.Size(func(l *Limit) *int64 { return &l.N }, false)
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		read(d, v, field(to))
		field(to).Set = v.Kind == conf.Integer
	}
}

func limitKeys() keys[Limits] {
	type l = Limits
	return keys[l]{
		schema.On("max_connections", limit(func(l *l) *Limit { return &l.MaxConnections }), "max_conn"),
		schema.On("max_subscriptions", limit(func(l *l) *Limit { return &l.MaxSubscriptions }), "max_subs"),
		schema.On("max_payload", limit(func(l *l) *Limit { return &l.MaxPayload }), "max_pay"),
		schema.On("max_leafnodes", limit(func(l *l) *Limit { return &l.MaxLeafNodes }), "max_leafs"),
	}
}

// accountJetStream reads the limits, or whether it is on.
func accountJetStream(d *schema.Decoder, v *conf.Value, a *Account) {
	type j = AccountJetStream
	if v.Kind != conf.Block {
		if on, ok := enabled(d, v); ok && on {
			a.JetStream = &j{Pos: v.Pos}
		}
		return
	}
	a.JetStream = &j{Pos: v.Pos}
	schema.Read(d, v.Block, "jetstream", keys[j]{
		schema.On("max_memory", limit(func(j *j) *Limit { return &j.MaxMemory }), "max_mem", "mem", "memory"),
		schema.On("max_store", limit(func(j *j) *Limit { return &j.MaxStore }), "max_file", "max_disk", "store", "disk"),
		schema.On("max_streams", limit(func(j *j) *Limit { return &j.MaxStreams }), "streams"),
		schema.On("max_consumers", limit(func(j *j) *Limit { return &j.MaxConsumers }), "consumers"),
		schema.On("max_bytes_required", schema.Switch(func(j *j) *bool { return &j.MaxBytesRequired }), "max_stream_bytes", "max_bytes"),
		schema.On("memory_max_stream_bytes", limit(func(j *j) *Limit { return &j.MemoryMaxStream }), "mem_max_stream_bytes"),
		schema.On("disk_max_stream_bytes", limit(func(j *j) *Limit { return &j.DiskMaxStream }), "store_max_stream_bytes"),
		schema.On("max_ack_pending", limit(func(j *j) *Limit { return &j.MaxAckPending })),
		schema.On("cluster_traffic", schema.OneOf(func(j *j) *string { return &j.ClusterTraffic }, "system", "owner")),
	}, a.JetStream)
}

// enabled reads true or false, or "enabled" or "disabled".
func enabled(d *schema.Decoder, v *conf.Value) (on, ok bool) {
	switch {
	case v.Kind == conf.Bool:
		return v.Bool, true
	case v.Kind == conf.String && (strings.EqualFold(v.Text, "enabled") || strings.EqualFold(v.Text, "enable")):
		return true, true
	case v.Kind == conf.String && (strings.EqualFold(v.Text, "disabled") || strings.EqualFold(v.Text, "disable")):
		return false, true
	}
	d.Wrong(v, "enabled, disabled or a block")
	return false, false
}

func msgTrace(d *schema.Decoder, v *conf.Value, a *Account) {
	t := &MsgTrace{Pos: v.Pos, Sampling: 100}
	a.MsgTrace = t
	switch v.Kind {
	case conf.String:
		t.Dest = v.Text
	case conf.Block:
		if len(v.Block.Entries) == 0 {
			a.MsgTrace = nil
			return
		}
		schema.Read(d, v.Block, "msg_trace", keys[MsgTrace]{
			schema.On("dest", schema.Text(func(t *MsgTrace) *string { return &t.Dest })),
			schema.On("sampling", percent(func(t *MsgTrace) *int { return &t.Sampling })),
		}, t)
	default:
		d.Wrong(v, "a subject or a block")
		return
	}
	if !subject.ValidLiteral(t.Dest) {
		d.Report.Errorf(v.Pos, "msg_trace: %q is not a subject to publish on", t.Dest)
	}
	if t.Sampling == 0 {
		d.Report.Errorf(v.Pos, "msg_trace: sampling is from 1%% to 100%%")
	}
}

// percent reads 0 to 100, with or without a percent sign.
func percent[T any](field func(*T) *int) schema.Reader[T] {
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		n := v.Int
		if v.Kind == conf.String {
			parsed, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(v.Text, "%")), 10, 32)
			if err != nil {
				d.Wrong(v, "a percentage such as 50%")
				return
			}
			n = parsed
		} else if v.Kind != conf.Integer {
			d.Wrong(v, "a percentage such as 50%")
			return
		}
		if n < 0 || n > 100 {
			d.Report.ValueErrorf(v, "%d%% is out of range: from 0 to 100", n)
			return
		}
		*field(to) = int(n)
	}
}

// mapping reads "subject: destination", or one destination or several of them as blocks.
func mapping(d *schema.Decoder, e *conf.Entry, to *[]Mapping) {
	if e.Used && e.Value.Kind != conf.Array {
		return // it is there to be named as a variable
	}
	m := Mapping{Pos: e.Pos, Subject: e.Key}
	if !subject.ValidPattern(e.Key) {
		d.Report.Errorf(e.Pos, "%q is no subject", e.Key)
	}
	if e.Value.Kind == conf.String {
		m.Destinations = []Destination{{Pos: e.Value.Pos, Subject: e.Value.Text, Weight: 100}}
	} else {
		schema.Items(true, destination)(d, &e.Value, &m)
	}
	*to = append(*to, m)
}

func destination(d *schema.Decoder, v *conf.Value, m *Mapping) {
	type to = Destination
	block := d.Map(v)
	if block == nil {
		return
	}
	dest := to{Pos: v.Pos, Weight: -1}
	schema.Read(d, block, "mappings", keys[to]{
		schema.On("destination", schema.Text(func(t *to) *string { return &t.Subject }), "dest"),
		schema.On("weight", percent(func(t *to) *int { return &t.Weight })),
		schema.On("cluster", schema.Text(func(t *to) *string { return &t.Cluster })),
	}, &dest)
	if dest.Subject == "" {
		d.Report.Errorf(v.Pos, "a mapping needs a destination")
	}
	if dest.Weight < 0 {
		d.Report.Errorf(v.Pos, "a destination needs a weight: how many percent of the messages go to it")
		dest.Weight = 0
	}
	m.Destinations = append(m.Destinations, dest)
}

func exports(d *schema.Decoder, v *conf.Value, a *Account) {
	type x = Export
	schema.Items(false, func(d *schema.Decoder, v *conf.Value, a *Account) {
		m := d.Map(v)
		if m == nil {
			return
		}
		e := x{Pos: v.Pos, Public: true}
		said := serviceOnly{}
		schema.Read(d, m, "exports", exportKeys(&said), &e)
		if e.Kind == 0 {
			d.Report.Errorf(v.Pos, "an export is of a stream or of a service")
			return
		}
		said.check(d, e.Kind)
		a.Exports = append(a.Exports, e)
	})(d, v, a)
}

// serviceOnly remembers the keys that only services have.
type serviceOnly struct {
	at   []Pos
	name []string
}

func (s *serviceOnly) on(name string, v *conf.Value) {
	s.at, s.name = append(s.at, v.Pos), append(s.name, name)
}

func (s *serviceOnly) check(d *schema.Decoder, kind ExportKind) {
	for i, at := range s.at {
		if kind != Service {
			d.Report.Errorf(at, "%s is for services only", s.name[i])
		}
	}
}

func exportKeys(said *serviceOnly) keys[Export] {
	type x = Export
	of := func(kind ExportKind) schema.Reader[x] {
		return func(d *schema.Decoder, v *conf.Value, e *x) {
			s, ok := d.String(v)
			if ok && e.Kind != 0 {
				d.Report.ValueErrorf(v, "an export is of a stream or of a service, not of both")
			}
			e.Kind, e.Subject = kind, s
		}
	}
	return keys[x]{
		schema.On("stream", of(Stream)),
		schema.On("service", of(Service)),
		schema.On("accounts", func(d *schema.Decoder, v *conf.Value, e *x) {
			schema.List(func(e *x) *[]string { return &e.Accounts })(d, v, e)
			e.Public = false
		}),
		schema.On("response_type", func(d *schema.Decoder, v *conf.Value, e *x) {
			said.on("response_type", v)
			s, ok := d.String(v)
			switch strings.ToLower(s) {
			case "single", "singleton":
				e.ResponseType = Singleton
			case "stream":
				e.ResponseType = Streamed
			case "chunk", "chunked":
				e.ResponseType = Chunked
			default:
				if ok {
					d.Wrong(v, "singleton, stream or chunked")
				}
			}
		}, "response"),
		schema.On("response_threshold", func(d *schema.Decoder, v *conf.Value, e *x) {
			said.on("response_threshold", v)
			schema.Unit(func(e *x) *time.Duration { return &e.ResponseThreshold })(d, v, e)
		}, "threshold", "response_max_time", "response_time"),
		schema.On("latency", func(d *schema.Decoder, v *conf.Value, e *x) {
			said.on("latency", v)
			e.Latency = latency(d, v)
		}),
		schema.On("account_token_position", schema.Int(func(e *x) *int { return &e.TokenPosition }, 0, sizeMax)),
		schema.On("allow_trace", func(d *schema.Decoder, v *conf.Value, e *x) {
			said.on("allow_trace", v)
			schema.Switch(func(e *x) *bool { return &e.AllowTrace })(d, v, e)
		}),
	}
}

func latency(d *schema.Decoder, v *conf.Value) *Latency {
	type l = Latency
	lat := &l{Pos: v.Pos, Sampling: 100}
	switch v.Kind {
	case conf.String:
		lat.Subject = v.Text
	case conf.Block:
		schema.Read(d, v.Block, "latency", keys[l]{
			schema.On("sampling", func(d *schema.Decoder, v *conf.Value, l *l) {
				if v.Kind == conf.String && strings.EqualFold(v.Text, "headers") {
					l.Sampling = 0
					return
				}
				percent(func(l *Latency) *int { return &l.Sampling })(d, v, l)
				if l.Sampling == 0 { // in Sampling, 0 is headers
					d.Report.ValueErrorf(v, "latency: sampling is from 1%% to 100%%, or headers; without latency nothing is measured")
				}
			}),
			schema.On("subject", schema.Text(func(l *l) *string { return &l.Subject })),
		}, lat)
		if lat.Subject == "" {
			d.Report.Errorf(v.Pos, "latency needs a subject")
		}
	default:
		d.Wrong(v, "a subject or a block")
	}
	return lat
}

func imports(d *schema.Decoder, v *conf.Value, a *Account) {
	type i = Import
	schema.Items(false, func(d *schema.Decoder, v *conf.Value, a *Account) {
		m := d.Map(v)
		if m == nil {
			return
		}
		im := i{Pos: v.Pos}
		var traced *conf.Value
		of := func(kind ExportKind) schema.Reader[i] {
			return func(d *schema.Decoder, v *conf.Value, im *i) {
				if im.Kind != 0 {
					d.Report.ValueErrorf(v, "an import is of a stream or of a service, not of both")
				}
				im.Kind = kind
				if from := d.Map(v); from != nil {
					schema.Read(d, from, "imports", keys[i]{
						schema.On("account", schema.Text(func(im *i) *string { return &im.Account })),
						schema.On("subject", schema.Text(func(im *i) *string { return &im.Subject })),
					}, im)
					if im.Account == "" || im.Subject == "" {
						d.Report.Errorf(v.Pos, "an import needs the account and the subject of the export")
					}
				}
			}
		}
		schema.Read(d, m, "imports", keys[i]{
			schema.On("stream", of(Stream)),
			schema.On("service", of(Service)),
			schema.On("to", schema.Text(func(im *i) *string { return &im.To })),
			schema.On("prefix", schema.Text(func(im *i) *string { return &im.Prefix })),
			schema.On("share", schema.Switch(func(im *i) *bool { return &im.Share })),
			schema.On("allow_trace", func(d *schema.Decoder, v *conf.Value, im *i) {
				traced = v
				schema.Switch(func(im *i) *bool { return &im.AllowTrace })(d, v, im)
			}),
		}, &im)
		if im.Kind == Service && traced != nil {
			d.Report.Errorf(traced.Pos, "allow_trace of an import is for streams only: of a service, its export has it")
		}
		if im.Kind == 0 {
			d.Report.Errorf(v.Pos, "an import is of a stream or of a service")
			return
		}
		a.Imports = append(a.Imports, im)
	})(d, v, a)
}
