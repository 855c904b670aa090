package determinism

import (
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/analysis"

	"github.com/natsd/natsd/lint/rooms"
)

// Analyzer reports constructs that make a pure package depend on anything but its inputs.
var Analyzer = &analysis.Analyzer{
	Name: "determinism",
	Doc:  "report what makes pure packages depend on the scheduler, map order, addresses or hidden state",
	Run:  run,
}

// checker is the state of one pass over one package.
type checker struct {
	pass  *analysis.Pass
	notes []*note
}

// file is one file under examination.
type file struct {
	*checker
	ast  *ast.File
	test bool
}

func run(pass *analysis.Pass) (any, error) {
	kind := rooms.OfPass(pass).Kind
	if kind == rooms.Foreign || kind == rooms.Unknown {
		return nil, nil
	}
	c := &checker{pass: pass}
	c.checkForeignWrites()
	if kind != rooms.Pure {
		return nil, nil
	}
	c.checkBuild()
	for _, f := range pass.Files {
		if err := c.readNotes(f); err != nil {
			return nil, err
		}
	}
	for _, f := range pass.Files {
		in := &file{checker: c, ast: f, test: rooms.IsTest(pass.Fset.Position(f.Package).Filename)}
		in.checkStatements()
		in.checkMapIteration()
		in.checkAddresses()
		if !in.test {
			in.checkFloats()
		}
	}
	c.checkGlobals()
	c.reportIdleNotes()
	return nil, nil
}

// walk calls visit for each node of the tree with its ancestors, outermost first, node excluded.
func walk(root ast.Node, visit func(node ast.Node, ancestors []ast.Node)) {
	var stack []ast.Node
	ast.Inspect(root, func(node ast.Node) bool {
		if node == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		visit(node, stack)
		stack = append(stack, node)
		return true
	})
}

func (c *checker) line(pos token.Pos) int { return c.pass.Fset.Position(pos).Line }

func (c *checker) fileName(pos token.Pos) string { return c.pass.Fset.Position(pos).Filename }
