package conf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is something wrong at a place.
type Error struct {
	Pos  Pos
	What string
	Note string // where the value comes from, when Pos alone does not tell; may be empty
	// Doubt marks a warning that a check of the configuration (-t) refuses, though a server starts with it.
	Doubt bool
}

func (e *Error) Error() string {
	s := e.What
	if e.Pos != (Pos{}) {
		s = e.Pos.String() + ": " + s
	}
	if e.Note != "" {
		s += " (" + e.Note + ")"
	}
	return s
}

// Report collects what is wrong with a configuration. The zero Report is ready to use.
type Report struct {
	Errors   []*Error // each keeps the server from starting; in the order found
	Warnings []*Error

	included map[string]Pos // where a file was included first
	dropped  int            // errors beyond reportMax
}

// reportMax bounds the errors that are kept: enough to work on, few enough to read.
const reportMax = 200

// Errorf adds an error at p.
func (r *Report) Errorf(p Pos, format string, args ...any) {
	r.add(&r.Errors, &Error{Pos: p, What: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning at p.
func (r *Report) Warnf(p Pos, format string, args ...any) {
	r.add(&r.Warnings, &Error{Pos: p, What: fmt.Sprintf(format, args...)})
}

// ValueErrorf adds an error about v, which names where a variable's value was given.
func (r *Report) ValueErrorf(v *Value, format string, args ...any) {
	r.add(&r.Errors, about(v, format, args...))
}

// Doubtf adds a warning about v that a check of the configuration refuses.
func (r *Report) Doubtf(v *Value, format string, args ...any) {
	e := about(v, format, args...)
	e.Doubt = true
	r.add(&r.Warnings, e)
}

func about(v *Value, format string, args ...any) *Error {
	e := &Error{Pos: v.Pos, What: fmt.Sprintf(format, args...)}
	if v.Def != (Pos{}) {
		e.Note = "the value is from " + v.Def.String()
	}
	return e
}

func (r *Report) add(list *[]*Error, e *Error) {
	if at, ok := r.included[e.Pos.File]; ok && e.Note == "" {
		e.Note = "included at " + at.String()
	}
	for _, known := range *list {
		if *known == *e {
			return // a block that two variables name is read twice
		}
	}
	if len(*list) >= reportMax {
		r.dropped++
		return
	}
	*list = append(*list, e)
}

// Err returns all errors as one, a line each in the order of their places, or nil. Files come in the order in which the first
// mistake of each was found.
func (r *Report) Err() error {
	if len(r.Errors) == 0 {
		return nil
	}
	files := map[string]int{}
	for _, e := range r.Errors {
		if _, known := files[e.Pos.File]; !known {
			files[e.Pos.File] = len(files)
		}
	}
	slices.SortStableFunc(r.Errors, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(files[a.Pos.File], files[b.Pos.File]), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	return reported{r}
}

// reported is a Report with errors, as an error.
type reported struct{ r *Report }

func (e reported) Error() string {
	lines := make([]string, 0, len(e.r.Errors)+1)
	for _, err := range e.r.Errors {
		lines = append(lines, err.Error())
	}
	if e.r.dropped > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", e.r.dropped))
	}
	return strings.Join(lines, "\n")
}

// Errorf makes an error at a place.
func Errorf(p Pos, format string, args ...any) error {
	return &Error{Pos: p, What: fmt.Sprintf(format, args...)}
}
