package integration

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/engine"
)

// connectionsMax is how many connections TestManyConnections opens; both ends are in this process.
const connectionsMax = 5000

func TestManyConnections(t *testing.T) {
	n := connectionsMax
	if most := descriptorsMax(); most < 2*n+500 {
		n = (most - 500) / 2
		t.Logf("only %d connections: this process may open %d files", n, most)
	}
	serialHosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{PingInterval: patience})
		clients := make([]*rawClient, n)
		for i := range clients {
			clients[i] = w.dial(s.addr)
			clients[i].send(fmt.Sprintf("%sSUB all 1\r\nSUB own.%d 2\r\nPING\r\n", quiet, i))
		}
		for _, c := range clients {
			c.expect("PONG")
		}
		if f := s.Footprint(); f.Connections != n || f.Subscriptions != 2*n {
			t.Errorf("%d connections with %d subscriptions, want %d with %d", f.Connections, f.Subscriptions, n, 2*n)
		}
		pub := s.connect()
		ok(t, pub.Publish("all", []byte("everybody")))
		for i := range clients {
			ok(t, pub.Publish(fmt.Sprint("own.", i), fmt.Append(nil, "number ", i)))
		}
		ok(t, pub.Flush())
		for i, c := range clients {
			c.expect("MSG all 1 9", "everybody", fmt.Sprintf("MSG own.%d 2 ", i), fmt.Sprint("number ", i))
		}
		for _, c := range clients {
			ok(t, c.Close())
		}
		pub.Close()
		until(t, "all to be forgotten", func() bool {
			f := s.Footprint()
			return f.Connections == 0 && f.Subscriptions == 0 && f.Chunks == 0 && f.Timers == 0
		})
	})
}

// Connections come and go by the thousand, in every way that they can; then there is nothing left of them: no descriptor,
// no goroutine, nothing in the engine.
func TestChurnLeavesNothing(t *testing.T) {
	serialHosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true, PingInterval: patience})
		churn(w, s) // what is allocated once is there now
		settled := func() bool {
			f := s.Footprint()
			return f.Connections == 0 && f.Subscriptions == 0 && f.Timers == 0 && f.Chunks == 0
		}
		until(t, "the first to be forgotten", settled)
		goroutines, files := runtime.NumGoroutine(), openFiles()
		for range 5 {
			churn(w, s)
		}
		until(t, "all to be forgotten", settled)
		until(t, "all goroutines to end", func() bool { return runtime.NumGoroutine() <= goroutines })
		until(t, "all files to be closed", func() bool { return openFiles() <= files })
		if slots := s.Footprint().Slots; slots > 200 {
			t.Errorf("%d slots for at most some dozens of connections at a time", slots)
		}
	})
}

// churn opens and closes some hundred connections, several at a time.
func churn(w *world, s *server) {
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for j := range 10 {
				c := w.dial(s.addr)
				switch (i + j) % 7 {
				case 0: // a silent visitor
				case 1:
					c.send(quiet + "SUB a.* 1\r\nSUB b.> q 2\r\n")
					c.ping()
				case 2:
					c.send(quiet + "SUB a 1\r\nPUB a 3\r\nabc\r\n")
					c.expect("MSG a 1 3", "abc")
					ok(w.t, c.SetLinger(0))
				case 3:
					c.send(quiet + "PUB a 100000\r\n" + strings.Repeat("x", 50_000))
				case 4:
					c.send("RUBBISH\r\n")
					c.expect("-ERR")
					c.expectEnd()
				case 5:
					c.send(quiet)
					ok(w.t, c.CloseWrite())
					c.expectEnd()
				case 6:
					nc, err := nats.Connect(s.url, nats.Timeout(patience))
					if err != nil {
						w.t.Error(err)
						break
					}
					_, err = nc.Subscribe("a.>", func(*nats.Msg) {})
					ok(w.t, err)
					nc.Close()
				}
				ok(w.t, c.Close())
			}
		})
	}
	wg.Wait()
}

// openFiles counts the descriptors of this process; 0 where there is no way to.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
