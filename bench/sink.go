//go:build linux

package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// The sink is the least a server can do: it accepts connections, answers PING,
// and copies each PUB to the connections subscribed to exactly that subject. It
// has no wildcards, no queue groups, no limits and no second thoughts. Measured
// against it the generator shows what it could drive if servers cost nothing.

// sinkArgument, as the first argument, makes the command a sink.
const sinkArgument = "sink"

const (
	sinkReadBytes = 256 << 10
	// sinkPendingBytesMax is when a receiver is so far behind that the
	// publishers have to wait for it.
	sinkPendingBytesMax = 1 << 20
)

// sink is the whole state of the server.
type sink struct {
	epoll    int
	listener int
	clients  map[int32]*sinkClient
	subjects map[string]*sinkSubject
	touched  []*sinkClient // with bytes to send at the end of the turn
	paused   []*sinkClient // not read from until the slow receivers catch up
	slow     int           // receivers above sinkPendingBytesMax
	buffer   []byte
}

// sinkSubject lists who gets the messages of a subject.
type sinkSubject struct {
	receivers []sinkReceiver
}

type sinkReceiver struct {
	client *sinkClient
	head   []byte // "MSG subject sid "
}

// sinkClient is one connection.
type sinkClient struct {
	fd      int
	rest    []byte // the start of an operation whose end has not arrived
	out     []byte
	touched bool
	slow    bool
	full    bool   // the socket takes no more until epoll says so
	last    []byte // subject of the last PUB, and where it goes
	target  *sinkSubject
}

// runSink serves until it is killed. Its arguments are a server's.
func runSink(args []string) error {
	flags := flag.NewFlagSet(sinkArgument, flag.ContinueOnError)
	flags.String("a", "127.0.0.1", "ignored: it is always 127.0.0.1")
	port := flags.Int("p", 0, "port")
	version := flags.Bool("v", false, "print the version")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *version {
		fmt.Println("sink")
		return nil
	}
	s := &sink{clients: map[int32]*sinkClient{}, subjects: map[string]*sinkSubject{}, buffer: make([]byte, sinkReadBytes)}
	if err := s.listen(*port); err != nil {
		return err
	}
	for events := make([]unix.EpollEvent, 256); ; {
		n, err := waitNow(s.epoll, events, waitTimeoutMs)
		if err != nil {
			return err
		}
		for _, e := range events[:n] {
			s.handle(e)
		}
		s.flush()
		s.resume()
	}
}

