//go:build unix && !linux

package server

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// runningServers finds the other processes of this program's name.
func runningServers() (pids []int, err error) {
	out, err := exec.Command("pgrep", "-x", programName()).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) && failed.ExitCode() == 1 {
		return nil, nil // there is none
	}
	if err != nil {
		return nil, errors.New("unable to resolve pid, try providing one")
	}
	for _, field := range strings.Fields(string(out)) {
		if pid, err := strconv.Atoi(field); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
