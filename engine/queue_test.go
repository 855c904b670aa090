package engine

import "testing"

// However many wait, and however long the line lasts, it keeps its order, and room for not much more than those in it. To
// join it does not take longer where it is long.
func TestQueueGoesRound(t *testing.T) {
	for _, waiting := range []int{1, 2, 7, 1000, 1024} {
		var q queue[*conn]
		var all []*conn
		for i := range waiting {
			all = append(all, &conn{cid: uint64(i)})
			q.push(all[i])
		}
		moved := 0
		for i := range 20 * waiting {
			c := q.pop()
			if c != all[i%waiting] {
				t.Fatalf("of %d waiting, cid %d came instead of %d", waiting, c.cid, i%waiting)
			}
			first := q.first
			if q.push(c); q.first < first {
				moved += q.len()
			}
		}
		if q.len() != waiting || cap(q.list) > 4*waiting+8 {
			t.Errorf("%d wait, want %d, with room for %d", q.len(), waiting, cap(q.list))
		}
		if moved > 2*20*waiting {
			t.Errorf("with %d waiting, %d were moved for %d that joined", waiting, moved, 20*waiting)
		}
	}
}
