package lint_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/natsd/natsd/lint/determinism"
	"github.com/natsd/natsd/lint/house"
	"github.com/natsd/natsd/lint/imports"
	"github.com/natsd/natsd/lint/names"
)

// examples lists the packages below testdata/natsd that break each rule. The report expected stands
// beside each bad line, good lines that must not be reported stand among them.
var examples = []struct {
	rule     string
	analyzer *analysis.Analyzer
	packages string // separated by spaces
	clean    bool   // nothing is to be reported
}{
	{"D1 go statements", determinism.Analyzer, "engine/goroutine", false},
	{"D1 channels", determinism.Analyzer, "engine/channels", false},
	{"D1 select", determinism.Analyzer, "engine/selects", false},
	{"D2 time zone", determinism.Analyzer, "engine/zone", false},
	{"D4 map order", determinism.Analyzer, "engine/maporder", false},
	{"annotations", determinism.Analyzer, "engine/notes", false},
	{"D5 addresses", determinism.Analyzer, "engine/addresses", false},
	{"D5 print", determinism.Analyzer, "engine/terminal", false},
	{"D5 files of some builds", determinism.Analyzer, "engine/build", false},
	{"D6 floats", determinism.Analyzer, "engine/floats", false},
	{"D9 package state", determinism.Analyzer, "engine/globals", false},
	{"D9 writes from outside", determinism.Analyzer, "host/foreign", false},
	{"determinism leaves host alone", determinism.Analyzer, "host/world", true},
	{"D2 clocks", names.Analyzer, "engine/clock", false},
	{"D3 random sources", names.Analyzer, "engine/random", false},
	{"D5 terminal", names.Analyzer, "engine/printed", false},
	{"names leave host alone", names.Analyzer, "host/world", true},
	{"D1 D3 D5 imports", imports.Analyzer, "engine/system", false},
	{"one exempt file", imports.Analyzer, "sim", false},
	{"import directions", imports.Analyzer,
		"engine/direction jetstream/direction sublist/direction sim/direction host/direction", false},
	{"no room", imports.Analyzer, "cellar", false},
	{"imports leave host alone", imports.Analyzer, "host/world", true},
	{"docs", house.Analyzer, "host/undocumented host/misplaced", false},
	{"errors, skips, sleeps", house.Analyzer, "host/dropped", false},
	{"lengths", house.Analyzer, "host/long", false},
}

// A rule that stops seeing its example fails here. Each analyzer loads all its examples at once:
// loading is what takes the time.
func TestEachRuleCatchesItsExample(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("testdata", "natsd"))
	if err != nil {
		t.Fatal(err)
	}
	for _, analyzer := range []*analysis.Analyzer{determinism.Analyzer, names.Analyzer, imports.Analyzer, house.Analyzer} {
		t.Run(analyzer.Name, func(t *testing.T) {
			t.Parallel()
			reports := map[string]int{} // by package path
			for _, result := range analysistest.Run(t, root, analyzer, patterns(analyzer)...) {
				reports[strings.TrimSuffix(result.Pass.Pkg.Path(), "_test")] += len(result.Diagnostics)
			}
			for _, e := range examples {
				for _, pkg := range strings.Fields(e.packages) {
					n := reports["github.com/natsd/natsd/"+pkg]
					if e.analyzer == analyzer && (n == 0) != e.clean {
						t.Errorf("%s: %d reports in %s", e.rule, n, pkg)
					}
				}
			}
		})
	}
}

// patterns returns the packages that an analyzer has examples in, as the go command wants them.
func patterns(analyzer *analysis.Analyzer) []string {
	var all []string
	for _, e := range examples {
		if e.analyzer != analyzer {
			continue
		}
		for _, pkg := range strings.Fields(e.packages) {
			all = append(all, "./"+pkg)
		}
	}
	return all
}
