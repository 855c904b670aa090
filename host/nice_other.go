//go:build !linux

package host

// lowerThread does nothing: priorities of single threads are not to be had everywhere.
func lowerThread(bool) {}
