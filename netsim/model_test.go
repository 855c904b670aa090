package netsim

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// The model of a connection is two lists of bytes. Random operations on a few hosts are checked against it: bytes
// arrive in order, none is invented, none is lost unless something happened that loses them, the end comes after all of
// them, Send's account is exact, Writable comes exactly once after Sends that fell short, buffers keep their bounds,
// nothing is told of what was closed, and nothing is left when all is closed.

// modelEnd is what the test knows of one end.
type modelEnd struct {
	conn    *Conn
	host    int
	up      bool // connected or accepted, not closed
	dialing bool
	sent    []byte // that Send took
	read    []byte
	endSent bool
	endRead bool
	owed    bool // Writable must come
	readied bool // Readable was told, reading has not caught up
	lossy   bool // what this end sent may be lost
}

type model struct {
	t     *rapid.T
	q     *schedule.Queue
	n     *Net
	cfg   Config
	ends  map[uint64]*modelEnd
	order []uint64 // keys of ends, in order of appearance
	eager bool     // Readable is answered at once
	lossy bool     // resets, kills and the like are among the operations
	off   [modelHosts]bool
	buf   []byte
	count byte
}

const modelHosts = 3 // 0 listens

type modelSink struct {
	m    *model
	host int
}

func (s modelSink) ListenerUp(engine.ListenerID, string, int) {}
func (s modelSink) ListenerFailed(_ engine.ListenerID, err error) {
	s.m.t.Fatal("listener failed: ", err)
}

func (s modelSink) end(c *Conn) *modelEnd {
	e := s.m.ends[c.Key()]
	if e == nil || e.host != s.host || !e.up && !e.dialing {
		s.m.t.Fatal("told of a connection that is closed or elsewhere")
	}
	return e
}

func (s modelSink) Accepted(c *Conn, _ engine.ListenerID, _ engine.ConnInfo) {
	if s.m.ends[c.Key()] != nil {
		s.m.t.Fatal("accepted twice")
	}
	s.m.add(&modelEnd{conn: c, host: s.host, up: true, lossy: s.m.lossy})
}

func (s modelSink) Connected(c *Conn) {
	e := s.end(c)
	if !e.dialing {
		s.m.t.Fatal("connected twice")
	}
	e.dialing, e.up = false, true
}

func (s modelSink) DialFailed(c *Conn, _ error) {
	e := s.end(c)
	if !e.dialing {
		s.m.t.Fatal("a dial fails that is over")
	}
	e.dialing = false
}

func (s modelSink) Readable(c *Conn) {
	e := s.end(c)
	if e.readied || c.Paused() || !c.readable() {
		s.m.t.Fatal("needless Readable")
	}
	e.readied = true
	if s.m.eager {
		s.m.readSome(e, len(s.m.buf))
	}
}

func (s modelSink) Writable(c *Conn) {
	e := s.end(c)
	if !e.owed {
		s.m.t.Fatal("needless Writable")
	}
	e.owed = false
	if c.out().room() == 0 {
		s.m.t.Fatal("Writable without room")
	}
}

func (s modelSink) Closed(c *Conn, err error) {
	e := s.end(c)
	e.up = false
	if !s.m.lossy && !s.m.ends[c.Key()^1].closedByUser() {
		s.m.t.Fatal("broken for no reason: ", err)
	}
}

func (e *modelEnd) closedByUser() bool { return e != nil && !e.up }

func (m *model) add(e *modelEnd) {
	m.ends[e.conn.Key()] = e
	m.order = append(m.order, e.conn.Key())
}

func (m *model) peer(e *modelEnd) *modelEnd { return m.ends[e.conn.Key()^1] }

func (m *model) dial(host int) {
	m.add(&modelEnd{conn: m.n.Host(host).Dial("10.0.0.1:4222"), host: host, dialing: true})
}

// pick draws an end that is up; nil if there is none.
func (m *model) pick() *modelEnd {
	var up []*modelEnd
	for _, k := range m.order {
		if e := m.ends[k]; e.up {
			up = append(up, e)
		}
	}
	if len(up) == 0 {
		return nil
	}
	return up[rapid.IntRange(0, len(up)-1).Draw(m.t, "end")]
}

