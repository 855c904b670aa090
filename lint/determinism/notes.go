package determinism

import (
	"bytes"
	"go/ast"
	"go/token"
	"strings"
)

const (
	notePrefix    = "//natsd:"
	noteOrderFree = "orderfree"
	noteFloat     = "float"
)

// note is one comment that makes an exception, and the lines it speaks for.
type note struct {
	kind      string
	pos       token.Pos
	file      string
	lineFirst int
	lineLast  int
	used      bool
}

// readNotes collects the notes of a file. A note at the end of a line of code speaks for that line;
// one on a line of its own for the line after its comment; a float note in the doc comment of a
// declaration for the whole declaration.
func (c *checker) readNotes(f *ast.File) error {
	name := c.fileName(f.Package)
	source, err := c.pass.ReadFile(name)
	if err != nil {
		return err
	}
	decls := map[*ast.CommentGroup]ast.Decl{}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			decls[d.Doc] = d
		case *ast.GenDecl:
			decls[d.Doc] = d
		}
	}
	for _, group := range f.Comments {
		for _, comment := range group.List {
			n := c.readNote(comment)
			if n == nil {
				continue
			}
			n.file = name
			switch {
			case !alone(source, c.pass.Fset.Position(comment.Slash)):
				n.lineFirst = c.line(comment.Slash)
				n.lineLast = n.lineFirst
			case decls[group] != nil && n.kind == noteFloat:
				n.lineFirst = c.line(decls[group].Pos())
				n.lineLast = c.line(decls[group].End())
			default:
				n.lineFirst = c.line(group.End()) + 1
				n.lineLast = n.lineFirst
			}
			c.notes = append(c.notes, n)
		}
	}
	return nil
}

// readNote returns the note in a comment, nil if there is none or it is malformed (and reported).
func (c *checker) readNote(comment *ast.Comment) *note {
	text, ok := strings.CutPrefix(comment.Text, notePrefix)
	if !ok {
		return nil
	}
	kind, reason, _ := strings.Cut(text, " ")
	if kind != noteOrderFree && kind != noteFloat {
		c.pass.Reportf(comment.Slash, "unknown annotation //natsd:%s (known: orderfree, float)", kind)
		return nil
	}
	// What follows a nested comment sign is not part of the reason (analysistest's expectations).
	reason, _, _ = strings.Cut(reason, "// want")
	if strings.TrimSpace(reason) == "" {
		c.pass.Reportf(comment.Slash, "annotation //natsd:%s needs a reason", kind)
		return nil
	}
	return &note{kind: kind, pos: comment.Slash}
}

// alone reports whether nothing but space stands before the position on its line.
func alone(source []byte, at token.Position) bool {
	if at.Offset > len(source) {
		return false
	}
	start := bytes.LastIndexByte(source[:at.Offset], '\n') + 1
	return len(bytes.TrimSpace(source[start:at.Offset])) == 0
}

// excused reports whether a note of the kind speaks for one of the lines between two positions of a
// file, and marks it as used.
func (c *checker) excused(kind string, from, to token.Pos) bool {
	first, last, name := c.line(from), c.line(to), c.fileName(from)
	found := false
	for _, n := range c.notes {
		if n.kind == kind && n.file == name && n.lineFirst <= last && first <= n.lineLast {
			n.used = true
			found = true
		}
	}
	return found
}

// reportIdleNotes reports notes that excuse nothing: the code they spoke of has gone or moved.
func (c *checker) reportIdleNotes() {
	for _, n := range c.notes {
		if n.used {
			continue
		}
		what := "iteration over a map"
		if n.kind == noteFloat {
			what = "floating point"
		}
		c.pass.Reportf(n.pos, "annotation //natsd:%s excuses nothing: there is no %s here", n.kind, what)
	}
}
