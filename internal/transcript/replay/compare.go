package main

import (
	"fmt"
	"regexp"

	"github.com/natsd/natsd/internal/transcript"
)

// varying finds the fields of INFO whose values differ between any two servers or connections.
var varying = regexp.MustCompile(`"(server_id|server_name|git_commit|go|port|client_id|nonce|xkey|natsd)":("[^"]*"|\d+)`)

// compare plays a scenario against both servers and reports where a connection received different bytes.
func compare(o *options, sc *transcript.Scenario, piece int) (report []string) {
	open := opened(sc)
	first, err := play(o.server, open, piece, true)
	if err != nil {
		return []string{err.Error() + how(piece)}
	}
	second, err := play(o.peer, open, piece, true)
	if err != nil {
		return []string{"peer: " + err.Error() + how(piece)}
	}
	for i := range min(len(first), len(second)) {
		a, b := summary(first[i]), summary(second[i])
		if a != b {
			report = append(report, fmt.Sprintf("%s:%d: %s: %s received%s%s\n\tserver %s\n\tpeer   %s",
				sc.File, first[i].Line, sc.Name, first[i].Conn, how(piece), known(sc), a, b))
		}
	}
	return report
}

// opened is the scenario with each run of expectations replaced by recording what every connection receives.
func opened(sc *transcript.Scenario) *transcript.Scenario {
	open := *sc
	open.Steps = nil
	var conns []string
	recorded := true
	record := func(line int) {
		for _, name := range conns {
			if !recorded {
				open.Steps = append(open.Steps, transcript.Step{Line: line, Op: transcript.OpRecord, Conn: name})
			}
		}
		recorded = true
	}
	last := sc.Line
	for _, step := range sc.Steps {
		last = step.Line
		if step.Op >= transcript.OpExpect {
			recorded = false
			continue
		}
		record(step.Line)
		open.Steps = append(open.Steps, step)
		if step.Op == transcript.OpConnect || step.Op == transcript.OpDial {
			conns = append(conns, step.Conn)
		}
	}
	record(last)
	return &open
}

func summary(r transcript.Recording) string {
	text := transcript.Quote(varying.ReplaceAll(r.Data, []byte(`"$1":*`)))
	if r.Ended {
		text += " closed"
	}
	return text
}

// known tells that the scenario itself says how natsd differs.
func known(sc *transcript.Scenario) string {
	for _, step := range sc.Steps {
		if step.Only != transcript.Both {
			return " (a deliberate difference)"
		}
	}
	return ""
}
