package integration

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/tlsconf"
)

// serveTLS starts a server with TLS.
func (w *world) serveTLS(o engine.Options, s tlsconf.Settings) (*server, *tlsconf.Live) {
	w.t.Helper()
	config, err := tlsconf.Server(s)
	ok(w.t, err)
	live := tlsconf.NewLive(config)
	w.tls = live.Clients()
	o.TLS.On, o.TLS.Verify, o.Check = true, s.Verify || s.VerifyAndMap, true
	if o.TLS.Timeout == 0 {
		o.TLS.Timeout = patience
	}
	return w.serve(o), live
}

// secure opens a connection of the client library with TLS.
func (s *server) secure(config *tls.Config, opts ...nats.Option) *nats.Conn {
	s.w.t.Helper()
	return s.connect(append([]nats.Option{nats.Secure(config)}, opts...)...)
}

// dialTLS opens a socket, reads INFO unless the handshake comes first, and changes to TLS.
func (s *server) dialTLS(config *tls.Config, first bool) (c *tls.Conn, r *bufio.Reader) {
	t := s.w.t
	t.Helper()
	raw := dialSilently(t, s.addr)
	if !first {
		raw.expect("INFO {")
	}
	config = config.Clone()
	config.ServerName = "127.0.0.1"
	c = tls.Client(raw.TCPConn, config)
	ok(t, c.SetDeadline(time.Now().Add(patience)))
	ok(t, c.Handshake())
	t.Cleanup(func() { c.Close() })
	return c, bufio.NewReader(c)
}

func roundTrip(t *testing.T, nc *nats.Conn, subject string, size int) {
	t.Helper()
	sub, err := nc.SubscribeSync(subject)
	ok(t, err)
	want := bytes.Repeat([]byte("natsd "), size/6+1)[:size]
	ok(t, nc.Publish(subject, want))
	msg, err := sub.NextMsg(patience)
	ok(t, err)
	if !bytes.Equal(msg.Data, want) {
		t.Errorf("%d bytes came back changed, as %d", size, len(msg.Data))
	}
	ok(t, sub.Unsubscribe())
}

func TestTLS(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			hosts(t, func(t *testing.T, w *world) {
				a := newAuthority(t)
				s, _ := w.serveTLS(engine.Options{}, a.settings())
				config := a.trust()
				config.MaxVersion = version
				nc := s.secure(config)
				state, err := nc.TLSConnectionState()
				ok(t, err)
				if state.Version != version || !nc.TLSRequired() {
					t.Errorf("version %x, required %v", state.Version, nc.TLSRequired())
				}
				for _, size := range []int{0, 1, 1000, 16 << 10, 100_000, 1 << 20} {
					roundTrip(t, nc, "a.b", size)
				}
				ok(t, nc.LastError())
			})
		})
	}
}

func TestTLSClientCertificates(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a, other := newAuthority(t), newAuthority(t)
		settings := a.settings()
		settings.Verify, settings.CAFile = true, a.caFile
		s, _ := w.serveTLS(engine.Options{}, settings)
		nc := s.secure(a.trust(a.client("derek")))
		roundTrip(t, nc, "x", 100)

		for name, config := range map[string]*tls.Config{
			"none": a.trust(), "another authority's": a.trust(other.client("mallory")),
		} {
			if nc, err := nats.Connect(s.url, nats.Secure(config), nats.Timeout(patience)); err == nil {
				nc.Close()
				t.Errorf("with a certificate that is %s the connection is accepted", name)
			}
		}
		until(t, "the refusals to be logged", func() bool {
			return s.log.contains("[ERR]") && s.log.contains("TLS handshake error: tls: client didn't provide a certificate") &&
				s.log.contains("TLS handshake error: tls: failed to verify certificate") && s.log.contains(" (CN=mallory,O=Org\\, Inc.,C=DE SHA-256: ")
		})
		if _, err := nats.Connect(s.url, nats.Secure(other.trust(a.client("derek2"))), nats.Timeout(patience)); err == nil {
			t.Error("a client that does not trust the server is connected")
		}
	})
}

func TestTLSHandshakeFirst(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		s, _ := w.serveTLS(engine.Options{TLS: engine.TLSOptions{First: true}}, a.settings())
		roundTrip(t, s.secure(a.trust(), nats.TLSHandshakeFirst()), "x", 1000)
		plain := dialSilently(t, s.addr)
		plain.send("CONNECT {}\r\n")
		if got := plain.expectEnd(); strings.Contains(got, "INFO") {
			t.Errorf("a client without TLS got %q", got)
		}
	})
}

