package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// signalCommands are what --signal may tell a server to do. What each is, is the system's business.
var signalCommands = []string{"ldm", "quit", "reload", "reopen", "stop", "term"}

// sendSignal carries out --signal: "command" or "command=target", where the target is a process id, a file that holds one, a
// pattern of such files, or the beginning of process ids with a star behind it. Without a target it is the one server that
// runs here.
func sendSignal(arg string) error {
	command, target, _ := strings.Cut(arg, "=")
	if !slices.Contains(signalCommands, command) {
		return fmt.Errorf("unknown signal %q: it must be one of %s", command, strings.Join(signalCommands, ", "))
	}
	pids, err := targets(target)
	if err != nil {
		return err
	}
	var failed strings.Builder
	for _, pid := range pids {
		if err := signalProcess(command, pid); err != nil {
			fmt.Fprintf(&failed, "\nsignal %q %d: %v", command, pid, err)
		}
	}
	if failed.Len() > 0 {
		return errors.New(failed.String())
	}
	return nil
}

// targets finds the processes that are meant.
func targets(target string) ([]int, error) {
	prefix, star := strings.CutSuffix(target, "*")
	switch {
	case target == "":
		pids, err := runningServers()
		if err != nil {
			return nil, err
		}
		switch len(pids) {
		case 0:
			return nil, fmt.Errorf("no %s processes running", programName())
		case 1:
			return pids, nil
		default:
			text := fmt.Sprintf("multiple %s processes running:", programName())
			for _, pid := range pids {
				text += "\n" + strconv.Itoa(pid)
			}
			return nil, errors.New(text)
		}
	case star && isNumber(prefix):
		pids, err := runningServers()
		return slices.DeleteFunc(pids, func(pid int) bool { return !strings.HasPrefix(strconv.Itoa(pid), prefix) }), err
	case strings.ContainsAny(target, "*?["):
		return pidsOfFiles(target)
	}
	pid, err := pidOf(target)
	return []int{pid}, err
}

// isNumber reports whether s has nothing but digits in it.
func isNumber(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// pidsOfFiles reads the process ids in all files that match a pattern.
func pidsOfFiles(pattern string) (pids []int, err error) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("invalid pid: %s", pattern)
	}
	for _, f := range files {
		pid, err := pidOf(f)
		if err != nil {
			return nil, fmt.Errorf("%w (in %s)", err, f)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// pidOf reads a process id, or a file that holds one.
func pidOf(target string) (int, error) {
	if b, err := os.ReadFile(target); err == nil {
		target = strings.TrimSpace(string(b))
	}
	pid, err := strconv.Atoi(target)
	if err != nil || pid <= 0 { // those below mean groups of processes
		return 0, fmt.Errorf("invalid pid: %s", target)
	}
	return pid, nil
}

// programName is the name that the program was started under.
func programName() string { return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") }
