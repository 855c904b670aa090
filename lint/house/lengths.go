package house

import (
	"go/ast"
	"go/token"

	"github.com/natsd/natsd/lint/rooms"
)

// The limits of the house style, in lines.
const (
	fileLinesMax     = 800
	testFileLinesMax = 1200
	funcLinesMax     = 70
)

func (f *file) checkFileLength() {
	limit := fileLinesMax
	if f.test {
		limit = testFileLinesMax
	}
	lines := f.pass.Fset.File(f.ast.Package).LineCount()
	if lines > limit {
		f.pass.Reportf(f.ast.Package, "style: %d lines in this file, %d is the limit: one idea per file", lines, limit)
	}
}

// checkFunctionLengths reports functions that are too long, and entries of longfuncs.txt for this
// file that allow more than is needed.
func (f *file) checkFunctionLengths() {
	path := rooms.File(f.pass.Pkg.Path(), f.name)
	allowed := map[string]int{}
	for _, l := range f.long {
		if l.File == path {
			allowed[l.Name] = l.LinesMax
		}
	}
	for _, decl := range f.ast.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := functionName(fn)
		lines := f.countLines(fn)
		limit, listed := allowed[name]
		delete(allowed, name)
		switch {
		case !listed && lines > funcLinesMax:
			f.pass.Reportf(fn.Name.Pos(), "style: %s has %d lines, %d is the limit", name, lines, funcLinesMax)
		case listed && lines > limit:
			f.pass.Reportf(fn.Name.Pos(), "style: %s has %d lines, lint/longfuncs.txt allows %d", name, lines, limit)
		case listed && lines < limit:
			f.pass.Reportf(fn.Name.Pos(), "style: %s has only %d lines: lower or drop its entry in lint/longfuncs.txt", name, lines)
		}
	}
	for _, l := range f.long {
		if _, left := allowed[l.Name]; left && l.File == path {
			f.pass.Reportf(f.ast.Package, "style: lint/longfuncs.txt speaks of %s, which is not here", l.Name)
		}
	}
}

// countLines counts the lines of a function from func to the closing brace. The lines of tables
// (composite literals) in test files do not count: a table of cases is data.
func (f *file) countLines(fn *ast.FuncDecl) int {
	lines := f.span(fn.Pos(), fn.End())
	if !f.test {
		return lines
	}
	ast.Inspect(fn, func(node ast.Node) bool {
		lit, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		lines -= f.span(lit.Pos(), lit.End()) - 1
		return false
	})
	return lines
}

func (f *file) span(from, to token.Pos) int {
	return f.pass.Fset.Position(to).Line - f.pass.Fset.Position(from).Line + 1
}

// functionName returns "name", or "(*Receiver).name" as stack traces have it.
func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	return "(" + receiverName(fn.Recv.List[0].Type) + ")." + fn.Name.Name
}

func receiverName(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return "*" + receiverName(t.X)
	case *ast.ParenExpr:
		return receiverName(t.X)
	case *ast.IndexExpr:
		return receiverName(t.X)
	case *ast.IndexListExpr:
		return receiverName(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}
