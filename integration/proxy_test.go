package integration

import (
	"bufio"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/engine"
)

const (
	headerLine   = "PROXY TCP4 203.0.113.7 10.0.0.1 40000 4222\r\n"
	headerBinary = "\r\n\r\n\x00\r\nQUIT\n\x21\x21\x00\x28\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x9c\x40\x10\x7e\x04\x00\x01x"
)

// proxy dials the server and sends a header of the PROXY protocol first, in pieces if it is told to.
type proxy struct {
	header    string
	piecewise bool
}

// Dial implements nats.CustomDialer.
func (p proxy) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, patience)
	if err != nil {
		return nil, err
	}
	pieces := []string{p.header}
	if p.piecewise {
		pieces = strings.Split(p.header, "")
	}
	for _, piece := range pieces {
		if _, err := c.Write([]byte(piece)); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// place checks what the client was told of where it is.
func place(t *testing.T, nc *nats.Conn, ip string) {
	t.Helper()
	told, err := nc.GetClientIP()
	ok(t, err)
	if told.String() != ip {
		t.Errorf("the client was told that it is at %v, not at %s", told, ip)
	}
}

func TestClientsBehindProxies(t *testing.T) {
	for name, c := range map[string]struct {
		proxy
		ip string
	}{
		"a line":               {proxy{headerLine, false}, "203.0.113.7"},
		"a line in pieces":     {proxy{headerLine, true}, "203.0.113.7"},
		"in binary":            {proxy{headerBinary, false}, "2001:db8::7"},
		"in binary, in pieces": {proxy{headerBinary, true}, "2001:db8::7"},
	} {
		t.Run(name, func(t *testing.T) {
			hosts(t, func(t *testing.T, w *world) {
				s := w.serve(engine.Options{ProxyProtocol: true, Check: true, Debug: true})
				nc, direct := s.connect(nats.SetCustomDialer(c.proxy)), s.connect()
				roundTrip(t, nc, "a", 100_000)
				roundTrip(t, direct, "b", 10)
				place(t, nc, c.ip)
				place(t, direct, "127.0.0.1")
				nc.Close()
				until(t, "the client leaves", func() bool { return s.log.contains("Client connection closed: Client Closed") })
				if !s.log.contains("[DBG] " + c.ip + ":40000 - cid:1 - \"v") {
					t.Errorf("the log does not name the client: %q", s.log.all)
				}
			})
		})
	}
}

// The header comes before the handshake, wherever that comes, in one piece with its beginning or not.
func TestClientsBehindProxiesWithTLS(t *testing.T) {
	for name, c := range map[string]struct {
		o     engine.TLSOptions
		first bool
	}{
		"after INFO":           {engine.TLSOptions{}, false},
		"allowed":              {engine.TLSOptions{AllowPlain: true}, false},
		"first":                {engine.TLSOptions{First: true}, true},
		"first, or after INFO": {engine.TLSOptions{First: true, FirstWait: 10 * time.Millisecond}, false},
	} {
		t.Run(name, func(t *testing.T) {
			hosts(t, func(t *testing.T, w *world) {
				a := newAuthority(t)
				s, _ := w.serveTLS(engine.Options{TLS: c.o, ProxyProtocol: true}, a.settings())
				for _, p := range []proxy{{headerLine, false}, {headerLine, true}, {headerBinary, false}, {"", false}} {
					options := []nats.Option{nats.SetCustomDialer(p)}
					if c.first {
						options = append(options, nats.TLSHandshakeFirst())
					}
					nc := s.secure(a.trust(), options...)
					roundTrip(t, nc, "a", 100_000)
					switch p.header {
					case headerLine:
						place(t, nc, "203.0.113.7")
					case headerBinary:
						place(t, nc, "2001:db8::7")
					default:
						place(t, nc, "127.0.0.1")
					}
					nc.Close()
				}
				if !c.first {
					return
				}
				raw := dialSilently(t, s.addr)
				glued := &gluing{TCPConn: raw.TCPConn, first: headerLine}
				config := a.trust()
				config.ServerName = "127.0.0.1"
				tc := tls.Client(glued, config)
				ok(t, tc.Handshake())
				if line, err := bufio.NewReader(tc).ReadString('\n'); err != nil || !strings.Contains(line, `"client_ip":"203.0.113.7"`) {
					t.Errorf("read %q, %v", line, err)
				}
			})
		})
	}
}

// gluing sends something with the first bytes that are written.
type gluing struct {
	*net.TCPConn
	first string
}

// Write implements net.Conn.
func (g *gluing) Write(b []byte) (int, error) {
	n := len(g.first)
	m, err := g.TCPConn.Write(append([]byte(g.first), b...))
	g.first = ""
	return max(m-n, 0), err
}

func TestProxyHeadersThatAreWrong(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{ProxyProtocol: true, Check: true})
		for _, wrong := range []string{"PROXY TCP4 1.2.3.4\r\n", "PROXY " + strings.Repeat("x", 200), strings.Replace(headerBinary, "\x21", "\x25", 1)} {
			c := w.dial(s.addr)
			c.send(wrong)
			c.expectEnd()
		}
		if !s.log.contains("[WRN] 127.0.0.1:") || !s.log.contains("Error reading PROXY protocol header: ") {
			t.Error("the log does not say so")
		}
		c := w.dial(s.addr)
		c.send("PROXY UNKNOWN\r\nPUB a 1\r\nx\r\nPING\r\n")
		c.expect("+OK", "PONG")
	})
}
