package server

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// commMax is how much of a process's name the kernel keeps.
const commMax = 15

// otherWork are arguments with which the program does not serve.
var otherWork = []string{"sim", "healthcheck", "--signal", "-signal", "-sl", "--sl"}

// runningServers finds the other servers on this machine: processes of this program's file, or of its name, that do not do
// something else.
func runningServers() (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, errors.New("unable to resolve pid, try providing one")
	}
	self, _ := os.Stat("/proc/self/exe") // nil where it can't be read: then names decide
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && pid != os.Getpid() && isServer(filepath.Join("/proc", e.Name()), self) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, nil
}

func isServer(dir string, self os.FileInfo) bool {
	cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(cmdline) == 0 { // gone, or all but gone
		return false
	}
	if args := bytes.Split(cmdline, []byte{0}); len(args) > 1 && slices.Contains(otherWork, string(args[1])) {
		return false
	}
	if exe, err := os.Stat(filepath.Join(dir, "exe")); err == nil && self != nil && os.SameFile(exe, self) {
		return true
	}
	comm, err := os.ReadFile(filepath.Join(dir, "comm"))
	name := programName()
	return err == nil && string(bytes.TrimSpace(comm)) == name[:min(len(name), commMax)]
}
