package determinism

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/natsd/natsd/lint/rooms"
)

// write is one place where a package-level variable is, or could be, changed.
type write struct {
	how string
	pos token.Pos
}

// mutators lists functions of the standard library that change their first argument in place.
var mutators = map[string]bool{
	"slices.Sort": true, "slices.SortFunc": true, "slices.SortStableFunc": true,
	"slices.Reverse": true, "slices.Delete": true, "slices.DeleteFunc": true,
	"slices.Insert": true, "slices.Replace": true, "slices.Compact": true, "slices.CompactFunc": true,
	"slices.AppendSeq": true, "slices.Grow": true,
	"sort.Sort": true, "sort.Stable": true, "sort.Slice": true, "sort.SliceStable": true,
	"sort.Ints": true, "sort.Strings": true, "sort.Float64s": true,
	"maps.Copy": true, "maps.Insert": true, "maps.DeleteFunc": true,
}

// writes returns the first write of each package-level variable of this package.
func (c *checker) writes() map[*types.Var]write {
	found := map[*types.Var]write{}
	c.eachGlobalUse(func(v *types.Var, pos token.Pos, how string) {
		if v.Pkg() == c.pass.Pkg {
			if _, seen := found[v]; !seen {
				found[v] = write{how: how, pos: pos}
			}
		}
	})
	return found
}

// checkForeignWrites reports writes to the package-level variables of pure packages from any other
// package: the owner's own pass cannot see them.
func (c *checker) checkForeignWrites() {
	c.eachGlobalUse(func(v *types.Var, pos token.Pos, how string) {
		if v.Pkg() == c.pass.Pkg || v.Pkg() == nil || rooms.Of(v.Pkg().Path()).Kind != rooms.Pure {
			return
		}
		c.pass.Reportf(pos, "D9: %s.%s is a table of another package: %s here", v.Pkg().Name(), v.Name(), how)
	})
}

// eachGlobalUse calls visit for each use of a package-level variable that writes it.
func (c *checker) eachGlobalUse(visit func(v *types.Var, pos token.Pos, how string)) {
	for _, f := range c.pass.Files {
		walk(f, func(node ast.Node, ancestors []ast.Node) {
			id, ok := node.(*ast.Ident)
			if !ok {
				return
			}
			v, ok := c.pass.TypesInfo.Uses[id].(*types.Var)
			if !ok || v.IsField() || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
				return
			}
			if how := c.writtenBy(id, ancestors); how != "" {
				visit(v, id.Pos(), how)
			}
		})
	}
}

// writtenBy says how the use of a variable with these ancestors writes it, "" if it only reads.
// From the identifier it climbs to the whole place it stands in, as table[i].name, then looks at
// what happens to that place.
func (c *checker) writtenBy(id *ast.Ident, ancestors []ast.Node) string {
	var place ast.Expr = id
	for i := len(ancestors) - 1; i >= 0; i-- {
		switch up := ancestors[i].(type) {
		case *ast.ParenExpr, *ast.StarExpr:
			place = up.(ast.Expr)
			continue
		case *ast.SelectorExpr:
			if up.Sel == place {
				place = up // package.Variable
				continue
			}
			if sel := c.pass.TypesInfo.Selections[up]; sel != nil && sel.Kind() != types.FieldVal {
				return c.methodWrites(sel)
			}
			place = up
			continue
		case *ast.IndexExpr:
			if up.X != place {
				return ""
			}
			place = up
			continue
		case *ast.SliceExpr:
			if up.X != place {
				return ""
			}
			place = up
			continue
		}
		return c.parentWrites(place, ancestors[:i+1])
	}
	return ""
}

// methodWrites says whether calling or taking a method could write its receiver: only a pointer
// receiver can, and those of immutable types do not.
func (c *checker) methodWrites(sel *types.Selection) string {
	fn, ok := sel.Obj().(*types.Func)
	if !ok {
		return ""
	}
	pointer, ok := fn.Signature().Recv().Type().(*types.Pointer)
	if !ok {
		return ""
	}
	if named, ok := types.Unalias(pointer.Elem()).(*types.Named); ok && named.Obj().Pkg() != nil {
		if immutable[named.Obj().Pkg().Path()+"."+named.Obj().Name()] {
			return ""
		}
	}
	return "method " + fn.Name() + " takes its address"
}

