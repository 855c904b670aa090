package host

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/natsd/natsd/engine"
)

// sock is a connection as the loop knows it, at the index of its id's slot. Sockets are watched edge-triggered, for both
// directions, from accept to close: pausing and resuming cost no system call.
type sock struct {
	id       engine.ConnID // 0: none
	tls      *edgeConn     // nil: none; fd, readable, blocked and broken are without meaning where there is one
	fd       int32
	since    uint32 // when it was listed, in epoll.now's terms
	readable bool   // bytes or the end may be there
	short    bool   // see shortReads
	paused   bool
	blocked  bool   // a write was taken in part
	listed   bool   // in epoll.ready
	broken   bool   // a write failed: tell the engine
	known    bool   // something was read from it
	round    uint32 // in which it was read from last
	had      uint32 // bytes that were read from it in that round
}

// epoll is the Linux loop.
type epoll struct {
	waiter
	s      *Server
	listen map[int32]*listener
	socks  []sock
	ready  ready
	buf    []byte
	vecs   []unix.Iovec
	late   late
	edge   *edge
	base   time.Time
	now    uint32 // when the turn began, microseconds since base; it wraps around
}

type listener struct {
	id engine.ListenerID
	fd int
}

// Special values of EpollEvent.Pad, where connections have their generation, which is never 0 or negative.
const (
	padBell     = 0
	padListener = -1
)

// vecsMax is how many buffers one writev takes (IOV_MAX).
const vecsMax = 1024

func newLoop(s *Server) (loop, error) {
	w, err := newWaiter(256, s.opts.Processors > 0, unix.EpollEvent{Events: unix.EPOLLIN, Pad: padBell})
	if err != nil {
		return nil, err
	}
	p := &epoll{
		s: s, listen: map[int32]*listener{}, waiter: w,
		base: time.Now(), buf: make([]byte, s.opts.ReadBytes), vecs: make([]unix.Iovec, 0, 256),
	}
	p.edge = newEdge(s, p.wake)
	return p, nil
}

func (p *epoll) close() {
	for _, l := range p.listen {
		unix.Close(l.fd)
	}
	for _, c := range p.socks {
		switch {
		case c.tls != nil:
			c.tls.close()
		case c.id != 0:
			unix.Close(int(c.fd))
		}
	}
	p.edge.close() // before the bell goes
	p.listen, p.socks = nil, nil
	p.waiter.close()
}

func (p *epoll) wake() { p.ring() }

func (p *epoll) run() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.s.turnCPU.locked = true
	p.s.start()
	for !p.s.e.Stopped() {
		n, err := p.await()
		if err != nil {
			return err
		}
		p.late.bytes = 0
		p.s.turn(func(e *engine.Engine) bool { return p.deliver(e, p.events[:n]) })
		p.edge.flush()
	}
	return nil
}

// await returns the number of events, having slept only if there is nothing else to do.
func (p *epoll) await() (int, error) {
	timeout := -1
	if !p.ready.empty() || len(p.late.ids) > 0 {
		timeout = 0
	} else if d := p.s.clock.timeout(); d >= 0 {
		timeout = int(min((d+time.Millisecond-1)/time.Millisecond, time.Hour/time.Millisecond))
	}
	n, errno := p.wait(timeout)
	if errno == unix.EINTR { // the process was stopped, perhaps for long: timers have come due, but so may have events
		n, errno = p.poll(0)
	}
	switch errno {
	case 0:
		p.silence(p.events[:n])
		return n, nil
	case unix.EINTR:
		return 0, nil
	}
	return 0, os.NewSyscallError("epoll_wait", errno)
}

// silence resets the bell before the inbox is taken: whoever puts something in later rings again.
func (p *epoll) silence(events []unix.EpollEvent) {
	for i := range events {
		if events[i].Pad == padBell {
			var b [8]byte
			_, _ = unix.Read(p.bell, b[:]) // resets the counter; it can only fail when that is zero
		}
	}
}

// deliver tells the engine what the events say and reads from the connections that have something. It returns whether some
// may have more.
func (p *epoll) deliver(e *engine.Engine, events []unix.EpollEvent) (busy bool) {
	p.now = uint32(p.s.began.Sub(p.base) / time.Microsecond)
	p.late.begin(e)
	for i := range events {
		ev := &events[i]
		switch ev.Pad {
		case padBell: // silence and the turn's inbox have dealt with it
		case padListener:
			p.accept(e, p.listen[ev.Fd])
		default:
			p.happened(e, ev)
		}
	}
	p.listTLS()
	p.readReady(e, turnBytes)
	return len(events) == len(p.events) || !p.ready.empty()
}

