//go:build !linux

package main

import (
	"fmt"
	"os"
)

// main says why there is nothing to run: the generator is built on epoll,
// MSG_TRUNC and the CPU clocks of other processes.
func main() {
	fmt.Fprintln(os.Stderr, "bench: the load generator runs on Linux only")
	os.Exit(2)
}
