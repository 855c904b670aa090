package host

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// HoldProcessors returns runtime.GOMAXPROCS for Options.Processors, and raises it where it is 1. A program that does nothing
// but serve calls it once, before New; a library must not, for the setting is the whole process's, and the server changes it.
//
// The Go scheduler takes the processor, in its sense, from a thread that waits in a system call, within some 20
// microseconds: a thread of the runtime has to stay awake for that, and whoever comes back looks for another one. With
// messages that follow each other closely that costs more than serving them. So the loop, and the workers that serve TLS
// connections, keep theirs over short waits. One is always left to others: with the first TLS connection the server raises
// GOMAXPROCS by its workers. (Not more: what the scheduler believes to be idle processors the collector uses, and where they are
// not really there that is the loop's time.)
func HoldProcessors() int {
	n := runtime.GOMAXPROCS(0)
	if n == 1 {
		runtime.GOMAXPROCS(2)
	}
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
		held, rest := splitWait(timeout)
		n, errno := w.poll(held)
		if n > 0 {
			return n, errno
		}
		if w.brisk = false; errno != 0 || rest == 0 {
			return n, errno
		}
		timeout = rest
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

// splitWait divides a wait, in milliseconds (-1: for ever), into how long the processor is kept and the rest: together they are
// not longer, for a timer is due at the end.
func splitWait(timeout int) (held, rest int) {
	if timeout < 0 {
		return briskWait, timeout
	}
	held = min(timeout, briskWait)
	return held, timeout - held
}

// poll waits without giving up the processor.
func (w *waiter) poll(timeout int) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(w.fd), uintptr(unsafe.Pointer(&w.events[0])), uintptr(len(w.events)), uintptr(timeout), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
