package engine

import (
	"strings"
	"testing"
	"time"
)

// tlsWorld is a fakeWorld whose handshakes succeed or fail when the test says so.
type tlsWorld struct {
	*fakeWorld
	heads map[ConnID]string
}

func (w *tlsWorld) StartTLS(c ConnID, head []byte) {
	w.here(c, "StartTLS")
	if _, ok := w.heads[c]; ok {
		panic("StartTLS twice")
	}
	if w.blocked[c] {
		panic("StartTLS before all was sent")
	}
	delete(w.paused, c)
	w.heads[c] = string(head)
}

const hello = "\x16\x03\x01 hello"

func startedTLS(t *testing.T, o TLSOptions) (*Engine, *tlsWorld) {
	t.Helper()
	w := &tlsWorld{newFakeWorld(), map[ConnID]string{}}
	env := w.env()
	env.TLS = w
	o.On = true
	e := New(Options{TLS: o, Check: true, Debug: true}, env)
	turn(e, e.Start)
	turn(e, func() { e.ListenerUp(clientListener, 4222) })
	return e, w
}

func (w *tlsWorld) up(e *Engine, c ConnID) {
	turn(e, func() { e.TLSUp(c, TLSInfo{Version: "1.3", CipherSuite: "S"}) })
}

func (w *tlsWorld) reason(t *testing.T, e *Engine) CloseReason {
	t.Helper()
	if len(e.closed.ring) == 0 {
		t.Fatal("no connection was closed")
	}
	return CloseReason(e.closed.nth(e.closed.count - 1).Reason)
}

func TestTLSInfoFlags(t *testing.T) {
	for _, c := range []struct {
		o         TLSOptions
		want, not []string
		logged    string
	}{
		{TLSOptions{}, []string{`"tls_required":true`}, []string{"tls_verify", "tls_available"}, "TLS required for client connections"},
		{TLSOptions{Verify: true}, []string{`"tls_required":true`, `"tls_verify":true`}, []string{"tls_available"}, "TLS required"},
		{TLSOptions{AllowPlain: true}, []string{`"tls_available":true`}, []string{"tls_required"}, "TLS available for client connections"},
		{TLSOptions{AllowPlain: true, First: true, FirstWait: 1}, []string{`"tls_available":true`}, []string{"tls_required"}, "TLS available"},
		{TLSOptions{AllowPlain: true, First: true}, []string{`"tls_available":true`, `"tls_required":true`}, nil, "Handshake First"},
	} {
		e, w := startedTLS(t, c.o)
		id := accept(e)
		if c.o.First {
			say(e, id, hello)
			w.up(e, id)
		}
		info := w.take(id)
		for _, s := range c.want {
			if !strings.Contains(info, s) {
				t.Errorf("%+v: no %s in %s", c.o, s, info)
			}
		}
		for _, s := range c.not {
			if strings.Contains(info, s) {
				t.Errorf("%+v: %s in %s", c.o, s, info)
			}
		}
		if !w.logged(c.logged) {
			t.Errorf("%+v: not logged: %s", c.o, c.logged)
		}
	}
}

func TestTLSAfterInfo(t *testing.T) {
	e, w := startedTLS(t, TLSOptions{})
	c := accept(e)
	if s := w.take(c); !strings.HasPrefix(s, "INFO {") {
		t.Fatalf("sent %q", s)
	}
	say(e, c, hello)
	if w.heads[c] != hello {
		t.Fatalf("the handshake began with %q", w.heads[c])
	}
	w.advance(t, e, Instant(time.Second))
	w.up(e, c)
	say(e, c, "CONNECT {\"verbose\":false}\r\nPING\r\n")
	if s := w.take(c); !strings.HasPrefix(s, "PONG\r\n") {
		t.Errorf("sent %q", s)
	}
	w.advance(t, e, Instant(3*time.Second))
	if i := e.connInfo(e.lookup(c)); i.TLS == nil || i.TLS.Version != "1.3" || i.TLS.First {
		t.Errorf("connz has %+v", i.TLS)
	}
	turn(e, func() { e.EOF(c) })
	w.left(t, e)
}

// Where INFO is not all sent, the handshake waits for it, and what arrives meanwhile belongs to it.
func TestTLSWaitsForInfo(t *testing.T) {
	e, w := startedTLS(t, TLSOptions{})
	w.room = 10
	c := accept(e)
	say(e, c, hello)
	say(e, c, " more")
	if _, ok := w.heads[c]; ok {
		t.Fatal("the handshake began in the middle of INFO")
	}
	w.room = -1
	w.open(e, c)
	if w.heads[c] != hello+" more" {
		t.Errorf("the handshake began with %q", w.heads[c])
	}
	w.up(e, c)
	say(e, c, "PING\r\n")
	w.settle(t, e)
	if s := w.take(c); !strings.HasSuffix(s, "PONG\r\n") {
		t.Errorf("sent %q", s)
	}
}

