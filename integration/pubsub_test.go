package integration

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/engine"
)

func TestEverySizeArrivesWhole(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		pub, sub := s.connect(), s.connect()
		in, err := sub.SubscribeSync("sizes")
		ok(t, err)
		ok(t, sub.Flush())
		payload := bytes.Repeat([]byte("0123456789abcdef\r\n"), 1<<20/18+1)[:1<<20]
		sizes := []int{0, 1, 2, 127, 128, 4095, 4096, 4097, 8191, 8192, 65535, 65536, 65537, 1<<20 - 1, 1 << 20}
		for _, n := range sizes {
			ok(t, pub.Publish("sizes", payload[:n]))
		}
		for _, n := range sizes {
			msg, err := in.NextMsg(patience)
			ok(t, err)
			if !bytes.Equal(msg.Data, payload[:n]) {
				t.Fatalf("%d bytes arrived as %d, or changed", n, len(msg.Data))
			}
		}
	})
}

func TestOrderOfOnePublisher(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{})
		pub, sub := s.connect(), s.connect()
		const n = 50_000
		next, done := 0, make(chan struct{})
		_, err := sub.Subscribe("order", func(m *nats.Msg) {
			if string(m.Data) != fmt.Sprint(next) {
				t.Errorf("got %s, want %d", m.Data, next)
			}
			if next++; next == n {
				close(done)
			}
		})
		ok(t, err)
		ok(t, sub.Flush())
		for i := range n {
			ok(t, pub.Publish("order", fmt.Append(nil, i)))
		}
		ok(t, pub.Flush())
		receive(t, "all messages", done)
	})
}

func TestWildcards(t *testing.T) {
	subjects := []string{"a", "a.b", "a.b.c", "a.x.c", "b", "b.b", "a.b.c.d"}
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		nc := s.connect()
		for pattern, want := range map[string][]string{
			"a.b": {"a.b"}, "*": {"a", "b"}, "a.*": {"a.b"}, "a.*.c": {"a.b.c", "a.x.c"}, "*.b": {"a.b", "b.b"},
			"a.>": {"a.b", "a.b.c", "a.x.c", "a.b.c.d"}, ">": subjects, "a.b.>": {"a.b.c", "a.b.c.d"}, "c.>": nil,
		} {
			sub, err := nc.SubscribeSync(pattern)
			ok(t, err)
			for _, subj := range subjects {
				ok(t, nc.Publish(subj, nil))
			}
			ok(t, nc.Flush())
			var got []string
			for n, _, _ := sub.Pending(); n > 0; n-- {
				msg, err := sub.NextMsg(patience)
				ok(t, err)
				got = append(got, msg.Subject)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s received %v, want %v", pattern, got, want)
			}
			ok(t, sub.Unsubscribe())
		}
	})
}

func TestQueueGroupSharesEvenly(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		const members, n = 4, 4000
		var counts [members]atomic.Int64
		var all, plain atomic.Int64
		done := make(chan struct{})
		for i := range members {
			nc := s.connect()
			_, err := nc.QueueSubscribe("work.*", "crew", func(*nats.Msg) {
				counts[i].Add(1)
				if all.Add(1) == n {
					close(done)
				}
			})
			ok(t, err)
			ok(t, nc.Flush())
		}
		pub := s.connect()
		_, err := pub.Subscribe("work.>", func(*nats.Msg) { plain.Add(1) })
		ok(t, err)
		for i := range n {
			ok(t, pub.Publish(fmt.Sprint("work.", i%10), nil))
		}
		ok(t, pub.Flush())
		receive(t, "every message at one member", done)
		until(t, "every message at the plain subscriber", func() bool { return plain.Load() == n })
		for i := range counts {
			// The mean is 1000 and the standard deviation 27.
			if c := counts[i].Load(); c < 800 || c > 1200 {
				t.Errorf("member %d got %d of %d", i, c, n)
			}
		}
		if all.Load() != n {
			t.Errorf("%d messages were delivered %d times", n, all.Load())
		}
	})
}

func TestRequestReply(t *testing.T) {
	for name, options := range map[string][]nats.Option{"new style": nil, "old style": {nats.UseOldRequestStyle()}} {
		t.Run(name, func(t *testing.T) {
			hosts(t, func(t *testing.T, w *world) {
				s := w.serve(engine.Options{Check: true})
				service, client := s.connect(), s.connect(options...)
				_, err := service.QueueSubscribe("double", "services", func(m *nats.Msg) {
					ok(t, m.Respond(append(m.Data, m.Data...)))
				})
				ok(t, err)
				ok(t, service.Flush())
				var wg sync.WaitGroup
				for i := range 50 {
					wg.Go(func() {
						msg, err := client.Request("double", fmt.Append(nil, i), patience)
						if err != nil {
							t.Errorf("request %d: %v", i, err)
						} else if want := fmt.Sprint(i, i); string(msg.Data) != fmt.Sprintf("%d%d", i, i) {
							t.Errorf("got %q, want %q", msg.Data, want)
						}
					})
				}
				wg.Wait()
				if _, err := client.Request("nobody", nil, patience); !errors.Is(err, nats.ErrNoResponders) {
					t.Errorf("a request that nobody serves ended with %v", err)
				}
			})
		})
	}
}