// shortReads are the events after which a read that fills no buffer does not mean that nothing is left: the end of the stream is
// behind, or reading stopped at an urgent byte (RFC 6093), which no later edge tells.
const shortReads = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR | unix.EPOLLPRI

func (p *epoll) happened(e *engine.Engine, ev *unix.EpollEvent) {
	slot := uint32(ev.Fd)
	c := &p.socks[slot]
	if c.id == 0 || uint32(c.id>>32) != uint32(ev.Pad) || c.tls != nil {
		return
	}
	if ev.Events&(unix.EPOLLIN|shortReads) != 0 {
		c.readable = true
		if ev.Events&shortReads != 0 {
			c.short = true
		}
		p.list(slot, c)
	}
	if ev.Events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 && c.blocked {
		c.blocked = false
		e.Writable(c.id)
	}
}

// read reads once and tells the engine; it returns the number of bytes.
func (p *epoll) read(e *engine.Engine, c *sock) int {
	if c.tls != nil {
		return p.readTLS(e, c)
	}
	if c.broken {
		p.drop(e, c, "Write Error")
		return 0
	}
	if c.paused || !c.readable {
		return 0
	}
	id, slot := c.id, c.id.Slot()
	r, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(c.fd), uintptr(unsafe.Pointer(&p.buf[0])), uintptr(len(p.buf)))
	n := int(r)
	switch {
	case errno == unix.EAGAIN:
		c.readable = false
		return 0
	case errno == unix.EINTR:
		p.list(slot, c)
		return 0
	case errno != 0:
		p.drop(e, c, errno.Error())
		return 0
	case n == 0:
		c.readable = false
		e.EOF(id)
		return 0
	}
	// A short read means that the socket is empty: a later edge will tell.
	if n < len(p.buf) && !c.short {
		c.readable = false
	}
	p.count(c, n)
	e.InputWaited(int64(p.now-c.since) * int64(time.Microsecond))
	e.Received(id, p.buf[:n])
	if c = &p.socks[slot]; c.id == id && c.readable {
		p.list(slot, c)
	}
	return n
}

// drop closes a connection that failed and tells the engine.
func (p *epoll) drop(e *engine.Engine, c *sock, why string) {
	id := c.id
	unix.Close(int(c.fd))
	*c = sock{listed: c.listed}
	e.Closed(id, why)
}

func (p *epoll) accept(e *engine.Engine, l *listener) {
	if l == nil {
		return
	}
	for range acceptPerTurn {
		if !e.Admits() {
			return // the listener is reported again in the next turn
		}
		fd, from, err := unix.Accept4(l.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			p.acceptFailed(l, err)
			return
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // a socket without it works, slower
		id := e.Accepted(l.id, peer(from))
		if id == 0 {
			unix.Close(fd)
			continue
		}
		slot := id.Slot()
		for int(slot) >= len(p.socks) {
			p.socks = append(p.socks, sock{})
		}
		if former := p.socks[slot]; former.listed { // it was given up, and still stands in a line
			p.unlist(slot)
		}
		p.socks[slot] = sock{id: id, fd: int32(fd)}
		ev := unix.EpollEvent{
			Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLPRI | unix.EPOLLET,
			Fd:     int32(slot), Pad: int32(uint32(id >> 32)),
		}
		if err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			p.drop(e, &p.socks[slot], os.NewSyscallError("epoll_ctl", err).Error())
		}
	}
}

// acceptFailed looks away from the listener for a moment when there is no room for another connection: it would be
// reported again at once and for as long as that lasts.
func (p *epoll) acceptFailed(l *listener, err error) {
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNABORTED) {
		return // none left, or one that is gone already; the listener is reported again where there are others
	}
	p.s.notAccepted(err)
	p.watch(l, 0)
	time.AfterFunc(acceptPause, func() {
		p.s.post(func(*engine.Engine) {
			if p.listen[int32(l.fd)] == l {
				p.watch(l, unix.EPOLLIN)
			}
		})
	})
}

func (p *epoll) watch(l *listener, events uint32) {
	ev := unix.EpollEvent{Events: events, Fd: int32(l.fd), Pad: padListener}
	if err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_MOD, l.fd, &ev); err != nil {
		p.s.opts.Log.Log(engine.LevelError, "", os.NewSyscallError("epoll_ctl", err).Error())
	}
}

func peer(from unix.Sockaddr) engine.ConnInfo {
	switch a := from.(type) {
	case *unix.SockaddrInet4:
		return engine.ConnInfo{IP: netip.AddrFrom4(a.Addr).String(), Port: a.Port}
	case *unix.SockaddrInet6:
		return engine.ConnInfo{IP: netip.AddrFrom16(a.Addr).Unmap().String(), Port: a.Port}
	}
	return engine.ConnInfo{IP: "unknown"}
}

