package sublist

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Any number of groups is sorted, in pieces that take about as long as they may.
func TestOrder(t *testing.T) {
	for _, n := range []int{0, 1, sortedMost - 1, sortedMost, sortedMost + 1, 2 * sortedMost, 3*sortedMost + 5, 4 * sortedMost, 9*sortedMost - 1} {
		var o order[int]
		var list []Group[int]
		for i := range n {
			list = append(list, Group[int]{Name: fmt.Sprint(i * 7919 % 65537)})
		}
		want := slices.Clone(list)
		slices.SortFunc(want, func(a, b Group[int]) int { return strings.Compare(a.Name, b.Name) })
		for done, pieces := false, 0; !done; pieces++ {
			var steps uint64
			if list, steps, done = o.goOn(list, 1000); steps > 1000+sortSteps*sortedMost {
				t.Fatalf("a piece took %d", steps)
			}
			if pieces > n {
				t.Fatal("it does not end")
			}
		}
		if !slices.EqualFunc(list, want, func(a, b Group[int]) bool { return a.Name == b.Name }) {
			t.Errorf("%d groups are not sorted", n)
		}
	}
}
