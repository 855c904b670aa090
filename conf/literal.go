package conf

import (
	"strconv"
	"strings"
)

// value reads a value of any kind.
func (p *parser) value(sc *scope, depth int) (Value, bool) {
	v := Value{Pos: p.pos, nodes: 1}
	if p.nodes++; p.nodes > nodesMax {
		p.at = len(p.text)
		return v, p.fail(v.Pos, "the configuration has more than %d values", nodesMax)
	}
	switch c := p.peek(); {
	case p.end(), c == ',', c == ';', c == '}', c == ']':
		return v, p.fail(v.Pos, "a value is missing")
	case c == '{' || c == '[':
		if depth >= depthMax {
			p.at = len(p.text)
			return v, p.fail(v.Pos, "blocks and arrays are nested more than %d deep", depthMax)
		}
		p.next()
		if c == '[' {
			return p.array(v, sc, depth+1)
		}
		v.Kind, v.Block = Block, p.block(v.Pos, sc, depth+1)
		for i := range v.Block.Entries {
			v.nodes += v.Block.Entries[i].Value.nodes
		}
		return v, true
	case c == '"' || c == '\'':
		s, ok := p.quoted()
		v.Kind, v.Text = String, s
		return v, ok
	case c == '(':
		s, ok := p.long()
		v.Kind, v.Text = String, s
		return v, ok
	}
	return p.word(v, sc)
}

func (p *parser) array(v Value, sc *scope, depth int) (Value, bool) {
	v.Kind = Array
	for {
		p.skip(true)
		switch c := p.peek(); {
		case p.end():
			return v, p.fail(v.Pos, "the array that begins here does not end: ] is missing")
		case c == ']':
			p.next()
			return v, true
		case c == ',':
			return v, p.fail(p.pos, "expected an item of the array, found %q", p.rest())
		}
		item, ok := p.value(sc, depth)
		if !ok || !p.separator(true) {
			return v, false
		}
		v.nodes += item.nodes
		v.Array = append(v.Array, item)
	}
}

// quoted reads a string in quotes; backslash escapes count in double quotes only.
func (p *parser) quoted() (string, bool) {
	start := p.pos
	q := p.next()
	var b strings.Builder
	ok := true
	for !p.end() {
		c := p.next()
		switch {
		case c == q:
			return b.String(), ok
		case c == '\\' && q == '"':
			ok = p.escape(&b) && ok
		default:
			b.WriteByte(c)
		}
	}
	return "", p.fail(start, "the string that begins here does not end")
}

// escape reads what follows a backslash.
func (p *parser) escape(b *strings.Builder) bool {
	at := p.pos
	if p.end() {
		return p.fail(at, "the file ends behind a backslash")
	}
	switch c := p.next(); c {
	case 't':
		b.WriteByte('\t')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case '"', '\\':
		b.WriteByte(c)
	case 'x':
		const digits = 2
		if p.at+digits <= len(p.text) {
			if n, err := strconv.ParseUint(p.text[p.at:p.at+digits], 16, 8); err == nil {
				p.skipTo(p.at + digits)
				b.WriteByte(byte(n))
				return true
			}
		}
		return p.fail(at, `\x needs two hexadecimal digits`)
	default:
		return p.fail(at, `unknown escape \%s: there are \t \n \r \" \\ and \x with two hexadecimal digits; in single quotes a backslash is itself`,
			strings.ToValidUTF8(string(rune(c)), "?"))
	}
	return true
}

// long reads a block string: all between "(" and a line that is nothing but ")".
func (p *parser) long() (string, bool) {
	start := p.pos
	p.next()
	from := p.at
	if i := strings.Index(p.text[from:]+"\n", "\n)\n"); i >= 0 {
		p.skipTo(from + i + len("\n)"))
		return p.text[from : from+i+1], true
	}
	p.at = len(p.text)
	return "", p.fail(start, "the block string that begins here does not end: a line with ) alone is missing")
}
