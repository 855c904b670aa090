package engine

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"
)

// sinkWorld takes whatever is sent and forgets it: what is measured is the engine alone.
type sinkWorld struct {
	*fakeWorld
	sent int // bytes
}

func (w *sinkWorld) Send(_ ConnID, bufs [][]byte) int {
	n := 0
	for _, b := range bufs {
		n += len(b)
	}
	w.sent += n
	return n
}

// load is an engine with one publisher and what it sends in one read, again and again.
type load struct {
	e        *Engine
	w        *sinkWorld
	pub      ConnID
	input    []byte
	messages int // in input
	receives int // deliveries of input
}

// loadOf makes a load of messages on foo with so many subscribers, each on a connection of its own.
func loadOf(subs, size int, header bool) *load {
	w := &sinkWorld{fakeWorld: newFakeWorld()}
	env := w.env()
	env.Network = w
	l := &load{e: New(Options{}, env), w: w}
	turn(l.e, l.e.Start)
	turn(l.e, func() { l.e.ListenerUp(clientListener, 4222) })
	for i := range subs {
		l.join("SUB foo " + strconv.Itoa(i%7) + "\r\n")
	}
	l.pub = l.join("")
	var one []byte
	if header {
		const block = "NATS/1.0\r\nA: b\r\n\r\n"
		one = fmt.Appendf(nil, "HPUB foo %d %d\r\n%s", len(block), len(block)+size, block)
	} else {
		one = fmt.Appendf(nil, "PUB foo %d\r\n", size)
	}
	one = append(append(one, bytes.Repeat([]byte("x"), size)...), "\r\n"...)
	l.messages = max((64<<10)/len(one), 1)
	l.input = bytes.Repeat(one, l.messages)
	l.receives = l.messages * subs
	l.run()
	return l
}

// join adds a connection that has sent its CONNECT and what follows it.
func (l *load) join(more string) ConnID {
	c := accept(l.e)
	turn(l.e, func() {
		l.e.Received(c, []byte("CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true}\r\n"+more))
	})
	return c
}

// run publishes all of the input, in as many turns as it takes.
func (l *load) run() {
	l.e.BeginTurn()
	l.e.Received(l.pub, l.input)
	l.e.EndTurn()
	for !l.e.run.empty() || !l.e.fanouts.empty() || len(l.e.touched) > 0 {
		l.e.BeginTurn()
		l.e.TimerDue()
		l.e.EndTurn()
	}
}

func (l *load) bench(b *testing.B) {
	b.ReportAllocs()
	b.ResetTimer()
	done := 0
	for done < b.N {
		l.run()
		done += l.messages
	}
	b.StopTimer()
	perRun := max(l.receives, l.messages)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(done)*float64(l.messages)/float64(perRun), "ns/delivery")
}

func BenchmarkPublish(b *testing.B) {
	for _, size := range []int{16, 128, 4096, 64 << 10} {
		for _, subs := range []int{0, 1, 10, 100} {
			b.Run(fmt.Sprintf("size=%d/subs=%d", size, subs), func(b *testing.B) { loadOf(subs, size, false).bench(b) })
		}
	}
}

func BenchmarkPublishHeaders(b *testing.B) {
	for _, subs := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprintf("size=128/subs=%d", subs), func(b *testing.B) { loadOf(subs, 128, true).bench(b) })
	}
}
