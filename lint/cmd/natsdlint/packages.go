package main

import (
	"cmp"
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// report is one finding, as printed.
type report struct {
	at       token.Position
	analyzer string
	message  string
}

// lintPackages runs all analyzers over the packages that the patterns name, with their tests, and
// prints what they report in the order of files and lines.
func lintPackages(patterns []string) int {
	// Analyzers with facts about dependencies need these from source.
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Tests: true}, patterns...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "natsdlint:", err)
		return exitTrouble
	}
	status := exitClean
	if packages.PrintErrors(loaded) > 0 {
		status = exitTrouble
	}
	loaded = slices.DeleteFunc(loaded, func(p *packages.Package) bool { return p.IllTyped })
	reports, err := analyze(loaded)
	if err != nil {
		fmt.Fprintln(os.Stderr, "natsdlint:", err)
		return exitTrouble
	}
	for _, r := range reports {
		fmt.Printf("%s: %s (%s)\n", r.at, r.message, r.analyzer)
	}
	if len(reports) > 0 && status == exitClean {
		status = exitFindings
	}
	return status
}

// analyze returns the reports over the packages, sorted, each once: a package and its variant with
// test files share most of their files.
func analyze(loaded []*packages.Package) ([]report, error) {
	graph, err := checker.Analyze(analyzers(), loaded, nil)
	if err != nil {
		return nil, err
	}
	var all []report
	for _, act := range graph.Roots {
		if act.Err != nil {
			return nil, fmt.Errorf("%s: %w", act, act.Err)
		}
		for _, d := range act.Diagnostics {
			all = append(all, reportOf(act.Package.Fset, act.Analyzer, d))
		}
	}
	slices.SortFunc(all, func(a, b report) int {
		return cmp.Or(
			strings.Compare(a.at.Filename, b.at.Filename),
			cmp.Compare(a.at.Line, b.at.Line),
			cmp.Compare(a.at.Column, b.at.Column),
			strings.Compare(a.message, b.message),
		)
	})
	return slices.Compact(all), nil
}

func reportOf(fset *token.FileSet, a *analysis.Analyzer, d analysis.Diagnostic) report {
	at := fset.Position(d.Pos)
	at.Offset = 0
	if dir, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(dir, at.Filename); err == nil && !strings.HasPrefix(short, "..") {
			at.Filename = short
		}
	}
	return report{at: at, analyzer: a.Name, message: d.Message}
}
