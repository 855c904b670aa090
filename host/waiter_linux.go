package host

import (
	"os"
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
	bell   int // an eventfd in it, rung by other threads
	events []unix.EpollEvent
	hold   bool // there are processors to be kept
	brisk  bool // the events before came shortly one after the other
	last   time.Time
}

// newWaiter makes a waiter for so many events at a time. ev is what the bell's event is like.
func newWaiter(events int, hold bool, ev unix.EpollEvent) (waiter, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return waiter{}, os.NewSyscallError("epoll_create1", err)
	}
	bell, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		unix.Close(fd)
		return waiter{}, os.NewSyscallError("eventfd", err)
	}
	w := waiter{fd: fd, bell: bell, events: make([]unix.EpollEvent, events), hold: hold}
	ev.Fd = int32(bell)
	if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, bell, &ev); err != nil {
		w.close()
		return waiter{}, os.NewSyscallError("epoll_ctl", err)
	}
	return w, nil
}

func (w *waiter) close() {
	unix.Close(w.fd)
	unix.Close(w.bell)
}

// ring wakes whoever waits, or will. It may be called from any thread, before close.
func (w *waiter) ring() {
	one := [8]byte{1}
	_, _ = unix.Write(w.bell, one[:]) // fails only when the counter is full, and then it has been ringing for ages
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
