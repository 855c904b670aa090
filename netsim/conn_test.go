package netsim

import (
	"bytes"
	"strings"
	"testing"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/schedule"
)

func TestListen(t *testing.T) {
	for _, c := range []struct{ addr, want string }{
		{"0.0.0.0:4222", "up 1 0.0.0.0:4222 4222"},
		{":4222", "up 1 :4222 4222"},
		{"10.0.0.1:4222", "up 1 10.0.0.1:4222 4222"},
		{"127.0.0.1:4222", "up 1 127.0.0.1:4222 4222"},
		{"[::]:4222", "up 1 [::]:4222 4222"},
		{"localhost:0", "up 1 localhost:61000 61000"},
		{"0.0.0.0:-1", "up 1 0.0.0.0:61000 61000"},
		{"10.0.0.2:4222", "failed 1 cannot assign requested address"},
		{"nonsense", "failed 1 cannot assign requested address"},
		{"0.0.0.0:x", "failed 1 cannot assign requested address"},
		{"0.0.0.0:70000", "failed 1 cannot assign requested address"},
	} {
		w := newWorld(t, 1, Config{})
		b := w.host(0)
		b.host.Listen(1, c.addr)
		b.expect() // never from inside a call
		w.drain()
		b.expect(c.want)
	}
}

func TestListenPortInUseUntilStopped(t *testing.T) {
	w := newWorld(t, 1, Config{})
	b := w.host(0)
	b.host.Listen(1, ":4222")
	b.host.Listen(2, ":4222")
	w.drain()
	b.expect("up 1 :4222 4222", "failed 2 address already in use")
	b.host.StopListening(1)
	b.host.Listen(3, ":4222")
	w.drain()
	b.expect("up 3 :4222 4222")
	if n := w.net.Residue().Listeners; n != 1 {
		t.Fatalf("%d listeners", n)
	}
}

func TestDialLegsTakeTheirTime(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}})
	s, c := w.host(0), w.host(1)
	s.host.Listen(7, "0.0.0.0:4222")
	w.drain()
	s.log = nil
	d := c.host.Dial("10.0.0.1:4222")
	if d.Open() || say(d, "too early") != 0 {
		t.Fatal("open before it is connected")
	}
	w.run(2*ms - 1)
	c.expect()
	w.run(1)
	c.expect("connected")
	s.expect()
	say(d, "hello")
	w.run(ms)
	s.expect("accepted 7", "read hello")
	if i := s.infos[0]; i.IP != "10.0.0.2" || i.Port != d.Port() {
		t.Fatalf("info %+v", i)
	}
}

func TestDialRefused(t *testing.T) {
	for _, c := range []struct {
		listen, dial, want string
		err                bool
	}{
		{"0.0.0.0:4222", "10.0.0.1:4222", "connected", false},
		{"0.0.0.0:4222", "10.0.0.1:4223", "dialfailed connection refused", true},
		{"127.0.0.1:4222", "10.0.0.1:4222", "dialfailed connection refused", true},
		{"0.0.0.0:4222", "10.0.0.9:4222", "dialfailed connection timed out", true},
		{"0.0.0.0:4222", "rubbish", "dialfailed cannot assign requested address", true},
		{"0.0.0.0:4222", "10.0.0.1:0", "dialfailed cannot assign requested address", true},
	} {
		w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, DialTimeout: second})
		s, b := w.host(0), w.host(1)
		s.host.Listen(1, c.listen)
		d := b.host.Dial(c.dial)
		w.drain()
		b.expect(c.want)
		if !c.err {
			d.Close()
			s.conns[0].Close()
			w.drain()
		}
		w.clean()
	}
}

func TestLoopback(t *testing.T) {
	w := newWorld(t, 1, Config{})
	b := w.host(0)
	b.host.Listen(1, "127.0.0.1:4222")
	d := b.host.Dial("127.0.0.1:4222")
	w.drain()
	b.expect("up 1 127.0.0.1:4222 4222", "connected", "accepted 1")
	if b.infos[0].IP != "127.0.0.1" {
		t.Fatal(b.infos[0].IP)
	}
	say(d, "a")
	say(b.conns[0], "b")
	w.drain()
	b.expect("read a", "read b")
	b.host.Kill()
	w.drain()
	w.clean()
}

func TestDialIsGivenUp(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}})
	s, c := w.host(0), w.host(1)
	s.host.Listen(1, ":4222")
	for after := range 4 {
		d := c.host.Dial("10.0.0.1:4222")
		w.run(ms * schedule.Time(after) / 2)
		d.Close()
		w.drain()
	}
	c.expect()
	s.expect("up 1 :4222 4222")
	w.clean()
}

