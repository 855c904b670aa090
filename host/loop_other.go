//go:build !linux

package host

// newLoop returns the best loop of this system.
func newLoop(s *Server) (loop, error) { return newPortable(s), nil }

// HoldProcessors does nothing here and returns 0: only the Linux loop has a use for it.
func HoldProcessors() int { return 0 }