// parentWrites says how the node around a place, the last of its ancestors, writes it.
func (c *checker) parentWrites(place ast.Expr, ancestors []ast.Node) string {
	switch up := ancestors[len(ancestors)-1].(type) {
	case *ast.AssignStmt:
		for i, left := range up.Lhs {
			if left == place {
				return "assigned"
			}
			if len(up.Lhs) == len(up.Rhs) && up.Rhs[i] == place && c.shares(place) && !c.readOnlyAlias(left, up) {
				return "shared with another variable"
			}
		}
	case *ast.ValueSpec:
		if c.shares(place) {
			return "shared with another variable"
		}
	case *ast.CompositeLit, *ast.KeyValueExpr:
		if c.shares(place) {
			return "shared with a value"
		}
	case *ast.ReturnStmt:
		if c.shares(place) {
			return "returned"
		}
	case *ast.IncDecStmt:
		return "assigned"
	case *ast.RangeStmt:
		if up.Key == place || up.Value == place {
			return "assigned"
		}
	case *ast.UnaryExpr:
		if up.Op == token.AND && !c.readOnlyAddress(up, ancestors[:len(ancestors)-1]) {
			return "address taken"
		}
	case *ast.CallExpr:
		return c.callWrites(place, up)
	}
	return ""
}

// callWrites says whether a call changes the place handed to it as its first argument.
func (c *checker) callWrites(place ast.Expr, call *ast.CallExpr) string {
	if len(call.Args) == 0 || call.Args[0] != place {
		return ""
	}
	if name, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if builtin, ok := c.pass.TypesInfo.Uses[name].(*types.Builtin); ok {
			switch builtin.Name() {
			case "append", "clear", "copy", "delete":
				return "handed to " + builtin.Name()
			}
			return ""
		}
	}
	if fn := c.callee(call); fn != nil && fn.Pkg() != nil && mutators[fn.Pkg().Path()+"."+fn.Name()] {
		return "handed to " + fn.Pkg().Name() + "." + fn.Name()
	}
	return ""
}

// shares reports whether a copy of the place still leads to what the place holds: slices, maps and
// pointers do.
func (c *checker) shares(place ast.Expr) bool {
	t := c.pass.TypesInfo.TypeOf(place)
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Pointer:
		return true
	}
	return false
}

// readOnlyAddress reports whether an address goes into a new local variable that is only read
// through: `row := &table[i]` spares copying the row.
func (c *checker) readOnlyAddress(address *ast.UnaryExpr, ancestors []ast.Node) bool {
	if len(ancestors) == 0 {
		return false
	}
	define, ok := ancestors[len(ancestors)-1].(*ast.AssignStmt)
	if !ok || len(define.Lhs) != 1 || define.Rhs[0] != ast.Expr(address) {
		return false
	}
	return c.readOnlyAlias(define.Lhs[0], define)
}

// readOnlyAlias reports whether the left side of an assignment is a new local variable that is never
// written, nor written through, nor handed on except as an argument of a call.
func (c *checker) readOnlyAlias(left ast.Expr, define *ast.AssignStmt) bool {
	name, ok := left.(*ast.Ident)
	if ok && name.Name == "_" {
		return true
	}
	if !ok || define.Tok != token.DEFINE {
		return false
	}
	alias, ok := c.pass.TypesInfo.Defs[name].(*types.Var)
	if !ok {
		return false
	}
	_, isPointer := alias.Type().Underlying().(*types.Pointer)
	onlyRead := true
	for _, f := range c.pass.Files {
		if f.FileStart > define.Pos() || define.Pos() > f.FileEnd {
			continue
		}
		walk(f, func(node ast.Node, above []ast.Node) {
			id, ok := node.(*ast.Ident)
			if !ok || c.pass.TypesInfo.Uses[id] != alias {
				return
			}
			if isPointer && !selects(id, above[len(above)-1]) || c.writtenBy(id, above) != "" {
				onlyRead = false
			}
		})
	}
	return onlyRead
}

// selects reports whether a node looks at a part of a variable instead of handing it on.
func selects(id *ast.Ident, parent ast.Node) bool {
	switch up := parent.(type) {
	case *ast.SelectorExpr:
		return up.X == ast.Expr(id)
	case *ast.IndexExpr:
		return up.X == ast.Expr(id)
	case *ast.StarExpr:
		return true
	}
	return false
}
