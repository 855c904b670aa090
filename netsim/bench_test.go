package netsim

import (
	"testing"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// drain is a sink that reads all and counts.
type drain struct {
	buf  [4096]byte
	read int
	conn *Conn
}

func (d *drain) ListenerUp(engine.ListenerID, string, int)                {}
func (d *drain) ListenerFailed(engine.ListenerID, error)                  {}
func (d *drain) Accepted(c *Conn, _ engine.ListenerID, _ engine.ConnInfo) { d.conn = c }
func (d *drain) Connected(*Conn)                                          {}
func (d *drain) DialFailed(*Conn, error)                                  {}
func (d *drain) Writable(*Conn)                                           {}
func (d *drain) Closed(*Conn, error)                                      {}
func (d *drain) Readable(c *Conn) {
	for {
		n, _ := c.Read(d.buf[:])
		d.read += n
		if n < len(d.buf) {
			return
		}
	}
}

// BenchmarkMessage is one message of 128 bytes from Send to Read.
func BenchmarkMessage(b *testing.B) {
	for _, c := range []struct {
		name string
		cfg  Config
	}{
		{"perfect", Config{Link: LinkProps{Latency: ms}}},
		{"jitter", Config{Link: LinkProps{Latency: ms, Jitter: ms}}},
		{"rough", Config{
			Link: LinkProps{Latency: ms, Jitter: ms}, CutPerMillion: 200_000,
			StallPerMillion: 1, ResetPerMillion: 1, HalfOpenPerMillion: 1,
		}},
		{"bandwidth", Config{Link: LinkProps{Latency: ms, Bandwidth: 1e9}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			q := &schedule.Queue{}
			n := New(q, decision.FromSeed(1), c.cfg)
			server, client := &drain{}, &drain{}
			s, h := n.AddHost(0, server), n.AddHost(1, client)
			s.Listen(1, ":4222")
			d := h.Dial("10.0.0.1:4222")
			for q.Step(1 << 62) {
			}
			bufs := [][]byte{make([]byte, 128)}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				d.Send(bufs)
				for q.Step(1 << 62) {
				}
			}
			b.StopTimer()
			if d.Open() && server.read != b.N*128 {
				b.Fatal(server.read)
			}
			b.ReportMetric(float64(q.Fired())/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkDial is a connection made and closed at both ends.
func BenchmarkDial(b *testing.B) {
	q := &schedule.Queue{}
	n := New(q, decision.FromSeed(1), Config{})
	server, client := &drain{}, &drain{}
	s, h := n.AddHost(0, server), n.AddHost(1, client)
	s.Listen(1, ":4222")
	b.ReportAllocs()
	for i := range b.N {
		if h.dials == 1<<dialBits {
			h.dials = 0
		}
		d := h.Dial("10.0.0.1:4222")
		for q.Step(1 << 62) {
		}
		d.Close()
		server.conn.Close()
		if i&1023 == 0 {
			for q.Step(1 << 62) {
			}
		}
	}
}
