//go:build linux

package main

import (
	"fmt"
	"os"
	"time"
)

// gauge is a reading of everything that is measured as a difference.
type gauge struct {
	at        time.Time
	messages  int64
	server    time.Duration // CPU
	generator time.Duration // CPU
}

// readGauge takes a reading at a moment when messages have been counted.
func readGauge(s *server, messages int64) (gauge, error) {
	serverCPU, err := processCPU(s.pid)
	if err != nil {
		return gauge{}, err
	}
	generatorCPU, err := processCPU(os.Getpid())
	if err != nil {
		return gauge{}, err
	}
	return gauge{at: time.Now(), messages: messages, server: serverCPU, generator: generatorCPU}, nil
}

// until turns two readings and the server's memory at the end into a sample.
func (g gauge) until(end gauge, s *server) (sample, error) {
	messages := float64(end.messages - g.messages)
	if messages == 0 {
		return nil, fmt.Errorf("no message in %v", end.at.Sub(g.at))
	}
	memory, err := residentBytes(s.pid)
	if err != nil {
		return nil, err
	}
	elapsed := end.at.Sub(g.at)
	return sample{
		messagesPerSecond: messages / elapsed.Seconds(),
		serverNs:          float64(end.server-g.server) / messages,
		generatorNs:       float64(end.generator-g.generator) / messages,
		generatorShare:    float64(end.generator-g.generator) / float64(elapsed),
		residentMemory:    float64(memory),
	}, nil
}

// measureFlow verifies the groups' messages, warms the server up, measures, and
// checks the totals. It closes the groups' connections.
func measureFlow(s *server, o options, groups []*group) (sample, error) {
	f, err := newFlow(groups)
	if err != nil {
		return nil, err
	}
	defer f.close()
	if err := f.verify(); err != nil {
		return nil, fmt.Errorf("verification: %w", err)
	}
	if err := f.runFor(o.warmUp); err != nil {
		return nil, fmt.Errorf("warm-up: %w", err)
	}
	begin, err := readGauge(s, f.delivered())
	if err != nil {
		return nil, err
	}
	if err := f.runFor(o.duration); err != nil {
		return nil, err
	}
	end, err := readGauge(s, f.delivered())
	if err != nil {
		return nil, err
	}
	measured, err := begin.until(end, s)
	if err != nil {
		return nil, err
	}
	if err := f.finish(); err != nil {
		return nil, fmt.Errorf("final check: %w", err)
	}
	return measured, nil
}
