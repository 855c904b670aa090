package sim

import "testing"

func TestUnlikely(t *testing.T) {
	for _, c := range []struct {
		got, total, weight int64
		want               bool
	}{
		{0, 0, 50, false}, {0, 10, 50, false}, {0, 10_000, 1, true}, {100, 10_000, 1, false}, {60, 10_000, 1, false}, {200, 10_000, 1, true},
		{5000, 10_000, 50, false}, {5200, 10_000, 50, false}, {5500, 10_000, 50, true}, {4500, 10_000, 50, true},
		{9900, 10_000, 99, false}, {10_000, 10_000, 99, true}, {0, 10_000, 0, false}, {20, 10_000, 0, true}, {10_000, 10_000, 100, false},
	} {
		if got := unlikely(c.got, c.total, c.weight); got != c.want {
			t.Errorf("%d of %d at %d%%: %v", c.got, c.total, c.weight, got)
		}
	}
}