func TestTLSFirst(t *testing.T) {
	e, w := startedTLS(t, TLSOptions{First: true})
	c := accept(e)
	w.advance(t, e, Instant(time.Second))
	say(e, c, hello)
	if s := w.take(c); s != "" {
		t.Fatalf("sent in plaintext: %q", s)
	}
	w.up(e, c)
	if s := w.take(c); !strings.HasPrefix(s, "INFO {") {
		t.Errorf("sent %q", s)
	}
	if i := e.connInfo(e.lookup(c)); !i.TLS.First {
		t.Errorf("connz has %+v", i.TLS)
	}
	// Stopping says nothing to those that wait for TLS.
	silent, busy := accept(e), accept(e)
	say(e, busy, hello)
	turn(e, e.Stop)
	if s := w.take(silent) + w.take(busy); s != "" || !w.gone[silent] || !w.gone[busy] {
		t.Errorf("sent in plaintext: %q, or not closed", s)
	}
}

func TestTLSFirstOrInfoAfterAWhile(t *testing.T) {
	for _, allow := range []bool{false, true} {
		e, w := startedTLS(t, TLSOptions{First: true, FirstWait: 50 * time.Millisecond, AllowPlain: allow})
		first, later := accept(e), accept(e)
		say(e, first, hello)
		w.advance(t, e, Instant(49*time.Millisecond))
		if s := w.take(first) + w.take(later); s != "" {
			t.Fatalf("sent in plaintext: %q", s)
		}
		w.advance(t, e, Instant(time.Millisecond))
		if w.take(first) != "" || !strings.HasPrefix(w.take(later), "INFO {") {
			t.Fatal("INFO went to the wrong ones")
		}
		w.up(e, first)
		if !strings.HasPrefix(w.take(first), "INFO {") {
			t.Error("no INFO after the handshake")
		}
		say(e, later, hello)
		w.up(e, later)
		say(e, later, "CONNECT {}\r\n")
		if s := w.take(later); s != "+OK\r\n" {
			t.Errorf("sent %q", s)
		}
		plain := accept(e)
		w.advance(t, e, Instant(50*time.Millisecond))
		w.take(plain)
		say(e, plain, "CONNECT {}\r\n")
		if s := w.take(plain); allow != (s == "+OK\r\n") {
			t.Errorf("allow %v: sent %q", allow, s)
		}
		if _, began := w.heads[plain]; began == allow {
			t.Errorf("allow %v: a handshake began: %v", allow, began)
		}
	}
}

// Who waits for INFO may take as long for the handshake then as where INFO comes at once, and who begins before INFO as long from there.
func TestTLSTimeoutBeginsBehindTheWait(t *testing.T) {
	const wait, timeout = 3 * time.Second, 2 * time.Second
	for _, c := range []struct {
		name      string
		beginning time.Duration // when the first bytes come; 0: never
		end       time.Duration
	}{{"waits for INFO", 4 * time.Second, wait + timeout}, {"first", time.Second, time.Second + timeout}, {"silent", 0, wait + timeout}} {
		e, w := startedTLS(t, TLSOptions{First: true, FirstWait: wait, Timeout: timeout})
		id := accept(e)
		at := c.beginning
		if w.advance(t, e, Instant(at)); at > 0 {
			say(e, id, hello)
		}
		w.advance(t, e, Instant(c.end-at-1))
		if e.lookup(id) == nil {
			t.Errorf("%s: ended early", c.name)
			continue
		}
		w.advance(t, e, 1)
		if e.lookup(id) != nil {
			t.Errorf("%s: not ended", c.name)
			continue
		}
		if r := w.reason(t, e); r != ReasonTLSHandshake {
			t.Errorf("%s: closed: %s", c.name, r)
		}
	}
}

func TestAllowNonTLS(t *testing.T) {
	e, w := startedTLS(t, TLSOptions{AllowPlain: true})
	plain, secure, silent := accept(e), accept(e), accept(e)
	say(e, secure, hello)
	w.up(e, secure)
	for _, c := range []ConnID{plain, secure} {
		w.take(c)
		say(e, c, "CONNECT {}\r\n")
		if s := w.take(c); s != "+OK\r\n" {
			t.Errorf("sent %q", s)
		}
	}
	w.advance(t, e, Instant(10*time.Second))
	w.take(silent)
	say(e, silent, "PING\r\n")
	if s := w.take(silent); s != "PONG\r\n" {
		t.Errorf("sent %q", s)
	}
	quiet := accept(e)
	turn(e, func() { e.EOF(quiet) })
	if r := w.reason(t, e); r != ReasonClientClosed {
		t.Errorf("closed: %s", r)
	}
}

func TestTLSFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		fail   func(t *testing.T, e *Engine, w *tlsWorld, c ConnID)
		logged string
		open   bool // the host has given it up
	}{
		{"silent", func(t *testing.T, e *Engine, w *tlsWorld, c ConnID) {
			w.advance(t, e, Instant(2*time.Second))
		}, "TLS handshake error: timeout", true},
		{"slow", func(t *testing.T, e *Engine, w *tlsWorld, c ConnID) {
			say(e, c, "\x16")
			w.advance(t, e, Instant(2*time.Second))
		}, "TLS handshake error: timeout", true},
		{"gone", func(t *testing.T, e *Engine, w *tlsWorld, c ConnID) { turn(e, func() { e.EOF(c) }) }, "TLS handshake error: EOF", true},
		{"refused", func(t *testing.T, e *Engine, w *tlsWorld, c ConnID) {
			say(e, c, hello)
			turn(e, func() { e.Closed(c, "tls: bad certificate") })
		}, "TLS handshake error: tls: bad certificate", false},
		{"plaintext", func(t *testing.T, e *Engine, w *tlsWorld, c ConnID) {
			say(e, c, "CONNECT {}\r\n")
			turn(e, func() { e.Closed(c, TLSNotTLS) })
		}, "TLS handshake error: " + TLSNotTLS, false},
		{"lost", func(t *testing.T, e *Engine, w *tlsWorld, c ConnID) {
			turn(e, func() { e.Closed(c, "connection reset by peer") })
		}, "Client connection broke", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, w := startedTLS(t, TLSOptions{})
			id := accept(e)
			w.take(id)
			c.fail(t, e, w, id)
			if s := w.take(id); s != "" {
				t.Errorf("sent %q", s)
			}
			if !w.logged(c.logged) {
				t.Errorf("not logged: %s\n%s", c.logged, strings.Join(w.log, "\n"))
			}
			want := ReasonTLSHandshake
			if c.name == "lost" {
				want = ReasonReadError
			}
			if r := w.reason(t, e); r != want {
				t.Errorf("closed: %s", r)
			}
			if w.gone[id] != c.open {
				t.Errorf("Close was called: %v", w.gone[id])
			}
			w.left(t, e)
		})
	}
}

func TestTLSConnectionRate(t *testing.T) {
	e, w := startedTLS(t, TLSOptions{ConnectionRate: 2})
	refused := func() bool { return strings.Contains(w.take(accept(e)), "-ERR 'Connection throttling is active.") }
	for i := range 4 {
		if refused() != (i >= 2) {
			t.Errorf("connection %d was on the wrong side of the limit", i+1)
		}
	}
	if r := w.reason(t, e); r != ReasonMaxConns {
		t.Errorf("closed: %s", r)
	}
	if w.logged("rate limiting") || w.logged("throttling") {
		t.Errorf("log:\n%s", strings.Join(w.log, "\n"))
	}
	w.advance(t, e, Instant(time.Second))
	if !w.logged("Rejected 2 connections due to TLS rate limiting") {
		t.Errorf("log:\n%s", strings.Join(w.log, "\n"))
	}
	for i := range 3 {
		if refused() != (i >= 2) {
			t.Errorf("connection %d of the next second was on the wrong side of the limit", i+1)
		}
	}
	w.advance(t, e, Instant(time.Second))
	if !w.logged("Rejected 1 connections due to TLS rate limiting") {
		t.Errorf("log:\n%s", strings.Join(w.log, "\n"))
	}
}

// Time in which a handshake waits for somebody else is not the client's.
func TestTLSHeld(t *testing.T) {
	e, w := startedTLS(t, TLSOptions{Timeout: time.Second})
	id := accept(e)
	turn(e, func() { e.TLSHeld(id, true) }) // not yet
	turn(e, func() { e.Received(id, []byte{tlsHandshakeRecord}) })
	turn(e, func() { e.TLSHeld(id, true) })
	w.advance(t, e, Instant(time.Minute))
	turn(e, func() { e.TLSHeld(id, false) })
	w.advance(t, e, Instant(time.Second/2))
	if e.lookup(id) == nil {
		t.Fatal("the client is charged with what others took")
	}
	w.advance(t, e, Instant(time.Second))
	if e.lookup(id) != nil {
		t.Error("the client has for ever")
	}
	if r := w.reason(t, e); r != ReasonTLSHandshake {
		t.Errorf("closed: %s", r)
	}
	turn(e, func() { e.TLSHeld(id, false) }) // it is gone
}

// A held INFO, and an authentication that has not begun, outlast every other time limit.
func TestTLSTimeoutIsItsOwn(t *testing.T) {
	w := &tlsWorld{newFakeWorld(), map[ConnID]string{}}
	env := w.env()
	env.TLS = w
	e := New(Options{
		TLS: TLSOptions{On: true, First: true, Timeout: time.Minute}, WriteDeadline: time.Second, AuthTimeout: time.Second, Token: "t", Check: true,
	}, env)
	turn(e, e.Start)
	turn(e, func() { e.ListenerUp(clientListener, 4222) })
	c := accept(e)
	w.advance(t, e, Instant(30*time.Second))
	say(e, c, hello)
	w.advance(t, e, Instant(29*time.Second))
	w.up(e, c)
	if s := w.take(c); !strings.HasPrefix(s, "INFO {") {
		t.Fatalf("sent %q", s)
	}
	w.advance(t, e, Instant(2*time.Second))
	if s := w.take(c); s != "-ERR 'Authentication Timeout'\r\n" {
		t.Errorf("sent %q", s)
	}
}
