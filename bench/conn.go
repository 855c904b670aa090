//go:build linux

package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// conn is one client connection on a raw socket. Until a flow takes it over it
// blocks, with a timeout of blockingSeconds for each read and write.
type conn struct {
	fd     int
	secure *secure // nil: plaintext
	in     []byte  // bytes read and not yet scanned; grows as a frame needs it
	done   int     // bytes at the start of in that the last frame used up
}

const (
	blockingSeconds  = 10
	inBytesAtFirst   = 4 << 10
	readBytesAtLeast = 2 << 10
)

// endpoint is where a server is.
type endpoint struct {
	port int
	tls  *tls.Config // nil: plaintext
}

// password is what clients log in with; their names are their users. Servers
// without users take no notice.
const password = "bench"

// dial connects to a server on 127.0.0.1 and returns when it has answered the
// first PING.
func dial(to endpoint, name string) (*conn, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	c := &conn{fd: fd, in: make([]byte, 0, inBytesAtFirst)}
	if err := c.open(to, name); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// open connects the socket and goes through the handshake.
func (c *conn) open(to endpoint, name string) error {
	wait := unix.Timeval{Sec: blockingSeconds}
	err := errors.Join(
		unix.SetsockoptTimeval(c.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait),
		unix.SetsockoptTimeval(c.fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &wait),
		unix.SetsockoptInt(c.fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
		// Closing resets the connection, so that the thousands of
		// connections of a run leave no TIME_WAIT behind.
		unix.SetsockoptLinger(c.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}),
	)
	if err != nil {
		return fmt.Errorf("socket options: %w", err)
	}
	address := &unix.SockaddrInet4{Port: to.port, Addr: [4]byte{127, 0, 0, 1}}
	if err := c.connect(address); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	f, err := c.next()
	if err != nil {
		return fmt.Errorf("reading INFO: %w", err)
	}
	if f.op != opInfo {
		return fmt.Errorf("%w: the first line is not INFO", errFrame)
	}
	if to.tls != nil {
		if err := c.start(to.tls); err != nil {
			return err
		}
	}
	return c.sync(`CONNECT {"verbose":false,"pedantic":false,"echo":true,"headers":true,"no_responders":true,` +
		`"protocol":1,"lang":"bench","version":"1","name":"` + name + `","user":"` + name + `","pass":"` + password + `"}` + "\r\n")
}

// connect waits until the socket is connected. A connect that a signal interrupts
// goes on in the background, and calling it again is an error; so that case
// waits for the socket to become writable and asks it how things went.
func (c *conn) connect(address unix.Sockaddr) error {
	err := unix.Connect(c.fd, address)
	if err != unix.EINTR {
		return err
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLOUT}}, blockingSeconds*1000)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			return unix.ETIMEDOUT
		}
		code, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err != nil {
			return err
		}
		if code != 0 {
			return unix.Errno(code)
		}
		return nil
	}
}

// sync sends text, if any, followed by PING, and waits for the PONG. Messages
// that arrive before it are dropped.
func (c *conn) sync(text string) error {
	if err := c.write([]byte(text + "PING\r\n")); err != nil {
		return err
	}
	for {
		f, err := c.next()
		if err != nil {
			return err
		}
		if f.op == opPong {
			return nil
		}
	}
}

// subscribe makes all the given subscriptions and waits until they are in
// force. Each of them is "subject sid" or "subject queue sid".
func (c *conn) subscribe(subscriptions ...string) error {
	var text strings.Builder
	for _, s := range subscriptions {
		text.WriteString("SUB " + s + "\r\n")
	}
	return c.sync(text.String())
}

// next blocks for the next frame, which is borrowed until the next call. It
// answers PING itself and turns -ERR into an error.
func (c *conn) next() (frame, error) {
	for {
		f, ok, err := c.scanned()
		if err != nil || ok {
			return f, err
		}
		n, err := c.read()
		if err != nil {
			return frame{}, err
		}
		if n == 0 {
			return frame{}, errors.New("the server did not answer in time")
		}
	}
}

// scanned returns the next frame among the bytes already read, and false when
// there is none. It answers PING itself and turns -ERR into an error.
func (c *conn) scanned() (frame, bool, error) {
	for {
		f, n, err := scan(c.in[c.done:])
		if err != nil || n == 0 {
			return frame{}, false, err
		}
		c.done += n
		switch f.op {
		case opPing:
			if err := c.write([]byte("PONG\r\n")); err != nil {
				return frame{}, false, err
			}
		case opErr:
			return frame{}, false, fmt.Errorf("the server says %s", clip(f.payload))
		default:
			return f, true, nil
		}
	}
}

// read appends to c.in what one read of the socket yields and returns how much
// that was: 0 when nothing is there (non-blocking) or the timeout has passed.
func (c *conn) read() (int, error) {
	if c.done > 0 {
		rest := copy(c.in, c.in[c.done:])
		c.in, c.done = c.in[:rest], 0
	}
	if cap(c.in)-len(c.in) < readBytesAtLeast {
		grown := make([]byte, len(c.in), 2*cap(c.in)+readBytesAtLeast)
		copy(grown, c.in)
		c.in = grown
	}
	for {
		n, errno := c.receive()
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EAGAIN:
			return 0, nil
		case errno != 0:
			return 0, fmt.Errorf("read: %w", errno)
		case n == 0:
			return 0, fmt.Errorf("the server closed the connection: %w", io.EOF)
		}
		return n, nil
	}
}

// receive appends to c.in what has arrived and returns how much that was.
func (c *conn) receive() (int, unix.Errno) {
	before := len(c.in)
	if c.secure != nil {
		in, errno := c.secure.receive(c.in)
		c.in = in
		return len(in) - before, errno
	}
	n, errno := readNow(c.fd, c.in[before:cap(c.in)])
	if errno == 0 {
		c.in = c.in[:before+n]
	}
	return n, errno
}

// send hands the socket what it takes at once.
func (c *conn) send(b []byte) (int, unix.Errno) {
	if c.secure != nil {
		return c.secure.send(b)
	}
	return sendNow(c.fd, b)
}

// drop drops at most dropBytes of what has arrived, about, and returns how much it
// was. What is encrypted has to be decrypted for that.
func (c *conn) drop() (int, unix.Errno) {
	if c.secure == nil {
		return dropNow(c.fd, dropBytes)
	}
	in, errno := c.secure.receive(c.in[:0])
	c.in, c.done = in[:0], 0
	return len(in), errno
}

// write sends all of b. On a non-blocking socket it is for short control lines
// only: a full socket is an error there.
func (c *conn) write(b []byte) error {
	for len(b) > 0 {
		n, errno := c.put(b)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return fmt.Errorf("write: %w", errno)
		}
		b = b[n:]
	}
	return nil
}

func (c *conn) put(b []byte) (int, unix.Errno) {
	if c.secure != nil {
		return c.secure.send(b)
	}
	return writeNow(c.fd, b)
}

// close resets the connection.
func (c *conn) close() {
	// A socket that is given up has no error worth telling.
	_ = unix.Close(c.fd)
}

// sidOf returns the subscription id with the given number. They all have the
// same length, so that messages do too.
func sidOf(n int) string { return strconv.Itoa(100_000 + n) }
