package main

import (
	"fmt"
	"os"

	"codeberg.org/polyfloyd/go-errorlint/errorlint"
	"github.com/nishanths/exhaustive/passes/exhaustive"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/multichecker"
	"golang.org/x/tools/go/analysis/passes/nilness"
	"golang.org/x/tools/go/analysis/passes/unusedwrite"
	"honnef.co/go/tools/staticcheck"

	"github.com/natsd/natsd/lint/determinism"
	"github.com/natsd/natsd/lint/house"
	"github.com/natsd/natsd/lint/imports"
	"github.com/natsd/natsd/lint/names"
	"github.com/natsd/natsd/lint/tree"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "tree" {
		os.Exit(checkTree(os.Args[2]))
	}
	// A switch with a default has thought of the rest.
	if err := exhaustive.Analyzer.Flags.Set("d", "true"); err != nil {
		fmt.Fprintln(os.Stderr, "natsdlint: exhaustive:", err)
		os.Exit(2)
	}
	analyzers := []*analysis.Analyzer{
		determinism.Analyzer,
		house.Analyzer,
		imports.Analyzer,
		names.Analyzer,
		// What go vet leaves out because it is not always right, and is right here.
		nilness.Analyzer,
		unusedwrite.Analyzer,
		errorlint.NewAnalyzer(errorlint.WithComparison(true), errorlint.WithAsserts(true)),
		exhaustive.Analyzer,
	}
	for _, a := range staticcheck.Analyzers {
		analyzers = append(analyzers, a.Analyzer)
	}
	multichecker.Main(analyzers...)
}

func checkTree(root string) int {
	found, err := tree.Check(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "natsdlint:", err)
		return 2
	}
	for _, f := range found {
		fmt.Println(f)
	}
	if len(found) > 0 {
		return 1
	}
	return 0
}
