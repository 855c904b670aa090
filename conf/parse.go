package conf

import (
	"errors"
	"strconv"
	"strings"
)

// Reader reads configuration files.
type Reader struct {
	// Read returns the content of a file. name is as written in an include, joined to the including file's folder by Join.
	Read func(name string) ([]byte, error)
	// Join returns the name of a file that the file from includes.
	Join func(from, name string) string
	// Env returns an environment variable, for variables that no file defines.
	Env func(name string) (string, bool)
}

// includeMax bounds the depth of includes.
const includeMax = 16

// Parse reads a file and what it includes. What is wrong with the text is an *Error; a file that can't be read is what Read
// returned.
func (r *Reader) Parse(name string) (*Map, error) { return r.file(name, nil, nil) }

func (r *Reader) file(name string, from []string, scope *scope) (*Map, error) {
	for _, f := range from {
		if f == name {
			return nil, Errorf(Pos{name, 1, 1}, "the file includes itself: %s", strings.Join(append(from, name), " → "))
		}
	}
	if len(from) >= includeMax {
		return nil, Errorf(Pos{name, 1, 1}, "includes are nested more than %d deep", includeMax)
	}
	text, err := r.Read(name)
	if err != nil {
		return nil, err
	}
	p := &parser{r: r, text: string(text), pos: Pos{name, 1, 1}, from: append(append([]string(nil), from...), name)}
	return p.whole(scope)
}

// scope is where variables are looked up: the entries before, then those of the blocks around.
type scope struct {
	m      *Map
	parent *scope
}

func (s *scope) find(name string) (Value, bool) {
	for ; s != nil; s = s.parent {
		for i := len(s.m.Entries) - 1; i >= 0; i-- {
			if e := &s.m.Entries[i]; e.Key == name {
				e.Used = true
				return e.Value, true
			}
		}
	}
	return Value{}, false
}

type parser struct {
	r    *Reader
	text string
	at   int
	pos  Pos
	from []string // the files being read, outermost first
}

func (p *parser) peek() byte {
	if p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) next() byte {
	c := p.peek()
	p.at++
	if c == '\n' {
		p.pos.Line++
		p.pos.Col = 1
	} else {
		p.pos.Col++
	}
	return c
}

func (p *parser) end() bool { return p.at >= len(p.text) }

// skip passes over blanks and comments, and newlines and separators too where lines says so.
func (p *parser) skip(lines bool) {
	for !p.end() {
		c := p.peek()
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			p.next()
		case lines && (c == '\n' || c == ',' || c == ';'):
			p.next()
		case c == '#' || c == '/' && strings.HasPrefix(p.text[p.at:], "//"):
			for !p.end() && p.peek() != '\n' {
				p.next()
			}
		default:
			return
		}
	}
}

// depthMax bounds how deep blocks and arrays are nested.
const depthMax = 64

// whole reads a file: entries, or the same in braces, which makes JSON a configuration too.
func (p *parser) whole(outer *scope) (*Map, error) {
	p.skip(true)
	if p.peek() != '{' {
		return p.block(outer, 0)
	}
	p.next()
	m, err := p.block(outer, 1)
	if err != nil {
		return nil, err
	}
	if p.skip(true); !p.end() {
		return nil, Errorf(p.pos, "the file's block has ended, but there is more: %q", rest(p.text[p.at:]))
	}
	return m, nil
}

// block reads entries up to the closing brace, or to the end of the file at depth 0.
func (p *parser) block(outer *scope, depth int) (*Map, error) {
	if depth > depthMax {
		return nil, Errorf(p.pos, "blocks are nested more than %d deep", depthMax)
	}
	m := &Map{}
	sc := &scope{m: m, parent: outer}
	for {
		p.skip(true)
		if p.end() {
			if depth > 0 {
				return nil, Errorf(p.pos, "the file ends inside a block: } is missing")
			}
			return m, nil
		}
		if p.peek() == '}' {
			if depth == 0 {
				return nil, Errorf(p.pos, "} without {")
			}
			p.next()
			return m, nil
		}
		pos := p.pos
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		p.skip(false)
		if key == "include" && p.peek() != ':' && p.peek() != '=' {
			if err := p.include(sc); err != nil {
				return nil, err
			}
			continue
		}
		if c := p.peek(); c == ':' || c == '=' {
			p.next()
			p.skip(false)
			for p.peek() == '\n' { // a value may stand on the next line
				p.next()
				p.skip(false)
			}
		}
		v, err := p.value(sc, depth)
		if err != nil {
			return nil, err
		}
		m.Entries = append(m.Entries, Entry{Pos: pos, Key: key, Value: v})
		if err := p.separator(); err != nil {
			return nil, err
		}
	}
}

func (p *parser) separator() error {
	p.skip(false)
	if c := p.peek(); p.end() || c == '\n' || c == ',' || c == ';' || c == '}' || c == ']' {
		return nil
	}
	return Errorf(p.pos, "expected the end of the line after the value, found %q", rest(p.text[p.at:]))
}

func rest(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if len(s) > 20 {
		s = s[:20] + "…"
	}
	return s
}

func (p *parser) key() (string, error) {
	if c := p.peek(); c == '"' || c == '\'' {
		return p.quoted()
	}
	start := p.at
	for !p.end() {
		c := p.peek()
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ':' || c == '=' || c == '{' || c == '}' || c == '[' {
			break
		}
		p.next()
	}
	if p.at == start {
		return "", Errorf(p.pos, "expected a key, found %q", rest(p.text[p.at:]))
	}
	return p.text[start:p.at], nil
}

