//go:build !unix

package server

import (
	"errors"
	"runtime"
)

var errNoSignals = errors.New("--signal works where there are signals: " + runtime.GOOS + " has none")

func signalProcess(string, int) error { return errNoSignals }

func runningServers() ([]int, error) { return nil, errNoSignals }
