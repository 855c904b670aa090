package host

import (
	"context"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/natsd/natsd/engine"
)

// edge is where the epoll loop's TLS connections live. A handshake is a goroutine of its own; after it the connection
// belongs to a worker (edge_worker_linux.go), a thread with an epoll of its own for many connections, that reads and
// decrypts, encrypts and writes. Between loop and worker plaintext waits in the connection, bounded both ways; each side
// puts the connection on the other's list and wakes it only if it sleeps. An idle connection holds no buffer here.
type edge struct {
	s       *Server
	wake    func() // the loop
	workers []*edgeWorker
	next    int // the worker of the next connection
	blocks  sync.Pool
	running sync.WaitGroup

	dirty []*edgeConn // used by the loop only: to be handed to their workers at the end of the turn

	mu    sync.Mutex
	ready []*edgeConn // of which the loop does not know yet that it has to look at them, in order of arrival
}

const (
	edgeBlock = 64 << 10 // bytes
	// edgeMerge is up to how much plaintext is put into the block before, so that little of it does not take much memory.
	edgeMerge = edgeBlock / 4
	// edgeRead is how much plaintext may wait for the loop before a connection is not read from: enough for the worker to
	// go on while the loop wakes up.
	edgeRead = 256 << 10
	// edgeTurn is how many blocks of a connection the loop takes in a turn.
	edgeTurn = 2
	// edgeWrite is how much plaintext Send takes ahead of the worker.
	edgeWrite = 512 << 10
	// edgePiece is how much is encrypted and written at a time; so much room ends a Send's wait for it.
	edgePiece = 64 << 10
	// edgeFlush is how long a connection that was closed may take what Send took.
	edgeFlush = 2 * time.Second
)

// block holds plaintext on its way.
type block struct {
	n int // bytes
	b [edgeBlock]byte
}

func newEdge(s *Server, wake func()) *edge {
	return &edge{s: s, wake: wake, blocks: sync.Pool{New: func() any { return new(block) }}}
}

func (g *edge) block() *block {
	b := g.blocks.Get().(*block)
	b.n = 0
	return b
}

// edgeConn is one TLS connection.
type edgeConn struct {
	id    engine.ConnID
	g     *edge
	w     *edgeWorker
	dirty bool // used by the loop only: in edge.dirty
	// used by the loop only, during send: to be put behind out
	filling []*block
	listed  bool // in edge.ready; edge.mu guards it
	leaving bool // what the loop is to be told is its end; edge.mu guards it
	todo    bool // in the worker's todo; its lock guards it

	mu       sync.Mutex // guards what follows
	file     *os.File   // the socket during the handshake
	giveUp   func()     // ends what the handshake waits for besides the socket
	handed   bool       // to the worker: the handshake has succeeded
	up       *engine.TLSInfo
	in       []*block // decrypted, not yet handed over
	inBytes  int
	starved  bool   // the worker does not read because of inBytes
	eof      bool   // the peer ended its sending side, behind in
	failed   string // the connection is broken
	writable bool   // there is room again after a Send that was cut short
	out      []*block
	outBytes int  // taken by Send, not yet by the socket
	owed     bool // a Send was cut short
	fin      bool // CloseWrite
	closed   bool // Close

	worked
}

// begin starts the handshake of a connection whose socket is given away.
func (g *edge) begin(id engine.ConnID, fd int, head []byte) *edgeConn {
	c := &edgeConn{id: id, g: g, worked: worked{fd: fd}}
	if err := g.start(); err != nil {
		unix.Close(fd)
		c.dead = true
		c.fail(err.Error())
		return c
	}
	c.w = g.workers[g.next%len(g.workers)]
	g.next++
	g.running.Add(1)
	go c.handshake(append([]byte(nil), head...))
	return c
}

// start makes the workers, the first time: one for each processor but the loop's.
func (g *edge) start() error {
	if g.workers != nil {
		return nil
	}
	var workers []*edgeWorker
	for range edgeWorkers(g.s.opts.processors()) {
		w, err := newEdgeWorker(g)
		if err != nil {
			for _, w := range workers {
				w.close()
			}
			return err
		}
		workers = append(workers, w)
	}
	g.workers = workers
	if g.s.opts.Processors > 0 {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + len(workers)) // see HoldProcessors
	}
	for _, w := range g.workers {
		g.running.Add(1)
		go w.run()
	}
	return nil
}

