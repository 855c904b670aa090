package engine

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	proxyLine   = "PROXY TCP4 203.0.113.7 10.0.0.1 40000 4222\r\n"
	proxyLocal  = "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"
	proxyClient = "203.0.113.7:40000"
	proxyItself = "127.0.0.1:5"
)

// seen is the address by which monitoring shows a connection, open or closed last.
func seen(e *Engine, c ConnID) string {
	if open := e.lookup(c); open != nil && open.gate&gateClosed == 0 {
		return open.address()
	}
	return e.closed.nth(e.closed.count-1).IP + ":" + strconv.Itoa(e.closed.nth(e.closed.count-1).Port)
}

func closedFor(t *testing.T, e *Engine) CloseReason {
	t.Helper()
	if e.closed.count == 0 {
		t.Fatal("no connection was closed")
	}
	return CloseReason(e.closed.nth(e.closed.count - 1).Reason)
}

// What a header says counts for monitoring, the log and INFO; what stands behind it is the protocol, or TLS.
func TestProxyHeaderNamesTheClient(t *testing.T) {
	e, w := started(t, Options{ProxyProtocol: true, Debug: true})
	named, local, direct := accept(e), accept(e), accept(e)
	say(e, named, proxyLine+"CONNECT {\"verbose\":false,\"protocol\":1}\r\nPING\r\n")
	say(e, local, proxyLocal+"CONNECT {\"verbose\":false,\"protocol\":1}\r\nPING\r\n")
	say(e, direct, "CONNECT {\"verbose\":false,\"protocol\":1}\r\nPING\r\n")
	for c, ip := range map[ConnID]string{named: "203.0.113.7", local: "127.0.0.1", direct: "127.0.0.1"} { //natsd:orderfree each is looked at alone
		if s := w.take(c); strings.Count(s, `"client_ip"`) != 1 || !strings.Contains(s, `"client_ip":"`+ip+`"`) {
			t.Errorf("%s was told %s", ip, s)
		}
	}
	if seen(e, named) != proxyClient || seen(e, local) != proxyItself || seen(e, direct) != proxyItself {
		t.Errorf("shown as %s, %s and %s", seen(e, named), seen(e, local), seen(e, direct))
	}
	if !w.logged(proxyClient + " - cid:1 Client connection comes by a proxy at " + proxyItself) {
		t.Errorf("log:\n%s", strings.Join(w.log, "\n"))
	}
	turn(e, func() { e.EOF(named) })
	if seen(e, named) != proxyClient || closedFor(t, e) != ReasonClientClosed {
		t.Errorf("closed as %s for %q", seen(e, named), closedFor(t, e))
	}
	turn(e, func() { e.EOF(local); e.EOF(direct) })
	w.left(t, e)
}

// A header is the same in whatever pieces it comes, and so is what is behind it, or what comes instead.
func TestProxyHeaderInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, w := started(t, Options{ProxyProtocol: true})
		c := accept(e)
		w.take(c)
		head := rapid.SampledFrom([]string{proxyLine, proxyLocal, "", "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0e\xcb\x00\x71\x07\x0a\x00\x00\x01\x9c\x40\x10\x7e\x04\x00"}).Draw(t, "header")
		for rest := head + "PUB a 1\r\nx\r\nPING\r\n"; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 20)).Draw(t, "piece")
			say(e, c, rest[:n])
			rest = rest[n:]
		}
		if s := w.take(c); s != "+OK\r\nPONG\r\n" {
			t.Fatalf("answered %q", s)
		}
		if named := head == proxyLine || strings.Contains(head, "\xcb"); named != (seen(e, c) == proxyClient) {
			t.Fatalf("%q: shown as %s", head, seen(e, c))
		}
	})
}

func TestProxyHeaderFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		fail   func(t *testing.T, e *Engine, w *fakeWorld, c ConnID)
		reason CloseReason
		logged string
		silent bool // at the level of warnings
	}{
		{"wrong", func(t *testing.T, e *Engine, w *fakeWorld, c ConnID) { say(e, c, "PROXY TCP4 x\r\nPUB a 0\r\n\r\n") },
			ReasonProtocol, "Error reading PROXY protocol header: the line does not have six fields", false},
		{"unfinished", func(t *testing.T, e *Engine, w *fakeWorld, c ConnID) {
			say(e, c, proxyLine[:20])
			w.advance(t, e, Instant(proxyHeaderTime))
		}, ReasonProtocol, "Error reading PROXY protocol header: timeout", false},
		{"a byte now and then", func(t *testing.T, e *Engine, w *fakeWorld, c ConnID) {
			for i := range 20 {
				say(e, c, proxyLine[i:i+1])
				w.advance(t, e, Instant(proxyHeaderTime/20))
			}
		}, ReasonProtocol, "Error reading PROXY protocol header: timeout", false},
		{"cut short", func(t *testing.T, e *Engine, w *fakeWorld, c ConnID) {
			say(e, c, proxyLocal[:13])
			turn(e, func() { e.EOF(c) })
		}, ReasonProtocol, "Error reading PROXY protocol header: EOF", false},
		{"silent", func(t *testing.T, e *Engine, w *fakeWorld, c ConnID) {
			w.advance(t, e, Instant(proxyHeaderTime))
		}, ReasonProtocol, "Neither a PROXY protocol header nor anything else", true},
		{"a look at the port", func(t *testing.T, e *Engine, w *fakeWorld, c ConnID) { turn(e, func() { e.EOF(c) }) },
			ReasonClientClosed, "", true},
		{"reset", func(t *testing.T, e *Engine, w *fakeWorld, c ConnID) { turn(e, func() { e.Closed(c, "reset") }) },
			ReasonReadError, "Client connection broke: reset", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, w := started(t, Options{ProxyProtocol: true, Debug: true, Token: "t"})
			id := accept(e)
			w.take(id)
			c.fail(t, e, w, id)
			if s := w.take(id); s != "" {
				t.Errorf("was told %q", s)
			}
			if closedFor(t, e) != c.reason || !w.logged(c.logged) || w.logged("Error reading") == c.silent {
				t.Errorf("closed for %q, log:\n%s", closedFor(t, e), strings.Join(w.log, "\n"))
			}
			turn(e, func() { e.EOF(id) })
			w.left(t, e)
		})
	}
}

// Nothing is said to a connection before its header but INFO: what else there is may have to wait for TLS.
func TestProxyHeaderBeforePings(t *testing.T) {
	e, w := started(t, Options{ProxyProtocol: true, PingInterval: time.Second})
	c := accept(e)
	w.take(c)
	w.advance(t, e, Instant(3*time.Second))
	if s := w.take(c); s != "" {
		t.Fatalf("was told %q", s)
	}
	say(e, c, proxyLine)
	w.advance(t, e, Instant(time.Second))
	if s := w.take(c); s != "PING\r\n" {
		t.Errorf("was told %q", s)
	}
}

// A reload counts for connections that come after it.
func TestProxyProtocolReloaded(t *testing.T) {
	e, w := started(t, Options{ProxyProtocol: true})
	before := accept(e)
	turn(e, func() {
		if stay := e.Reload(Options{}); len(stay) > 0 {
			t.Errorf("needs a restart: %v", stay)
		}
	})
	after := accept(e)
	w.take(before)
	if s := w.take(after); !strings.Contains(s, `"client_ip":"127.0.0.1"`) {
		t.Errorf("was told %q", s)
	}
	say(e, before, proxyLine+"PING\r\n")
	say(e, after, proxyLine)
	if s := w.take(before); s != "PONG\r\n" || seen(e, before) != proxyClient {
		t.Errorf("%s was told %q", seen(e, before), s)
	}
	if s := w.take(after); s != "-ERR 'Unknown Protocol Operation'\r\n" {
		t.Errorf("was told %q", s)
	}
}

// The header comes before the handshake, wherever that may come.
func TestProxyHeaderBeforeTLS(t *testing.T) {
	for _, c := range []struct {
		name string
		o    TLSOptions
		held bool // INFO waits
		in   bool // plaintext is served
	}{
		{"required", TLSOptions{}, false, false},
		{"allowed", TLSOptions{AllowPlain: true}, false, true},
		{"first", TLSOptions{First: true}, true, false},
		{"first, for a while", TLSOptions{First: true, FirstWait: time.Second}, true, false},
		{"first, for a while, or plaintext", TLSOptions{First: true, FirstWait: time.Second, AllowPlain: true}, true, false},
	} {
		for _, head := range []string{proxyLine, proxyLocal, ""} {
			for _, piece := range []int{1, 1000} {
				e, w := startedBehindProxies(t, c.o)
				id := accept(e)
				if held := w.take(id) == ""; held != c.held {
					t.Fatalf("%s: INFO waits: %v", c.name, held)
				}
				all := head + hello
				if piece == 1 {
					for i := range len(head) {
						say(e, id, head[i:i+1])
					}
					all = hello
				}
				say(e, id, all)
				if w.heads[id] != hello {
					t.Fatalf("%s: %q: the handshake began with %q", c.name, head, w.heads[id])
				}
				w.up(e, id)
				info := w.take(id)
				address := "127.0.0.1"
				if head == proxyLine {
					address = "203.0.113.7"
				}
				if c.held && (strings.Count(info, "INFO ") != 1 || !strings.Contains(info, `"client_ip":"`+address+`"`) && head != "") {
					t.Errorf("%s: %q: was told %q", c.name, head, info)
				}
				say(e, id, "CONNECT {\"verbose\":false}\r\nPING\r\n")
				w.settle(t, e)
				if s := w.take(id); s != "PONG\r\n" || !strings.HasPrefix(seen(e, id), address) {
					t.Errorf("%s: %q: %s was told %q", c.name, head, seen(e, id), s)
				}

				plain := accept(e)
				w.take(plain)
				say(e, plain, head+"PING\r\n")
				if in := w.take(plain) == "PONG\r\n"; in != c.in {
					t.Errorf("%s: %q: plaintext is served: %v", c.name, head, in)
				}
			}
		}
	}
}

