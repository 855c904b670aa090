package host

import (
	"crypto/tls"
	"errors"
	"io"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// edgeWorker serves TLS connections on one thread.
type edgeWorker struct {
	waiter
	g      *edge
	conns  map[int32]*edgeConn
	active []*edgeConn // to be served in this round
	later  []*edgeConn // and in the next
	dying  []*edgeConn // closed, with something left to write, in the order of their deadlines
	buf    []byte      // ciphertext from a socket
	sealed []byte      // ciphertext for a socket

	mu     sync.Mutex // guards what follows
	todo   []*edgeConn
	spare  []*edgeConn
	asleep bool
	ending bool
}

// worked is what the worker alone uses of a connection, after the handshake.
type worked struct {
	fd        int
	tls       *tls.Conn
	transport transport
	fresh     bool // not in conns yet
	dead      bool // the socket is closed
	active    bool // in edgeWorker.active or later
	readable  bool // bytes or the end may be there
	short     bool // see shortReads
	ended     bool // it has been read
	blocked   bool // a write was taken in part
	finished  bool // close_notify was written
	shut      bool // the sending direction is shut down
	cipher    []byte
	taking    []*block // being written
	offset    int      // of the first of taking: encrypted
	flying    int      // plaintext bytes encrypted and not all written
	rest      []byte   // ciphertext that the socket did not take
	deadline  time.Time
}

func newEdgeWorker(g *edge) (*edgeWorker, error) {
	// Edge-triggered, so that the counter need not be read.
	w, err := newWaiter(128, g.s.opts.Processors > 0, unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET})
	if err != nil {
		return nil, err
	}
	return &edgeWorker{waiter: w, g: g, conns: map[int32]*edgeConn{}, buf: make([]byte, edgeBlock)}, nil
}

// hand has the worker look at c. It may be called from any thread.
func (w *edgeWorker) hand(c *edgeConn) {
	w.mu.Lock()
	if !c.todo {
		c.todo = true
		w.todo = append(w.todo, c)
	}
	asleep := w.asleep
	w.asleep = false
	w.mu.Unlock()
	if asleep {
		w.ring()
	}
}

// quit has the worker end when it has no connection left.
func (w *edgeWorker) quit() {
	w.mu.Lock()
	w.ending = true
	w.mu.Unlock()
	w.ring()
}

func (w *edgeWorker) run() {
	defer w.g.running.Done()
	for {
		sleep, end := w.rest()
		if end {
			return
		}
		n := w.await(sleep)
		for i := range w.events[:n] {
			w.happened(&w.events[i])
		}
		for _, c := range w.take() {
			w.activate(c)
		}
		w.active, w.later = w.later, w.active[:0]
		for i, c := range w.active {
			w.active[i] = nil
			c.active = false
			w.serve(c)
		}
		w.bury()
	}
}

// rest reports whether the worker may sleep until something happens, or end.
func (w *edgeWorker) rest() (sleep, end bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	idle := len(w.todo) == 0 && len(w.later) == 0
	w.asleep = idle
	return idle, idle && w.ending && len(w.conns) == 0
}

// await returns the number of events.
func (w *edgeWorker) await(sleep bool) int {
	timeout := 0
	if sleep {
		timeout = -1
		if len(w.dying) > 0 {
			timeout = int(max(time.Until(w.dying[0].deadline)/time.Millisecond+1, 0))
		}
	}
	n, _ := w.wait(timeout) // it fails only because of signals
	return n
}

func (w *edgeWorker) take() []*edgeConn {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asleep = false
	todo := w.todo
	clear(w.spare)
	w.todo, w.spare = w.spare[:0], todo
	for _, c := range todo {
		c.todo = false
	}
	return todo
}

func (w *edgeWorker) happened(ev *unix.EpollEvent) {
	c := w.conns[ev.Fd]
	if c == nil {
		return // the bell
	}
	if ev.Events&(unix.EPOLLIN|shortReads) != 0 {
		c.readable = true
		if ev.Events&shortReads != 0 {
			c.short = true
		}
		w.activate(c)
	}
	if ev.Events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 && c.blocked {
		c.blocked = false
		w.activate(c)
	}
}

