package main

import (
	"math"
	"slices"
)

// metric names a figure measured in a scenario.
type metric string

// The figures. A scenario yields some of them.
const (
	messagesPerSecond  metric = "messages_per_second"
	serverNs           metric = "server_cpu_ns_per_message"
	generatorNs        metric = "generator_cpu_ns_per_message"
	generatorShare     metric = "generator_share_of_a_core"
	residentMemory     metric = "rss_bytes"
	latencyP50         metric = "latency_p50_ns"
	latencyP99         metric = "latency_p99_ns"
	latencyP999        metric = "latency_p999_ns"
	bytesPerConnection metric = "rss_bytes_per_connection"
	longestTurnNs      metric = "longest_turn_ns"
	mostTurnCPUNs      metric = "most_turn_cpu_ns"
	stillClockNs       metric = "still_clock_ns"
	stillCPUNs         metric = "still_cpu_ns"
)

// sample is what one run of a scenario against one server measured.
type sample map[metric]float64

// median returns the middle of the values, the mean of the two middle ones when
// their number is even, and NaN when there are none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// percentile returns the smallest value that at least perMille thousandths of
// the sorted values do not exceed (the nearest-rank method). The values must not
// be empty.
func percentile(sorted []int64, perMille int) int64 {
	rank := (len(sorted)*perMille + 999) / 1000
	return sorted[max(rank, 1)-1]
}

// column returns one metric of all samples that have it.
func column(samples []sample, m metric) []float64 {
	var values []float64
	for _, s := range samples {
		if v, found := s[m]; found {
			values = append(values, v)
		}
	}
	return values
}

// ratios returns, for each pair of samples that both have the metric, the first
// server's value divided by the second's.
func ratios(first, second []sample, m metric) []float64 {
	var values []float64
	for i := range min(len(first), len(second)) {
		a, foundA := first[i][m]
		b, foundB := second[i][m]
		if foundA && foundB && b != 0 {
			values = append(values, a/b)
		}
	}
	return values
}
