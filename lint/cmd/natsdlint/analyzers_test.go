package main

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// Only switches that seem to mean all values of one of our own enumerations are reported.
func TestExhaustiveReportsNearlyCompleteSwitches(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", "testdata", "natsd"))
	if err != nil {
		t.Fatal(err)
	}
	analysistest.Run(t, root, exhaustiveAnalyzer(), "./host/enum")
}
