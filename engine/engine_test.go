package engine

import (
	"strings"
	"testing"
)

func TestPublishReachesSubscriber(t *testing.T) {
	e, w := started(t, Options{})
	c := accept(e)
	if got := w.take(c); !strings.HasPrefix(got, "INFO {") || !strings.HasSuffix(got, "} \r\n") {
		t.Fatalf("greeting: %q", got)
	}
	turn(e, func() {
		e.Received(c, []byte("CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB foo 1\r\nPUB foo 2\r\nhi\r\nPING\r\n"))
	})
	if got, want := w.take(c), "MSG foo 1 2\r\nhi\r\nPONG\r\n"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestBytewiseIsTheSame(t *testing.T) {
	e, w := started(t, Options{})
	c := accept(e)
	w.take(c)
	for _, b := range []byte("connect {\"verbose\":false,\"headers\":true}\r\nSub foo q 1\r\nhpub\tfoo bar  12 14\r\nNATS/1.0\r\n\r\nhi\r\nPING\r\n") {
		turn(e, func() { e.Received(c, []byte{b}) })
	}
	if got, want := w.take(c), "HMSG foo 1 bar 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPONG\r\n"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	turn(e, func() { e.EOF(c) })
	if !w.gone[c] {
		t.Fatal("not closed after EOF")
	}
	if f := e.Footprint(); f != (Footprint{Slots: 1}) {
		t.Fatalf("left behind: %+v", f)
	}
}
