package config

import (
	"strings"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/conf/schema"
	"github.com/natsd/natsd/subject"
)

// permissions reads what may be published and subscribed to. Between servers the same is called import and export.
func permissions[T any](field func(*T) **Permissions) schema.Reader[T] {
	type p = Permissions
	return block(field, "permissions", func() keys[p] {
		return keys[p]{
			schema.On("publish", subjectPermission(func(p *p) **SubjectPermission { return &p.Publish }, false), "pub", "import"),
			schema.On("subscribe", subjectPermission(func(p *p) **SubjectPermission { return &p.Subscribe }, true), "sub", "export"),
			schema.On("allow_responses", allowResponses, "publish_allow_responses"),
		}
	}, func(p *p) *Pos { return &p.Pos })
}

// subjectPermission reads a subject, an array of subjects that are allowed, or a block with allow and deny.
func subjectPermission[T any](field func(*T) **SubjectPermission, queues bool) schema.Reader[T] {
	type s = SubjectPermission
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		p := &s{Pos: v.Pos}
		*field(to) = p
		if v.Kind != conf.Block {
			p.Allow = subjects(d, v, queues)
			return
		}
		schema.Read(d, v.Block, "permissions", keys[s]{
			schema.On("allow", func(d *schema.Decoder, v *conf.Value, p *s) { p.Allow = subjects(d, v, queues) }),
			schema.On("deny", func(d *schema.Decoder, v *conf.Value, p *s) { p.Deny = subjects(d, v, queues) }),
		}, p)
	}
}

// subjects reads patterns; with queues, "subject queue" names a queue group or a pattern of them too. The result is never nil.
func subjects(d *schema.Decoder, v *conf.Value, queues bool) []Subject {
	all := []Subject{}
	for _, s := range d.Strings(v) {
		text, queue := s.Text, ""
		if fields := strings.Fields(text); queues && len(fields) == 2 {
			text, queue = fields[0], fields[1]
		}
		if !subject.ValidPattern(text) || queue != "" && !subject.ValidPattern(queue) {
			d.Report.ValueErrorf(&s, "%q is no subject", s.Text)
			continue
		}
		all = append(all, Subject{Pos: s.Pos, Text: text, Queue: queue})
	}
	return all
}

// allowResponses reads true, or a block with the bounds.
func allowResponses(d *schema.Decoder, v *conf.Value, p *Permissions) {
	type r = ResponsePermission
	if v.Kind == conf.Bool {
		if v.Bool {
			p.AllowResponses = &r{Pos: v.Pos}
		}
		return
	}
	if v.Kind != conf.Block {
		d.Wrong(v, "true, false or a block")
		return
	}
	p.AllowResponses = &r{Pos: v.Pos}
	schema.Read(d, v.Block, "allow_responses", keys[r]{
		schema.On("max", count(func(r *r) *int { return &r.Max }), "max_msgs", "max_messages", "max_responses"),
		schema.On("expires", schema.Unit(func(r *r) *time.Duration { return &r.Expires }), "expiration", "ttl"),
	}, p.AllowResponses)
}