func (m *model) pickHost(label string) int { return rapid.IntRange(0, modelHosts-1).Draw(m.t, label) }

func (m *model) run(d schedule.Time) {
	until := m.q.Now() + d
	for m.q.Step(until) {
	}
	m.q.Advance(until)
}

func (m *model) send(e *modelEnd, sizes []int) {
	bufs := make([][]byte, len(sizes))
	var all []byte
	for i, size := range sizes {
		for range size {
			m.count++
			bufs[i] = append(bufs[i], m.count)
		}
		all = append(all, bufs[i]...)
	}
	free := e.conn.out().room()
	n := e.conn.Send(bufs)
	if n > len(all) || !e.endSent && n < min(len(all), free) || e.endSent && n > 0 {
		m.t.Fatalf("Send took %d of %d with room for %d", n, len(all), free)
	}
	if n < len(all) && !e.endSent {
		e.owed = true
	}
	for i := range bufs {
		clear(bufs[i]) // they were only borrowed
	}
	e.sent = append(e.sent, all[:n]...)
}

func (m *model) readSome(e *modelEnd, max int) {
	buf := m.buf[:max]
	n, eof := e.conn.Read(buf)
	e.read = append(e.read, buf[:n]...)
	var sent []byte
	p := m.peer(e)
	if p != nil {
		sent = p.sent
	}
	if !bytes.HasPrefix(sent, e.read) {
		m.t.Fatalf("read %d bytes that are not the first of the %d sent", len(e.read), len(sent))
	}
	if n < len(buf) {
		e.readied = false
	}
	if eof {
		if !p.endSent || len(e.read) != len(sent) {
			m.t.Fatalf("the end after %d of %d bytes", len(e.read), len(sent))
		}
		e.endRead = true
	}
}

func (m *model) close(e *modelEnd) {
	e.conn.Close()
	e.up, e.dialing, e.endSent = false, false, true
}

// lostAt marks the ends of a host, or of all, as gone.
func (m *model) lostAt(host int) {
	for _, k := range m.order {
		if e := m.ends[k]; e.host == host {
			e.up, e.dialing, e.endSent = false, false, true
		}
	}
}

func describe(s *stream) string {
	c := *s
	c.buf = nil
	return fmt.Sprintf("%+v", c)
}

// check holds after every operation.
func (m *model) check(*rapid.T) {
	total := 0
	for _, k := range m.order {
		e := m.ends[k]
		if e.up != e.conn.Open() {
			m.t.Fatal("open or not?")
		}
		if u := e.conn.Unread(); u > m.cfg.RecvBuffer {
			m.t.Fatalf("%d bytes in a receive buffer of %d", u, m.cfg.RecvBuffer)
		}
		s := e.conn.out()
		if s.read > s.arrived || s.arrived > s.departed || s.departed > s.written || s.acked > s.written {
			m.t.Fatalf("offsets out of order: %s", describe(s))
		}
		if s.written-s.read > uint64(m.cfg.SendBuffer+m.cfg.RecvBuffer) || len(s.buf) > 2*max(512, m.cfg.SendBuffer+m.cfg.RecvBuffer) {
			m.t.Fatalf("buffers beyond their bounds: %s", describe(s))
		}
		if e.up && !e.conn.paused && e.conn.readable() && !e.readied && !e.conn.stirring {
			m.t.Fatal("Readable missing")
		}
		total += int(s.written - s.read)
	}
	if r := m.n.Residue(); r.Bytes != total {
		m.t.Fatalf("%d bytes held, %d counted", total, r.Bytes)
	}
}

