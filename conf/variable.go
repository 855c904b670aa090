package conf

// variable resolves $name: from the entries before, then from the environment. One that is nowhere is Missing.
func (p *parser) variable(v Value, name string, sc *scope) (Value, bool) {
	if e := sc.find(name); e != nil {
		return p.unfold(v, e.Value)
	}
	found, ok := p.environment(v, name, nil)
	if !ok {
		return v, true // reported; the entry is there, without a value
	}
	return p.unfold(v, found)
}

// unfold puts the value that a variable stands for in the place of v.
func (p *parser) unfold(v, found Value) (Value, bool) {
	if p.nodes += found.nodes; p.nodes > nodesMax {
		p.at = len(p.text)
		return v, p.fail(v.Pos, "the configuration has more than %d values", nodesMax)
	}
	at := found.Pos
	if found.Def != (Pos{}) {
		at = found.Def
	}
	found.Pos, found.Def = v.Pos, at
	return found, true
}

// environmentMax bounds how long a chain of variables may be that name each other.
const environmentMax = 16

// environment reads the text of an environment variable as a value. It may name further ones; chain are those that led here.
func (p *parser) environment(v Value, name string, chain []string) (Value, bool) {
	text, ok := p.r.Env(name)
	if !ok {
		p.rep.Errorf(v.Pos, "the variable $%s is defined neither above nor in the environment", name)
		return v, false
	}
	for _, c := range chain {
		if c == name {
			p.rep.Errorf(v.Pos, "the variable $%s stands for itself", name)
			return v, false
		}
	}
	if len(chain) >= environmentMax {
		p.rep.Errorf(v.Pos, "more than %d variables that name each other", environmentMax)
		return v, false
	}
	place := Pos{File: "the environment variable " + name}
	own := &Report{}
	in := &parser{
		scanner: scanner{text: text, pos: Pos{File: place.File, Line: 1, Col: 1}}, r: p.r, rep: own, included: p.included,
		from: []string{place.File}, nodes: p.nodes,
	}
	in.blanks(false)
	if in.end() { // set to nothing: an empty string
		return Value{Pos: place, Kind: String, nodes: 1}, true
	}
	empty := &scope{m: &Map{}}
	found, ok := in.environmentValue(v, empty, append(chain, name))
	if ok && in.separator(false) {
		if in.skip(true); !in.end() {
			in.fail(in.pos, "there is more than one value: %q", in.rest())
		}
	}
	if len(own.Errors) > 0 {
		p.rep.Errorf(v.Pos, "the environment variable %s is no value: %s", name, own.Errors[0].What)
		return v, false
	}
	found.Pos, found.Def = place, Pos{}
	return found, true
}

// environmentValue reads the value of a variable; one that is the name of another is that one's.
func (p *parser) environmentValue(user Value, sc *scope, chain []string) (Value, bool) {
	if p.peek() != '$' {
		return p.value(sc, 0)
	}
	start := p.scanner
	text, ok := p.bare("")
	if !ok {
		return user, false
	}
	if bcryptWord(text) {
		p.scanner = start
		return p.value(sc, 0)
	}
	return p.environment(user, text[1:], chain)
}
