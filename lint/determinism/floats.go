package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
)

// checkFloats reports each line with an expression or type of floating point that no note excuses.
// Untyped constants such as 1e6 that become integers are integers. Test files may measure in floats.
func (f *file) checkFloats() {
	var lines []int // in order of the first finding
	first := map[int]token.Pos{}
	ast.Inspect(f.ast, func(node ast.Node) bool {
		expr, ok := node.(ast.Expr)
		if !ok {
			return true
		}
		t := f.pass.TypesInfo.TypeOf(expr)
		if t == nil {
			return true
		}
		if basic, ok := t.Underlying().(*types.Basic); !ok || basic.Info()&(types.IsFloat|types.IsComplex) == 0 {
			return true
		}
		line := f.line(expr.Pos())
		if _, seen := first[line]; !seen {
			first[line] = expr.Pos()
			lines = append(lines, line)
		}
		return true
	})
	for _, line := range lines {
		if f.excused(noteFloat, first[line], first[line]) {
			continue
		}
		f.pass.Reportf(first[line], "D6: floating point: use integers with explicit rounding, or //natsd:float <why>")
	}
}
