package house

import (
	"go/ast"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/natsd/natsd/lint"
	"github.com/natsd/natsd/lint/rooms"
)

// Analyzer reports violations of the house style.
var Analyzer = &analysis.Analyzer{
	Name: "house",
	Doc:  "report violations of the house style: lengths, docs, skips, sleeps",
	Run:  run,
}

// checker is the state of one pass over one package.
type checker struct {
	pass *analysis.Pass
	room rooms.Room
	long []lint.LongFunc
}

// file is one file under examination.
type file struct {
	*checker
	ast  *ast.File
	name string // as the compiler knows it
	test bool
}

func run(pass *analysis.Pass) (any, error) {
	long, err := lint.LongFuncs()
	if err != nil {
		return nil, err
	}
	c := &checker{pass: pass, room: rooms.OfPass(pass), long: long}
	if c.room.Kind == rooms.Foreign {
		return nil, nil
	}
	c.checkPackageDoc()
	for _, f := range pass.Files {
		name := pass.Fset.Position(f.Package).Filename
		in := &file{checker: c, ast: f, name: name, test: rooms.IsTest(name)}
		if ast.IsGenerated(f) || strings.HasSuffix(name, ".pb.go") {
			continue
		}
		in.checkFileLength()
		in.checkFunctionLengths()
		in.checkImports()
		in.checkDroppedErrors()
		if in.test {
			in.checkTestCalls()
		} else {
			in.checkExportedDocs()
		}
	}
	return nil, nil
}