func TestTLSHandshakeFirstAuto(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		patient, _ := w.serveTLS(engine.Options{TLS: engine.TLSOptions{First: true, FirstWait: patience}}, a.settings())
		roundTrip(t, patient.secure(a.trust(), nats.TLSHandshakeFirst()), "x", 1000)
		hasty, _ := w.serveTLS(engine.Options{TLS: engine.TLSOptions{First: true, FirstWait: time.Millisecond}}, a.settings())
		roundTrip(t, hasty.secure(a.trust()), "x", 1000)
	})
}

func TestTLSOrNot(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		s, _ := w.serveTLS(engine.Options{TLS: engine.TLSOptions{AllowPlain: true}}, a.settings())
		plain, secure := s.connect(), s.secure(a.trust())
		sub, err := plain.SubscribeSync("x")
		ok(t, err)
		ok(t, plain.Flush())
		ok(t, secure.Publish("x", []byte("hello")))
		_, err = sub.NextMsg(patience)
		ok(t, err)
		roundTrip(t, plain, "y", 1000)
		roundTrip(t, secure, "z", 1000)
	})
}

// What does not speak TLS gets nothing but the end.
func TestTLSRequired(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		s, _ := w.serveTLS(engine.Options{Debug: true, TLS: engine.TLSOptions{Timeout: 100 * time.Millisecond}}, a.settings())
		plain := w.dial(s.addr)
		plain.send("CONNECT {}\r\nPING\r\n")
		if got := plain.expectEnd(); got != "\n" {
			t.Errorf("got %q", got)
		}
		slow := w.dial(s.addr)
		slow.send("\x16\x03\x01")
		silent := w.dial(s.addr)
		// The end may be a reset: what the server did not read is lost.
		for _, c := range []*rawClient{slow, silent} {
			ok(t, c.SetReadDeadline(time.Now().Add(patience)))
			if b, err := io.ReadAll(c.r); len(b) > 0 || os.IsTimeout(err) {
				t.Errorf("got %q, %v", b, err)
			}
		}
		until(t, "all of it to be logged", func() bool {
			return s.log.contains("first record does not look like a TLS handshake") && s.log.contains("TLS handshake error: timeout")
		})
		until(t, "them to be forgotten", func() bool { return s.Footprint().Connections == 0 })
	})
}

// The log tells what was wrong with a handshake that began well.
func TestTLSRecordTooLong(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		s, _ := w.serveTLS(engine.Options{}, a.settings())
		c := dialSilently(t, s.addr)
		_, err := c.r.ReadString('\n')
		ok(t, err)
		config := a.trust()
		config.ServerName = "localhost"
		_ = tls.Client(trailing{c, "\x17\x03\x03\xff\xff"}, config).Handshake() // it fails by what follows its hello
		until(t, "it to be logged", func() bool {
			return s.log.contains("TLS handshake error: tls: oversized record received with length 65535")
		})
	})
}

// trailing is a connection that writes more than it was given.
type trailing struct {
	net.Conn
	more string
}

func (c trailing) Write(b []byte) (int, error) {
	_, err := c.Conn.Write(append(bytes.Clone(b), c.more...))
	return len(b), err
}