// activate has c served in the next round.
func (w *edgeWorker) activate(c *edgeConn) {
	if !c.active {
		c.active = true
		w.later = append(w.later, c)
	}
}

// serve does for c what can be done: it writes, reads, and ends it.
func (w *edgeWorker) serve(c *edgeConn) {
	c.mu.Lock()
	handed := c.handed
	c.mu.Unlock()
	if !handed || c.dead {
		return // its handshake is under way, or has failed
	}
	if c.fresh {
		c.fresh = false
		if !w.watch(c) {
			return
		}
	}
	w.write(c)
	w.read(c)
	w.end(c)
}

func (w *edgeWorker) watch(c *edgeConn) bool {
	w.conns[int32(c.fd)] = c
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLPRI | unix.EPOLLET, Fd: int32(c.fd)}
	if err := unix.EpollCtl(w.fd, unix.EPOLL_CTL_ADD, c.fd, &ev); err != nil {
		w.fail(c, os.NewSyscallError("epoll_ctl", err).Error())
		return false
	}
	w.decrypt(c) // what came with the end of the handshake
	return !c.dead
}

// fail gives up a connection that is broken.
func (w *edgeWorker) fail(c *edgeConn, why string) {
	w.drop(c)
	c.fail(why)
}

// drop closes the socket.
func (w *edgeWorker) drop(c *edgeConn) {
	if c.dead {
		return
	}
	c.dead = true
	delete(w.conns, int32(c.fd))
	unix.Close(c.fd)
	for _, b := range c.taking {
		w.g.blocks.Put(b)
	}
	c.taking, c.rest, c.cipher = nil, nil, nil
}

// Read implements net.Conn for crypto/tls: ciphertext that was read from the socket.
func (c *edgeConn) Read(b []byte) (int, error) {
	if len(c.cipher) == 0 {
		return 0, errLater
	}
	n := copy(b, c.cipher)
	c.cipher = c.cipher[n:]
	return n, nil
}

// Write implements net.Conn for crypto/tls: ciphertext for the socket. It never fails, for crypto/tls could not go on.
func (c *edgeConn) Write(b []byte) (int, error) {
	c.w.sealed = append(c.w.sealed, b...)
	return len(b), nil
}

// read reads once and decrypts what came.
func (w *edgeWorker) read(c *edgeConn) {
	if !c.readable || c.ended || c.dead {
		return
	}
	c.mu.Lock()
	closed, full := c.closed, c.inBytes >= edgeRead
	c.starved = full
	c.mu.Unlock()
	if closed || full {
		return
	}
	r, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(c.fd), uintptr(unsafe.Pointer(&w.buf[0])), uintptr(len(w.buf)))
	n := int(r)
	switch {
	case errno == unix.EAGAIN:
		c.readable = false
		return
	case errno == unix.EINTR:
		w.activate(c)
		return
	case errno != 0:
		w.fail(c, errno.Error())
		return
	case n == 0:
		w.eof(c)
		return
	}
	if n < len(w.buf) && !c.short {
		c.readable = false
	} else {
		w.activate(c)
	}
	c.cipher = w.buf[:n]
	w.decrypt(c)
}

// eof takes note of the end of the stream.
func (w *edgeWorker) eof(c *edgeConn) {
	c.ended = true
	c.mu.Lock()
	c.eof = true
	c.mu.Unlock()
	w.g.list(c, true)
}

// decrypt leaves the plaintext of what arrived to the loop.
func (w *edgeWorker) decrypt(c *edgeConn) {
	b := w.g.block()
	var err error
	for err == nil {
		if b.n == edgeBlock {
			w.leave(c, b)
			b = w.g.block()
		}
		var n int
		n, err = c.tls.Read(b.b[b.n:])
		b.n += n
	}
	w.leave(c, b)
	c.cipher = nil // all used up, and the buffer is the next one's
	if len(w.sealed) > 0 {
		w.push(c) // an alert, or a new key
	}
	switch {
	case errors.Is(err, errLater):
	case errors.Is(err, io.EOF):
		w.eof(c)
	default:
		w.fail(c, err.Error())
	}
}

