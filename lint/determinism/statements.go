package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
)

// checkStatements reports goroutines, channels, the builtin print functions and time.Unix in the
// machine's time zone.
func (f *file) checkStatements() {
	walk(f.ast, func(node ast.Node, ancestors []ast.Node) {
		switch n := node.(type) {
		case *ast.GoStmt:
			f.pass.Reportf(n.Go, "D1: go statement: pure code is single-threaded; long work is a Job")
		case *ast.SelectStmt:
			f.pass.Reportf(n.Select, "D1: select chooses at random")
		case *ast.SendStmt:
			f.pass.Reportf(n.Arrow, "D1: send on a channel")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				f.pass.Reportf(n.OpPos, "D1: receive from a channel")
			}
		case *ast.ChanType:
			f.pass.Reportf(n.Begin, "D1: channel type")
		case *ast.RangeStmt:
			if f.isChannel(n.X) {
				f.pass.Reportf(n.For, "D1: range over a channel")
			}
		case *ast.CallExpr:
			f.checkBuiltin(n)
		case *ast.Ident:
			f.checkUnixTime(n, ancestors)
		}
	})
}

func (f *file) isChannel(e ast.Expr) bool {
	t := f.pass.TypesInfo.TypeOf(e)
	return t != nil && underlyingIs[*types.Chan](t)
}

// checkBuiltin reports close and make of a channel, whatever its type is called, and print.
func (f *file) checkBuiltin(call *ast.CallExpr) {
	name, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return
	}
	builtin, ok := f.pass.TypesInfo.Uses[name].(*types.Builtin)
	if !ok {
		return
	}
	switch builtin.Name() {
	case "close":
		f.pass.Reportf(call.Pos(), "D1: close of a channel")
	case "make":
		if f.isChannel(call.Args[0]) {
			f.pass.Reportf(call.Pos(), "D1: make of a channel")
		}
	case "print", "println":
		f.pass.Reportf(call.Pos(), "D5: %s writes to the terminal; log through the engine's Log", builtin.Name())
	}
}

// checkUnixTime reports time.Unix, UnixMilli and UnixMicro unless .UTC() follows at once: the
// result is in the machine's time zone, and shows it when formatted or encoded.
func (f *file) checkUnixTime(id *ast.Ident, ancestors []ast.Node) {
	fn, ok := f.pass.TypesInfo.Uses[id].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "time" || fn.Signature().Recv() != nil {
		return
	}
	switch fn.Name() {
	case "Unix", "UnixMilli", "UnixMicro":
	default:
		return
	}
	// The ancestors end with time.Unix itself (unless dot-imported), its call, and the selector
	// that takes .UTC of the call.
	up := ancestors
	if _, ok := up[len(up)-1].(*ast.SelectorExpr); ok {
		up = up[:len(up)-1]
	}
	if len(up) >= 2 {
		_, isCall := up[len(up)-1].(*ast.CallExpr)
		method, isMethod := up[len(up)-2].(*ast.SelectorExpr)
		if isCall && isMethod && (method.Sel.Name == "UTC" || method.Sel.Name == "In") {
			return
		}
	}
	f.pass.Reportf(id.Pos(), "D2: time.%s is in the machine's time zone: call .UTC() on it at once", fn.Name())
}

// checkBuild reports files that only some builds of the package contain: the package would not be
// the same program on every machine, and this pass sees only the files of its own build.
func (c *checker) checkBuild() {
	for _, name := range c.pass.IgnoredFiles {
		c.pass.Reportf(c.pass.Files[0].Name.Pos(), "D5: %s is left out of this build: pure packages are the same on every system", filepath.Base(name))
	}
	for _, name := range c.pass.OtherFiles {
		c.pass.Reportf(c.pass.Files[0].Name.Pos(), "D5: %s is not Go: pure packages hold no assembly and no C", filepath.Base(name))
	}
}

// underlyingIs reports whether t, or for a type parameter some type of its set, is a T underneath.
func underlyingIs[T types.Type](t types.Type) bool {
	if param, ok := types.Unalias(t).(*types.TypeParam); ok {
		set, ok := param.Constraint().Underlying().(*types.Interface)
		if !ok {
			return false
		}
		return anyTerm[T](set)
	}
	_, ok := t.Underlying().(T)
	return ok
}

// anyTerm reports whether an interface lists a type that is a T underneath.
func anyTerm[T types.Type](set *types.Interface) bool {
	for i := range set.NumEmbeddeds() {
		switch e := types.Unalias(set.EmbeddedType(i)).(type) {
		case *types.Union:
			for j := range e.Len() {
				if _, ok := e.Term(j).Type().Underlying().(T); ok {
					return true
				}
			}
		default:
			if inner, ok := e.Underlying().(*types.Interface); ok {
				if anyTerm[T](inner) {
					return true
				}
			} else if _, ok := e.Underlying().(T); ok {
				return true
			}
		}
	}
	return false
}
