package server

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/natsd/natsd/engine"
)

// version is natsd's own. Release builds may set another with -ldflags
// "-X github.com/natsd/natsd/server.version=…".
var version = "0.1.0"

// revision is the commit that was built, where the go command did not see it: -ldflags "-X github.com/natsd/natsd/server.revision=…".
var revision string

// commitShort is how much of a commit's name is shown.
const commitShort = 7

// Commit names the source that was built, shortened; empty when unknown.
func Commit() string {
	if revision != "" {
		return revision[:min(len(revision), commitShort)]
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= commitShort {
			return s.Value[:commitShort]
		}
	}
	return ""
}

// printVersion prints natsd's version and, on a line of its own, the compatible nats-server version: test suites of
// clients read it.
func printVersion(w io.Writer) {
	own := "natsd: v" + version
	if c := Commit(); c != "" {
		own += " (" + c + ")"
	}
	fmt.Fprintf(w, "%s\nnats-server: v%s\n", own, engine.NatsVersion)
}