func (p *parser) include(sc *scope) error {
	pos := p.pos
	var name string
	var err error
	if c := p.peek(); c == '"' || c == '\'' {
		name, err = p.quoted()
	} else {
		name = p.bare()
	}
	if err != nil {
		return err
	}
	if name == "" {
		return Errorf(pos, "include needs the name of a file")
	}
	in, err := p.r.file(p.r.Join(p.pos.File, name), p.from, sc)
	if err != nil {
		if ours := (*Error)(nil); errors.As(err, &ours) {
			return err
		}
		return Errorf(pos, "the file %q can't be included: %v", name, err)
	}
	sc.m.Entries = append(sc.m.Entries, in.Entries...)
	return p.separator()
}

func (p *parser) value(sc *scope, depth int) (Value, error) {
	v := Value{Pos: p.pos}
	switch c := p.peek(); {
	case c == '{':
		p.next()
		m, err := p.block(sc, depth+1)
		v.Kind, v.Block = Block, m
		return v, err
	case c == '[':
		p.next()
		return p.array(v, sc, depth)
	case c == '"' || c == '\'':
		s, err := p.quoted()
		v.Kind, v.Text = String, s
		return v, err
	}
	word := p.bare()
	if word == "" {
		return v, Errorf(v.Pos, "a value is missing")
	}
	if name, ok := strings.CutPrefix(word, "$"); ok && !isBcrypt(word) {
		return p.variable(v, name, sc)
	}
	return scalar(v, word), nil
}

// isBcrypt tells a password hash from a variable: $2a$10$….
func isBcrypt(word string) bool {
	return strings.HasPrefix(word, "$2") && strings.Count(word, "$") >= 3
}

func (p *parser) array(v Value, sc *scope, depth int) (Value, error) {
	v.Kind = Array
	if depth > depthMax {
		return v, Errorf(v.Pos, "arrays are nested more than %d deep", depthMax)
	}
	for {
		p.skip(true)
		if p.end() {
			return v, Errorf(v.Pos, "the array that begins here does not end: ] is missing")
		}
		if p.peek() == ']' {
			p.next()
			return v, nil
		}
		item, err := p.value(sc, depth+1)
		if err != nil {
			return v, err
		}
		v.Array = append(v.Array, item)
		if err := p.separator(); err != nil {
			return v, err
		}
	}
}

// variable resolves $name: from the entries before, then from the environment, whose text is read as a value.
func (p *parser) variable(v Value, name string, sc *scope) (Value, error) {
	if found, ok := sc.find(name); ok {
		found.Pos = v.Pos
		return found, nil
	}
	text, ok := p.r.Env(name)
	if !ok {
		return v, Errorf(v.Pos, "the variable $%s is defined neither above nor in the environment", name)
	}
	return scalar(v, text), nil
}

// quoted reads a string in quotes; backslash escapes count in double quotes only.
func (p *parser) quoted() (string, error) {
	start := p.pos
	q := p.next()
	var b strings.Builder
	for !p.end() {
		c := p.next()
		switch {
		case c == q:
			return b.String(), nil
		case c == '\\' && q == '"':
			if err := p.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", Errorf(start, "the string that begins here does not end")
}

func (p *parser) escape(b *strings.Builder) error {
	pos := p.pos
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
		if p.at+2 <= len(p.text) {
			if n, err := strconv.ParseUint(p.text[p.at:p.at+2], 16, 8); err == nil {
				p.next()
				p.next()
				b.WriteByte(byte(n))
				return nil
			}
		}
		return Errorf(pos, `\x needs two hexadecimal digits`)
	default:
		return Errorf(pos, `unknown escape \%c; there are \t \n \r \" \\ \x00`, c)
	}
	return nil
}

// bare reads a word without quotes.
func (p *parser) bare() string {
	start := p.at
	for !p.end() {
		c := p.peek()
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ';' || c == ']' || c == '}' || c == '#' {
			break
		}
		p.next()
	}
	return p.text[start:p.at]
}

// scalar gives a bare word its type.
func scalar(v Value, word string) Value {
	v.Kind, v.Text = String, word
	switch strings.ToLower(word) {
	case "true", "yes", "on":
		v.Kind, v.Bool = Bool, true
		return v
	case "false", "no", "off":
		v.Kind = Bool
		return v
	}
	if n, ok := integer(word); ok {
		v.Kind, v.Int = Integer, n
	} else if isDecimal(word) {
		v.Kind = Float
	}
	return v
}

// integer reads a whole number with an optional unit: k, m, g, t, p, e are powers of 1000; with b, i or ib of 1024.
func integer(word string) (int64, bool) {
	digits := word
	for i := range len(word) {
		if c := word[i]; !(c >= '0' && c <= '9' || i == 0 && c == '-') {
			digits = word[:i]
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, false
	}
	unit := strings.ToLower(word[len(digits):])
	if unit == "" {
		return n, true
	}
	power := strings.IndexByte("kmgtpe", unit[0])
	if power < 0 {
		return 0, false
	}
	base := int64(1000)
	switch unit[1:] {
	case "":
	case "b", "i", "ib":
		base = 1024
	default:
		return 0, false
	}
	for range power + 1 {
		m := n * base
		if m/base != n {
			return 0, false
		}
		n = m
	}
	return n, true
}

func isDecimal(word string) bool {
	dots := 0
	for i := range len(word) {
		switch c := word[i]; {
		case c == '.':
			dots++
		case c == '-' && i == 0:
		case c < '0' || c > '9':
			return false
		}
	}
	return dots == 1 && len(word) > 1
}
