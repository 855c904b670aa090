package determinism

import (
	"go/ast"
	"go/types"
)

// mapWalkers are the functions of package maps whose order is that of the map.
var mapWalkers = map[string]bool{
	"All": true, "Keys": true, "Values": true, "DeleteFunc": true, "EqualFunc": true,
}

// checkMapIteration reports iteration over maps that no note excuses. slices.Sorted over maps.Keys
// or maps.Values needs none: its result does not depend on the order.
func (f *file) checkMapIteration() {
	walk(f.ast, func(node ast.Node, ancestors []ast.Node) {
		switch n := node.(type) {
		case *ast.RangeStmt:
			t := f.pass.TypesInfo.TypeOf(n.X)
			if t == nil || !underlyingIs[*types.Map](t) || f.excused(noteOrderFree, n.For, n.Body.Lbrace) {
				return
			}
			f.pass.Reportf(n.For, "D4: range over a map: sort the keys, or prove with //natsd:orderfree <why> that the order has no effect")
		case *ast.Ident:
			fn, ok := f.pass.TypesInfo.Uses[n].(*types.Func)
			if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "maps" || !mapWalkers[fn.Name()] {
				return
			}
			if f.sorted(ancestors) || f.excused(noteOrderFree, n.Pos(), n.Pos()) {
				return
			}
			f.pass.Reportf(n.Pos(), "D4: maps.%s walks in map order: use slices.Sorted(maps.Keys(m)), or prove with //natsd:orderfree <why> that the order has no effect", fn.Name())
		}
	})
}

// sorted reports whether the function with these ancestors is called as the argument of
// slices.Sorted: ..., Sorted's call, the call, the selector (if any).
func (f *file) sorted(ancestors []ast.Node) bool {
	for len(ancestors) > 0 {
		switch ancestors[len(ancestors)-1].(type) {
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.IndexListExpr, *ast.ParenExpr:
			ancestors = ancestors[:len(ancestors)-1]
			continue
		}
		break
	}
	if len(ancestors) < 2 {
		return false
	}
	call, ok := ancestors[len(ancestors)-1].(*ast.CallExpr)
	if !ok {
		return false
	}
	outer, ok := ancestors[len(ancestors)-2].(*ast.CallExpr)
	if !ok || len(outer.Args) != 1 || ast.Unparen(outer.Args[0]) != ast.Expr(call) {
		return false
	}
	fn := f.callee(outer)
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "slices" && fn.Name() == "Sorted"
}

// callee returns the function or method that a call names, nil for values and builtins.
func (c *checker) callee(call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	switch indexed := fun.(type) {
	case *ast.IndexExpr:
		fun = indexed.X
	case *ast.IndexListExpr:
		fun = indexed.X
	}
	var id *ast.Ident
	switch named := fun.(type) {
	case *ast.Ident:
		id = named
	case *ast.SelectorExpr:
		id = named.Sel
	default:
		return nil
	}
	fn, _ := c.pass.TypesInfo.Uses[id].(*types.Func)
	return fn
}
