//go:build unix

package server

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// A reload or a log rotation may be asked for before the server is up: it is not the end of the process, and not forgotten.
func TestSignalsThatComeEarlyAreKept(t *testing.T) {
	ch := catchSignals()
	t.Cleanup(func() { signal.Stop(ch) })
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2} {
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		if got := <-ch; got != sig {
			t.Errorf("caught %v, want %v", got, sig)
		}
	}
}