func TestStopListeningDuringDial(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}})
	s, c := w.host(0), w.host(1)
	s.host.Listen(1, ":4222")
	c.host.Dial("10.0.0.1:4222")
	w.run(2 * ms)
	s.host.StopListening(1)
	w.drain()
	c.expect("connected", "closed connection reset by peer")
	s.expect("up 1 :4222 4222")
	w.clean()
}

func TestPerfectNetworkMakesNoChoices(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}})
	s, c, a, d := w.pair()
	d.Send([][]byte{[]byte("one "), nil, []byte("two")})
	say(a, "three")
	w.drain()
	s.expect("read one two")
	c.expect("read three")
	if n := w.net.source.Made(); n != 0 {
		t.Fatalf("%d choices", n)
	}
}

func TestSendTakesWhatFits(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, SendBuffer: 6, RecvBuffer: 4})
	s, c, _, d := w.pair()
	s.lazy = true
	if n := say(d, "0123456789"); n != 6 {
		t.Fatal(n)
	}
	if n := say(d, "xyz"); n != 0 {
		t.Fatal(n)
	}
	w.drain()
	s.expect("readable")
	c.expect("writable") // four bytes arrived and were acknowledged
	if n := say(d, "678901234"); n != 4 {
		t.Fatal(n)
	}
	w.drain()
	c.expect() // the receiver is full
	s.read(s.conns[0], 3)
	w.drain()
	s.expect("read 012")
	c.expect("writable")
	if k := w.net.Counters(); k.ShortSends != 3 || k.ZeroWindows == 0 {
		t.Fatalf("%+v", k)
	}
}

func TestWritableOnlyAfterShortSend(t *testing.T) {
	w := newWorld(t, 1, Config{SendBuffer: 10})
	_, c, _, d := w.pair()
	if n := say(d, "0123456789"); n != 10 {
		t.Fatal(n)
	}
	w.drain()
	c.expect()
	w.clean2(d)
}

// clean2 closes both ends and requires that nothing is left.
func (w *world) clean2(d *Conn) {
	w.t.Helper()
	d.Close()
	d.peer().Close()
	w.drain()
	w.clean()
}

func TestReadableComesOnceUntilReadingCatchesUp(t *testing.T) {
	w := newWorld(t, 1, Config{})
	s, _, a, d := w.pair()
	s.lazy = true
	say(d, "one")
	w.drain()
	say(d, "two")
	w.drain()
	s.expect("readable")
	var buf [3]byte
	a.Read(buf[:]) // full: there may be more
	say(d, "x")
	w.drain()
	s.expect()
	if a.Unread() != 4 {
		t.Fatal(a.Unread())
	}
	big := make([]byte, 10)
	if n, eof := a.Read(big); n != 4 || eof {
		t.Fatal(n, eof)
	}
	say(d, "y")
	w.drain()
	s.expect("readable")
	w.clean2(d)
}

func TestPauseClosesTheWindowAndUnpauseTellsAgain(t *testing.T) {
	w := newWorld(t, 1, Config{SendBuffer: 8, RecvBuffer: 8})
	s, c, a, d := w.pair()
	a.Bind(3)
	s.host.PauseReading(3)
	if !a.Paused() {
		t.Fatal("not paused")
	}
	if n := say(d, strings.Repeat("x", 100)); n != 8 {
		t.Fatal(n)
	}
	w.drain()
	c.expect("writable")
	if n := say(d, strings.Repeat("x", 92)); n != 8 {
		t.Fatal(n)
	}
	w.run(10 * minute)
	s.expect()
	c.expect()
	s.host.ResumeReading(3)
	s.host.ResumeReading(3)
	w.drain()
	if n := len(s.text(a)); n != 16 {
		t.Fatal(n, s.log)
	}
	c.expect("writable")
	w.clean2(d)
}

func TestEndComesAfterAllBytes(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms, Jitter: 5 * ms}, RecvBuffer: 5})
	s, c, a, d := w.pair()
	say(d, "hello world")
	d.CloseWrite()
	if say(d, "more") != 0 {
		t.Fatal("sent after CloseWrite")
	}
	w.drain()
	if s.text(a) != "hello world" || s.log[len(s.log)-1] != "eof" {
		t.Fatal(s.log)
	}
	s.has("eof", 1)
	say(a, "answer") // the other direction is still open
	w.drain()
	if c.text(d) != "answer" {
		t.Fatal(c.log)
	}
	a.Close()
	w.drain()
	c.has("eof", 1)
	d.Close()
	w.drain()
	w.clean()
}

func TestCloseDelivers(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, RecvBuffer: 4})
	s, c, a, d := w.pair()
	s.lazy = true
	say(d, "lost")
	w.drain()
	say(a, "-ERR 'bye'")
	a.Close()
	a.Close()
	w.drain()
	if c.text(d) != "-ERR 'bye'" || c.log[len(c.log)-1] != "eof" {
		t.Fatal(c.log)
	}
	c.log = nil
	say(d, "PING") // after the end: nobody is there
	w.drain()
	c.expect("closed connection reset by peer")
	s.expect("readable")
	w.clean()
}