// listen opens the listener and the epoll.
func (s *sink) listen(port int) error {
	var err error
	if s.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	if err := unix.SetsockoptInt(s.listener, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return fmt.Errorf("socket options: %w", err)
	}
	if err := unix.Bind(s.listener, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	if err := unix.Listen(s.listener, 1024); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	return s.watch(s.listener, unix.EPOLLIN)
}

func (s *sink) watch(fd int, events uint32) error {
	return unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// handle carries out what an event asks for.
func (s *sink) handle(e unix.EpollEvent) {
	if int(e.Fd) == s.listener {
		s.accept()
		return
	}
	c := s.clients[e.Fd]
	if c == nil {
		return
	}
	if e.Events&unix.EPOLLOUT != 0 && c.full {
		c.full = false
		s.touch(c)
	}
	if e.Events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		s.read(c)
	}
}

// accept takes one connection and greets it.
func (s *sink) accept() {
	fd, _, err := unix.Accept4(s.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if err != nil {
		return
	}
	c := &sinkClient{fd: fd}
	if s.watch(fd, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLET) != nil {
		// The client notices that it is not served.
		_ = unix.Close(fd)
		return
	}
	s.clients[int32(fd)] = c
	c.out = append(c.out, `INFO {"server_id":"sink","version":"0","proto":1,"headers":true,"max_payload":1048576}`+"\r\n"...)
	s.touch(c)
}

// read takes what a client has sent, one buffer of it unless less is there.
func (s *sink) read(c *sinkClient) {
	for s.slow == 0 {
		used := copy(s.buffer, c.rest)
		n, err := unix.Read(c.fd, s.buffer[used:])
		if err == unix.EAGAIN || err == unix.EINTR {
			return
		}
		if err != nil || n == 0 {
			s.drop(c)
			return
		}
		used += n
		done := s.operations(c, s.buffer[:used])
		c.rest = append(c.rest[:0], s.buffer[done:used]...)
		s.flush()
	}
	s.paused = append(s.paused, c)
}

// operations carries out the whole operations in b and returns their length.
func (s *sink) operations(c *sinkClient, b []byte) int {
	done := 0
	for {
		end := bytes.IndexByte(b[done:], '\n')
		if end < 1 {
			return done
		}
		line, rest := b[done:done+end-1], b[done+end+1:]
		switch line[0] {
		case 'P':
			if line[1] == 'I' {
				c.out = append(c.out, "PONG\r\n"...)
				s.touch(c)
				break
			}
			took := s.publish(c, line, rest)
			if took < 0 {
				return done
			}
			done += took
		case 'S':
			s.subscribe(c, line)
		}
		done += end + 1
	}
}

// publish copies a message to its receivers and returns the length of its
// payload with CR LF, or -1 when rest does not hold all of it.
func (s *sink) publish(c *sinkClient, line, rest []byte) int {
	space := bytes.LastIndexByte(line, ' ')
	size, ok := decimal(line[space+1:])
	if !ok || len(rest) < size+2 || space < len("PUB ") {
		return -1
	}
	if subject := line[len("PUB "):space]; !bytes.Equal(subject, c.last) {
		c.last = append(c.last[:0], subject...)
		c.target = s.subject(string(subject))
	}
	for i := range c.target.receivers {
		r := &c.target.receivers[i]
		r.client.out = append(r.client.out, r.head...)
		r.client.out = append(r.client.out, line[space+1:]...)
		r.client.out = append(r.client.out, "\r\n"...)
		r.client.out = append(r.client.out, rest[:size+2]...)
		if !r.client.touched {
			s.touch(r.client)
		}
	}
	return size + 2
}

// subscribe adds "SUB subject sid".
func (s *sink) subscribe(c *sinkClient, line []byte) {
	fields := bytes.Fields(line)
	if len(fields) != 3 {
		return
	}
	to := s.subject(string(fields[1]))
	to.receivers = append(to.receivers, sinkReceiver{client: c, head: fmt.Appendf(nil, "MSG %s %s ", fields[1], fields[2])})
}

func (s *sink) subject(name string) *sinkSubject {
	if s.subjects[name] == nil {
		s.subjects[name] = &sinkSubject{}
	}
	return s.subjects[name]
}

func (s *sink) touch(c *sinkClient) {
	if !c.touched {
		c.touched = true
		s.touched = append(s.touched, c)
	}
}

// flush sends what the turn has produced.
func (s *sink) flush() {
	for _, c := range s.touched {
		c.touched = false
		for len(c.out) > 0 && !c.full {
			n, errno := sendNow(c.fd, c.out)
			if errno != 0 {
				c.full = true
				break
			}
			c.out = append(c.out[:0], c.out[n:]...)
		}
		if slow := len(c.out) > sinkPendingBytesMax; slow != c.slow {
			c.slow = slow
			if slow {
				s.slow++
			} else {
				s.slow--
			}
		}
	}
	s.touched = s.touched[:0]
}

// resume reads from the paused clients once nobody is slow any more.
func (s *sink) resume() {
	if s.slow > 0 || len(s.paused) == 0 {
		return
	}
	paused := s.paused
	s.paused = nil
	for _, c := range paused {
		if s.clients[int32(c.fd)] == c {
			s.read(c)
		}
	}
}

// drop forgets a client. The sink serves one run, so its subscriptions stay:
// sending to a closed client fails and nothing more.
func (s *sink) drop(c *sinkClient) {
	delete(s.clients, int32(c.fd))
	c.full = true
	// The client has closed its side; there is nobody to tell.
	_ = unix.Close(c.fd)
}

// ceilingContender runs this very binary as the sink.
func ceilingContender() (contender, error) {
	self, err := os.Executable()
	if err != nil {
		return contender{}, fmt.Errorf("own path: %w", err)
	}
	return contender{name: sinkArgument, program: program{path: self, args: []string{sinkArgument}}}, nil
}
