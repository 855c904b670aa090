package main

import "os"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "sim" {
		os.Exit(simMain(os.Args[2:]))
	}
	os.Exit(serveMain(os.Args[1:]))
}
