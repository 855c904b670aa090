//go:build unix

package server

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/natsd/natsd/engine"
)

// catchSignals keeps those signals for handleSignals that would end the process otherwise, but do not mean that it should
// end: they may come before the server is up.
func catchSignals() chan os.Signal {
	signal.Ignore(syscall.SIGPIPE) // who read the log from a pipe may go away; the server stays
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGHUP)
	return ch
}

// handleSignals obeys nats-server's signals, those caught before included, until the function it returns is called.
func handleSignals(ch chan os.Signal, v *Server) (stop func()) {
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for sig := range ch {
			v.log.Log(engine.LevelInfo, "", "Trapped \""+sig.String()+"\" signal")
			switch sig {
			case syscall.SIGUSR1:
				v.logger.Reopen()
			case syscall.SIGUSR2:
				v.LameDuck()
			case syscall.SIGHUP:
				_ = v.Reload() // which logs
			case syscall.SIGTERM:
				// Kubernetes sends it as soon as the hook that asks for lame duck mode has returned, and it would cut short what that is for.
				if !v.leaving.Load() {
					v.host.Stop()
				}
			default:
				v.host.Stop()
			}
		}
	}()
	return func() {
		signal.Stop(ch)
		close(ch)
	}
}
