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
	wake    func()              // the loop
	forget  func(engine.ConnID) // in the loop
	workers []*edgeWorker
	next    int // the worker of the next connection
	blocks  sync.Pool
	running sync.WaitGroup

	dirty []*edgeConn // used by the loop only: to be handed to their workers at the end of the turn
	left  []*edgeConn // used by the loop only: to be looked at in the next turn, before others

	mu    sync.Mutex
	ready []*edgeConn // to be looked at by the loop, in order of arrival
	spare []*edgeConn
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

func newEdge(s *Server, wake func(), forget func(engine.ConnID)) *edge {
	return &edge{s: s, wake: wake, forget: forget, blocks: sync.Pool{New: func() any { return new(block) }}}
}

func (g *edge) block() *block {
	b := g.blocks.Get().(*block)
	b.n = 0
	return b
}

// edgeConn is one TLS connection.
type edgeConn struct {
	id     engine.ConnID
	g      *edge
	w      *edgeWorker
	paused bool // used by the loop only
	dirty  bool // used by the loop only: in edge.dirty
	// used by the loop only, during send: to be put behind out
	filling []*block
	listed  bool // in edge.ready or edge.left; edge.mu guards it
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
		c.g.list(c)
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
	c.g.list(c)
}

// list has the loop look at c.
func (g *edge) list(c *edgeConn) {
	g.mu.Lock()
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

// again has the loop look at c in the next turn. Only the loop calls it.
func (g *edge) again(c *edgeConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !c.listed {
		c.listed = true
		g.left = append(g.left, c)
	}
}

// take returns what the loop has to look at, oldest first. It is valid until the next take.
func (g *edge) take() []*edgeConn {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.left) == 0 && len(g.ready) == 0 {
		return nil
	}
	looking := append(g.left, g.ready...)
	clear(g.ready)
	g.ready = g.ready[:0]
	g.left, g.spare = g.spare[:0], looking
	return looking
}

// deliver tells the engine what is new, up to so many bytes, and returns how many it was.
func (g *edge) deliver(e *engine.Engine, most int) (bytes int) {
	looking := g.take()
	for i, c := range looking {
		if bytes >= most || e.TurnFull() {
			rest := looking[:copy(looking, looking[i:])] // they are still listed, and go before those with more
			g.left, g.spare = append(rest, g.left...), g.left[:0]
			break
		}
		looking[i] = nil
		bytes += g.look(e, c)
	}
	return bytes
}

// look tells the engine what is new about c and returns the number of bytes handed over.
func (g *edge) look(e *engine.Engine, c *edgeConn) (bytes int) {
	g.mu.Lock()
	c.listed = false
	g.mu.Unlock()
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return 0
	}
	up, failed, writable, eof := c.up, c.failed, c.writable, c.eof
	c.up, c.writable = nil, false
	c.mu.Unlock()
	if up != nil {
		e.TLSUp(c.id, *up)
	}
	if writable && failed == "" {
		e.Writable(c.id)
	}
	more := true
	for n := 0; more && n < edgeTurn && !c.paused; n++ {
		var b *block
		if b, more = c.next(); b != nil {
			bytes += b.n
			e.Received(c.id, b.b[:b.n])
			g.blocks.Put(b)
		}
	}
	switch {
	case c.paused: // resume lists it again
	case more:
		g.again(c)
		return bytes
	case eof:
		e.EOF(c.id) // the engine minds the first one only
	}
	if failed != "" {
		g.forget(c.id)
		e.Closed(c.id, failed)
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
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

func (c *edgeConn) pause() { c.paused = true }

func (c *edgeConn) resume() {
	c.paused = false
	c.g.again(c) // there may be something that waited
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
