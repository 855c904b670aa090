//go:build !linux

package host

// newLoop returns the best loop of this system.
func newLoop(s *Server) (loop, error) { return newPortable(s), nil }
