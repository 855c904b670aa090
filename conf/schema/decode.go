package schema

import (
	"strings"

	"github.com/natsd/natsd/conf"
)

// Decoder reads blocks.
type Decoder struct {
	Report *conf.Report

	path   string
	places map[string]conf.Pos
}

// NewDecoder returns a decoder that reports to rep.
func NewDecoder(rep *conf.Report) *Decoder {
	return &Decoder{Report: rep, places: make(map[string]conf.Pos)}
}

// Places returns where each key stands that was read: "port", "cluster.tls.ca_file". Keys have their first names, in lower
// case; those in arrays are not among them.
func (d *Decoder) Places() map[string]conf.Pos { return d.places }

// Reader reads a value into a T.
type Reader[T any] func(d *Decoder, v *conf.Value, to *T)

// Key is one key of a block.
type Key[T any] struct {
	Name string
	Also []string // synonyms
	Read Reader[T]
}

// On makes a Key.
func On[T any](name string, read Reader[T], also ...string) Key[T] {
	return Key[T]{Name: name, Also: also, Read: read}
}

// Read reads the entries of m into to. where names the block in messages: "in cluster"; "" is the top level.
func Read[T any](d *Decoder, m *conf.Map, where string, keys []Key[T], to *T) {
	seen := make([]*conf.Entry, len(keys))
	for i := range m.Entries {
		e := &m.Entries[i]
		name := strings.ToLower(e.Key)
		at := find(keys, name)
		if at < 0 {
			if !e.Used { // else it is there to be named as a variable
				d.unknown(e, where, names(keys))
			}
			continue
		}
		// A used one may be there as a variable: PORT = 4222, port: $PORT.
		if old := seen[at]; old != nil && old.Key != e.Key && !old.Used {
			d.Report.Warnf(e.Pos, "%q sets what %q at %s has set: this one counts", e.Key, old.Key, old.Pos)
		}
		seen[at] = e
	}
	// Of a key that occurs several times only the last one is read, so that what the others said does not remain.
	for i := range m.Entries {
		e := &m.Entries[i]
		at := find(keys, strings.ToLower(e.Key))
		if at < 0 || seen[at] != e || e.Value.Kind == conf.Missing {
			continue
		}
		outer := d.path
		d.path = strings.TrimPrefix(outer+"."+keys[at].Name, ".")
		if _, there := d.places[d.path]; !there {
			d.places[d.path] = e.Pos
		}
		keys[at].Read(d, &e.Value, to)
		d.path = outer
	}
}

func find[T any](keys []Key[T], name string) int {
	for i := range keys {
		if keys[i].Name == name {
			return i
		}
		for _, also := range keys[i].Also {
			if also == name {
				return i
			}
		}
	}
	return -1
}

func names[T any](keys []Key[T]) []string {
	var all []string
	for i := range keys {
		all = append(append(all, keys[i].Name), keys[i].Also...)
	}
	return all
}

func (d *Decoder) unknown(e *conf.Entry, where string, known []string) {
	if where != "" {
		where = " in " + where
	}
	if near := Nearest(strings.ToLower(e.Key), known); near != "" {
		d.Report.Errorf(e.Pos, "unknown key %q%s: did you mean %q?", e.Key, where, near)
		return
	}
	d.Report.Errorf(e.Pos, "unknown key %q%s", e.Key, where)
}
