package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/natsd/natsd/engine"
)

// version is natsd's own. Release builds may set it with -ldflags "-X main.version=…".
var version = "0.1.0"

// commit names the source that was built, shortened; empty when unknown.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 7 {
			return s.Value[:7]
		}
	}
	return ""
}

// printVersion prints natsd's version and, on a line of its own, the compatible nats-server version: test suites of
// clients read it.
func printVersion(w io.Writer) {
	own := "natsd: v" + version
	if c := commit(); c != "" {
		own += " (" + c + ")"
	}
	fmt.Fprintf(w, "%s\nnats-server: v%s\n", own, engine.NatsVersion)
}
