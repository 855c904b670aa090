package netsim

import (
	"bytes"
	"testing"
)

// The stream is kept from running empty, so that its ring wraps many times.
func TestRingWraps(t *testing.T) {
	w := newWorld(t, 1, Config{SendBuffer: 400, RecvBuffer: 112})
	_, _, a, d := w.pair()
	a.Pause()
	var sent, read []byte
	next := byte(0)
	for i := range 3000 {
		b := make([]byte, i%97)
		for j := range b {
			next = next*5 + 3
			b[j] = next
		}
		sent = append(sent, b[:d.Send([][]byte{b})]...)
		w.run(1)
		buf := make([]byte, i%89)
		if left := len(sent) - len(read); left > 200 {
			n, _ := a.Read(buf)
			read = append(read, buf[:n]...)
		}
		w.run(1)
	}
	if len(read) < 90_000 || !bytes.HasPrefix(sent, read) {
		t.Fatal("read other bytes than sent, or hardly any: ", len(read))
	}
	if k := w.net.pool.out; k != 1 {
		t.Fatalf("%d rings", k)
	}
	if size := len(d.out().buf); size != 512 {
		t.Fatalf("a ring of %d", size)
	}
}

func TestRingGrowsInPlace(t *testing.T) {
	var p pool
	r := p.get(100)
	if len(r) != 512 {
		t.Fatal(len(r))
	}
	const from = 1<<40 + 500 // wraps after 12 bytes
	want := bytes.Repeat([]byte("0123456789"), 51)
	r.put(from, want)
	r = p.grow(r, from, from+uint64(len(want)), 513)
	got := make([]byte, len(want))
	r.get(from, got)
	if len(r) != 1024 || !bytes.Equal(got, want) {
		t.Fatal(len(r), string(got))
	}
	p.put(r)
	if p.out != 0 {
		t.Fatal(p.out)
	}
	if again := p.get(1024); &again[0] != &r[0] {
		t.Fatal("not used again")
	}
}