// Listen implements engine.Network.
func (p *epoll) Listen(l engine.ListenerID, addr string) {
	port, err := p.open(l, addr)
	p.s.listening(l, port, err)
}

func (p *epoll) open(l engine.ListenerID, addr string) (port int, err error) {
	ln, err := open(addr) // resolves names; the descriptor is taken over below
	if err != nil {
		return 0, err
	}
	defer ln.Close()
	raw, err := ln.SyscallConn()
	if err != nil {
		return 0, err
	}
	fd, dupErr := -1, error(nil)
	if err := raw.Control(func(own uintptr) { fd, dupErr = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return 0, err
	}
	if dupErr != nil {
		return 0, os.NewSyscallError("dup", dupErr)
	}
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd), Pad: padListener}
	if err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
		unix.Close(fd)
		return 0, os.NewSyscallError("epoll_ctl", err)
	}
	p.listen[int32(fd)] = &listener{id: l, fd: fd}
	return ln.Addr().(*net.TCPAddr).Port, nil
}

// StopListening implements engine.Network.
func (p *epoll) StopListening(l engine.ListenerID) {
	for fd, ln := range p.listen {
		if ln.id == l {
			unix.Close(ln.fd)
			delete(p.listen, fd)
		}
	}
}

// sock finds a connection; nil for one that was closed, or that Accepted has not returned yet.
func (p *epoll) sock(id engine.ConnID) *sock {
	slot := id.Slot()
	if int(slot) >= len(p.socks) || p.socks[slot].id != id {
		return nil
	}
	return &p.socks[slot]
}

// Send implements engine.Network.
func (p *epoll) Send(id engine.ConnID, bufs [][]byte) int {
	c := p.sock(id)
	if c == nil || c.broken {
		return 0
	}
	if p.late.full(p.s.began, bufs) {
		p.late.ids = append(p.late.ids, id)
		return 0
	}
	if c.tls != nil {
		taken := c.tls.send(bufs)
		p.late.bytes += taken
		return taken
	}
	taken := 0
	for len(bufs) > 0 {
		n := min(len(bufs), vecsMax)
		taken += p.writev(c, bufs[:n])
		if c.blocked || c.broken {
			break
		}
		bufs = bufs[n:]
	}
	p.late.bytes += taken
	return taken
}

// writev writes once; the socket is blocked or broken if not all was taken.
func (p *epoll) writev(c *sock, bufs [][]byte) int {
	p.vecs = p.vecs[:0]
	total := 0
	for _, b := range bufs {
		v := unix.Iovec{Base: unsafe.SliceData(b)}
		v.SetLen(len(b))
		p.vecs = append(p.vecs, v)
		total += len(b)
	}
	for {
		r, _, errno := unix.RawSyscall(unix.SYS_WRITEV, uintptr(c.fd), uintptr(unsafe.Pointer(&p.vecs[0])), uintptr(len(p.vecs)))
		switch errno {
		case 0:
			c.blocked = int(r) < total
			return int(r)
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			c.blocked = true
			return 0
		}
		c.broken = true
		p.list(c.id.Slot(), c)
		return 0
	}
}

// PauseReading implements engine.Network.
func (p *epoll) PauseReading(id engine.ConnID) {
	if c := p.sock(id); c != nil {
		c.paused = true
	}
}

// ResumeReading implements engine.Network.
func (p *epoll) ResumeReading(id engine.ConnID) {
	if c := p.sock(id); c != nil {
		if c.paused = false; c.tls != nil || c.readable {
			p.list(id.Slot(), c)
		}
	}
}

// CloseWrite implements engine.Network.
func (p *epoll) CloseWrite(id engine.ConnID) {
	switch c := p.sock(id); {
	case c == nil:
	case c.tls != nil:
		c.tls.closeWrite()
	default:
		_ = unix.Shutdown(int(c.fd), unix.SHUT_WR) // fails only where the peer is gone: reading will tell
	}
}

// Close implements engine.Network.
func (p *epoll) Close(id engine.ConnID) {
	if c := p.sock(id); c != nil {
		if c.tls != nil {
			c.tls.close()
		} else {
			unix.Close(int(c.fd))
		}
		*c = sock{listed: c.listed}
	}
}

// StartTLS implements engine.TLS.
func (p *epoll) StartTLS(id engine.ConnID, head []byte) {
	c := p.sock(id)
	if c == nil {
		return
	}
	if err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_DEL, int(c.fd), nil); err != nil {
		panic("host: a socket that was watched can't be given away: " + err.Error())
	}
	fd := int(c.fd)
	*c = sock{id: id, listed: c.listed, fd: -1}
	c.tls = p.edge.begin(id, fd, head)
}
