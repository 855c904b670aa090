package main

import "testing"

func TestJudgeComparesWithTheBound(t *testing.T) {
	c := comparison{
		Name:          "1-1-128",
		ServerSamples: []sample{{messagesPerSecond: 300, serverNs: 34}},
		PeerSamples:   []sample{{messagesPerSecond: 100, serverNs: 100}},
	}
	c.summarise()
	want := map[metric]string{messagesPerSecond: outcomeMet, serverNs: outcomeNotMet}
	verdicts := judge([]comparison{c})
	if len(verdicts) != len(want) {
		t.Fatalf("%d verdicts", len(verdicts))
	}
	for _, v := range verdicts {
		if v.Outcome != want[v.Metric] {
			t.Errorf("%s: %s, want %s", v.Metric, v.Outcome, want[v.Metric])
		}
	}
}

func TestJudgeSaysWhatWasNotMeasured(t *testing.T) {
	c := comparison{Name: "1-1-128", ServerSamples: []sample{{messagesPerSecond: 300}}}
	c.summarise()
	for _, v := range judge([]comparison{c}) {
		if v.Outcome != outcomeNotMeasured {
			t.Errorf("%s without a peer: %s", v.Metric, v.Outcome)
		}
	}
}

func TestJudgeTheWorstTurnWithoutAPeer(t *testing.T) {
	for turn, want := range map[float64]string{4.9e6: outcomeMet, 5.1e6: outcomeNotMet} {
		c := comparison{Name: "mixed", ServerSamples: []sample{{mostTurnCPUNs: 1e6}, {mostTurnCPUNs: turn}, {mostTurnCPUNs: 1e6}}}
		c.summarise()
		verdicts := judge([]comparison{c})
		if len(verdicts) != 1 || verdicts[0].Outcome != want {
			t.Errorf("a turn with %v ns of CPU: %+v, want %s", turn, verdicts, want)
		}
	}
}
