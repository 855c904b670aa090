package host

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// HoldProcessors raises runtime.GOMAXPROCS by one for each thread that serves connections, the loop's and the TLS workers',
// and returns what it was, for Options.Processors. A program that does nothing but serve calls it once, before New; a
// library must not, for the setting is the whole process's.
//
// The Go scheduler takes the processor, in its sense, from a thread that waits in a system call, within some 20
// microseconds: a thread of the runtime has to stay awake for that, and whoever comes back looks for another one. With
// messages that follow each other closely that costs more than serving them. Threads that have one to spare keep theirs over
// short waits.
func HoldProcessors() int {
	n := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(n + 1 + edgeWorkers(n))
	return n
}

// waiter is an epoll, and how its thread waits for it: while events follow each other closely it keeps its processor
// (HoldProcessors), for some time.
type waiter struct {
	fd     int
	events []unix.EpollEvent
	hold   bool // there are processors to be kept
	brisk  bool // the events before came shortly one after the other
	last   time.Time
}

const (
	// briskGap is how far apart events may be to be expected soon.
	briskGap = time.Millisecond
	// briskWait is how long a processor is kept, milliseconds. The scheduler may interrupt it earlier; the collector does.
	briskWait = 20
)

// wait returns the number of events, after at most so many milliseconds; -1: for ever.
func (w *waiter) wait(timeout int) (int, unix.Errno) {
	if timeout == 0 {
		return w.poll(0)
	}
	if w.brisk {
		most := briskWait
		if timeout > 0 {
			most = min(timeout, most)
		}
		n, errno := w.poll(most)
		if n > 0 {
			return n, errno
		}
		if w.brisk = false; errno != 0 || most == timeout {
			return n, errno
		}
	}
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(w.fd), uintptr(unsafe.Pointer(&w.events[0])), uintptr(len(w.events)), uintptr(timeout), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	if w.hold && n > 0 {
		now := time.Now()
		w.brisk, w.last = now.Sub(w.last) < briskGap, now
	}
	return int(n), 0
}

// poll waits without giving up the processor.
func (w *waiter) poll(timeout int) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(w.fd), uintptr(unsafe.Pointer(&w.events[0])), uintptr(len(w.events)), uintptr(timeout), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
