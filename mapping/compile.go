package mapping

import (
	"strconv"
	"strings"

	"github.com/natsd/natsd/subject"
)

// Compile returns the transform from source to destination, as account
// mappings and streams use it: functions are allowed, and wildcards of the
// source may be left out.
//
// The errors are ErrSubject and *DestinationError. An empty destination, which
// nats-server accepts in mappings and then crashes on, is an error.
func Compile(source, destination string) (*Transform, error) {
	return compile(source, destination, false)
}

// CompileStrict returns the transform from source to destination under the
// rules for imports, which must be clear in both directions: every wildcard of
// the source is in the destination, and no function but wildcard is.
func CompileStrict(source, destination string) (*Transform, error) {
	return compile(source, destination, true)
}

// CompileImport is CompileStrict for the "to" of an import, which may name the
// wildcards of the subject in order by "*": each is read as $1, $2 and so on.
func CompileImport(source, to string) (*Transform, error) {
	return compile(source, numbered(to), true)
}

// numbered replaces each "*" of to by the number of its place.
func numbered(to string) string {
	tokens := strings.Split(to, ".")
	n := 0
	for i, t := range tokens {
		if t == "*" {
			n++
			tokens[i] = "$" + strconv.Itoa(n)
		}
	}
	return strings.Join(tokens, ".")
}

// compile checks in nats-server's order, so that of two errors the same one is
// reported: the form of the tokens, the subjects as such, then token by token
// what each one means.
func compile(source, destination string, strict bool) (*Transform, error) {
	if !strict { // imports skip this, and white space in them is ErrSubject
		if err := checkForm(destination); err != nil {
			return nil, err
		}
	}
	if !subject.ValidPattern(source) || !validDestination(source, destination) {
		return nil, ErrSubject
	}
	t := &Transform{source: source, destination: destination}
	wild, capturing := t.readSource()
	b := builder{t: t, wild: wild, strict: strict, plain: !capturing}
	for i, tok := range strings.Split(destination, ".") {
		if i > 0 {
			b.text(".")
		}
		if err := b.add(tok); err != nil {
			return nil, err
		}
	}
	b.flush()
	if strict && !b.usesAll() {
		return nil, bad(ErrUnused, destination)
	}
	return t, nil
}

// checkForm looks at the form of each token of a destination.
func checkForm(destination string) error {
	full := false
	for t := range strings.SplitSeq(destination, ".") {
		switch {
		case t == "" || full:
			return bad(ErrTransform, t)
		case isFunction(t):
			if _, _, ok := find(t); !ok {
				return bad(ErrFunction, t)
			}
		case strings.ContainsAny(t, space):
			return bad(ErrTransform, "")
		case t == ">":
			full = true
		}
	}
	return nil
}

// validDestination reports whether destination would be a subject with its
// functions replaced, has no "*", and ends in ">" if and only if source does.
func validDestination(source, destination string) bool {
	full := false
	for t := range strings.SplitSeq(destination, ".") {
		if t == "" || t == "*" || full {
			return false
		}
		if !isFunction(t) && strings.ContainsAny(t, space) {
			return false
		}
		full = t == ">"
	}
	return full == (source == ">" || strings.HasSuffix(source, ".>"))
}

// readSource notes where the source's wildcards are, and returns the token
// numbers of its stars and whether it captures anything.
func (t *Transform) readSource() (stars []int, capturing bool) {
	n := 0
	for tok := range strings.SplitSeq(t.source, ".") {
		switch tok {
		case "*":
			stars = append(stars, n)
		case ">":
			t.full = true
		}
		n++
	}
	t.tokens = n
	return stars, t.full || len(stars) > 0
}

// builder makes the steps of a transform.
type builder struct {
	t       *Transform
	wild    []int // token numbers of the source's stars
	used    []bool
	strict  bool
	plain   bool // the source captures nothing
	pending strings.Builder
}

// text appends literal text.
func (b *builder) text(s string) { b.pending.WriteString(s) }

// flush makes a step of the literal text so far.
func (b *builder) flush() {
	if b.pending.Len() > 0 {
		b.t.steps = append(b.t.steps, step{kind: literal, text: b.pending.String()})
		b.pending.Reset()
	}
}

// add appends one token of the destination.
func (b *builder) add(tok string) error {
	if tok == ">" {
		b.flush()
		b.t.steps = append(b.t.steps, step{kind: rest})
		return nil
	}
	c, err := parseToken(tok)
	if err != nil {
		return err
	}
	if c.kind == literal {
		b.text(tok)
		return nil
	}
	if b.strict && c.kind != token {
		return bad(ErrImport, tok)
	}
	s := step{kind: c.kind, n: c.n, text: c.by}
	switch c.kind {
	case partition:
		if s.of, err = b.hashed(c, tok); err != nil {
			return err
		}
		s.all = c.all && !b.plain
	case random:
		b.t.random = true
	default:
		if s.index, err = b.captured(c.index, tok); err != nil {
			return err
		}
	}
	b.flush()
	b.t.steps = append(b.t.steps, s)
	return nil
}

// hashed returns the tokens that a partition hashes. A literal source has
// nothing to hash: nats-server then hashes nothing, whatever is asked for, and
// so every message gets the same number.
func (b *builder) hashed(c call, tok string) ([]int, error) {
	if b.plain {
		return nil, nil
	}
	of := make([]int, 0, len(c.of))
	for _, n := range c.of {
		i, err := b.captured(n, tok)
		if err != nil {
			return nil, err
		}
		of = append(of, i)
	}
	return of, nil
}

// captured returns the number of the subject's token that wildcard n captured.
// An index below 1 is the first token of the subject, as in nats-server.
func (b *builder) captured(n int, tok string) (int, error) {
	if b.plain || n > len(b.wild) {
		return 0, outOfRange(tok, n, b.plain)
	}
	if n < 1 {
		return 0, nil
	}
	if b.used == nil {
		b.used = make([]bool, len(b.wild))
	}
	b.used[n-1] = true
	return b.wild[n-1], nil
}

// usesAll reports whether each wildcard of the source was used.
func (b *builder) usesAll() bool {
	n := 0
	for _, u := range b.used {
		if u {
			n++
		}
	}
	return n == len(b.wild)
}
