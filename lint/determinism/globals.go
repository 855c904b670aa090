package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/natsd/natsd/lint/rooms"
)

// immutable lists types that packages hand out as pointers but never change after construction:
// a variable may hold one.
var immutable = map[string]bool{
	"hash/crc32.Table":             true,
	"hash/crc64.Table":             true,
	"regexp.Regexp":                true,
	"strings.Replacer":             true,
	"encoding/base32.Encoding":     true,
	"encoding/base64.Encoding":     true,
	"time.Location":                true,
	"pgregory.net/rapid.Generator": true,
}

// checkGlobals reports package-level variables, except sentinel errors and tables that nothing in
// the package writes. Test files may also declare flags.
func (c *checker) checkGlobals() {
	writes := c.writes()
	for _, f := range c.pass.Files {
		test := rooms.IsTest(c.fileName(f.Package))
		for _, decl := range f.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				c.checkGlobal(spec.(*ast.ValueSpec), test, writes)
			}
		}
	}
}

func (c *checker) checkGlobal(spec *ast.ValueSpec, test bool, writes map[*types.Var]write) {
	for i, name := range spec.Names {
		v, ok := c.pass.TypesInfo.Defs[name].(*types.Var)
		if !ok || name.Name == "_" {
			continue
		}
		var value ast.Expr
		if len(spec.Values) == len(spec.Names) {
			value = spec.Values[i]
		}
		if w, written := writes[v]; written {
			c.pass.Reportf(name.Pos(), "D9: package-level variable %s is written (%s, line %d): state belongs to an engine",
				name.Name, w.how, c.line(w.pos))
			continue
		}
		if test && c.isFlag(value) {
			continue
		}
		if isErrorType(v.Type()) {
			if !c.isSentinel(name.Name, value) {
				c.pass.Reportf(name.Pos(), "D9: package-level error %s is no sentinel: want a name with Err and errors.New, fmt.Errorf or a plain value", name.Name)
			}
			continue
		}
		if what := c.hidden(value); what != "" {
			c.pass.Reportf(name.Pos(), "D9: package-level variable %s is made of %s: want a table of plain values", name.Name, what)
			continue
		}
		if holder := c.mutable(v.Type(), nil); holder != "" {
			c.pass.Reportf(name.Pos(), "D9: package-level variable %s holds %s, which can change behind its back: want a table of plain values", name.Name, holder)
		}
	}
}

func isErrorType(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}

// isSentinel reports whether an error variable is named like one and initialised by errors.New,
// fmt.Errorf, a composite literal or a conversion: never by a function that might do anything.
func (c *checker) isSentinel(name string, value ast.Expr) bool {
	if !strings.HasPrefix(name, "Err") && !strings.HasPrefix(name, "err") {
		return false
	}
	switch v := ast.Unparen(value).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		if tv := c.pass.TypesInfo.Types[v.Fun]; tv.IsType() {
			return true
		}
		fn := c.callee(v)
		return fn != nil && (fn.FullName() == "errors.New" || fn.FullName() == "fmt.Errorf")
	}
	return false
}

// isFlag reports whether a value is a command line flag's.
func (c *checker) isFlag(value ast.Expr) bool {
	call, ok := ast.Unparen(value).(*ast.CallExpr)
	if !ok {
		return false
	}
	fn := c.callee(call)
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "flag"
}

// hidden names the part of an initial value that may carry state the variable's type does not show:
// a function made by a function, or a pointer held by an interface. It returns "" if there is none.
func (c *checker) hidden(value ast.Expr) string {
	if value == nil {
		return ""
	}
	found := ""
	ast.Inspect(value, func(node ast.Node) bool {
		switch e := node.(type) {
		case *ast.FuncLit: // captures nothing but other package-level variables
			return false
		case *ast.UnaryExpr, *ast.CallExpr:
			t := c.pass.TypesInfo.TypeOf(e.(ast.Expr))
			if t == nil {
				return true
			}
			call, isCall := e.(*ast.CallExpr)
			if isCall && c.pass.TypesInfo.Types[call.Fun].IsType() {
				return true
			}
			switch t.Underlying().(type) {
			case *types.Signature:
				found = "a function with state of its own"
			case *types.Pointer:
				if holder := c.mutable(t, nil); holder != "" {
					found = holder
				}
			}
		}
		return true
	})
	return found
}

// mutable names the part of a type through which a never-written variable could still change:
// a pointer to something not known as immutable, or a channel. It returns "" if there is none.
// Types of other modules, held by value, are trusted: nothing can change them but their pointer
// methods, and calling those counts as a write.
func (c *checker) mutable(t types.Type, seen []types.Type) string {
	for _, s := range seen {
		if types.Identical(s, t) {
			return ""
		}
	}
	seen = append(seen, t)
	if named, ok := types.Unalias(t).(*types.Named); ok {
		pkg := named.Obj().Pkg()
		if pkg == nil {
			return ""
		}
		if _, ours := rooms.Dir(pkg.Path()); !ours && !underlyingIs[*types.Pointer](t) {
			return ""
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if named, ok := types.Unalias(u.Elem()).(*types.Named); ok && named.Obj().Pkg() != nil {
			if immutable[named.Obj().Pkg().Path()+"."+named.Obj().Name()] {
				return ""
			}
		}
		return "a pointer (" + types.TypeString(t, types.RelativeTo(c.pass.Pkg)) + ")"
	case *types.Chan:
		return "a channel"
	case *types.Array:
		return c.mutable(u.Elem(), seen)
	case *types.Slice:
		return c.mutable(u.Elem(), seen)
	case *types.Map:
		if holder := c.mutable(u.Key(), seen); holder != "" {
			return holder
		}
		return c.mutable(u.Elem(), seen)
	case *types.Struct:
		for i := range u.NumFields() {
			if holder := c.mutable(u.Field(i).Type(), seen); holder != "" {
				return holder
			}
		}
	}
	return ""
}
