package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/engine"
)

// flood publishes blocks on subject until stop is closed or the connection ends; it returns the messages sent.
func flood(c *rawClient, subject string, payload int, stop <-chan struct{}) (sent int64) {
	const perBlock = 64
	block := bytes.Repeat(fmt.Appendf(nil, "PUB %s %d\r\n%s\r\n", subject, payload, bytes.Repeat([]byte("x"), payload)), perBlock)
	for {
		select {
		case <-stop:
			return sent
		default:
		}
		if _, err := c.Write(block); err != nil {
			return sent
		}
		sent += perBlock
	}
}

// A client that is stopped (kill -STOP) looks like a socket that nobody reads. It is closed when more than max_pending
// waits for it, after its publishers were held back for a while; everybody else goes on.
func TestUnreadSocketIsClosed(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{MaxPending: 1 << 20, StallMax: 2 * time.Second, WriteDeadline: patience, Check: true})
		dead := w.dial(s.addr)
		dead.send("CONNECT {\"name\":\"dead\"}\r\nSUB feed 1\r\nSUB other 2\r\n")
		dead.expect("+OK", "+OK", "+OK")
		healthy := s.connect()
		var got atomic.Int64
		_, err := healthy.Subscribe("feed", func(*nats.Msg) { got.Add(1) })
		ok(t, err)
		ok(t, healthy.Flush())

		pub := w.dial(s.addr)
		pub.send("CONNECT {\"verbose\":false}\r\n")
		pub.ping()
		stop := make(chan struct{})
		sent := make(chan int64, 1)
		go func() { sent <- flood(pub, "feed", 1000, stop) }()
		until(t, "the slow consumer to be noticed", func() bool { return s.log.contains("Slow Consumer") })
		close(stop)
		n := receive(t, "the publisher to end", sent)
		pub.ping()
		until(t, "the healthy subscriber to have it all", func() bool { return got.Load() == n })
		until(t, "the slow one to be forgotten", func() bool { return s.Footprint().Connections == 2 })

		// What was written before is a prefix of the stream; then the connection is gone.
		ok(t, dead.SetReadDeadline(time.Now().Add(patience)))
		if _, err := io.Copy(io.Discard, dead.r); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("the slow consumer's connection is open")
		}
	})
}

// Nothing is lost and nobody is closed when a fast publisher meets a subscriber that takes longer for a message than the
// publisher: the publisher is held back.
func TestFastPublisherSlowerSubscriber(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{MaxPending: 1 << 20, StallMax: patience, WriteDeadline: patience, Check: true})
		sub := w.dial(s.addr)
		sub.send("CONNECT {\"verbose\":false}\r\nSUB feed 1\r\n")
		sub.ping()
		pub := w.dial(s.addr)
		pub.send("CONNECT {\"verbose\":false}\r\n")
		pub.ping()
		const n, size = 30_000, 1000 // more than max_pending and what the kernel holds between the two
		failed := make(chan error, 1)
		go func() {
			var b []byte
			for i := range n {
				b = fmt.Appendf(b, "PUB feed %d\r\n%0*d\r\n", size, size, i)
				if len(b) > 1<<16 || i == n-1 {
					if _, err := pub.Write(b); err != nil {
						failed <- err
						return
					}
					b = b[:0]
				}
			}
			failed <- nil
		}()
		for i := range n {
			sub.expect("MSG feed 1 1000")
			line, err := sub.line()
			ok(t, err)
			if want := fmt.Sprintf("%0*d", size, i); line != want {
				t.Fatalf("message %d is %.20q…%q", i, line, line[max(len(line)-10, 0):])
			}
		}
		ok(t, receive(t, "the publisher to end", failed))
		pub.ping()
		sub.ping()
		if s.log.contains("Slow Consumer") {
			t.Error("a consumer was found slow")
		}
	})
}

// The client library tells its user about messages that it drops; the server has no part in it.
func TestSlowConsumerCallback(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		slow := make(chan error, 100)
		nc := s.connect(nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { slow <- err }))
		hold := make(chan struct{})
		sub, err := nc.Subscribe("feed", func(*nats.Msg) { <-hold })
		ok(t, err)
		ok(t, sub.SetPendingLimits(10, -1))
		ok(t, nc.Flush())
		pub := s.connect()
		for range 1000 {
			ok(t, pub.Publish("feed", nil))
		}
		ok(t, pub.Flush())
		if err := receive(t, "the callback", slow); !errors.Is(err, nats.ErrSlowConsumer) {
			t.Errorf("got %v", err)
		}
		close(hold)
		ok(t, nc.Flush())
	})
}

// A peer that takes nothing for write_deadline is closed, however little waits for it.
func TestWriteDeadline(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{WriteDeadline: 50 * time.Millisecond, StallMax: time.Millisecond, Check: true})
		dead := w.dial(s.addr)
		dead.send("CONNECT {\"verbose\":false}\r\nSUB feed 1\r\n")
		dead.ping()
		pub := w.dial(s.addr)
		pub.send("CONNECT {\"verbose\":false}\r\n")
		pub.ping()
		stop := make(chan struct{})
		done := make(chan int64, 1)
		go func() { done <- flood(pub, "feed", 1000, stop) }()
		until(t, "the write deadline to strike", func() bool { return s.log.contains("Slow Consumer Detected: WriteDeadline of ") })
		close(stop)
		receive(t, "the publisher to end", done)
		pub.ping()
	})
}
