package conf

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Digest is the fingerprint of a configuration: "sha256:" and the hash of its values as JSON, keys in order, variables and
// includes resolved. It is the one that nats-server prints with -t.
func Digest(m *Map) string {
	sum := sha256.Sum256(append(appendBlock(nil, m), '\n'))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// appendBlock writes a block as a JSON object; of a key that occurs several times the last value counts.
func appendBlock(b []byte, m *Map) []byte {
	order := make([]int, len(m.Entries))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		if a, b := m.Entries[x].Key, m.Entries[y].Key; a != b {
			if a < b {
				return -1
			}
			return 1
		}
		return x - y
	})
	b = append(b, '{')
	first := true
	for i, at := range order {
		e := &m.Entries[at]
		if i+1 < len(order) && m.Entries[order[i+1]].Key == e.Key {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendString(b, e.Key)
		b = append(b, ':')
		b = appendValue(b, &e.Value)
	}
	return append(b, '}')
}

func appendValue(b []byte, v *Value) []byte {
	switch v.Kind {
	case Missing:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, v.Bool)
	case Integer:
		return strconv.AppendInt(b, v.Int, 10)
	case Float:
		return appendFloat(b, v.Text)
	case Block:
		return appendBlock(b, v.Block)
	case Array:
		b = append(b, '[')
		for i := range v.Array {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, &v.Array[i])
		}
		return append(b, ']')
	case String, Date:
	}
	return appendString(b, v.Text)
}

// appendFloat writes a number as JSON does: the shortest text that reads back as the same, with an exponent where it is very
// small or large.
func appendFloat(b []byte, text string) []byte {
	n, err := strconv.ParseFloat(text, 64) //natsd:float only for its text
	if err != nil {
		return append(b, "null"...)
	}
	form := byte('f')
	if n != 0 && (n < 1e-6 && n > -1e-6 || n >= 1e21 || n <= -1e21) { //natsd:float only for its text
		form = 'e'
	}
	b = strconv.AppendFloat(b, n, form, -1, 64) //natsd:float only for its text
	if l := len(b); form == 'e' && l >= 4 && b[l-4] == 'e' && b[l-3] == '-' && b[l-2] == '0' {
		b[l-2] = b[l-1] // e-09 is e-9
		b = b[:l-1]
	}
	return b
}

// appendString writes a JSON string, with what is special in HTML escaped too.
func appendString(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				b = append(b, `\ufffd`...)
			case r == '\u2028' || r == '\u2029':
				b = append(b, `\u202`...)
				b = append(b, hexDigits[r&0xF])
			default:
				b = append(b, s[i:i+n]...)
			}
			i += n
			continue
		}
		i++
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\b':
			b = append(b, `\b`...)
		case c == '\f':
			b = append(b, `\f`...)
		case c < ' ' || c == '<' || c == '>' || c == '&':
			b = append(b, `\u00`...)
			b = append(b, hexDigits[c>>4], hexDigits[c&0xF])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
