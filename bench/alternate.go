//go:build linux

package main

import (
	"fmt"
	"io"
)

// contender is a server to measure under a name.
type contender struct {
	name    string
	program program
}

// alternate runs a scenario on the contenders, one run of each per pair, with
// the order reversed from pair to pair so that neither always comes first. It
// returns the samples by contender. An error ends the scenario; samples of pairs
// that were complete are returned with it.
func alternate(sc scenario, contenders []contender, o options, progress io.Writer) ([][]sample, error) {
	samples := make([][]sample, len(contenders))
	for pair := range o.pairs {
		taken := make([]sample, len(contenders))
		for i := range contenders {
			if pair%2 == 1 {
				i = len(contenders) - 1 - i
			}
			measured, err := runOnce(sc, contenders[i], o)
			if err != nil {
				return samples, fmt.Errorf("%s: %w", contenders[i].name, err)
			}
			taken[i] = measured
			fmt.Fprintf(progress, "%s %d/%d %s:%s\n", sc.name, pair+1, o.pairs, contenders[i].name, measured.brief())
		}
		for i := range contenders {
			samples[i] = append(samples[i], taken[i])
		}
	}
	return samples, nil
}

// runOnce runs a scenario on a fresh process of the contender.
func runOnce(sc scenario, c contender, o options) (sample, error) {
	s, err := c.program.start(sc)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	measured, err := sc.run(s, o)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, s.lastWords())
	}
	return measured, nil
}

// brief writes the sample on one line.
func (s sample) brief() string {
	text := ""
	for _, m := range allMetrics() {
		if v, found := s[m]; found {
			text += fmt.Sprintf(" %s %s", m.title(), m.format(v)) + ","
		}
	}
	return text[:max(0, len(text)-1)]
}
