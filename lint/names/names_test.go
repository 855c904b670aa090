package names

import (
	"go/importer"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"testing"
)

// A new release of Go may bring a new function that draws from the global source: each exported
// function of the random packages is either forbidden or known to take its source as an argument.
func TestRandomFunctionsAreAllKnown(t *testing.T) {
	allowed := map[string][]string{
		"math/rand":    {"New", "NewSource", "NewZipf"},
		"math/rand/v2": {"New", "NewPCG", "NewChaCha8", "NewZipf"},
	}
	source := importer.ForCompiler(token.NewFileSet(), "source", nil)
	for path, fine := range allowed {
		pkg, err := source.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pkg.Scope().Names() {
			fn, ok := pkg.Scope().Lookup(name).(*types.Func)
			if !ok || !fn.Exported() || slices.Contains(fine, name) {
				continue
			}
			if !forbidden(path, "rand."+name) {
				t.Errorf("%s.%s is neither forbidden nor known to be harmless", path, name)
			}
		}
	}
}

func forbidden(pkg, name string) bool {
	return slices.ContainsFunc(rules, func(r rule) bool {
		return regexp.MustCompile(r.Package).MatchString(pkg) && regexp.MustCompile(r.Pattern).MatchString(name)
	})
}
