package determinism

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// pointerVerb matches a %p with any flags, width and argument index.
var pointerVerb = regexp.MustCompile(`%[-+# 0]*(\[\d+\])?[\d*]*(\.[\d*]+)?p`)

// checkAddresses reports %p in string constants, and arguments of fmt's functions that print the
// address of something: a pointer, channel or function inside the value.
func (f *file) checkAddresses() {
	ast.Inspect(f.ast, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			text := strings.ReplaceAll(constant.StringVal(constant.MakeFromLiteral(n.Value, n.Kind, 0)), "%%", "")
			if pointerVerb.MatchString(text) {
				f.pass.Reportf(n.Pos(), "D5: %%p prints an address, which differs between runs")
			}
		case *ast.CallExpr:
			if !f.test {
				f.checkPrinted(n)
			}
		}
		return true
	})
}

// checkPrinted looks at what fmt is given to print. Verbs are not told apart: what prints an address
// under %v does so under %d and %x as well.
func (f *file) checkPrinted(call *ast.CallExpr) {
	fn := f.callee(call)
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != "fmt" || fn.Signature().Recv() != nil {
		return
	}
	if !fn.Signature().Variadic() || strings.Contains(fn.Name(), "can") { // Scan, Sscanf: destinations
		return
	}
	for i, arg := range call.Args {
		t := f.pass.TypesInfo.TypeOf(arg)
		if t == nil || i < fn.Signature().Params().Len()-1 || call.Ellipsis.IsValid() {
			continue
		}
		if what := printsAddress(t, 0, nil); what != "" {
			f.pass.Reportf(arg.Pos(), "D5: fmt prints the address of %s in this value, which differs between runs",
				what)
		}
	}
}

// printsAddress names the part of a value of type t that fmt prints as an address, "" if none. At
// depth 0 fmt follows a pointer to a struct, array, slice or map, and asks the value for its own
// text; deeper, pointers are printed as they are unless they have a text of their own.
func printsAddress(t types.Type, depth int, seen []types.Type) string {
	if depth > 0 { // the outermost pointer is followed, the same type deeper is not
		for _, s := range seen {
			if types.Identical(s, t) {
				return ""
			}
		}
		seen = append(seen, t)
	}
	if hasText(t) {
		return ""
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if depth == 0 {
			switch u.Elem().Underlying().(type) {
			case *types.Struct, *types.Array, *types.Slice, *types.Map:
				return printsAddress(u.Elem(), 1, seen)
			}
		}
		return "a pointer"
	case *types.Chan:
		return "a channel"
	case *types.Signature:
		return "a function"
	case *types.Array:
		return printsAddress(u.Elem(), depth+1, seen)
	case *types.Slice:
		return printsAddress(u.Elem(), depth+1, seen)
	case *types.Map:
		if what := printsAddress(u.Key(), depth+1, seen); what != "" {
			return what
		}
		return printsAddress(u.Elem(), depth+1, seen)
	case *types.Struct:
		for i := range u.NumFields() {
			if what := printsAddress(u.Field(i).Type(), depth+1, seen); what != "" {
				return what
			}
		}
	}
	return ""
}

// hasText reports whether fmt asks a value of type t for its text instead of looking inside.
func hasText(t types.Type) bool {
	for _, name := range []string{"Error", "String", "Format"} {
		obj, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
		if fn, ok := obj.(*types.Func); ok {
			sig := fn.Signature()
			switch {
			case name == "Format" && sig.Params().Len() == 2:
				return true
			case name != "Format" && sig.Params().Len() == 0 && sig.Results().Len() == 1:
				return true
			}
		}
	}
	return false
}