func drawConfig(t *rapid.T, lossy bool) Config {
	size := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(1, 5000), rapid.Just(0))
	c := Config{
		Link: LinkProps{
			Latency:   schedule.Time(rapid.Int64Range(0, 3).Draw(t, "latency")) * ms,
			Jitter:    schedule.Time(rapid.Int64Range(0, 3).Draw(t, "jitter")) * 5 * ms,
			Bandwidth: rapid.SampledFrom([]int64{0, 0, 1e6, 10_000}).Draw(t, "bandwidth"),
		},
		SendBuffer:    size.Draw(t, "send buffer"),
		RecvBuffer:    size.Draw(t, "receive buffer"),
		CutPerMillion: rapid.SampledFrom([]uint32{0, 100_000, 1_000_000}).Draw(t, "cuts"),
		CutMax:        rapid.SampledFrom([]int{0, 1, 10}).Draw(t, "cut max"),
		RetransmitMax: schedule.Time(rapid.Int64Range(0, 1).Draw(t, "retransmit")) * second,
	}
	if rapid.Bool().Draw(t, "stalls") {
		c.StallPerMillion, c.StallMin, c.StallMax = 300_000, ms, 20*second
	}
	if lossy {
		c.Ports = rapid.SampledFrom([]int{0, 4}).Draw(t, "ports")
		c.HardClose = rapid.Bool().Draw(t, "hard close")
		c.DialTimeout = schedule.Time(rapid.Int64Range(0, 1).Draw(t, "dial timeout")) * 30 * second
		c.UserTimeout = schedule.Time(rapid.Int64Range(0, 1).Draw(t, "user timeout")) * 20 * second
		c.KeepAlive = schedule.Time(rapid.Int64Range(0, 1).Draw(t, "keep alive")) * 20 * second
		for _, rate := range []*uint32{&c.ResetPerMillion, &c.HalfOpenPerMillion, &c.RefusePerMillion, &c.DialHangPerMillion} {
			*rate = rapid.SampledFrom([]uint32{0, 0, 0, 100_000, 1_000_000}).Draw(t, "rate")
		}
		c.HalfOpenMax = second
	}
	return c
}

func newModel(t *rapid.T) *model {
	m := &model{t: t, q: &schedule.Queue{}, ends: make(map[uint64]*modelEnd), buf: make([]byte, 1<<17)}
	m.lossy = rapid.Bool().Draw(t, "lossy")
	m.cfg = drawConfig(t, m.lossy)
	m.n = New(m.q, decision.FromSeed(rapid.Uint64().Draw(t, "seed")), m.cfg)
	m.cfg = m.n.cfg
	for i := range modelHosts {
		m.n.AddHost(i, modelSink{m, i})
	}
	m.n.Host(0).Listen(1, ":4222")
	m.run(0)
	for h := range modelHosts {
		m.dial(h)
	}
	m.run(100 * ms)
	return m
}

