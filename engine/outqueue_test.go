package engine

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestOutQueueModel holds an outQueue against a plain slice of bytes: whatever is appended, copied or shared, and however
// it is taken, the same bytes come out in the same order, and every buffer goes back to the pool.
func TestOutQueueModel(t *testing.T) { rapid.Check(t, outQueueModel) }

func FuzzOutQueue(f *testing.F) { f.Fuzz(rapid.MakeFuzz(outQueueModel)) }

func outQueueModel(t *rapid.T) {
	var (
		q     outQueue
		p     chunkPool
		model []byte
		next  byte
		held  []*chunk // shared payloads to which the test has a reference
	)
	fill := func(b []byte) {
		for i := range b {
			next = next*31 + 7
			b[i] = next
		}
		model = append(model, b...)
	}
	sizes := rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(1, 9000), rapid.SampledFrom([]int{4095, 4096, 4097, bigChunk - 1, bigChunk, bigChunk + 1}))
	t.Repeat(map[string]func(*rapid.T){
		"extend": func(t *rapid.T) { fill(q.extend(&p, sizes.Draw(t, "size"))) },
		"share": func(t *rapid.T) {
			ck := p.get(sizes.Draw(t, "size"))
			from := rapid.IntRange(0, len(ck.data)-1).Draw(t, "from")
			b := ck.data[from : from+rapid.IntRange(1, len(ck.data)-from).Draw(t, "len")]
			for range rapid.IntRange(1, 3).Draw(t, "times") {
				if len(model) > 0 && rapid.Bool().Draw(t, "line between") {
					fill(q.extend(&p, 20))
				}
				q.share(&p, ck, b)
				model = append(model, b...)
			}
			held = append(held, ck)
		},
		"release": func(t *rapid.T) {
			if len(held) > 0 {
				p.release(held[0])
				held = held[1:]
			}
		},
		"written": func(t *rapid.T) {
			iov := q.vectors(nil, rapid.IntRange(1, 10).Draw(t, "vectors"), rapid.IntRange(1, 1<<20).Draw(t, "most"))
			offered := bytes.Join(iov, nil)
			if !bytes.HasPrefix(model, offered) {
				t.Fatalf("%d bytes are offered that differ from what was appended", len(offered))
			}
			n := rapid.IntRange(0, len(offered)).Draw(t, "taken")
			q.written(&p, n)
			model = model[n:]
		},
		"drop": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
				q.drop(&p)
				model = nil
			}
		},
		"": func(t *rapid.T) {
			if q.pending != len(model) {
				t.Fatalf("pending is %d, %d bytes wait", q.pending, len(model))
			}
			if all := bytes.Join(q.vectors(nil, 1<<30, 1<<30), nil); !bytes.Equal(all, model) {
				t.Fatalf("%d bytes wait that differ from the %d appended", len(all), len(model))
			}
			if len(model) == 0 && len(held) == 0 && (p.live != 0 || q.ck != nil) {
				t.Fatalf("an empty queue holds %d buffers", p.live)
			}
		},
	})
	q.drop(&p)
	for _, ck := range held {
		p.release(ck)
	}
	if p.live != 0 {
		t.Fatalf("%d buffers were not given back", p.live)
	}
}

// TestChunkPool: a buffer is large enough, comes back when the last reference is gone, and no more is kept than allowed.
func TestChunkPool(t *testing.T) {
	var p chunkPool
	for _, n := range []int{1, 4096, 4097, 8192, 1<<14 - 1, 1 << 14, 1<<14 + 2, 64<<10 + 2, 1<<20 + 2, 1<<20 + 3, 70_000_000} {
		ck := p.get(n)
		if len(ck.data) < n || len(ck.data) > max(2*n, 4096) || n == 1<<20+2 && len(ck.data) > 1<<20+chunkSlack {
			t.Errorf("get(%d) returned %d bytes", n, len(ck.data))
		}
		ck.refs++
		p.release(ck)
		if p.live != 1 {
			t.Errorf("%d bytes: given back while in use", n)
		}
		p.release(ck)
		if again := p.get(n); len(ck.data) <= poolRetain && again != ck {
			t.Errorf("%d bytes are not used again", n)
		} else {
			p.release(again)
		}
	}
	if p.live != 0 || p.retained > poolRetain {
		t.Errorf("%d in use, %d bytes kept", p.live, p.retained)
	}
	sum := 0
	for _, list := range p.free {
		for _, ck := range list {
			sum += len(ck.data)
		}
	}
	if sum != p.retained {
		t.Errorf("%d bytes kept, counted %d", sum, p.retained)
	}
}

// No write is given more bytes than it is to take, however large the payload is that waits.
func TestVectorsCutLargeSegments(t *testing.T) {
	var p chunkPool
	var q outQueue
	ck := p.get(1 << 20)
	copy(q.extend(&p, 10), "0123456789")
	q.share(&p, ck, ck.data[:1<<20])
	copy(q.extend(&p, 3), "end")
	for _, most := range []int{1, 10, 11, 1000, 1<<20 + 10, 1<<20 + 12} {
		n := 0
		for _, b := range q.vectors(nil, 256, most) {
			n += len(b)
		}
		if n != most {
			t.Errorf("%d bytes of at most %d", n, most)
		}
	}
	p.release(ck)
	q.drop(&p)
	if p.live != 0 {
		t.Errorf("%d chunks are left", p.live)
	}
}
