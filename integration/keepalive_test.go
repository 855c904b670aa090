package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

func TestRTT(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		nc := w.serve(engine.Options{Check: true}).connect()
		rtt, err := nc.RTT()
		ok(t, err)
		if rtt <= 0 {
			t.Errorf("round trip time %v", rtt)
		}
	})
}

func TestServerPingsAndIsAnswered(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{PingInterval: 5 * time.Millisecond, PingMax: 1000, Check: true})
		nc := s.connect()
		c := w.dial(s.addr)
		c.mute = true
		c.send("CONNECT {\"verbose\":false}\r\n")
		for range 5 {
			c.expect("PING")
			c.send("PONG\r\n")
		}
		ok(t, nc.Flush())
	})
}

func TestStaleConnection(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{PingInterval: 10 * time.Millisecond, PingMax: 2, Check: true})
		c := w.dial(s.addr)
		c.mute = true
		c.send("CONNECT {\"verbose\":false}\r\n")
		c.expect("PING", "PING", "-ERR 'Stale Connection'")
		c.expectEnd()
		until(t, "it to be forgotten", func() bool { return s.Footprint().Connections == 0 })
	})
}

func TestLameDuckMode(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{LameDuckGrace: 30 * time.Millisecond, LameDuckDuration: 150 * time.Millisecond, Check: true})
		const clients = 5
		told, closed := make(chan struct{}, clients), make(chan struct{}, clients)
		for range clients {
			nc := s.connect(nats.LameDuckModeHandler(func(*nats.Conn) { told <- struct{}{} }), nats.NoReconnect(),
				nats.ClosedHandler(func(*nats.Conn) { closed <- struct{}{} }))
			ok(t, nc.Flush()) // the first PONG is behind it: INFO reaches it from now on
		}
		raw := w.dial(s.addr)
		raw.send("CONNECT {\"verbose\":false,\"protocol\":1}\r\nPING\r\n")
		raw.expect("PONG", "INFO {")
		s.LameDuck()
		line, err := raw.line()
		ok(t, err)
		if !strings.HasPrefix(line, "INFO {") || !strings.Contains(line, `"ldm":true`) {
			t.Errorf("got %q", line)
		}
		for range clients {
			receive(t, "a client to be told", told)
		}
		for range clients {
			receive(t, "a client to be evicted", closed)
		}
		raw.expectEnd()
		receive(t, "the server to end", s.Done())
		ok(t, s.Wait())
		if nc, err := nats.Connect(s.url); err == nil {
			nc.Close()
			t.Error("a lame duck took a new client")
		}
	})
}

func TestLameDuckModeWithoutClients(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{})
		s.LameDuck()
		receive(t, "the server to end", s.Done())
		ok(t, s.Wait())
	})
}

func TestStopClosesClients(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		closed := make(chan struct{}, 1)
		nc := s.connect(nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { closed <- struct{}{} }))
		ok(t, nc.Flush())
		s.Stop()
		receive(t, "the client to be closed", closed)
		receive(t, "the server to end", s.Done())
		s.Stop() // once more does no harm
		s.LameDuck()
	})
}

func TestStopBeforeRun(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		srv, err := host.New(host.Options{Engine: engine.Options{Host: "127.0.0.1", Port: -1}, Portable: w.portable, Log: &lines{}})
		ok(t, err)
		srv.Stop()
		ok(t, srv.Run())
		if srv.Port() != 0 {
			t.Error("it listened")
		}
	})
}
