package netsim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

const (
	ms     = schedule.Time(1e6)
	minute = 60 * second
)

// world is a Net with the sinks of a test.
type world struct {
	t     *testing.T
	queue *schedule.Queue
	net   *Net
}

func newWorld(t *testing.T, seed uint64, c Config) *world {
	q := &schedule.Queue{}
	return &world{t: t, queue: q, net: New(q, decision.FromSeed(seed), c)}
}

// run lets d pass.
func (w *world) run(d schedule.Time) {
	until := w.queue.Now() + d
	for w.queue.Step(until) {
	}
	w.queue.Advance(until)
}

// drain runs until nothing is scheduled.
func (w *world) drain() {
	for range 10_000_000 {
		if !w.queue.Step(1 << 62) {
			return
		}
	}
	w.t.Fatal("the queue does not drain")
}

// clean requires that nothing is left but the listeners.
func (w *world) clean() {
	w.t.Helper()
	r := w.net.Residue()
	r.Listeners = 0
	if r != (Residue{}) {
		w.t.Fatalf("left behind: %+v", r)
	}
}

// box is a sink that notes what it is told. By itself it reads everything at once.
type box struct {
	w     *world
	host  *Host
	log   []string
	conns []*Conn
	infos []engine.ConnInfo
	got   map[*Conn]*strings.Builder
	lazy  bool // does not read by itself
	buf   []byte
}

func (w *world) host(index int) *box {
	b := &box{w: w, got: make(map[*Conn]*strings.Builder), buf: make([]byte, 4096)}
	b.host = w.net.AddHost(index, b)
	return b
}

func (b *box) note(format string, args ...any) { b.log = append(b.log, fmt.Sprintf(format, args...)) }

func (b *box) ListenerUp(l engine.ListenerID, addr string, port int) {
	b.note("up %d %s %d", l, addr, port)
}
func (b *box) ListenerFailed(l engine.ListenerID, err error) { b.note("failed %d %v", l, err) }
func (b *box) Accepted(c *Conn, l engine.ListenerID, info engine.ConnInfo) {
	b.note("accepted %d", l)
	b.conns = append(b.conns, c)
	b.infos = append(b.infos, info)
}
func (b *box) Connected(c *Conn)             { b.note("connected") }
func (b *box) DialFailed(c *Conn, err error) { b.note("dialfailed %v", err) }
func (b *box) Writable(c *Conn)              { b.note("writable") }
func (b *box) Closed(c *Conn, err error)     { b.note("closed %v", err) }
func (b *box) text(c *Conn) string           { return b.builder(c).String() }
func (b *box) builder(c *Conn) *strings.Builder {
	if b.got[c] == nil {
		b.got[c] = &strings.Builder{}
	}
	return b.got[c]
}

func (b *box) Readable(c *Conn) {
	if b.lazy {
		b.note("readable")
		return
	}
	b.read(c, 1<<30)
}

// read reads up to max bytes and notes the pieces.
func (b *box) read(c *Conn, max int) {
	for max > 0 {
		buf := b.buf[:min(max, len(b.buf))]
		n, eof := c.Read(buf)
		if n > 0 {
			b.builder(c).Write(buf[:n])
			b.note("read %s", brief(buf[:n]))
		}
		if eof {
			b.note("eof")
		}
		max -= n
		if n < len(buf) {
			return
		}
	}
}

func brief(b []byte) string {
	if len(b) > 20 {
		return fmt.Sprintf("%d bytes", len(b))
	}
	return string(b)
}

func (b *box) expect(want ...string) {
	b.w.t.Helper()
	got, wanted := strings.Join(b.log, "; "), strings.Join(want, "; ")
	if got != wanted {
		b.w.t.Fatalf("told:\n  %s\nwant:\n  %s", got, wanted)
	}
	b.log = nil
}

// has requires that one of the notes is what.
func (b *box) has(what string, times int) {
	b.w.t.Helper()
	n := 0
	for _, l := range b.log {
		if l == what {
			n++
		}
	}
	if n != times {
		b.w.t.Fatalf("told %q %d times, want %d, in: %s", what, n, times, strings.Join(b.log, "; "))
	}
}

func say(c *Conn, text string) int { return c.Send([][]byte{[]byte(text)}) }

// pair makes a server, a client and a connection between them, with empty logs.
func (w *world) pair() (server, client *box, accepted, dialled *Conn) {
	server, client = w.host(0), w.host(1)
	server.host.Listen(1, "0.0.0.0:4222")
	dialled = client.host.Dial("10.0.0.1:4222")
	w.run(10 * w.net.cfg.Link.Latency)
	w.run(10 * w.net.cfg.Link.Jitter)
	if len(server.conns) != 1 {
		w.t.Fatalf("no connection: %v %v", server.log, client.log)
	}
	server.log, client.log = nil, nil
	return server, client, server.conns[0], dialled
}