// Those who wait for INFO get it when its time has come, whether they come by a proxy or not: a proxy's header is not the beginning of a
// handshake.
func TestProxyHeaderDoesNotHoldInfo(t *testing.T) {
	e, w := startedBehindProxies(t, TLSOptions{First: true, FirstWait: 50 * time.Millisecond, AllowPlain: true})
	by, direct, late := accept(e), accept(e), accept(e)
	say(e, by, proxyLine)
	w.advance(t, e, Instant(50*time.Millisecond))
	if s := w.take(by); !strings.Contains(s, `"client_ip":"203.0.113.7"`) {
		t.Errorf("was told %q", s)
	}
	if s := w.take(direct) + w.take(late); strings.Count(s, "INFO ") != 2 || strings.Contains(s, "client_ip") {
		t.Errorf("were told %q", s)
	}
	say(e, late, proxyLine)
	for _, c := range []ConnID{by, direct, late} {
		say(e, c, "CONNECT {\"verbose\":false}\r\nPING\r\n")
		if s := w.take(c); s != "PONG\r\n" {
			t.Errorf("%s was told %q", seen(e, c), s)
		}
	}
	w.advance(t, e, Instant(2*proxyHeaderTime))
	if e.active != 3 {
		t.Errorf("%d are connected", e.active)
	}
}

// Every time limit begins behind the header.
func TestProxyHeaderTakesNobodysTime(t *testing.T) {
	e, w := startedBehindProxies(t, TLSOptions{Timeout: time.Second})
	c := accept(e)
	w.advance(t, e, Instant(4*time.Second))
	say(e, c, proxyLine)
	w.advance(t, e, Instant(time.Second/2))
	say(e, c, hello)
	w.up(e, c)
	w.take(c)
	say(e, c, "PING\r\n")
	w.settle(t, e)
	if s := w.take(c); s != "PONG\r\n" {
		t.Errorf("was told %q", s)
	}
	slow := accept(e)
	say(e, slow, proxyLine)
	w.advance(t, e, Instant(time.Second))
	if r := w.reason(t, e); r != ReasonTLSHandshake || seen(e, slow) != proxyClient {
		t.Errorf("%s was closed for %q", seen(e, slow), r)
	}
}

// Where INFO waits for a handshake, a wrong header, silence and the end close at once.
func TestProxyHeaderFailuresBeforeTLS(t *testing.T) {
	e, w := startedBehindProxies(t, TLSOptions{First: true})
	wrong, silent, over, stopped := accept(e), accept(e), accept(e), accept(e)
	say(e, wrong, "PROXY x\r\n")
	turn(e, func() { e.EOF(over) })
	if !w.gone[wrong] || !w.gone[over] {
		t.Error("not closed")
	}
	turn(e, func() { e.Closed(stopped, "reset") })
	w.advance(t, e, Instant(proxyHeaderTime))
	if !w.gone[silent] || w.reason(t, e) != ReasonProtocol {
		t.Errorf("silence: %s", w.reason(t, e))
	}
	last := accept(e)
	turn(e, e.Stop)
	if s := w.take(last) + w.take(wrong) + w.take(silent); s != "" || !w.gone[last] {
		t.Errorf("told %q, or not closed", s)
	}
	w.settle(t, e)
	if !e.Stopped() {
		t.Error("has not stopped")
	}
}

func startedBehindProxies(t *testing.T, o TLSOptions) (*Engine, *tlsWorld) {
	t.Helper()
	w := &tlsWorld{newFakeWorld(), map[ConnID]string{}}
	env := w.env()
	env.TLS = w
	o.On = true
	e := New(Options{TLS: o, ProxyProtocol: true, Check: true, Debug: true}, env)
	turn(e, e.Start)
	turn(e, func() { e.ListenerUp(clientListener, 4222) })
	return e, w
}
