//go:build unix

package server

import "syscall"

// signalProcess has a process do something, by nats-server's signals.
func signalProcess(command string, pid int) error {
	return syscall.Kill(pid, map[string]syscall.Signal{
		"ldm": syscall.SIGUSR2, "quit": syscall.SIGINT, "reload": syscall.SIGHUP,
		"reopen": syscall.SIGUSR1, "stop": syscall.SIGKILL, "term": syscall.SIGTERM,
	}[command])
}