func TestTLSManyConnections(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		s, _ := w.serveTLS(engine.Options{}, a.settings())
		const connections, each = 500, 20
		var got atomic.Int64
		conns := make([]*nats.Conn, connections)
		config := a.trust()
		var wait sync.WaitGroup
		limit := make(chan struct{}, 20)
		for i := range conns {
			wait.Go(func() {
				limit <- struct{}{}
				defer func() { <-limit }()
				nc, err := nats.Connect(s.url, nats.Secure(config), nats.Timeout(patience), nats.MaxReconnects(0))
				if err != nil {
					t.Error(err)
					return
				}
				conns[i] = nc
				if _, err := nc.Subscribe("all", func(*nats.Msg) { got.Add(1) }); err != nil {
					t.Error(err)
				}
				if err := nc.Flush(); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if t.Failed() {
			return
		}
		for i := range each {
			ok(t, conns[i*connections/each].Publish("all", []byte("hello")))
		}
		until(t, "everybody to have everything", func() bool { return got.Load() == connections*each })
		for _, nc := range conns {
			nc.Close()
		}
		until(t, "them to be forgotten", func() bool { return s.Footprint().Connections == 0 })
	})
}

// A subscriber that takes longer than its publisher holds the publisher back, and gets everything in order.
func TestTLSBackPressure(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		s, _ := w.serveTLS(engine.Options{MaxPending: 2 << 20, StallMax: patience, WriteDeadline: patience}, a.settings())
		sub, r := s.dialTLS(a.trust(), false)
		_, err := io.WriteString(sub, "CONNECT {\"verbose\":false}\r\nSUB feed 1\r\nPING\r\n")
		ok(t, err)
		line, err := r.ReadString('\n')
		ok(t, err)
		if line != "PONG\r\n" {
			t.Fatalf("got %q", line)
		}
		pub, _ := s.dialTLS(a.trust(), false)
		const n, size = 40_000, 1000
		failed := make(chan error, 1)
		go func() {
			w := bufio.NewWriterSize(pub, 64<<10)
			fmt.Fprint(w, "CONNECT {\"verbose\":false}\r\n")
			for i := range n {
				fmt.Fprintf(w, "PUB feed %d\r\n%0*d\r\n", size, size, i)
			}
			failed <- w.Flush()
		}()
		buf := make([]byte, size+2)
		for i := range n {
			line, err := r.ReadString('\n')
			if line == "PING\r\n" {
				_, err = io.WriteString(sub, "PONG\r\n")
				ok(t, err)
				line, err = r.ReadString('\n')
			}
			ok(t, err)
			if line != "MSG feed 1 1000\r\n" {
				t.Fatalf("message %d begins with %q", i, line)
			}
			_, err = io.ReadFull(r, buf)
			ok(t, err)
			if want := fmt.Sprintf("%0*d\r\n", size, i); string(buf) != want {
				t.Fatalf("message %d is another", i)
			}
		}
		ok(t, receive(t, "the publisher to end", failed))
		if s.log.contains("Slow Consumer") {
			t.Error("a consumer was found slow")
		}
	})
}

// A subscriber that reads nothing is closed; everybody else goes on.
func TestTLSSlowConsumer(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		s, _ := w.serveTLS(engine.Options{MaxPending: 1 << 20, StallMax: time.Second, WriteDeadline: patience}, a.settings())
		dead, r := s.dialTLS(a.trust(), false)
		_, err := io.WriteString(dead, "CONNECT {\"verbose\":false}\r\nSUB feed 1\r\nPING\r\n")
		ok(t, err)
		_, err = r.ReadString('\n')
		ok(t, err)
		nc := s.secure(a.trust())
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if nc.Publish("feed", make([]byte, 4000)) != nil || nc.Flush() != nil {
					return
				}
			}
		}()
		until(t, "the slow consumer to be noticed", func() bool { return s.log.contains("Slow Consumer") })
		close(stop)
		receive(t, "the publisher to end", done)
		roundTrip(t, nc, "x", 1000)
		until(t, "the slow one to be forgotten", func() bool { return s.Footprint().Connections == 1 })
	})
}

// A server that stops still writes what waits for those that read.
func TestTLSStopWithWritesPending(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		s, _ := w.serveTLS(engine.Options{WriteDeadline: patience}, a.settings())
		sub, r := s.dialTLS(a.trust(), false)
		_, err := io.WriteString(sub, "CONNECT {\"verbose\":false}\r\nSUB feed 1\r\nPING\r\n")
		ok(t, err)
		_, err = r.ReadString('\n')
		ok(t, err)
		stuck, _ := s.dialTLS(a.trust(), false) // never reads
		_, err = io.WriteString(stuck, "CONNECT {\"verbose\":false}\r\nSUB feed 1\r\n")
		ok(t, err)
		shaking := w.dial(s.addr)
		shaking.send("\x16\x03\x01")
		nc := s.secure(a.trust())
		const n, size = 30, 100_000
		for range n {
			ok(t, nc.Publish("feed", make([]byte, size)))
		}
		ok(t, nc.Flush())
		nc.SetErrorHandler(nil)
		s.Host().Stop()
		// At the end comes a proper close_notify.
		got, err := io.Copy(io.Discard, r)
		if want := int64(n * (size + len("MSG feed 1 100000\r\n\r\n"))); got != want || err != nil {
			t.Errorf("%d bytes, want %d: %v", got, want, err)
		}
		sub.Close()
		s.Stop()
	})
}