func TestHeaders(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		nc := s.connect()
		sub, err := nc.SubscribeSync("h")
		ok(t, err)
		plain := w.dial(s.addr)
		plain.send("CONNECT {\"verbose\":false,\"headers\":false}\r\nSUB h 9\r\n")
		plain.ping()
		raw := w.dial(s.addr)
		raw.send("CONNECT {\"verbose\":false,\"headers\":true}\r\nSUB h 7\r\n")
		raw.ping()

		out := nats.NewMsg("h")
		out.Reply = "back"
		out.Header.Add("One", "1")
		out.Header.Add("Many", "a")
		out.Header.Add("Many", "b")
		out.Data = []byte("payload")
		ok(t, nc.PublishMsg(out))
		in, err := sub.NextMsg(patience)
		ok(t, err)
		if in.Header.Get("One") != "1" || fmt.Sprint(in.Header.Values("Many")) != "[a b]" || string(in.Data) != "payload" {
			t.Errorf("got %v and %q", in.Header, in.Data)
		}
		plain.expect("MSG h 9 back 7", "payload")
		plain.ping()
		raw.expect("HMSG h 7 back ", "NATS/1.0")
	})
}

func TestAutoUnsubscribe(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		nc := s.connect()
		for name, before := range map[string]int{"before the first": 0, "between": 3, "too late": 7} {
			sub, err := nc.SubscribeSync("auto")
			ok(t, err)
			for range before {
				ok(t, nc.Publish("auto", nil))
			}
			ok(t, nc.Flush())
			ok(t, sub.AutoUnsubscribe(5))
			for range 10 {
				ok(t, nc.Publish("auto", nil))
			}
			ok(t, nc.Flush())
			got := 0
			for {
				if _, err := sub.NextMsg(patience); err != nil {
					if !errors.Is(err, nats.ErrMaxMessages) {
						t.Errorf("%s: %v", name, err)
					}
					break
				}
				got++
			}
			if got != 5 { // the client library counts too: what had arrived before is cut to the same number
				t.Errorf("%s: %d messages", name, got)
			}
			if n := s.Footprint().Subscriptions; n != 0 {
				t.Errorf("%s: %d subscriptions are left at the server", name, n)
			}
		}
	})
}

func TestMaxPayload(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{MaxPayload: 1000, Check: true})
		nc := s.connect()
		if err := nc.Publish("big", make([]byte, 1001)); !errors.Is(err, nats.ErrMaxPayload) {
			t.Errorf("the client library let it pass: %v", err)
		}
		c := w.dial(s.addr)
		c.send("CONNECT {}\r\nPUB big 1001\r\n")
		c.expect("+OK", "-ERR 'Maximum Payload Violation'")
		c.expectEnd()
		ok(t, nc.Publish("big", make([]byte, 1000)))
		ok(t, nc.Flush())
	})
}

func TestDrain(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		pub := s.connect()
		closed := make(chan struct{})
		nc := s.connect(nats.ClosedHandler(func(*nats.Conn) { close(closed) }), nats.DrainTimeout(patience))
		const n = 2000
		var first, second atomic.Int64
		step := make(chan struct{})
		one, err := nc.Subscribe("one", func(*nats.Msg) {
			<-step
			first.Add(1)
		})
		ok(t, err)
		_, err = nc.Subscribe("two", func(*nats.Msg) {
			<-step
			second.Add(1)
		})
		ok(t, err)
		ok(t, nc.Flush())
		for range n {
			ok(t, pub.Publish("one", nil))
			ok(t, pub.Publish("two", nil))
		}
		ok(t, pub.Flush())
		ok(t, nc.Flush())

		ok(t, one.Drain())
		until(t, "the server to know one subscription", func() bool { return s.Footprint().Subscriptions == 1 })
		ok(t, pub.Publish("one", nil)) // too late
		ok(t, pub.Flush())
		ok(t, nc.Drain())
		until(t, "the server to know none", func() bool { return s.Footprint().Subscriptions == 0 })
		close(step)
		receive(t, "the drained connection to be closed", closed)
		if first.Load() != n || second.Load() != n {
			t.Errorf("%d and %d of %d messages were handled", first.Load(), second.Load(), n)
		}
		until(t, "the server to forget it", func() bool { return s.Footprint().Connections == 1 })
	})
}
