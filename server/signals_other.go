//go:build !unix

package server

import (
	"os"
	"os/signal"
)

// catchSignals has nothing to keep: an interrupt means that the process should end, whenever it comes.
func catchSignals() chan os.Signal { return make(chan os.Signal, 1) }

// handleSignals obeys an interrupt until the function it returns is called; there are no other signals here.
func handleSignals(ch chan os.Signal, v *Server) (stop func()) {
	signal.Notify(ch, os.Interrupt)
	go func() {
		for range ch {
			v.host.Stop()
		}
	}()
	return func() {
		signal.Stop(ch)
		close(ch)
	}
}