func TestTLSLameDuck(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		s, _ := w.serveTLS(engine.Options{LameDuckDuration: 50 * time.Millisecond, LameDuckGrace: time.Millisecond}, a.settings())
		told := make(chan struct{}, 10)
		nc := s.secure(a.trust(), nats.LameDuckModeHandler(func(*nats.Conn) { told <- struct{}{} }))
		roundTrip(t, nc, "x", 10)
		shaking := w.dial(s.addr)
		shaking.send("\x16\x03\x01")
		s.LameDuck()
		receive(t, "the client to be told", told)
		receive(t, "the server to end", s.Done())
	})
}

// New certificates serve new connections; those that exist are not touched.
func TestTLSCertificatesReplaced(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		s, live := w.serveTLS(engine.Options{}, a.settings())
		before := s.secure(a.trust())
		serial := func(nc *nats.Conn) string {
			state, err := nc.TLSConnectionState()
			ok(t, err)
			return state.PeerCertificates[0].SerialNumber.String()
		}
		old := serial(before)
		next, err := tlsconf.Server(a.settings())
		ok(t, err)
		live.Replace(next)
		after := s.secure(a.trust())
		if serial(after) == old {
			t.Error("the old certificate is shown")
		}
		roundTrip(t, before, "x", 1000)
		roundTrip(t, after, "x", 1000)
	})
}

func TestTLSServerNames(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		settings := tlsconf.Settings{}
		for _, name := range []string{"one.example", "two.example"} {
			cert, key := a.server(name, name)
			settings.Certs = append(settings.Certs, tlsconf.Pair{CertFile: cert, KeyFile: key})
		}
		s, _ := w.serveTLS(engine.Options{}, settings)
		for _, name := range []string{"two.example", "one.example"} {
			config := a.trust()
			config.ServerName = name
			nc := s.secure(config)
			state, err := nc.TLSConnectionState()
			ok(t, err)
			if got := state.PeerCertificates[0].Subject.CommonName; got != name {
				t.Errorf("for %s: %s", name, got)
			}
		}
	})
}

func TestTLSPinnedCertificates(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		known, unknown := a.client("known"), a.client("unknown")
		settings := a.settings()
		settings.Verify, settings.CAFile = true, a.caFile
		settings.PinnedCerts = []string{strings.ToUpper(tlsconf.SPKI(known.Leaf))}
		s, _ := w.serveTLS(engine.Options{}, settings)
		roundTrip(t, s.secure(a.trust(known)), "x", 10)
		if nc, err := nats.Connect(s.url, nats.Secure(a.trust(unknown)), nats.Timeout(patience)); err == nil {
			nc.Close()
			t.Error("a certificate that is not pinned is accepted")
		}
		until(t, "the refusal to be logged", func() bool { return s.log.contains("TLS handshake error: certificate not pinned") })
	})
}

// Connections that come and go in the middle of anything leave nothing behind.
func TestTLSAbandonedConnections(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		a := newAuthority(t)
		s, _ := w.serveTLS(engine.Options{TLS: engine.TLSOptions{Timeout: patience}}, a.settings())
		hello := recordedHello(t)
		for i := range 60 {
			raw := w.dial(s.addr)
			switch i % 4 {
			case 0:
				raw.send(string(hello[:i*len(hello)/60]))
			case 1:
				raw.send(string(hello))
			case 2:
				c, _ := s.dialTLS(a.trust(), false)
				_, err := io.WriteString(c, "CONNECT {\"verbose\":false}\r\nSUB feed 1\r\nPUB feed 100\r\nhalf")
				ok(t, err)
				ok(t, c.NetConn().(*net.TCPConn).SetLinger(0))
				c.NetConn().Close()
			case 3:
				c, _ := s.dialTLS(a.trust(), false)
				_, err := c.NetConn().Write([]byte("this is no TLS record"))
				ok(t, err)
			}
			if i%2 == 0 {
				ok(t, raw.SetLinger(0))
			}
			raw.Close()
		}
		until(t, "them to be forgotten", func() bool { return s.Footprint().Connections == 0 })
		f := s.Footprint()
		f.Slots = 0
		if f != (engine.Footprint{}) {
			t.Errorf("left behind: %+v", f)
		}
		roundTrip(t, s.secure(a.trust()), "x", 1000)
	})
}

// recordedHello is what a TLS client says first.
func recordedHello(t *testing.T) []byte {
	t.Helper()
	here, there := net.Pipe()
	go func() {
		_ = tls.Client(there, &tls.Config{ServerName: "x", MinVersion: tls.VersionTLS12}).Handshake() // it is cut short
	}()
	buf := make([]byte, 4096)
	n, err := here.Read(buf)
	ok(t, err)
	here.Close()
	return buf[:n]
}
