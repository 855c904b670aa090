//go:build linux

package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// These system calls bypass Go's scheduler. It has nothing else to run on the
// generator's thread, and each call it knows of would keep its monitor thread
// awake, which costs more CPU than the calls themselves. In return a garbage
// collection has to wait until the thread comes back.

// waitTimeoutMs is the longest that waitNow blocks.
const waitTimeoutMs = 20

// sendNow sends what the socket takes at once.
func sendNow(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)),
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// readNow reads what has arrived. On a blocking socket it waits for that, as long
// as the socket's timeout allows.
func readNow(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return int(n), errno
}

// writeNow writes what the socket takes. On a blocking socket it waits until that
// is something, as long as the socket's timeout allows.
func writeNow(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)),
		unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// dropNow drops at most count bytes that have arrived at a TCP socket, without
// copying them, and returns how many it dropped: 0 when the peer has closed.
func dropNow(fd, count int) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), 0, uintptr(count),
		unix.MSG_TRUNC|unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// waitNow waits for events, for timeoutMs (at most waitTimeoutMs) milliseconds,
// and returns how many there are. A signal ends it early without an event.
func waitNow(epoll int, events []unix.EpollEvent, timeoutMs int) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&events[0])),
		uintptr(len(events)), uintptr(min(timeoutMs, waitTimeoutMs)), 0, 0)
	if errno == unix.EINTR {
		return 0, nil
	}
	if errno != 0 {
		return 0, fmt.Errorf("epoll: %w", errno)
	}
	return int(n), nil
}