// handshake carries out the handshake and hands the connection to its worker.
func (c *edgeConn) handshake(head []byte) {
	defer c.g.running.Done()
	file := os.NewFile(uintptr(c.fd), "tls") // the socket does not block: goroutines can wait for it
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	c.mu.Lock()
	c.file, c.giveUp = file, giveUp
	if c.closed {
		c.hurry()
	}
	c.mu.Unlock()
	conn, rest, err := c.g.s.shake(ctx, c.id, &c.transport, file, head)
	fd := -1
	if err == nil {
		fd, err = duplicate(file)
	}
	var info engine.TLSInfo
	if err == nil {
		info = tlsInfo(conn.ConnectionState())
		c.fd, c.tls, c.cipher, c.transport.now = fd, conn, rest, c
		c.fresh, c.readable = true, true
	}
	c.mu.Lock()
	c.file, c.giveUp = nil, nil
	closed := c.closed
	if err == nil && !closed {
		c.handed, c.up = true, &info
	}
	c.mu.Unlock()
	file.Close()
	switch {
	case err != nil:
		c.fail(handshakeError(err))
	case closed:
		unix.Close(fd)
	default:
		c.g.list(c, false)
		c.w.hand(c)
	}
}

// hurry ends a handshake.
func (c *edgeConn) hurry() {
	_ = c.file.SetDeadline(time.Unix(1, 0)) // without it, which does not happen with sockets, it ends when the peer does
	c.giveUp()
}

func duplicate(file *os.File) (fd int, err error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd = -1
	var dupErr error
	if err := raw.Control(func(own uintptr) { fd, dupErr = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return -1, err
	}
	return fd, os.NewSyscallError("dup", dupErr)
}

// fail has the engine told that the connection is broken.
func (c *edgeConn) fail(why string) {
	c.mu.Lock()
	if c.failed == "" {
		c.failed = why
	}
	c.mu.Unlock()
	c.g.list(c, true)
}

// list has the loop look at c. leaving: because it ends.
func (g *edge) list(c *edgeConn, leaving bool) {
	g.mu.Lock()
	c.leaving = c.leaving || leaving
	first := !c.listed && len(g.ready) == 0
	if !c.listed {
		c.listed = true
		g.ready = append(g.ready, c)
	}
	g.mu.Unlock()
	if first {
		g.wake()
	}
}

// listTLS puts the connections of which there is something new on the loop's lists. They are read from in one order with the others.
func (p *epoll) listTLS() {
	g := p.edge
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, t := range g.ready {
		g.ready[i] = nil
		t.listed = false
		if c := p.sock(t.id); c != nil && c.tls == t {
			c.short = c.short || t.leaving
			p.list(t.id.Slot(), c)
		}
	}
	g.ready = g.ready[:0]
}

// readTLS tells the engine what is new about a TLS connection and returns the number of bytes handed over.
func (p *epoll) readTLS(e *engine.Engine, c *sock) (bytes int) {
	t := c.tls
	t.mu.Lock()
	up, failed, writable, eof := t.up, t.failed, t.writable, t.eof
	t.up, t.writable = nil, false
	t.mu.Unlock()
	if up != nil {
		e.TLSUp(t.id, *up)
	}
	if writable && failed == "" {
		e.Writable(t.id)
	}
	slot, more := t.id.Slot(), true
	c = &p.socks[slot]
	for n := 0; more && n < edgeTurn && c.tls == t && !c.paused; n++ {
		var b *block
		if b, more = t.next(); b != nil {
			p.count(c, b.n)
			if n == 0 {
				e.InputWaited(int64(p.now-c.since) * int64(time.Microsecond))
			}
			bytes += b.n
			e.Received(t.id, b.b[:b.n])
			p.edge.blocks.Put(b)
		}
	}
	switch {
	case c.tls != t: // the engine has closed it
		return bytes
	case c.paused: // ResumeReading lists it again: what has come is handled, though the connection may have failed since
		return bytes
	case more:
		p.list(slot, c)
		return bytes
	case eof:
		e.EOF(t.id) // the engine minds the first one only
	}
	if failed != "" && c.tls == t {
		*c = sock{listed: c.listed}
		e.Closed(t.id, failed)
		t.mu.Lock()
		t.closed = true
		t.mu.Unlock()
	}
	return bytes
}

// next takes the oldest block and reports whether there are more. The worker may go on when it has waited for that.
func (c *edgeConn) next() (b *block, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.in) == 0 {
		return nil, false
	}
	b = c.in[0]
	c.in[0] = nil
	if c.in = c.in[1:]; len(c.in) == 0 {
		c.in = nil
	}
	c.inBytes -= b.n
	if c.starved && c.inBytes <= edgeRead/2 {
		c.starved = false
		c.w.hand(c)
	}
	return b, c.in != nil
}

