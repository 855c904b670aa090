package main

import (
	"os"

	"github.com/natsd/natsd/server"
)

func main() {
	if len(os.Args) > 1 {
		switch rest := os.Args[2:]; os.Args[1] {
		case "sim":
			os.Exit(simMain(rest))
		case "healthcheck":
			os.Exit(healthMain(rest))
		}
	}
	os.Exit(server.Main(os.Args[1:]))
}
