package host

import (
	"bufio"
	"net"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/natsd/natsd/engine"
)

// A timer that is due behind the time for which the processor is kept comes no later for that.
func TestSplitWait(t *testing.T) {
	for _, c := range []struct{ timeout, held, rest int }{
		{-1, briskWait, -1},
		{1, 1, 0},
		{briskWait, briskWait, 0},
		{briskWait + 1, briskWait, 1},
		{1000, briskWait, 1000 - briskWait},
	} {
		if held, rest := splitWait(c.timeout); held != c.held || rest != c.rest {
			t.Errorf("%d: %d and %d, want %d and %d", c.timeout, held, rest, c.held, c.rest)
		}
	}
}

// The loop keeps its processor while messages follow each other closely. Whoever else computes gets on all the same, and so
// does the collector, which stops all threads.
func TestHeldProcessorsLetOthersRun(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	s, err := New(Options{Engine: engine.Options{Host: "127.0.0.1", Port: -1}, Log: nothing{}, Processors: HoldProcessors()})
	if err != nil {
		t.Fatal(err)
	}
	go s.Run()
	<-s.Ready()
	defer func() {
		s.Stop()
		<-s.Done()
	}()
	if s.opts.processors() != before || s.process.Process().MaxProcs != before {
		t.Errorf("there are %d processors to use, %d are shown, want %d", s.opts.processors(), s.process.Process().MaxProcs, before)
	}
	c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(s.Port()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	r := bufio.NewReader(c)
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			select {
			case <-stop:
				stopped <- n
				return
			default:
				runtime.GC()
			}
		}
	}()
	if _, err := c.Write([]byte("CONNECT {\"verbose\":false}\r\n")); err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		if _, err := c.Write([]byte("PING\r\n")); err != nil {
			t.Fatal(err)
		}
		for line := ""; line != "PONG\r\n"; {
			if line, err = r.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	if n := <-stopped; n == 0 {
		t.Error("the collector did not run once")
	}
}

// A brisk waiter sees events, the end of its time, and becomes calm when nothing comes.
func TestWaiterCalmsDown(t *testing.T) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	bell, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(bell)
	if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, bell, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
		t.Fatal(err)
	}
	w := waiter{fd: fd, events: make([]unix.EpollEvent, 4), hold: true, last: time.Now().Add(time.Hour)}
	wait := func(timeout, want int) {
		t.Helper()
		for {
			n, errno := w.wait(timeout)
			if errno == unix.EINTR {
				continue
			}
			if n != want || errno != 0 {
				t.Fatalf("%d events, %v, want %d", n, errno, want)
			}
			return
		}
	}
	one := [8]byte{1}
	unix.Write(bell, one[:])
	wait(-1, 1)
	if !w.brisk {
		t.Error("an event right after another does not make it brisk")
	}
	wait(-1, 1)
	unix.Read(bell, one[:])
	wait(2*briskWait, 0)
	if w.brisk {
		t.Error("it is brisk though nothing comes")
	}
	w.last = time.Now().Add(-time.Hour)
	unix.Write(bell, one[:])
	if wait(-1, 1); w.brisk {
		t.Error("an event long after the one before makes it brisk")
	}
	wait(0, 1)
}
