package conf

import "strings"

// Reader reads configuration files.
type Reader struct {
	// Read returns the content of a file. name is that given to Parse, or what Join made of an include.
	Read func(name string) ([]byte, error)
	// Join returns the name of a file that the file from includes.
	Join func(from, name string) string
	// Env returns an environment variable, for variables that no file defines.
	Env func(name string) (string, bool)
}

// What bounds a configuration.
const (
	depthMax    = 64      // blocks and arrays within each other
	includeMax  = 16      // includes within each other
	includesMax = 1000    // includes in all
	nodesMax    = 1 << 20 // values in all, as variables unfold
)

// Parse reads a file and what it includes. What is wrong goes to rep; the Map has what could be read and is never nil.
func (r *Reader) Parse(name string, rep *Report) *Map {
	text, err := r.Read(name)
	if err != nil {
		rep.Errorf(Pos{}, "the configuration can't be read: %v", err)
		return &Map{Pos: Pos{File: name, Line: 1, Col: 1}}
	}
	included := 0
	m := r.file(name, string(text), rep, nil, &included)
	if len(m.Entries) == 0 && len(rep.Errors) == 0 {
		rep.Doubtf(&Value{Pos: Pos{File: name, Line: 1, Col: 1}}, "config has no values or is empty")
	}
	return m
}

// file reads the text of a file; from are the files that include it, outermost first.
func (r *Reader) file(name, text string, rep *Report, from []string, included *int) *Map {
	start := Pos{File: name, Line: 1, Col: 1}
	p := &parser{
		scanner: scanner{text: text, pos: start}, r: r, rep: rep, included: included,
		from: append(append([]string(nil), from...), name),
	}
	if strings.HasPrefix(text, "\ufeff") {
		p.fail(start, "the file begins with a byte order mark: save it as plain UTF-8")
		p.skipTo(len("\ufeff"))
	}
	return p.whole()
}

type parser struct {
	scanner
	r        *Reader
	rep      *Report
	from     []string // the files being read, outermost first
	included *int
	nodes    int
	failed   int // mistakes of syntax
}

// fail reports a mistake of syntax and returns false.
func (p *parser) fail(at Pos, format string, args ...any) bool {
	p.failed++
	p.rep.Errorf(at, format, args...)
	return false
}

// scope is where variables are looked up: the entries before, then those of the blocks around.
type scope struct {
	m      *Map
	parent *scope
}

// find returns the last entry that defines name, and marks it as used.
func (s *scope) find(name string) *Entry {
	for ; s != nil; s = s.parent {
		if e := s.m.Find(name); e != nil {
			e.Used = true
			return e
		}
	}
	return nil
}

// whole reads a file: entries, or the same in braces, which makes JSON a configuration too.
func (p *parser) whole() *Map {
	p.skip(true)
	if p.peek() != '{' {
		return p.block(p.pos, nil, 0)
	}
	at := p.pos
	p.next()
	m := p.block(at, nil, 1)
	if p.skip(true); !p.end() && p.failed == 0 {
		p.fail(p.pos, "the file's block has ended, but there is more: %q", p.rest())
	}
	return m
}

// syntaxMax is after how many mistakes of syntax the rest of a file is left unread.
const syntaxMax = 20

// block reads entries up to the closing brace, or to the end of the file at depth 0. at is where the block begins.
func (p *parser) block(at Pos, outer *scope, depth int) *Map {
	m := &Map{Pos: at}
	sc := &scope{m: m, parent: outer}
	for {
		p.skip(true)
		switch {
		case p.end():
			if depth > 0 && p.failed == 0 {
				p.fail(p.pos, "the file ends inside the block that begins at %d:%d: } is missing", m.Pos.Line, m.Pos.Col)
			}
			return m
		case p.peek() == '}' && depth > 0:
			p.next()
			return m
		case p.peek() == '}':
			p.fail(p.pos, "} without {")
			p.next()
			continue
		}
		start := p.at
		if !p.entry(m, sc, depth) {
			if p.failed >= syntaxMax {
				p.at = len(p.text)
				return m
			}
			p.resume(start)
		}
	}
}

// resume goes on behind an entry with a mistake: to the next separator that is not within brackets opened since start.
func (p *parser) resume(start int) {
	depth, failed := 0, p.at
	p.at = min(p.at, len(p.text))
	for i := start; i < failed && i < len(p.text); i++ {
		depth += nesting(p.text[i])
	}
	for !p.end() {
		c := p.peek()
		if depth <= 0 && (c == '}' || p.atLineEnd() || c == ',' || c == ';') {
			if c != '}' {
				p.next()
			}
			return
		}
		depth += nesting(c)
		p.next()
	}
}

func nesting(c byte) int {
	switch c {
	case '{', '[':
		return 1
	case '}', ']':
		return -1
	}
	return 0
}

// entry reads a key, its value and the separator behind, or an include.
func (p *parser) entry(m *Map, sc *scope, depth int) bool {
	at := p.pos
	key, quoted, ok := p.key()
	if !ok {
		return false
	}
	if !quoted && strings.Contains(key, "{") {
		p.rep.Warnf(at, "the key %q has a brace in it: is a space missing before the brace?", key)
	}
	if !quoted && strings.EqualFold(key, "include") && p.peek() != ':' && p.peek() != '=' {
		return p.include(sc)
	}
	p.blanks(true)
	if c := p.peek(); c == ':' || c == '=' {
		p.next()
		if p.blanks(depth > 0); depth == 0 && (p.peek() == '\n' || p.peek() == '\r') {
			return p.fail(at, "the value of %q is missing: at the top level it stands in the same line", key)
		}
	}
	v, ok := p.value(sc, depth)
	if !ok {
		return false
	}
	if old := m.Find(key); old != nil && !old.Used {
		p.rep.Warnf(at, "%q is set twice: this one counts, not the one at %s", key, old.Pos)
	}
	m.Entries = append(m.Entries, Entry{Pos: at, Key: key, Value: v})
	return p.separator(false)
}

// key reads a key: a quoted string, or all up to white space, ":" or "=".
func (p *parser) key() (key string, quoted, ok bool) {
	start := p.at
	switch c := p.peek(); c {
	case '"', '\'':
		at := p.pos
		p.next()
		i := strings.IndexByte(p.text[p.at:], c)
		if i < 0 {
			p.at = len(p.text)
			return "", true, p.fail(at, "the quoted key that begins here does not end")
		}
		key = p.text[p.at : p.at+i]
		p.skipTo(p.at + i + 1)
		return key, true, true
	case ':', '=', ',', ';', ']', '{', '/':
		return "", false, p.fail(p.pos, "expected a key, found %q", p.rest())
	}
	for !p.end() && p.peek() != ':' && p.peek() != '=' && !p.atSpace() {
		p.next()
	}
	if p.at == start {
		return "", false, p.fail(p.pos, "expected a key, found %q", p.rest())
	}
	return p.text[start:p.at], false, true
}

// separator passes over what may follow an entry, or an item of an array: the end of the line, one comma or semicolon, or the
// closing bracket, which is left.
func (p *parser) separator(array bool) bool {
	p.skip(false)
	switch c := p.peek(); {
	case p.end(), c == ']' && array, c == '}' && !array:
		return true
	case p.atLineEnd(), c == ',', c == ';' && !array:
		p.next()
		return true
	}
	if array {
		return p.fail(p.pos, "expected a comma, a new line or ] after the item, found %q", p.rest())
	}
	return p.fail(p.pos, "expected the end of the line after the value, found %q", p.rest())
}
