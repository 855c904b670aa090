package host

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const measuresCPU = true

// threadCPU returns the CPU time that the calling thread has used, which must be locked to its goroutine for that to mean
// anything, and false where it is not known.
func threadCPU() (time.Duration, bool) {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}

// usage measures what the process uses.
type usage struct {
	at  time.Time
	cpu time.Duration
}

// sample returns the resident bytes, and the CPU used since the last sample in percent of one core.
func (u *usage) sample() (rss int64, percent float64) {
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		if f := bytes.Fields(b); len(f) > 1 {
			pages, _ := strconv.ParseInt(string(f[1]), 10, 64) // the kernel writes numbers there
			rss = pages * int64(os.Getpagesize())
		}
	}
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) != nil {
		return rss, 0
	}
	now, cpu := time.Now(), time.Duration(ru.Utime.Nano()+ru.Stime.Nano())
	if !u.at.IsZero() && now.After(u.at) {
		percent = float64((cpu-u.cpu)*100) / float64(now.Sub(u.at))
	}
	u.at, u.cpu = now, cpu
	return rss, percent
}
