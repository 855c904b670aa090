package config

import (
	"strings"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/conf/schema"
)

// resolver reads where account JWTs come from: MEMORY, URL(address), or a block for a directory.
func resolver(d *schema.Decoder, v *conf.Value, c *Config) {
	r := &c.Operators.Resolver
	*r = Resolver{Pos: v.Pos}
	const expected = `MEMORY, URL("address") or a block with a type and a dir`
	switch v.Kind {
	case conf.String:
		upper := strings.ToUpper(v.Text)
		switch {
		case upper == "MEM" || upper == "MEMORY":
			r.Kind = MemoryResolver
		case strings.HasPrefix(upper, "URL(") && strings.HasSuffix(v.Text, ")"):
			r.Kind, r.URL = URLResolver, strings.Trim(v.Text[len("URL("):len(v.Text)-1], ` "'`)
		default:
			d.Wrong(v, expected)
		}
	case conf.Block:
		directory(d, v, r)
	default:
		d.Wrong(v, expected)
	}
}

// directory reads the block of a resolver that keeps JWTs in a directory.
func directory(d *schema.Decoder, v *conf.Value, r *Resolver) {
	type res = Resolver
	kind := ""
	schema.Read(d, v.Block, "resolver", keys[res]{
		schema.On("type", schema.OneOf(func(*res) *string { return &kind }, "full", "cache", "mem", "memory")),
		schema.On("dir", schema.Text(func(r *res) *string { return &r.Dir })),
		schema.On("allow_delete", schema.Switch(func(r *res) *bool { return &r.AllowDelete })),
		schema.On("hard_delete", schema.Switch(func(r *res) *bool { return &r.HardDelete })),
		schema.On("interval", schema.Unit(func(r *res) *time.Duration { return &r.Interval })),
		schema.On("timeout", schema.Unit(func(r *res) *time.Duration { return &r.Timeout })),
		schema.On("limit", count(func(r *res) *int { return &r.Limit })),
		schema.On("ttl", schema.Unit(func(r *res) *time.Duration { return &r.TTL })),
	}, r)
	refuse := func(said bool, key string) {
		if said {
			d.Report.Errorf(v.Pos, "%s is not for a resolver of type %s", key, kind)
		}
	}
	switch kind {
	case "full":
		r.Kind = FullResolver
		refuse(r.TTL != 0, "ttl")
		if r.HardDelete && !r.AllowDelete {
			d.Report.Errorf(v.Pos, "hard_delete has no effect without allow_delete")
		}
	case "cache":
		r.Kind = CacheResolver
		refuse(r.Interval != 0, "interval")
		refuse(r.AllowDelete, "allow_delete")
		refuse(r.HardDelete, "hard_delete")
	case "mem", "memory":
		r.Kind = MemoryResolver
	default:
		d.Report.Errorf(v.Pos, "a resolver needs a type: full or cache")
		return
	}
	if r.Dir == "" && r.Kind != MemoryResolver {
		d.Report.Errorf(v.Pos, "a resolver of type %s needs a dir", kind)
	}
}
