package schema

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/natsd/natsd/conf"
)

// Wrong reports that v is not what was expected.
func (d *Decoder) Wrong(v *conf.Value, expected string) {
	hint := ""
	if strings.HasPrefix(expected, "a string") && (v.Kind == conf.Integer || v.Kind == conf.Float || v.Kind == conf.Bool || v.Kind == conf.Date) {
		hint = `: put it in quotes: "` + v.Text + `"`
	}
	d.Report.ValueErrorf(v, "expected %s, found %s%s", expected, v.Found(), hint)
}

// String reads a string.
func (d *Decoder) String(v *conf.Value) (string, bool) {
	if v.Kind != conf.String {
		d.Wrong(v, "a string")
		return "", false
	}
	return v.Text, true
}

// Text reads a string.
func Text[T any](field func(*T) *string) Reader[T] {
	return func(d *Decoder, v *conf.Value, to *T) {
		if s, ok := d.String(v); ok {
			*field(to) = s
		}
	}
}

// OneOf reads one of a few words, in any letter case.
func OneOf[T any](field func(*T) *string, words ...string) Reader[T] {
	return func(d *Decoder, v *conf.Value, to *T) {
		if v.Kind == conf.String {
			for _, w := range words {
				if strings.EqualFold(v.Text, w) {
					*field(to) = w
					return
				}
			}
		}
		d.Wrong(v, strings.Join(words, ", "))
	}
}

// Strings are the strings of an array, or a single one.
func (d *Decoder) Strings(v *conf.Value) []conf.Value {
	if v.Kind == conf.String {
		return []conf.Value{*v}
	}
	if v.Kind != conf.Array {
		d.Wrong(v, "a string or an array of strings")
		return nil
	}
	all := make([]conf.Value, 0, len(v.Array))
	for i := range v.Array {
		if _, ok := d.String(&v.Array[i]); ok {
			all = append(all, v.Array[i])
		}
	}
	return all
}

// List reads an array of strings, or a single string.
func List[T any](field func(*T) *[]string) Reader[T] {
	return func(d *Decoder, v *conf.Value, to *T) {
		all := []string{}
		for _, s := range d.Strings(v) {
			all = append(all, s.Text)
		}
		*field(to) = all
	}
}

// Array reads an array of strings; a single string is refused.
func Array[T any](field func(*T) *[]string) Reader[T] {
	list := List(field)
	return func(d *Decoder, v *conf.Value, to *T) {
		if v.Kind != conf.Array {
			d.Wrong(v, "an array of strings")
			return
		}
		list(d, v, to)
	}
}

// Switch reads true or false.
func Switch[T any](field func(*T) *bool) Reader[T] {
	return func(d *Decoder, v *conf.Value, to *T) {
		if v.Kind != conf.Bool {
			d.Wrong(v, "true or false")
			return
		}
		*field(to) = v.Bool
	}
}

// Int64 reads an integer in a range.
func (d *Decoder) Int64(v *conf.Value, least, most int64) (int64, bool) {
	if v.Kind != conf.Integer {
		d.Wrong(v, "an integer")
		return 0, false
	}
	if v.Int < least || v.Int > most {
		d.Report.ValueErrorf(v, "%s is out of range: from %d to %d", v.Text, least, most)
		return 0, false
	}
	return v.Int, true
}

// Int reads an integer in a range.
func Int[T any](field func(*T) *int, least, most int64) Reader[T] {
	return func(d *Decoder, v *conf.Value, to *T) {
		if n, ok := d.Int64(v, least, most); ok {
			*field(to) = int(n)
		}
	}
}

// Size reads a number of bytes; with text, a string such as "10G" is one too.
func Size[T any](field func(*T) *int64, text bool) Reader[T] {
	return func(d *Decoder, v *conf.Value, to *T) {
		if text && v.Kind == conf.String {
			if n, ok := sizeText(v.Text); ok {
				*field(to) = n
				return
			}
			d.Wrong(v, `a size such as 10GB or "10G"`)
			return
		}
		if n, ok := d.Int64(v, math.MinInt64, math.MaxInt64); ok {
			*field(to) = n
		}
	}
}

// sizeText reads digits and one of K, M, G, T: powers of 1024.
func sizeText(s string) (int64, bool) {
	if s == "" {
		return 0, true
	}
	unit := strings.IndexByte("KMGT", s[len(s)-1])
	n, err := strconv.ParseInt(s[:len(s)-1], 10, 64)
	if unit < 0 || err != nil || n > math.MaxInt64>>(10*(unit+1)) || n < math.MinInt64>>(10*(unit+1)) {
		return 0, false
	}
	return n << (10 * (unit + 1)), true
}

// Span reads a duration with its unit: "10s", "1m30s". A bare number is taken as seconds, and doubted: natsd -t refuses it.
func (d *Decoder) Span(v *conf.Value) (time.Duration, bool) {
	const expected = `a duration such as "10s" or "2m"`
	switch v.Kind {
	case conf.String:
		if span, err := time.ParseDuration(v.Text); err == nil {
			return span, true
		}
	case conf.Integer:
		if strings.Trim(v.Text, "-0123456789") != "" {
			d.Report.ValueErrorf(v, "expected %s, found the integer %d: put it in quotes: %q", expected, v.Int, v.Text)
			return 0, false
		}
		if span, ok := seconds(v.Text); ok {
			d.Report.Doubtf(v, "a duration needs a unit: %s is taken as %q", v.Text, v.Text+"s")
			return span, true
		}
	case conf.Missing, conf.Float, conf.Bool, conf.Date, conf.Array, conf.Block:
	}
	d.Wrong(v, expected)
	return 0, false
}

// Duration reads a duration with its unit.
func Duration[T any](field func(*T) *time.Duration) Reader[T] {
	return func(d *Decoder, v *conf.Value, to *T) {
		if span, ok := d.Span(v); ok {
			*field(to) = span
		}
	}
}

// Unit reads a duration that is always a string with its unit; a bare number is refused.
func Unit[T any](field func(*T) *time.Duration) Reader[T] {
	read := Duration(field)
	return func(d *Decoder, v *conf.Value, to *T) {
		if v.Kind != conf.String {
			d.Wrong(v, `a duration such as "10s" or "2m"`)
			return
		}
		read(d, v, to)
	}
}

// Seconds reads a number of seconds, with or without a point, or a duration with its unit.
func Seconds[T any](field func(*T) *time.Duration) Reader[T] {
	return func(d *Decoder, v *conf.Value, to *T) {
		span, ok := time.Duration(0), false
		switch v.Kind {
		case conf.String:
			var err error
			span, err = time.ParseDuration(v.Text)
			ok = err == nil
		case conf.Integer:
			if ok = v.Int >= math.MinInt64/int64(time.Second) && v.Int <= math.MaxInt64/int64(time.Second); ok {
				span = time.Duration(v.Int) * time.Second
			}
		case conf.Float:
			span, ok = seconds(v.Text)
		case conf.Missing, conf.Bool, conf.Date, conf.Array, conf.Block:
		}
		if !ok {
			d.Wrong(v, `a number of seconds, or a duration such as "10s" or "2m"`)
			return
		}
		*field(to) = span
	}
}

func seconds(text string) (time.Duration, bool) {
	span, err := time.ParseDuration(text + "s")
	return span, err == nil
}
