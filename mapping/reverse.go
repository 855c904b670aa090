package mapping

import (
	"strconv"
	"strings"
)

// Pattern returns the pattern of the subjects that t results in: its
// destination with a "*" for each function. Pieces of split and slice are
// several tokens, so for transforms with these it is not exact.
func (t *Transform) Pattern() string {
	var b strings.Builder
	for i := range t.steps {
		switch s := &t.steps[i]; s.kind {
		case literal:
			b.WriteString(s.text)
		case rest:
			b.WriteByte('>')
		default:
			b.WriteByte('*')
		}
	}
	return b.String()
}

// Reverse returns the transform that undoes t: from its Pattern to its source.
// Requests to a service import go that way, from the importer's subject to the
// exporter's. ErrReverse (in a *DestinationError) tells that a wildcard is used
// twice, is missing, or went through a function.
//
// The result is also right for patterns: it takes "b.*" to "req.*" where it
// takes "b.x" to "req.x".
func (t *Transform) Reverse() (*Transform, error) {
	var stars []int // the source's tokens in the order of the destination's wildcards
	for i := range t.steps {
		switch s := &t.steps[i]; s.kind {
		case literal, rest:
		case token:
			stars = append(stars, s.index)
		default:
			return nil, bad(ErrReverse, t.destination)
		}
	}
	r := &Transform{source: t.Pattern()}
	places, _ := r.readSource()
	template := strings.Split(t.source, ".")
	used := 0
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			r.steps = append(r.steps, step{kind: literal, text: text.String()})
			text.Reset()
		}
	}
	for n, tok := range template {
		if n > 0 {
			text.WriteByte('.')
		}
		switch tok {
		case "*":
			which, ok := only(stars, n)
			if !ok {
				return nil, bad(ErrReverse, t.destination)
			}
			flush()
			used++
			r.steps = append(r.steps, step{kind: token, index: places[which]})
			template[n] = "$" + strconv.Itoa(which+1)
		case ">":
			flush()
			r.steps = append(r.steps, step{kind: rest})
		default:
			text.WriteString(tok)
		}
	}
	flush()
	if used != len(stars) { // some token of the destination is a literal of the source, as $0 may be
		return nil, bad(ErrReverse, t.destination)
	}
	r.destination = strings.Join(template, ".")
	return r, nil
}

// only returns where n is in list, if it is there once.
func only(list []int, n int) (at int, ok bool) {
	for i, v := range list {
		if v != n {
			continue
		}
		if ok {
			return 0, false
		}
		at, ok = i, true
	}
	return at, ok
}
