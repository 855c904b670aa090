package house

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// checkImports reports dot imports: a reader cannot tell where a name comes from.
func (f *file) checkImports() {
	for _, spec := range f.ast.Imports {
		if spec.Name != nil && spec.Name.Name == "." {
			f.pass.Reportf(spec.Pos(), "style: dot import")
		}
	}
}

// checkDroppedErrors reports `_ = f()` and `_ = err` of an error without a comment on the line, or
// above it, that says why.
func (f *file) checkDroppedErrors() {
	commented := map[int]bool{}
	for _, group := range f.ast.Comments {
		if strings.HasPrefix(group.List[0].Text, "// want ") {
			continue // an expectation of analysistest, no reason
		}
		for line := f.line(group.Pos()); line <= f.line(group.End()); line++ {
			commented[line] = true
		}
	}
	ast.Inspect(f.ast, func(node ast.Node) bool {
		assign, ok := node.(*ast.AssignStmt)
		if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
			return true
		}
		if id, ok := assign.Lhs[0].(*ast.Ident); !ok || id.Name != "_" {
			return true
		}
		t := f.pass.TypesInfo.TypeOf(assign.Rhs[0])
		if t == nil || !types.Identical(t, types.Universe.Lookup("error").Type()) {
			return true
		}
		line := f.line(assign.Pos())
		if !commented[line] && !commented[line-1] {
			f.pass.Reportf(assign.Pos(), "style: an error thrown away: say why in a comment")
		}
		return true
	})
}

func (f *file) line(pos token.Pos) int { return f.pass.Fset.Position(pos).Line }
