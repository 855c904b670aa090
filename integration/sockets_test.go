package integration

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/engine"
)

const quiet = "CONNECT {\"verbose\":false}\r\n"

// What `printf … | nc -q 1 host port` does: everything at once, then the end of the stream. All of it is answered.
func TestHalfClose(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		c := w.dial(s.addr)
		c.send(quiet + "SUB a 1\r\nPUB a 2\r\nhi\r\nPING\r\n")
		ok(t, c.CloseWrite())
		if got := c.expectEnd(); got != "MSG a 1 2\nhi\nPONG\n\n" {
			t.Errorf("got %q", got)
		}
		until(t, "it to be forgotten", func() bool { return s.Footprint().Connections == 0 })
	})
}

// A half-closed client gets what was under way to it, however much that is and however late it reads.
func TestHalfCloseWithMuchToRead(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		c := w.dial(s.addr)
		const n, size = 20, 1 << 20
		c.send(quiet + "SUB a 1\r\n")
		c.ping()
		pub := w.dial(s.addr)
		pub.send(quiet)
		payload := strings.Repeat("z", size)
		for range n {
			pub.send(fmt.Sprintf("PUB a %d\r\n%s\r\n", size, payload))
		}
		pub.ping()
		ok(t, c.CloseWrite())
		got := len(c.expectEnd())
		if want := n * (len("MSG a 1 1048576\n") + size + 1); got < want {
			t.Errorf("%d bytes arrived, want %d", got, want)
		}
	})
}

func TestEndWithoutAWord(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		for range 10 {
			c := w.dial(s.addr)
			ok(t, c.CloseWrite())
			c.expectEnd()
			ok(t, dialSilently(t, s.addr).Close())
		}
		until(t, "all to be forgotten", func() bool { return s.Footprint().Connections == 0 })
	})
}

// A peer that resets the connection, wherever it is in what it says, leaves nothing behind.
func TestReset(t *testing.T) {
	half := strings.Repeat("x", 100_000)
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		for _, said := range []string{
			"", "CONN", quiet, quiet + "SUB a", quiet + "SUB a 1\r\nSUB b.> q 2\r\n", quiet + "PUB a 20\r\n",
			quiet + "SUB a 1\r\nPUB a 1000000\r\n" + half, quiet + "HPUB a 12 15\r\nNATS/1.0\r\n", quiet + "PUB a 1\r\nx",
		} {
			c := w.dial(s.addr)
			c.send(said)
			if strings.HasPrefix(said, quiet) && !strings.Contains(said, "PUB") && strings.HasSuffix(said, "\n") {
				c.ping()
			}
			ok(t, c.SetLinger(0)) // closing resets
			ok(t, c.Close())
		}
		until(t, "all to be forgotten", func() bool {
			f := s.Footprint()
			f.Slots = 0
			return f == engine.Footprint{}
		})
		survivor := w.dial(s.addr)
		survivor.send(quiet)
		survivor.ping()
	})
}

// A subscriber that resets the connection while much is written to it disturbs nobody.
func TestResetWhileReceiving(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{StallMax: time.Millisecond, Check: true})
		pub := w.dial(s.addr)
		pub.send(quiet)
		pub.ping()
		stop := make(chan struct{})
		done := make(chan int64, 1)
		go func() { done <- flood(pub, "feed", 3000, stop) }()
		for range 20 {
			c := w.dial(s.addr)
			c.send(quiet + "SUB feed 1\r\n")
			c.expect("MSG feed 1 3000")
			ok(t, c.SetLinger(0))
			ok(t, c.Close())
		}
		close(stop)
		receive(t, "the publisher to end", done)
		pub.ping()
		until(t, "the subscribers to be forgotten", func() bool {
			f := s.Footprint()
			return f.Connections == 1 && f.Subscriptions == 0
		})
	})
}

func TestGarbage(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range 60 {
			c := w.dial(s.addr)
			b := make([]byte, 1+rng.IntN(20_000))
			for j := range b {
				b[j] = byte(rng.Uint32())
			}
			switch i % 4 {
			case 1:
				b = append([]byte(quiet), b...)
			case 2:
				b = append([]byte(quiet+"PUB a 10\r\n"), b...)
			case 3:
				b = bytes.Map(func(r rune) rune { return 'A' + r%26 }, b)
			}
			_, _ = c.Write(b)  // the server may have closed before all is written
			_ = c.CloseWrite() // or reset
			_, _ = io.Copy(io.Discard, c.r)
		}
		until(t, "all to be forgotten", func() bool { return s.Footprint().Connections == 0 })
		c := w.dial(s.addr)
		c.send(quiet)
		c.ping()
	})
}

