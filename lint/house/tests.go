package house

import (
	"go/ast"
	"go/types"

	"github.com/natsd/natsd/lint/rooms"
)

// checkTestCalls reports skips without a reason, and sleeping. A test that needs to sleep has a
// design behind it that is wrong: wait for an event instead.
func (f *file) checkTestCalls() {
	ast.Inspect(f.ast, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 0 && f.isTesting(sel.Sel, "Skip") {
				f.pass.Reportf(n.Pos(), "style: Skip without a reason to print")
			}
		case *ast.Ident:
			if f.isTesting(n, "SkipNow") {
				f.pass.Reportf(n.Pos(), "style: SkipNow prints no reason: use Skip")
			}
			fn, ok := f.pass.TypesInfo.Uses[n].(*types.Func)
			if ok && fn.FullName() == "time.Sleep" && f.room.Kind != rooms.Pure { // pure: package names
				f.pass.Reportf(n.Pos(), "style: a test that sleeps: wait for the event instead")
			}
		}
		return true
	})
}

// isTesting reports whether an identifier is a method of that name of testing.T, B, F or TB.
func (f *file) isTesting(id *ast.Ident, method string) bool {
	fn, ok := f.pass.TypesInfo.Uses[id].(*types.Func)
	return ok && fn.Name() == method && fn.Pkg() != nil && fn.Pkg().Path() == "testing" && fn.Signature().Recv() != nil
}
