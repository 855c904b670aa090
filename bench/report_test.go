package main

import (
	"strings"
	"testing"
)

func reportOf(t *testing.T, r result) string {
	t.Helper()
	for i := range r.Scenarios {
		r.Scenarios[i].summarise()
	}
	var b strings.Builder
	if err := r.writeMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReportWithAPeer(t *testing.T) {
	text := reportOf(t, result{
		Server: serverInfo{Name: "natsd"}, Peer: &serverInfo{Name: "other"},
		Scenarios: []comparison{
			{
				Title:         "load",
				ServerSamples: []sample{{messagesPerSecond: 3e6, serverNs: 100, generatorNs: 20, generatorShare: 0.06}},
				PeerSamples:   []sample{{messagesPerSecond: 1e6, serverNs: 400}},
			},
			{Name: "broken", Title: "broken", Error: "it broke"},
		},
	})
	for _, want := range []string{
		"| load | 3.00 M | 1.00 M | **3.00 ×** | 100 ns | 400 ns | **0.25 ×** | 20.0 ns | 6 % |\n",
		"| scenario | messages/s: natsd | other | ratio | ",
		"FAILED broken: it broke\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "latency") {
		t.Errorf("a table of figures that nothing has:\n%s", text)
	}
}

func TestReportTablesHaveAsManyCellsAsHeads(t *testing.T) {
	all := sample{}
	for _, m := range allMetrics() {
		all[m] = 1
	}
	scenarios := []comparison{{Title: "a", ServerSamples: []sample{all}, PeerSamples: []sample{all}}}
	for _, peer := range []*serverInfo{nil, {Name: "other"}} {
		text := reportOf(t, result{Server: serverInfo{Name: "natsd"}, Peer: peer, Scenarios: scenarios})
		for table := range strings.SplitSeq(text, "\n\n") {
			if !strings.HasPrefix(table, "|") {
				continue
			}
			lines := strings.Split(strings.TrimSpace(table), "\n")
			for _, line := range lines {
				if strings.Count(line, "|") != strings.Count(lines[0], "|") {
					t.Errorf("uneven table:\n%s", table)
				}
			}
		}
	}
}

func TestCountsHaveThreeDigits(t *testing.T) {
	for value, want := range map[float64]string{
		12: "12.0", 7360: "7.36 k", 371_000: "371 k", 1_749_000: "1.75 M", 37_900_000: "37.9 M",
	} {
		if got := count(value); got != want {
			t.Errorf("count(%v) = %q, want %q", value, got, want)
		}
	}
}