func TestCloseBeforeTheDiallersBytes(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}})
	s, c := w.host(0), w.host(1)
	s.host.Listen(1, ":4222")
	d := c.host.Dial("10.0.0.1:4222")
	w.run(2 * ms)
	say(d, "hi")
	d.Close() // not accepted yet
	w.drain()
	s.expect("up 1 :4222 4222", "accepted 1", "read hi", "eof")
	s.conns[0].Close()
	w.drain()
	w.clean()
}

func TestHardCloseWithUnreadBytesResets(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, HardClose: true})
	s, c, a, d := w.pair()
	s.lazy, c.lazy = true, true
	say(d, "unread")
	w.drain()
	say(a, "-ERR 'lost'")
	w.run(ms)
	a.Close()
	w.drain()
	c.expect("readable", "closed connection reset by peer")
	if n, eof := d.Read(make([]byte, 10)); n != 0 || eof {
		t.Fatal(n, eof)
	}
	w.clean()
}

func TestHardCloseBytesAfterItReset(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, HardClose: true})
	_, c, a, d := w.pair()
	say(a, "-ERR")
	a.Close()
	say(d, "crossing")
	w.drain()
	c.expect("read -ERR", "eof", "closed connection reset by peer")
	w.clean()
}

func TestAbortLosesWhatIsNotRead(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}})
	s, _, _, d := w.pair()
	s.lazy = true
	say(d, "first")
	d.Abort()
	w.drain()
	s.expect("readable", "closed connection reset by peer")
	w.clean()
}

func TestEngineNetworkByConnID(t *testing.T) {
	w := newWorld(t, 1, Config{})
	s, c, a, d := w.pair()
	id, later := engine.ConnID(1<<32|5), engine.ConnID(2<<32|5)
	if s.host.Send(id, [][]byte{[]byte("nobody")}) != 0 {
		t.Fatal("unbound")
	}
	a.Bind(id)
	if a.ID() != id || s.host.Conn(id) != a || s.host.Conn(later) != nil || w.net.Residue().Bound != 1 {
		t.Fatal("binding")
	}
	s.host.Send(id, [][]byte{[]byte("INFO"), []byte("!")})
	w.drain()
	c.expect("read INFO!")
	s.host.CloseWrite(id)
	w.drain()
	c.expect("eof")
	s.host.Close(id)
	a.Bind(later) // too late, but it keeps its name for those who are still to be told of it
	if a.ID() != later || s.host.Conn(later) != nil {
		t.Fatal("bound after Close")
	}
	if s.host.Send(id, [][]byte{[]byte("x")}) != 0 || s.host.Conn(id) != nil {
		t.Fatal("still bound")
	}
	d.Close()
	w.drain()
	w.clean()
}

func TestBytesAreNeverShared(t *testing.T) {
	w := newWorld(t, 1, Config{})
	s, _, a, d := w.pair()
	s.lazy = true
	b := []byte("original")
	d.Send([][]byte{b})
	copy(b, "trampled")
	w.drain()
	buf := make([]byte, 100)
	n, _ := a.Read(buf[:4])
	kept := append([]byte(nil), buf[:n]...)
	a.Read(buf[10:])
	if !bytes.Equal(buf[:n], kept) || string(buf[:4])+string(buf[10:14]) != "original" {
		t.Fatalf("%q", buf[:20])
	}
	w.clean2(d)
}

func TestKeysComeFromTheDiallingHost(t *testing.T) {
	w := newWorld(t, 1, Config{})
	_, c, a, d := w.pair()
	if d.Key() != 1<<dialBits<<1 || a.Key() != d.Key()+1 {
		t.Fatal(d.Key(), a.Key())
	}
	if e := c.host.Dial("10.0.0.1:4222"); e.Key() != (1<<dialBits|1)<<1 {
		t.Fatal(e.Key())
	}
}

func TestPortsAreUsedAgain(t *testing.T) {
	w := newWorld(t, 1, Config{Ports: 2})
	s, c := w.host(0), w.host(1)
	s.host.Listen(1, ":4222")
	a, b := c.host.Dial("10.0.0.1:4222"), c.host.Dial("10.0.0.1:4222")
	w.drain()
	c.host.Dial("10.0.0.1:4222")
	w.drain()
	c.expect("connected", "connected", "dialfailed cannot assign requested address")
	a.Close()
	s.conns[0].Close()
	w.drain()
	d := c.host.Dial("10.0.0.1:4222")
	w.drain()
	c.has("connected", 1)
	if d.Port() != a.Port() || b.Port() == d.Port() {
		t.Fatal(a.Port(), b.Port(), d.Port())
	}
}
