package engine

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestLinesModel holds queues that share lines against plain slices of bytes: whoever misses some, is slow or has lines of
// its own between them, each queue gives what was appended to it, and in the end no buffer is held.
func TestLinesModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			shared lines
			p      chunkPool
			queues [5]outQueue
			models [5][]byte
			next   byte
		)
		fill := func(b []byte) {
			for i := range b {
				next = next*31 + 7
				b[i] = next
			}
		}
		sizes := rapid.OneOf(rapid.IntRange(1, 200), rapid.IntRange(1, linesMost))
		pick := func(t *rapid.T) int { return rapid.IntRange(0, len(queues)-1).Draw(t, "queue") }
		t.Repeat(map[string]func(*rapid.T){
			"line": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "lines") {
					n := sizes.Draw(t, "size")
					ck, at := shared.place(&p, n)
					line := ck.data[at : at+n]
					fill(line)
					shared.used += n
					missing := rapid.IntRange(0, 40).Draw(t, "missing")
					for i := range queues {
						if i == missing {
							continue
						}
						if q := &queues[i]; !q.follow(&p, ck, at, n) {
							copy(q.extend(&p, n), line)
						}
						models[i] = append(models[i], line...)
					}
				}
			},
			"own": func(t *rapid.T) {
				i := pick(t)
				b := queues[i].extend(&p, sizes.Draw(t, "size"))
				fill(b)
				models[i] = append(models[i], b...)
			},
			"payload": func(t *rapid.T) {
				i, ck := pick(t), p.get(shareMin)
				fill(ck.data)
				queues[i].share(&p, ck, ck.data)
				models[i] = append(models[i], ck.data...)
				p.release(ck)
			},
			"written": func(t *rapid.T) {
				i := pick(t)
				offered := bytes.Join(queues[i].vectors(nil, rapid.IntRange(1, 10).Draw(t, "vectors"), rapid.IntRange(1, 1<<20).Draw(t, "most")), nil)
				if !bytes.HasPrefix(models[i], offered) {
					t.Fatalf("%d bytes are offered that differ from what was appended", len(offered))
				}
				n := len(offered)
				if rapid.Bool().Draw(t, "partly") {
					n = rapid.IntRange(0, n).Draw(t, "taken")
				}
				queues[i].written(&p, n)
				models[i] = models[i][n:]
			},
			"turn": func(*rapid.T) { shared.trim(&p) },
			"": func(t *rapid.T) {
				for i := range queues {
					if all := bytes.Join(queues[i].vectors(nil, 1<<30, 1<<30), nil); !bytes.Equal(all, models[i]) {
						t.Fatalf("queue %d: %d bytes wait that differ from the %d appended", i, len(all), len(models[i]))
					}
				}
			},
		})
		for i := range queues {
			queues[i].drop(&p)
		}
		if shared.trim(&p); p.live != 0 {
			t.Fatalf("%d buffers are held by nobody", p.live)
		}
	})
}
