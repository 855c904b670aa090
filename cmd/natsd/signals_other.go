//go:build !unix

package main

import (
	"os"
	"os/signal"

	"github.com/natsd/natsd/host"
)

// handleSignals obeys an interrupt until the function it returns is called; there are no other signals here.
func handleSignals(srv *host.Server, _ *settings, _ []string, _ *host.Logger) (stop func()) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, os.Interrupt)
	go func() {
		for range ch {
			srv.Stop()
		}
	}()
	return func() {
		signal.Stop(ch)
		close(ch)
	}
}
