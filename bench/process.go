//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processCPU returns the CPU time all threads of a process have used so far,
// those that have ended included, with the precision of the scheduler.
func processCPU(pid int) (time.Duration, error) {
	// This is how clock_getcpuclockid(3) encodes a process's scheduler clock.
	const schedulerClock = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedulerClock), &t); err != nil {
		return 0, fmt.Errorf("CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// residentBytes returns how much memory of a process is resident.
func residentBytes(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("resident memory: %w", err)
	}
	return statusBytes(string(text), "VmRSS")
}

// statusBytes finds a size in the text of /proc/<pid>/status.
func statusBytes(text, name string) (int64, error) {
	for line := range strings.Lines(text) {
		rest, found := strings.CutPrefix(line, name+":")
		if !found {
			continue
		}
		kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		return kilobytes << 10, nil
	}
	return 0, fmt.Errorf("no %s in /proc status", name)
}

// allowOpenFiles raises the limit of open files of this process, and so of the
// servers it starts, and returns an error when it cannot be raised to count.
func allowOpenFiles(count uint64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("open files: %w", err)
	}
	wanted := unix.Rlimit{Cur: max(limit.Max, count), Max: max(limit.Max, count)}
	// Setting it even when it is high enough keeps the Go runtime from giving
	// children the lower limit this process was started with.
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &wanted); err != nil {
		return fmt.Errorf("%d open files are needed, the limit is %d: %w", count, limit.Max, err)
	}
	return nil
}
