package integration

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/engine"
)

// restart stops s and serves again on its port.
func (s *server) restart(o engine.Options) *server {
	s.w.t.Helper()
	o.Port = s.Host().Port()
	s.Stop()
	var again *server
	until(s.w.t, "the port to be free again", func() bool {
		var err error
		again, err = s.w.tryServe(o) // for a moment it may be the near end of some other test's connection
		return err == nil
	})
	return again
}

func TestReconnectAfterRestart(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		gone, back := make(chan struct{}, 1), make(chan struct{}, 1)
		options := []nats.Option{
			nats.MaxReconnects(-1), nats.ReconnectWait(5 * time.Millisecond), nats.ReconnectJitter(0, 0),
			nats.ErrorHandler(nil),
		}
		sub := s.connect(append(options, nats.ReconnectHandler(func(*nats.Conn) { back <- struct{}{} }))...)
		pub := s.connect(append(options, nats.DisconnectErrHandler(func(*nats.Conn, error) { gone <- struct{}{} }),
			nats.ReconnectWait(patience), // until told otherwise: what is published meanwhile must be buffered
			nats.CustomReconnectDelay(func(int) time.Duration { return 20 * time.Millisecond }))...)
		plain, err := sub.SubscribeSync("news.>")
		ok(t, err)
		queue, err := sub.QueueSubscribeSync("news.*", "readers")
		ok(t, err)
		limited, err := sub.SubscribeSync("news.today")
		ok(t, err)
		ok(t, limited.AutoUnsubscribe(3))
		ok(t, sub.Flush())
		ok(t, pub.Publish("news.today", []byte("before")))
		ok(t, pub.Flush())

		s.Stop()
		receive(t, "the publisher to notice", gone)
		for _, m := range []string{"one", "two", "three"} {
			ok(t, pub.Publish("news.today", []byte(m)))
		}
		again := s.restart(engine.Options{Check: true})
		receive(t, "the subscriber to be back", back)
		ok(t, sub.FlushTimeout(patience))
		ok(t, pub.FlushTimeout(patience))
		ok(t, pub.Publish("news.today", []byte("after")))
		ok(t, pub.Flush())

		// What was buffered arrives if the subscriber was back first; the last one in any case, and in order.
		for name, in := range map[string]*nats.Subscription{"plain": plain, "queue": queue} {
			last := ""
			for last != "after" {
				msg, err := in.NextMsg(patience)
				ok(t, err)
				last = string(msg.Data)
			}
			if n, _, _ := in.Pending(); n != 0 {
				t.Errorf("%s: %d messages behind the last", name, n)
			}
		}
		if got := again.Footprint().Connections; got != 2 {
			t.Errorf("%d connections", got)
		}
	})
}

func TestBufferedPublishesArrive(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		gone := make(chan struct{}, 1)
		hold := make(chan struct{}) // the client does not try to reconnect before it is closed
		pub := s.connect(nats.MaxReconnects(-1), nats.ErrorHandler(nil),
			nats.DisconnectErrHandler(func(*nats.Conn, error) { gone <- struct{}{} }),
			nats.CustomReconnectDelay(func(int) time.Duration { <-hold; return time.Millisecond }))
		s.Stop()
		receive(t, "the publisher to notice", gone)
		const n = 1000
		for range n {
			ok(t, pub.Publish("kept", []byte("message")))
		}
		again := s.restart(engine.Options{Check: true})
		sub, err := again.connect().SubscribeSync("kept")
		ok(t, err)
		close(hold)
		for range n {
			_, err := sub.NextMsg(patience)
			ok(t, err)
		}
	})
}
