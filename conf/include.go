package conf

import "strings"

// include reads another file in place of the directive. The file sees no variable from around; what it defines is seen
// afterwards.
func (p *parser) include(sc *scope) bool {
	p.blanks(false)
	at := p.pos
	name, ok := p.fileName()
	if !ok || !p.separator(false) {
		return false
	}
	full := p.r.Join(p.from[len(p.from)-1], name)
	for _, f := range p.from {
		if f == full {
			p.rep.Errorf(at, "the file includes itself: %s", strings.Join(append(p.from, full), " → "))
			return true
		}
	}
	if *p.included++; len(p.from) >= includeMax || *p.included > includesMax {
		p.rep.Errorf(at, "too many includes: %d deep and %d in all are the most", includeMax, includesMax)
		return true
	}
	text, err := p.r.Read(full)
	if err != nil {
		p.rep.Errorf(at, "the file %q can't be included: %v", name, err)
		return true
	}
	if p.rep.included == nil {
		p.rep.included = map[string]Pos{}
	}
	if _, known := p.rep.included[full]; !known {
		p.rep.included[full] = at
	}
	in := p.r.file(full, string(text), p.rep, p.from, p.included)
	sc.m.Entries = append(sc.m.Entries, in.Entries...)
	return true
}

// fileName reads the name of a file: quoted, without escapes, or a word.
func (p *parser) fileName() (string, bool) {
	start := p.at
	if c := p.peek(); c == '"' || c == '\'' {
		at := p.pos
		p.next()
		i := strings.IndexByte(p.text[p.at:], c)
		if i < 0 {
			p.at = len(p.text)
			return "", p.fail(at, "the string that begins here does not end")
		}
		p.skipTo(p.at + i + 1)
		return p.text[start+1 : p.at-1], true
	}
	for !p.end() && !isSpace(p.peek()) && p.peek() != ';' && p.peek() != '}' {
		p.next()
	}
	if p.at == start {
		return "", p.fail(p.pos, "include needs the name of a file, in the same line")
	}
	return p.text[start:p.at], true
}
