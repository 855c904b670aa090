//go:build !unix

package main

import "os"

// signalNamed: other systems know no signal that asks a process to stop in an orderly way.
func signalNamed(string) os.Signal { return os.Kill }
