package imports

import (
	"fmt"
	"go/token"
	"maps"

	"github.com/OpenPeeDeeP/depguard/v2"
	"golang.org/x/tools/go/analysis"

	"github.com/natsd/natsd/lint/rooms"
)

// Analyzer reports imports that the room of the importing package does not allow.
var Analyzer = &analysis.Analyzer{
	Name: "imports",
	Doc:  "report imports that the package's room does not allow (D5 and the import directions)",
	Run:  run,
}

const (
	reachesOS  = "D5: pure code asks the engine's interfaces, never the system"
	reachesMem = "D5: addresses and the collector's timing differ between runs"
	concurrent = "D1: pure code is single-threaded"
	random     = "D3: draw from a *rand.Rand derived per node and purpose"
	direction  = "import direction: see lint/rooms"
)

// pureDeny lists what no pure package imports. A trailing $ means exactly this path; without it
// everything below is meant as well.
var pureDeny = map[string]string{
	"net$":                       reachesOS,
	"net/":                       reachesOS,
	"os$":                        reachesOS,
	"os/":                        reachesOS,
	"io/ioutil$":                 reachesOS,
	"path/filepath$":             reachesOS,
	"syscall$":                   reachesOS,
	"syscall/":                   reachesOS,
	"golang.org/x/sys":           reachesOS,
	"log$":                       reachesOS,
	"log/":                       reachesOS,
	"flag$":                      reachesOS,
	"expvar$":                    reachesOS,
	"plugin$":                    reachesOS,
	"crypto/tls$":                reachesOS,
	"time/tzdata$":               reachesOS,
	"github.com/nats-io/nats.go": reachesOS,
	"testing$":                   "D5: testing belongs in test files",
	"testing/":                   "D5: testing belongs in test files",
	"runtime$":                   reachesMem,
	"runtime/":                   reachesMem,
	"unsafe$":                    reachesMem,
	"reflect$":                   reachesMem,
	"unique$":                    reachesMem,
	"weak$":                      reachesMem,
	"C$":                         reachesMem,
	"sync$":                      concurrent,
	"sync/":                      concurrent,
	"golang.org/x/sync":          concurrent,
	"crypto/rand$":               random,
	"hash/maphash$":              random,
	"github.com/nats-io/nuid":    random,
	"github.com/google/uuid":     random,
}

// pureAllow lists exceptions below a denied prefix: parsers without a socket in them.
var pureAllow = []string{"net/url$", "net/netip$"}

// testAllow lists what test files of pure packages may import besides: for reading testdata,
// comparing, measuring, and starting other processes.
var testAllow = []string{
	"reflect$", "testing$", "testing/", "os$", "os/exec$", "path/filepath$", "flag$", "runtime$", "runtime/debug$",
}

func run(pass *analysis.Pass) (any, error) {
	room := rooms.OfPass(pass)
	if room.Kind == rooms.Foreign {
		return nil, nil
	}
	if room.Kind == rooms.Unknown {
		pass.Reportf(pass.Files[0].Name.Pos(), "package %s is in no room: add it to lint/rooms", pass.Pkg.Path())
		return nil, nil
	}
	for _, file := range pass.Files {
		name := pass.Fset.Position(file.Package).Filename
		one := *pass
		one.Files = pass.Files[:0:0]
		one.Files = append(one.Files, file)
		one.Report = func(d analysis.Diagnostic) {
			d.SuggestedFixes = nil // depguard's are advice without an edit
			d.End = token.NoPos
			pass.Report(d)
		}
		list := listFor(room, rooms.IsTest(name))
		guard, err := depguard.NewAnalyzer(&depguard.LinterSettings{room.Dir: list})
		if err != nil {
			return nil, fmt.Errorf("import list of %s: %w", room.Dir, err)
		}
		if _, err := guard.Run(&one); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// listFor builds depguard's list. In its lax mode everything is allowed but what a deny entry
// matches, and a longer allow entry beats a shorter deny entry; an exact entry counts as longer
// than a prefix of the same length.
func listFor(room rooms.Room, test bool) *depguard.List {
	list := &depguard.List{ListMode: "lax", Deny: map[string]string{}}
	for _, dir := range room.Deny {
		list.Deny[rooms.Module+"/"+dir+"$"] = direction
		list.Deny[rooms.Module+"/"+dir+"/"] = direction
	}
	if room.Kind != rooms.Pure {
		return list
	}
	maps.Copy(list.Deny, pureDeny)
	list.Allow = append(list.Allow, pureAllow...)
	if test {
		for _, exempt := range testAllow {
			delete(list.Deny, exempt)
			list.Allow = append(list.Allow, exempt)
		}
	}
	return list
}
