package main

import (
	"fmt"
	"slices"
)

// target is one figure that natsd must reach against nats-server.
type target struct {
	scenario string
	metric   metric
	atLeast  bool    // the bound is a lower one
	bound    float64 // of the ratio server/peer, or of the value when absolute
	absolute bool
	worst    bool // of all runs, not the median; goes with absolute
}

// targets is the table of what natsd promises.
func targets() []target {
	var list []target
	ratio := func(scenario string, throughputAtLeast, cpuAtMost float64) {
		list = append(list,
			target{scenario: scenario, metric: messagesPerSecond, atLeast: true, bound: throughputAtLeast},
			target{scenario: scenario, metric: serverNs, bound: cpuAtMost})
	}
	const third = 1.0 / 3
	ratio("pub-16", 2.5, 0.4)
	ratio("pub-128", 2.5, 0.4)
	ratio("1-1-128", 3, third)
	ratio("1-10-128", 2.5, third)
	ratio("1-100-128", 2.5, third)
	ratio("10-1-128", 2.5, third)
	ratio("pairs-4-128", 1.8, third)
	ratio("queue-10-128", 2.5, 0.4)
	ratio("wildcard-100k-128", 2.5, 0.4)
	ratio("1-1-64k", 1.4, 0.5)
	ratio("1-10-64k", 1, 0.7)
	for _, encrypted := range []string{"tls-pub-128", "tls-1-1-128", "tls-1-10-128", "tls-1-1-64k"} {
		ratio(encrypted, 1.2, 0.85)
	}
	for _, rules := range []string{"rules-permissions", "rules-filter", "rules-import", "rules-import-10"} {
		list = append(list, target{scenario: rules, metric: serverNs, bound: 1.15})
	}
	return append(list,
		target{scenario: "request-reply", metric: latencyP50, bound: 1},
		target{scenario: "request-reply", metric: latencyP999, bound: 1},
		target{scenario: "request-reply", metric: serverNs, bound: 0.6},
		target{scenario: "idle-10k", metric: bytesPerConnection, bound: 1.0 / 8},
		target{scenario: "login-flood", metric: latencyP99, bound: 10e6, absolute: true},
		target{scenario: "mixed", metric: mostTurnCPUNs, bound: 5e6, absolute: true, worst: true},
	)
}

// verdict says how a target was met.
type verdict struct {
	Scenario string  `json:"scenario"`
	Title    string  `json:"title"`
	Metric   metric  `json:"metric"`
	Wanted   string  `json:"wanted"`
	Measured float64 `json:"measured"`
	Outcome  string  `json:"outcome"`
}

// The outcomes of a target.
const (
	outcomeMet         = "met"
	outcomeNotMet      = "not met"
	outcomeNotMeasured = "not measured"
)

// judge compares the targets of the scenarios that have run with the figures.
func judge(scenarios []comparison) []verdict {
	var verdicts []verdict
	for _, c := range scenarios {
		for _, t := range targets() {
			if t.scenario == c.Name {
				verdicts = append(verdicts, t.judge(c))
			}
		}
	}
	return verdicts
}

// judge compares one target with the figures of its scenario.
func (t target) judge(c comparison) verdict {
	v := verdict{Scenario: c.Name, Title: c.Title, Metric: t.metric, Outcome: outcomeNotMeasured}
	sign := "≤"
	if t.atLeast {
		sign = "≥"
	}
	figures := c.MedianRatios
	v.Wanted = fmt.Sprintf("%s %.3g ×", sign, t.bound)
	if t.absolute {
		figures = c.ServerMedians
		v.Wanted = sign + " " + t.metric.format(t.bound)
	}
	value, found := figures[t.metric]
	if runs := column(c.ServerSamples, t.metric); t.worst && found {
		value = slices.Max(runs)
	}
	if !found {
		return v
	}
	v.Measured = value
	v.Outcome = outcomeNotMet
	if t.atLeast && value >= t.bound || !t.atLeast && value <= t.bound {
		v.Outcome = outcomeMet
	}
	return v
}
