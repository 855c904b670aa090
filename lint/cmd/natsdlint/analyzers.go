package main

import (
	"go/ast"
	"go/token"
	"strings"

	"codeberg.org/polyfloyd/go-errorlint/errorlint"
	"github.com/nishanths/exhaustive/passes/exhaustive"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/nilness"
	"golang.org/x/tools/go/analysis/passes/unusedwrite"
	"honnef.co/go/tools/staticcheck"

	"github.com/natsd/natsd/lint/determinism"
	"github.com/natsd/natsd/lint/house"
	"github.com/natsd/natsd/lint/imports"
	"github.com/natsd/natsd/lint/names"
	"github.com/natsd/natsd/lint/rooms"
)

// analyzers returns all that natsdlint runs: the repository's own, then what go vet leaves out
// because it is not always right, and is right here.
func analyzers() []*analysis.Analyzer {
	all := []*analysis.Analyzer{
		determinism.Analyzer,
		house.Analyzer,
		imports.Analyzer,
		names.Analyzer,
		nilness.Analyzer,
		unusedwrite.Analyzer,
		errorlint.NewAnalyzer(errorlint.WithComparison(true), errorlint.WithAsserts(true)),
		exhaustiveAnalyzer(),
	}
	for _, a := range staticcheck.Analyzers {
		all = append(all, a.Analyzer)
	}
	return all
}

// exhaustiveAnalyzer returns exhaustive's check of switches over our own enumerations, without the
// switches that have a default and so have thought of the rest, and without those that leave out
// more than a quarter of the values: these pick some out and mean to.
func exhaustiveAnalyzer() *analysis.Analyzer {
	setFlag(exhaustive.Analyzer, "d", "true")
	setFlag(exhaustive.Analyzer, "typeonly", "^"+rooms.Module)
	// numKinds counts the kinds and is none; kindNone and its like are the zero value.
	setFlag(exhaustive.Analyzer, "constignore", `(^|\.)num[A-Z]|(None|Nothing|Unknown)$`)
	a := *exhaustive.Analyzer
	inner := a.Run
	a.Run = func(pass *analysis.Pass) (any, error) {
		filtered := *pass
		filtered.Report = func(d analysis.Diagnostic) {
			if missing := strings.Count(d.Message, ",") + 1; namedCases(pass, d.Pos) >= 3*missing {
				pass.Report(d)
			}
		}
		return inner(&filtered)
	}
	return &a
}

// setFlag sets a flag of an analyzer that is known to have it.
func setFlag(a *analysis.Analyzer, name, value string) {
	if err := a.Flags.Set(name, value); err != nil {
		panic(a.Name + ": " + err.Error())
	}
}

// namedCases counts the values that the cases of the switch at pos name.
func namedCases(pass *analysis.Pass, pos token.Pos) int {
	n := 0
	for _, f := range pass.Files {
		if pos < f.FileStart || f.FileEnd < pos {
			continue
		}
		ast.Inspect(f, func(node ast.Node) bool {
			if s, ok := node.(*ast.SwitchStmt); ok && s.Pos() == pos {
				for _, clause := range s.Body.List {
					n += len(clause.(*ast.CaseClause).List)
				}
			}
			return true
		})
	}
	return n
}
