//go:build unix

package integration

import (
	"syscall"
	"testing"
)

// Reading stops at an urgent byte, which is no part of the stream (RFC 6093). What is behind it is there all the same: here all of
// it before the server looks.
func TestUrgentBytes(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		p := start()
		c := dialSilently(t, p.addr)
		c.expect("INFO {")
		c.send(quiet + "PING\r\n")
		c.expect("PONG")
		for range 3 {
			ok(t, p.Process.Signal(syscall.SIGSTOP))
			c.send("SUB a 1\r\nPUB ")
			sendUrgent(t, c)
			c.send("a 2\r\nhi\r\nUNSUB 1\r\nPING\r\n")
			ok(t, p.Process.Signal(syscall.SIGCONT))
			c.expect("MSG a 1 2", "hi", "PONG")
		}
	})
}

func sendUrgent(t *testing.T, c *rawClient) {
	t.Helper()
	raw, err := c.SyscallConn()
	ok(t, err)
	var failed error
	ok(t, raw.Write(func(fd uintptr) bool {
		failed = syscall.Sendto(int(fd), []byte("!"), syscall.MSG_OOB, nil)
		return failed != syscall.EAGAIN
	}))
	ok(t, failed)
}
