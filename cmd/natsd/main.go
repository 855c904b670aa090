package main

import "os"

// subcommands are what the program does besides serving.
var subcommands = map[string]func(args []string) int{"sim": simMain, "healthcheck": healthMain}

func main() {
	if len(os.Args) > 1 {
		if run := subcommands[os.Args[1]]; run != nil {
			os.Exit(run(os.Args[2:]))
		}
	}
	os.Exit(serveMain(os.Args[1:]))
}
