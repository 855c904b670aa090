package engine

import "testing"

// What is given up is not handed out again, and what is handed out is not given up.
func TestSpareChunksAreGivenUp(t *testing.T) {
	var p chunkPool
	held, spare := p.get(100), p.get(1<<20)
	held.data[0] = 1
	p.release(spare)
	p.giveUp()
	if p.retained != 0 || p.live != 1 || held.data[0] != 1 {
		t.Errorf("%d bytes are kept, %d chunks are out", p.retained, p.live)
	}
	if again := p.get(1 << 20); again == spare || p.live != 2 {
		t.Error("a chunk that was given up is back")
	}
	p.release(held)
	if size := len(held.data); p.retained != size || p.get(100) != held {
		t.Errorf("%d bytes are kept, want %d", p.retained, size)
	}
}