// touch has the worker, if there is one, look at c at the end of the turn.
func (c *edgeConn) touch() {
	if !c.dirty && c.w != nil {
		c.dirty = true
		c.g.dirty = append(c.g.dirty, c)
	}
}

// flush hands the connections that the turn has changed to their workers.
func (g *edge) flush() {
	for i, c := range g.dirty {
		g.dirty[i] = nil
		c.dirty = false
		c.w.hand(c)
	}
	g.dirty = g.dirty[:0]
}

// send takes what there is room for. It copies outside the lock: neither the loop nor the worker waits for the other's copying.
func (c *edgeConn) send(bufs [][]byte) (taken int) {
	most := 0
	for _, b := range bufs {
		most += len(b)
	}
	c.mu.Lock()
	if c.failed != "" {
		c.mu.Unlock()
		return 0
	}
	if room := edgeWrite - c.outBytes; most > room {
		most, c.owed = max(room, 0), true
	}
	if last := len(c.out) - 1; last >= 0 && c.out[last].n < edgeBlock {
		c.filling = append(c.filling, c.out[last]) // it is the last: the worker may take those before
		c.out = c.out[:last]
	}
	c.mu.Unlock()
	for _, b := range bufs {
		b = b[:min(len(b), most-taken)]
		taken += len(b)
		c.fill(b)
	}
	c.mu.Lock()
	c.out = append(c.out, c.filling...)
	c.outBytes += taken
	hurry := c.outBytes >= 2*edgePiece
	c.mu.Unlock()
	clear(c.filling)
	c.filling = c.filling[:0]
	if hurry {
		c.w.hand(c) // it need not wait for the end of the turn
	} else {
		c.touch()
	}
	return taken
}

// fill copies b behind what c.filling holds.
func (c *edgeConn) fill(b []byte) {
	for len(b) > 0 {
		last := len(c.filling) - 1
		if last < 0 || c.filling[last].n == edgeBlock {
			c.filling = append(c.filling, c.g.block())
			last++
		}
		k := c.filling[last]
		n := copy(k.b[k.n:], b)
		k.n += n
		b = b[n:]
	}
}

func (c *edgeConn) closeWrite() {
	c.mu.Lock()
	c.fin = true
	c.mu.Unlock()
	c.touch()
}

// close gives up the connection; the worker has some time for what Send took.
func (c *edgeConn) close() {
	c.mu.Lock()
	c.closed = true
	if c.file != nil {
		c.hurry()
	}
	for _, b := range c.in {
		c.g.blocks.Put(b)
	}
	c.in = nil
	c.mu.Unlock()
	c.touch()
}

// close ends the workers, after the connections that they still have.
func (g *edge) close() {
	g.flush()
	for _, w := range g.workers {
		w.quit()
	}
	g.running.Wait()
	for _, w := range g.workers {
		w.close()
	}
}

// errLater is what crypto/tls gets instead of waiting for a socket. It goes on where it was.
var errLater net.Error = later{}

type later struct{}

// Error implements net.Error.
func (later) Error() string { return "nothing has arrived" }

// Timeout implements net.Error.
func (later) Timeout() bool { return true }

// Temporary implements net.Error: crypto/tls takes any other error for the end.
func (later) Temporary() bool { return true }