// leave gives b to the loop.
func (w *edgeWorker) leave(c *edgeConn, b *block) {
	if b.n == 0 {
		w.g.blocks.Put(b)
		return
	}
	c.mu.Lock()
	c.inBytes += b.n
	last := len(c.in) - 1
	if last >= 0 && b.n <= edgeMerge && c.in[last].n+b.n <= edgeBlock {
		c.in[last].n += copy(c.in[last].b[c.in[last].n:], b.b[:b.n])
		w.g.blocks.Put(b)
	} else {
		c.in = append(c.in, b)
	}
	c.mu.Unlock()
	w.g.list(c, false)
}

// write encrypts and writes what Send took, as far as the socket takes it.
func (w *edgeWorker) write(c *edgeConn) {
	if len(c.rest) > 0 && !c.blocked {
		rest := c.rest
		c.rest = nil
		w.sealed = append(w.sealed[:0], rest...)
		w.push(c)
	}
	for pieces := 0; len(c.rest) == 0 && !c.dead && !c.finished; pieces++ {
		w.settle(c)
		if len(c.taking) == 0 {
			return
		}
		if pieces == edgeWrite/edgePiece {
			w.activate(c) // others have their turn
			return
		}
		w.seal(c)
		w.push(c)
	}
}

// seal encrypts a piece.
func (w *edgeWorker) seal(c *edgeConn) {
	for len(c.taking) > 0 && c.flying < edgePiece {
		b := c.taking[0]
		part := b.b[c.offset:b.n]
		part = part[:min(len(part), edgePiece-c.flying)]
		if _, err := c.tls.Write(part); err != nil {
			w.fail(c, err.Error())
			return
		}
		c.flying += len(part)
		if c.offset += len(part); c.offset == b.n {
			w.g.blocks.Put(b)
			c.taking[0] = nil
			c.taking, c.offset = c.taking[1:], 0
		}
	}
}

// push writes the ciphertext in w.sealed, behind what waits already.
func (w *edgeWorker) push(c *edgeConn) {
	b := w.sealed
	w.sealed = b[:0]
	if c.dead {
		return
	}
	if len(c.rest) > 0 {
		c.rest = append(c.rest, b...)
		return
	}
	for len(b) > 0 {
		r, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(c.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 && errno != unix.EAGAIN {
			w.fail(c, "Write Error")
			return
		}
		n := 0
		if errno == 0 {
			n = int(r)
		}
		if n < len(b) {
			c.blocked = true
			c.rest = append([]byte(nil), b[n:]...)
		}
		return
	}
}

// settle takes note of what is written and takes what is next.
func (w *edgeWorker) settle(c *edgeConn) {
	c.mu.Lock()
	c.outBytes -= c.flying
	c.flying = 0
	tell := c.owed && edgeWrite-c.outBytes >= edgePiece
	if tell {
		c.owed, c.writable = false, true
	}
	if len(c.taking) == 0 {
		c.taking, c.out = c.out, nil
	}
	c.mu.Unlock()
	if tell {
		w.g.list(c, false)
	}
}

// end carries out what CloseWrite and Close have asked for, once all is written.
func (w *edgeWorker) end(c *edgeConn) {
	if c.dead {
		return
	}
	c.mu.Lock()
	fin, closed, left := c.fin, c.closed, len(c.out) > 0
	c.mu.Unlock()
	if !fin && !closed {
		return
	}
	if !left && len(c.taking) == 0 && len(c.rest) == 0 && !c.finished {
		c.finished = true
		_ = c.tls.CloseWrite() // it only fails before the handshake
		w.push(c)
	}
	if c.finished && len(c.rest) == 0 && !c.dead {
		if closed {
			w.drop(c)
			return
		}
		if !c.shut {
			c.shut = true
			_ = unix.Shutdown(c.fd, unix.SHUT_WR) // fails only where the peer is gone: reading will tell
		}
	}
	if closed && !c.dead && c.deadline.IsZero() {
		c.deadline = time.Now().Add(edgeFlush)
		w.dying = append(w.dying, c)
	}
}

// bury closes the connections that did not take the rest in time.
func (w *edgeWorker) bury() {
	for len(w.dying) > 0 && (w.dying[0].dead || !time.Now().Before(w.dying[0].deadline)) {
		w.drop(w.dying[0])
		w.dying[0] = nil
		w.dying = w.dying[1:]
	}
}
