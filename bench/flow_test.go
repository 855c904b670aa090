//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"testing"
	"time"
)

// TestMain lets the test binary be the sink that the tests drive.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sinkArgument {
		if err := runSink(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestFlowsAgainstTheSink drives every load the sink can serve for a moment.
// The runs check themselves: content, order and totals.
func TestFlowsAgainstTheSink(t *testing.T) {
	sink, err := ceilingContender()
	if err != nil {
		t.Fatal(err)
	}
	o := options{pairs: 2, duration: 20 * time.Millisecond, warmUp: 5 * time.Millisecond, windowBytes: windowMiBDefault << 20}
	for _, sc := range scenarios() {
		if !sc.plain {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			samples, err := alternate(sc, []contender{sink}, o, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if len(samples[0]) != o.pairs {
				t.Fatalf("%d samples", len(samples[0]))
			}
			for _, s := range samples[0] {
				for _, m := range []metric{messagesPerSecond, serverNs, generatorNs, residentMemory} {
					if s[m] <= 0 {
						t.Errorf("%s is %v", m, s[m])
					}
				}
			}
		})
	}
}

func TestEveryTargetHasItsScenario(t *testing.T) {
	names := map[string]bool{}
	short := regexp.MustCompile(`^[a-z0-9-]+$`)
	for _, sc := range scenarios() {
		if names[sc.name] || !short.MatchString(sc.name) {
			t.Errorf("bad or repeated name %q", sc.name)
		}
		names[sc.name] = true
	}
	for _, target := range targets() {
		if !names[target.scenario] {
			t.Errorf("target for unknown scenario %q", target.scenario)
		}
	}
}
