package main

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMedian(t *testing.T) {
	cases := []struct {
		in   []float64
		want float64
	}{
		{[]float64{3}, 3},
		{[]float64{5, 1, 3}, 3},
		{[]float64{4, 1, 3, 2}, 2.5},
	}
	for _, c := range cases {
		before := slices.Clone(c.in)
		if got := median(c.in); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.in, got, c.want)
		}
		if !slices.Equal(before, c.in) {
			t.Errorf("median changed its argument to %v", c.in)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("the median of nothing is a number")
	}
}

func TestPercentileIsTheSmallestValueThatCoversTheShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 200).Draw(t, "values")
		perMille := rapid.IntRange(1, 1000).Draw(t, "perMille")
		slices.Sort(values)
		got := percentile(values, perMille)
		covered, below := 0, 0
		for _, v := range values {
			if v <= got {
				covered++
			}
			if v < got {
				below++
			}
		}
		if covered*1000 < perMille*len(values) {
			t.Fatalf("percentile %d of %v is %d, which covers too few", perMille, values, got)
		}
		if below*1000 >= perMille*len(values) {
			t.Fatalf("percentile %d of %v is %d, a smaller one would do", perMille, values, got)
		}
	})
}

func TestRatiosPairSamplesThatHaveBoth(t *testing.T) {
	first := []sample{{serverNs: 10}, {serverNs: 30}, {latencyP50: 1}, {serverNs: 8}}
	second := []sample{{serverNs: 20}, {serverNs: 10}, {serverNs: 5}}
	if got := ratios(first, second, serverNs); !slices.Equal(got, []float64{0.5, 3}) {
		t.Errorf("ratios = %v", got)
	}
	if got := ratios(first, nil, serverNs); len(got) != 0 {
		t.Errorf("ratios without a peer = %v", got)
	}
}
