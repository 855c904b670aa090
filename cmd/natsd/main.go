// Command natsd is a NATS server, compatible with nats-server. `natsd [flags]` serves; `natsd sim` runs simulated servers
// and clients under faults (see `natsd sim -h`).
package main

import "os"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "sim" {
		os.Exit(simMain(os.Args[2:]))
	}
	os.Exit(serveMain(os.Args[1:]))
}