func (m *model) actions() map[string]func(*rapid.T) {
	onEnd := func(f func(*modelEnd)) func(*rapid.T) {
		return func(*rapid.T) {
			if e := m.pick(); e != nil {
				f(e)
			}
		}
	}
	sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 30), rapid.IntRange(0, 3000)), 1, 3)
	a := map[string]func(*rapid.T){
		"dial": func(t *rapid.T) {
			if h := m.pickHost("from"); !m.off[h] && len(m.order) < 12 {
				m.dial(h)
			}
		},
		"send":  onEnd(func(e *modelEnd) { m.send(e, sizes.Draw(m.t, "sizes")) }),
		"send1": onEnd(func(e *modelEnd) { m.send(e, sizes.Draw(m.t, "sizes")) }),
		"send2": onEnd(func(e *modelEnd) { m.send(e, sizes.Draw(m.t, "sizes")) }),
		"read":  onEnd(func(e *modelEnd) { m.readSome(e, rapid.IntRange(0, 100).Draw(m.t, "max")) }),
		"read1": onEnd(func(e *modelEnd) { m.readSome(e, rapid.IntRange(0, 1000).Draw(m.t, "max")) }),
		"read2": onEnd(func(e *modelEnd) { m.readSome(e, rapid.IntRange(1, len(m.buf)).Draw(m.t, "max")) }),
		"pause": onEnd(func(e *modelEnd) {
			e.conn.Pause()
			e.readied = false
		}),
		"unpause":    onEnd(func(e *modelEnd) { e.conn.Unpause() }),
		"closewrite": onEnd(func(e *modelEnd) { e.conn.CloseWrite(); e.endSent, e.owed = true, false }),
		"run":        func(t *rapid.T) { m.run(schedule.Time(rapid.Int64Range(0, int64(5*ms)).Draw(t, "ns"))) },
		"run2":       func(t *rapid.T) { m.run(schedule.Time(rapid.Int64Range(0, int64(50*ms)).Draw(t, "ns"))) },
		"run3":       func(t *rapid.T) { m.run(schedule.Time(rapid.Int64Range(0, int64(2*second)).Draw(t, "ns"))) },
		"run long":   func(t *rapid.T) { m.run(schedule.Time(rapid.Int64Range(0, int64(40*second)).Draw(t, "ns"))) },
		"cut": func(t *rapid.T) {
			m.n.PartitionOneWay(m.n.Host(m.pickHost("a")), m.n.Host(m.pickHost("b")))
		},
		"heal": func(t *rapid.T) { m.n.Heal(m.n.Host(m.pickHost("a")), m.n.Host(m.pickHost("b"))) },
		"link": func(t *rapid.T) {
			m.n.SetLink(m.n.Host(m.pickHost("a")), m.n.Host(m.pickHost("b")), drawConfig(t, false).Link)
		},
		"suspend": func(t *rapid.T) { m.n.Host(m.pickHost("host")).Suspend() },
		"resume":  func(t *rapid.T) { m.n.Host(m.pickHost("host")).Resume() },
		"":        m.check,
	}
	if !m.lossy {
		return a
	}
	a["close"] = onEnd(m.close)
	a["abort"] = onEnd(func(e *modelEnd) { e.conn.Abort(); e.up, e.endSent = false, true })
	a["vanish"] = onEnd(func(e *modelEnd) { e.conn.Vanish() })
	a["kill"] = func(t *rapid.T) {
		h := m.pickHost("host")
		if m.off[h] {
			return
		}
		m.n.Host(h).Kill()
		m.lostAt(h)
		m.n.Host(h).Listen(1, ":4222")
	}
	a["power"] = func(t *rapid.T) {
		h := m.pickHost("host")
		if m.off[h] {
			m.n.Host(h).PowerOn()
			m.n.Host(h).Listen(1, ":4222")
		} else {
			m.n.Host(h).PowerOff()
			m.lostAt(h)
		}
		m.off[h] = !m.off[h]
	}
	return a
}

// finish lets everything arrive, then closes everything.
func (m *model) finish() {
	m.n.Calm()
	for i := range m.off {
		m.n.Host(i).PowerOn()
	}
	m.eager = true
	for _, k := range slices.Clone(m.order) {
		if e := m.ends[k]; e.up {
			e.conn.Unpause()
			m.readSome(e, len(m.buf))
		}
	}
	m.run(2 * 60 * minute) // 10 kB/s, tiny windows
	m.check(m.t)
	for _, k := range m.order {
		e := m.ends[k]
		p := m.peer(e)
		if e.up && e.owed && !e.conn.link.void {
			m.t.Fatalf("Writable never came: %s", describe(e.conn.out()))
		}
		if m.lossy {
			continue
		}
		if p == nil || len(p.read) != len(e.sent) {
			m.t.Fatalf("bytes are missing: %s, peer %+v", describe(e.conn.out()), p)
		}
		if e.endSent != p.endRead {
			m.t.Fatal("the end is missing")
		}
	}
	for _, k := range slices.Clone(m.order) {
		if e := m.ends[k]; e.up || e.dialing {
			m.close(e)
		}
	}
	for i := range 5_000_000 {
		if !m.q.Step(1 << 62) {
			break
		}
		if i == 4_999_999 {
			m.t.Fatal("the queue does not drain")
		}
	}
	for i := range modelHosts {
		m.n.Host(i).StopListening(1)
	}
	if r := m.n.Residue(); r != (Residue{}) {
		m.t.Fatalf("left behind: %+v", r)
	}
	for i := range modelHosts {
		if h := m.n.Host(i); h.ends != nil || h.lastEnd != nil || len(h.ports) != 0 || len(h.peers) != 0 {
			m.t.Fatal("a kernel still knows connections")
		}
	}
}

func modelProperty(t *rapid.T) {
	m := newModel(t)
	for range 4 { // four times as long as usual: buffers must fill, wrap and grow
		t.Repeat(m.actions())
	}
	m.finish()
}

func TestModel(t *testing.T) { rapid.Check(t, modelProperty) }

func FuzzModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(modelProperty)) }
