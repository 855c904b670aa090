//go:build unix

package main

import (
	"os"
	"syscall"
)

func signalNamed(name string) os.Signal {
	switch name {
	case "INT":
		return syscall.SIGINT
	case "USR2":
		return syscall.SIGUSR2
	}
	return syscall.SIGTERM
}
