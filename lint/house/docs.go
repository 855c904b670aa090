package house

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/natsd/natsd/lint/rooms"
)

// checkPackageDoc reports a package without a doc.go, or with its package comment elsewhere.
// Packages of nothing but tests need none.
func (c *checker) checkPackageDoc() {
	var code *ast.File
	documented := false
	for _, f := range c.pass.Files {
		name := c.pass.Fset.Position(f.Package).Filename
		if rooms.IsTest(name) {
			continue
		}
		if code == nil {
			code = f
		}
		if filepath.Base(name) == "doc.go" {
			documented = f.Doc != nil
			continue
		}
		if f.Doc != nil {
			c.pass.Reportf(f.Package, "style: the package comment belongs in doc.go")
		}
	}
	if code != nil && !documented {
		c.pass.Reportf(code.Name.Pos(), "style: package %s has no doc.go with a package comment", c.pass.Pkg.Name())
	}
}

// wellKnown lists methods of the standard library's interfaces, which say what they do by their name.
var wellKnown = map[string]bool{
	"Error": true, "String": true, "Unwrap": true, "Format": true, "Len": true, "Less": true, "Swap": true,
	"Read": true, "Write": true, "MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true,
}

// checkExportedDocs reports exported names without a doc comment. In a group of constants, variables
// or types the comment of the group, or one at the end of the line, will do.
func (f *file) checkExportedDocs() {
	if f.pass.Pkg.Name() == "main" {
		return
	}
	for _, decl := range f.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() || !exportedReceiver(d) || (d.Recv != nil && wellKnown[d.Name.Name]) {
				continue
			}
			f.checkDoc(d.Name, d.Doc, true)
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				f.checkGroupDocs(d)
			}
		}
	}
}

func (f *file) checkGroupDocs(group *ast.GenDecl) {
	for _, spec := range group.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if !s.Name.IsExported() {
				continue
			}
			doc := s.Doc
			if doc == nil {
				doc = group.Doc
			}
			f.checkDoc(s.Name, doc, len(group.Specs) == 1)
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && s.Doc == nil && s.Comment == nil && group.Doc == nil {
					f.checkDoc(name, nil, false)
				}
			}
		}
	}
}

// article is what may stand before the name in the first sentence of a doc comment.
var article = regexp.MustCompile(`^(A|An|The|Deprecated:)\s+`)

func (f *file) checkDoc(name *ast.Ident, doc *ast.CommentGroup, named bool) {
	text := strings.TrimSpace(doc.Text())
	if text == "" {
		f.pass.Reportf(name.Pos(), "style: exported %s has no doc comment", name.Name)
		return
	}
	if named && !strings.HasPrefix(article.ReplaceAllString(text, ""), name.Name) {
		f.pass.Reportf(name.Pos(), "style: the doc comment of %s does not start with its name", name.Name)
	}
}

// exportedReceiver reports whether a function is none, or a method of an exported type.
func exportedReceiver(fn *ast.FuncDecl) bool {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return true
	}
	return ast.IsExported(strings.TrimPrefix(receiverName(fn.Recv.List[0].Type), "*"))
}
