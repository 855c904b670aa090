package rooms

import (
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Module is the path of the main module, the prefix of every package the rules speak of.
const Module = "github.com/natsd/natsd"

// Kind is the nature of a room.
type Kind int

const (
	// Unknown is a package that no room claims: an error in itself.
	Unknown Kind = iota
	// Foreign is a package outside the repository.
	Foreign
	// Pure is code under the determinism rules: it decides, and asks interfaces for the rest.
	Pure
	// World is code that may use clocks, sockets, files and goroutines.
	World
)

// Room is a directory of the repository with all below it, unless a deeper room claims that.
type Room struct {
	Dir  string // from the root of the repository
	Kind Kind
	// Deny lists directories of this repository that the room may not import.
	Deny []string
}

// Leaf packages know nothing of the rest of the house. Nobody but server imports host (and tests
// do), and nobody at all imports cmd, bench or lint.
var (
	outside  = []string{"host", "server", "natsdtest", "tlsconf", "revocation", "cmd", "bench", "lint", "sim/mutants"}
	simulate = []string{"sim", "netsim", "diskfault", "linearizability"}
	core     = []string{"engine", "jetstream"}
)

var table = []Room{
	{Dir: "engine", Kind: Pure, Deny: join(outside, simulate)},
	{Dir: "jetstream", Kind: Pure, Deny: join(outside, simulate)},
	{Dir: "sublist", Kind: Pure, Deny: join(outside, simulate, core)},
	{Dir: "subject", Kind: Pure, Deny: join(outside, simulate, core)},
	{Dir: "wire", Kind: Pure, Deny: join(outside, simulate, core)},
	{Dir: "proxyproto", Kind: Pure, Deny: join(outside, simulate, core)},
	{Dir: "conf", Kind: Pure, Deny: join(outside, simulate, core)},
	{Dir: "mapping", Kind: Pure, Deny: join(outside, simulate, core)},
	{Dir: "permission", Kind: Pure, Deny: join(outside, simulate, core)},
	{Dir: "config", Kind: Pure, Deny: join(outside, simulate, core)},
	{Dir: "claims", Kind: Pure, Deny: join(outside, simulate, core)},
	{Dir: "monitor", Kind: Pure, Deny: join(outside, simulate, core)},
	{Dir: "netsim", Kind: Pure, Deny: outside},
	{Dir: "diskfault", Kind: Pure, Deny: outside},
	{Dir: "sim", Kind: Pure, Deny: outside},
	{Dir: "linearizability", Kind: Pure, Deny: outside},
	{Dir: "internal/transcript", Kind: Pure, Deny: outside},
	// The mutant runner builds programs and starts processes; the transcript replayer dials servers.
	{Dir: "sim/mutants", Kind: World, Deny: []string{"host", "cmd", "bench", "lint"}},
	{Dir: "internal/transcript/replay", Kind: World, Deny: outside},
	{Dir: "host", Kind: World, Deny: join(simulate, []string{"server", "natsdtest", "cmd", "bench", "lint"})},
	{Dir: "server", Kind: World, Deny: join(simulate, []string{"natsdtest", "cmd", "bench", "lint"})},
	{Dir: "natsdtest", Kind: World, Deny: join(simulate, []string{"cmd", "bench", "lint"})},
	{Dir: "tlsconf", Kind: World, Deny: join(simulate, core, []string{"host", "cmd", "bench", "lint", "sim/mutants"})},
	{Dir: "revocation", Kind: World, Deny: join(outside, simulate, core)},
	{Dir: "cmd", Kind: World, Deny: []string{"bench", "lint"}},
	{Dir: "bench", Kind: World, Deny: []string{"cmd", "lint"}},
	{Dir: "lint", Kind: World, Deny: []string{"host", "cmd", "bench", "engine"}},
	{Dir: "internal", Kind: World, Deny: outside},
	{Dir: "packaging", Kind: World, Deny: join(outside, simulate, core)},
	{Dir: "integration", Kind: World, Deny: []string{"cmd", "bench", "lint"}},
}

// Table returns all rooms, in no particular order. The caller may not change it.
func Table() []Room { return table }

// Of returns the room of the package with the given import path. The deepest directory wins.
func Of(pkgPath string) Room {
	dir, inside := Dir(pkgPath)
	if !inside {
		return Room{Kind: Foreign}
	}
	best := Room{Dir: dir, Kind: Unknown}
	longest := -1
	for _, r := range table {
		if Within(dir, r.Dir) && len(r.Dir) > longest {
			best, longest = r, len(r.Dir)
		}
	}
	return best
}

// OfPass returns the room of the package a pass looks at. Test packages live where their files do;
// the main package that `go test` generates is foreign.
func OfPass(pass *analysis.Pass) Room {
	path := pass.Pkg.Path()
	if strings.HasSuffix(path, ".test") && pass.Pkg.Name() == "main" {
		return Room{Kind: Foreign}
	}
	if strings.HasSuffix(pass.Pkg.Name(), "_test") {
		path = strings.TrimSuffix(path, "_test")
	}
	return Of(path)
}

// Dir returns the directory of a package from the root of the repository ("" for the root itself),
// and false for a package of another module.
func Dir(pkgPath string) (string, bool) {
	if pkgPath == Module {
		return "", true
	}
	return strings.CutPrefix(pkgPath, Module+"/")
}

// Within reports whether directory dir is root or below it.
func Within(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, root+"/")
}

// IsTest reports whether a file name is that of a test file.
func IsTest(fileName string) bool {
	return strings.HasSuffix(filepath.Base(fileName), "_test.go")
}

func join(lists ...[]string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// File returns the path from the root of the repository, with slashes, of a file of the package.
func File(pkgPath, fileName string) string {
	dir, _ := Dir(strings.TrimSuffix(pkgPath, "_test"))
	if dir == "" {
		return filepath.Base(fileName)
	}
	return dir + "/" + filepath.Base(fileName)
}
