package host

import (
	"bufio"
	"bytes"
	"net"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/natsd/natsd/engine"
)

// pair makes a loop with one connection, and the peer's descriptor.
func pair(t *testing.T) (p *epoll, id engine.ConnID, peer int) {
	t.Helper()
	s, err := New(Options{Log: nothing{}})
	if err != nil {
		t.Fatal(err)
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	p = s.loop.(*epoll)
	id = engine.ConnID(1 << 32)
	p.socks = []sock{{id: id, fd: int32(fds[0])}}
	t.Cleanup(func() {
		p.close()
		unix.Close(fds[1])
	})
	return p, id, fds[1]
}

func drainFD(t *testing.T, fd int) (all []byte) {
	t.Helper()
	b := make([]byte, 1<<16)
	for {
		n, err := unix.Read(fd, b)
		if n <= 0 {
			if err != unix.EAGAIN && err != nil {
				t.Fatal(err)
			}
			return all
		}
		all = append(all, b[:n]...)
	}
}

// One writev takes no more than 1,024 buffers. Taking a part because of that would be taken for a full socket, and the
// Writable that follows a full socket would never come.
func TestSendTakesManyBuffers(t *testing.T) {
	p, id, peer := pair(t)
	var bufs [][]byte
	var want []byte
	for i := range 3*vecsMax + 7 {
		b := []byte{byte(i), byte(i >> 8)}
		bufs = append(bufs, b)
		want = append(want, b...)
	}
	bufs = append(bufs, nil) // an empty one does no harm
	if n := p.Send(id, bufs); n != len(want) {
		t.Fatalf("%d of %d bytes were taken", n, len(want))
	}
	if p.socks[0].blocked {
		t.Error("it counts as blocked")
	}
	if got := drainFD(t, peer); !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived, want %d, or in another order", len(got), len(want))
	}
	if n := p.Send(id, nil); n != 0 {
		t.Errorf("%d bytes of nothing were taken", n)
	}
}

func TestSendOfMoreThanTheSocketTakes(t *testing.T) {
	p, id, peer := pair(t)
	var bufs [][]byte
	for range 64 {
		bufs = append(bufs, bytes.Repeat([]byte("z"), 64<<10))
	}
	n := p.Send(id, bufs)
	if n <= 0 || n >= 4<<20 || !p.socks[0].blocked {
		t.Fatalf("%d bytes were taken, blocked: %v", n, p.socks[0].blocked)
	}
	if more := p.Send(id, bufs); more != 0 || !p.socks[0].blocked {
		t.Errorf("a full socket took %d bytes", more)
	}
	if got := drainFD(t, peer); len(got) != n {
		t.Errorf("%d bytes arrived of %d taken", len(got), n)
	}
	if more := p.Send(id, bufs[:1]); more != 64<<10 || p.socks[0].blocked {
		t.Errorf("an empty socket took %d bytes", more)
	}
}

// A send that fails is told in the next turn, not from inside the engine's call.
func TestSendToNobody(t *testing.T) {
	p, id, peer := pair(t)
	unix.Close(peer)
	if n := p.Send(id, [][]byte{[]byte("x")}); n != 0 {
		t.Errorf("%d bytes were taken", n)
	}
	if c := p.socks[0]; !c.broken || !c.listed || len(p.ready.passing.slots) != 1 {
		t.Errorf("it is not to be told: %+v", c)
	}
	if n := p.Send(id, [][]byte{[]byte("x")}); n != 0 || len(p.ready.passing.slots) != 1 {
		t.Error("sent to a broken connection")
	}
	if n := p.Send(engine.ConnID(2<<32), [][]byte{[]byte("x")}); n != 0 {
		t.Error("sent to a former connection of the slot")
	}
}

// A process that was stopped finds, when it goes on, that everybody's time is up, and what they have sent meanwhile. That
// comes first.
func TestWhatArrivedComesBeforeTimers(t *testing.T) {
	s, err := New(Options{Log: nothing{}, Engine: engine.Options{Host: "127.0.0.1", Port: -1, User: "u", Pass: "p", AuthTimeout: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run() }()
	<-s.Ready()
	c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(s.Port()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	s.post(func(*engine.Engine) {
		if _, err := c.Write([]byte(`CONNECT {"user":"u","pass":"p","verbose":false}` + "\r\nPING\r\n")); err != nil {
			t.Error(err)
		}
		s.clock.start = s.clock.start.Add(-2 * time.Hour)
	})
	if got, err := r.ReadString('\n'); got != "PONG\r\n" {
		t.Errorf("got %q, %v", got, err)
	}
	s.Stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
