package main

import (
	"fmt"
	"os"

	"github.com/natsd/natsd/lint/tree"
)

// Exit statuses.
const (
	exitClean    = 0
	exitFindings = 1
	exitTrouble  = 2
)

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "tree":
		os.Exit(lintTree(os.Args[2]))
	case len(os.Args) >= 2:
		os.Exit(lintPackages(os.Args[1:]))
	default:
		fmt.Fprintln(os.Stderr, "usage: natsdlint <packages> | natsdlint tree <dir>")
		os.Exit(exitTrouble)
	}
}

func lintTree(root string) int {
	found, err := tree.Check(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "natsdlint:", err)
		return exitTrouble
	}
	for _, f := range found {
		fmt.Println(f)
	}
	if len(found) > 0 {
		return exitFindings
	}
	return exitClean
}
