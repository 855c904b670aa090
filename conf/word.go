package conf

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// word reads a value without quotes and gives it its kind.
func (p *parser) word(v Value, sc *scope) (Value, bool) {
	switch c := p.peek(); {
	case c == '-':
		return p.negative(v)
	case isDigit(c):
		return p.number(v)
	case c == '.':
		return v, p.fail(v.Pos, "a number begins with a digit, not with a point; put text that begins with a point in quotes")
	}
	text, ok := p.bare("")
	if !ok {
		return v, false
	}
	if text != "" && text[0] == '$' && !bcryptWord(text) {
		return p.variable(v, text[1:], sc)
	}
	v.Kind, v.Text = String, text
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		v.Kind, v.Bool = Bool, true
	case "false", "no", "off":
		v.Kind = Bool
	}
	return v, true
}

// bcryptWord reports whether a word that begins with a dollar sign is a bcrypt hash, and names no variable.
func bcryptWord(text string) bool { return strings.HasPrefix(text, "$2a$") }

// bare reads the rest of a word: up to white space, a separator or a closing bracket. Escapes are as in double quotes. before
// is what was read of it already.
func (p *parser) bare(before string) (string, bool) {
	var b strings.Builder
	b.WriteString(before)
	ok := true
	for !p.end() {
		switch c := p.peek(); c {
		case ' ', '\t', '\r', '\n', ',', ';', '}', ']':
			return b.String(), ok
		case '\\':
			p.next()
			ok = p.escape(&b) && ok
		case '\'':
			return "", p.fail(p.pos, "a single quote within a word: put the whole value in double quotes")
		case 0:
			return "", p.fail(p.pos, "a zero byte")
		default:
			for range p.function() - 1 {
				b.WriteByte(p.next())
			}
			b.WriteByte(p.next())
		}
	}
	return b.String(), ok
}

// function is the length of a mapping's function that comes next, {{wildcard(1)}}, or 0. Its braces are part of the word.
func (p *parser) function() int {
	rest := p.text[p.at:]
	if !strings.HasPrefix(rest, "{{") {
		return 0
	}
	end := strings.Index(rest, "}}")
	if end < 0 || strings.ContainsAny(rest[:end], " \t\r\n'\\") {
		return 0
	}
	return end + len("}}")
}

// digits passes over digits and returns them.
func (p *parser) digits() string {
	start := p.at
	for isDigit(p.peek()) {
		p.next()
	}
	return p.text[start:p.at]
}

const units = "kKmMgGtTpPeE"

// number reads what begins with a digit: an integer, perhaps with a unit, a number, an address, a date, or text.
func (p *parser) number(v Value) (Value, bool) {
	digits := p.digits()
	switch c := p.peek(); {
	case p.end(), isSpace(c) && c != '\v' && c != '\f', strings.IndexByte(",;}]", c) >= 0:
		return p.integer(v, digits)
	case c == '.':
		return p.decimal(v, digits)
	case c == '-':
		return p.date(v, digits)
	case strings.IndexByte(units, c) >= 0:
		return p.measure(v, digits)
	default: // text, whatever its first character is: 3secret
		text, ok := p.bare(digits + string([]byte{p.next()}))
		v.Kind, v.Text = String, text
		return v, ok
	}
}

func (p *parser) negative(v Value) (Value, bool) {
	p.next()
	if !isDigit(p.peek()) {
		return v, p.fail(v.Pos, "expected a number after -, found %q; put text that begins with - in quotes", p.rest())
	}
	digits := "-" + p.digits()
	switch c := p.peek(); {
	case c == '.':
		return p.decimal(v, digits)
	case !p.end() && strings.IndexByte(units, c) >= 0:
		return p.measure(v, digits)
	}
	return p.integer(v, digits)
}

// measure reads the unit behind an integer. What turns out not to be one makes all of it text: 1m30s.
func (p *parser) measure(v Value, digits string) (Value, bool) {
	text, ok := p.bare(digits)
	if !ok {
		return v, false
	}
	unit := strings.ToLower(text[len(digits):])
	base := int64(0)
	switch unit[1:] {
	case "":
		base = 1000
	case "b", "i", "ib":
		base = 1024
	default:
		v.Kind, v.Text = String, text
		return v, true
	}
	if v, ok = p.integer(v, digits); !ok {
		return v, false
	}
	v.Text = text
	for range strings.IndexByte("kmgtpe", unit[0]) + 1 {
		if v.Int > math.MaxInt64/base || v.Int < math.MinInt64/base {
			return v, p.fail(v.Pos, "%s is out of range: integers have 64 bits", text)
		}
		v.Int *= base
	}
	return v, true
}

func (p *parser) integer(v Value, digits string) (Value, bool) {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return v, p.fail(v.Pos, "%s is out of range: integers have 64 bits", digits)
	}
	v.Kind, v.Int, v.Text = Integer, n, digits
	return v, true
}

// decimal reads a number with a point, or with the second point an address: 127.0.0.1:4222.
func (p *parser) decimal(v Value, before string) (Value, bool) {
	start := p.at - len(before)
	p.next()
	if p.digits() == "" {
		return v, p.fail(v.Pos, "expected a digit after the point, found %q; put text in quotes", p.rest())
	}
	v.Kind = Float
	if p.peek() == '.' {
		v.Kind = String
		for c := p.peek(); isDigit(c) || c == '.' || c == ':' || c == '-'; c = p.peek() {
			p.next()
		}
	}
	v.Text = p.text[start:p.at]
	return v, true
}

// date reads the rest of a date in the one form that there is: 2006-01-02T15:04:05Z.
func (p *parser) date(v Value, year string) (Value, bool) {
	const form = "2006-01-02T15:04:05Z"
	start := p.at - len(year)
	if len(year) == len("2006") && start+len(form) <= len(p.text) {
		text := p.text[start : start+len(form)]
		if _, err := time.Parse(form, text); err == nil {
			p.skipTo(start + len(form))
			v.Kind, v.Text = Date, text
			return v, true
		}
	}
	return v, p.fail(v.Pos, "expected a date such as %s; put text in quotes", form)
}
