//go:build !unix

package integration

// descriptorsMax is how many sockets this process may count on.
func descriptorsMax() int { return 10_000 }