// The error that closes a connection is read by a client that was still sending: it is not lost in a reset.
func TestErrorReachesABusySender(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		c := w.dial(s.addr)
		c.send(quiet + "NONSENSE\r\n" + strings.Repeat("PUB a 1\r\nx\r\n", 50_000))
		c.expect("-ERR 'Unknown Protocol Operation'")
		c.expectEnd()
	})
}

// Everything a client says may arrive one byte at a time.
func TestOneByteAtATime(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		c := w.dial(s.addr)
		text := "CONNECT {\"verbose\":false,\"headers\":true}\r\nSUB a.* q 1\r\nPUB a.b reply 11\r\nhello\r\nyou!\r\nHPUB a.c 12 14\r\nNATS/1.0\r\n\r\nhi\r\nUNSUB 1\r\nPING\r\n"
		for i := range len(text) {
			c.send(text[i : i+1])
		}
		c.expect("MSG a.b 1 reply 11", "hello", "you!", "HMSG a.c 1 12 14", "NATS/1.0", "", "hi", "PONG")
	})
}

// The host may hand over as little at a time as it likes.
func TestTinyReads(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		for _, size := range []int{1, 2, 3, 7, 64} {
			w.readBytes = size
			s := w.serve(engine.Options{Check: true})
			nc := s.connect()
			sub, err := nc.SubscribeSync("tiny.>")
			ok(t, err)
			for i := range 40 {
				m := nats.NewMsg(fmt.Sprint("tiny.", i))
				m.Data = bytes.Repeat([]byte("\r\n"), i)
				if i%2 == 0 {
					m.Header.Set("Number", fmt.Sprint(i))
				}
				ok(t, nc.PublishMsg(m))
			}
			for i := range 40 {
				m, err := sub.NextMsg(patience)
				ok(t, err)
				if m.Subject != fmt.Sprint("tiny.", i) || len(m.Data) != 2*i || i%2 == 0 && m.Header.Get("Number") != fmt.Sprint(i) {
					t.Fatalf("message %d with reads of %d bytes: %q, %d bytes, %v", i, size, m.Subject, len(m.Data), m.Header)
				}
			}
			nc.Close()
		}
	})
}

// Slowloris: many that send a byte now and then and never finish cost nobody else anything, and are thrown out where
// credentials are required.
func TestDribblers(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{User: "ann", Pass: "s3cret", AuthTimeout: 300 * time.Millisecond, Check: true})
		var dribblers []*rawClient
		for range 100 {
			dribblers = append(dribblers, w.dial(s.addr))
		}
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		long := "CONNECT {\"user\":\"ann\",\"name\":\"" + strings.Repeat("n", 1<<20)
		for i := 0; s.Footprint().Connections > 0; i++ {
			for _, c := range dribblers {
				_, _ = c.Write([]byte{long[i]}) // fails for those that are closed already
			}
			<-tick.C
			if i == 0 {
				honest := s.connect(nats.UserInfo("ann", "s3cret"))
				ok(t, honest.Flush())
				honest.Close()
			}
		}
		for _, c := range dribblers {
			line, err := c.line()
			if err == nil && line != "-ERR 'Authentication Timeout'" {
				t.Fatalf("got %q", line)
			}
		}
	})
}

// A few that send as fast as they can must not keep the others from being served, nor new ones from being accepted.
func TestFloodersStarveNobody(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{})
		stop := make(chan struct{})
		const flooders = 16 // each fills what one connection may give in a turn; together they overfill a turn
		done := make(chan int64, flooders)
		sink := w.dial(s.addr)
		sink.send(quiet + "SUB unrelated 1\r\n")
		sink.ping()
		for i := range flooders {
			c := w.dial(s.addr)
			c.send(quiet)
			c.ping()
			payload := []int{0, 16, 4000, 60_000}[i%4]
			go func() { done <- flood(c, "flood", payload, stop) }()
		}
		for range 8 {
			sink.ping()
			fresh := w.dial(s.addr)
			fresh.send(quiet)
			fresh.ping()
			ok(t, fresh.Close())
		}
		close(stop)
		for range flooders {
			receive(t, "a flooder to end", done)
		}
	})
}
