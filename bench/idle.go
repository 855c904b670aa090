//go:build linux

package main

import (
	"fmt"
	"time"
)

const (
	idleConnections = 10_000
	// idleSpareFiles is what a process needs besides its connections.
	idleSpareFiles = 200
	// idleSettle is how long a server is left alone before its memory is read.
	idleSettle = time.Second
)

// idle measures how much resident memory a connection with one subscription
// costs the server. What the kernel holds for the socket is not part of it.
func idle(s *server, _ options) (sample, error) {
	time.Sleep(idleSettle / 4)
	before, err := residentBytes(s.pid)
	if err != nil {
		return nil, err
	}
	connections := make([]*conn, 0, idleConnections)
	defer func() {
		for _, c := range connections {
			c.close()
		}
	}()
	for i := range idleConnections {
		c, err := dial(s.at(), "idle")
		if err != nil {
			return nil, fmt.Errorf("connection %d: %w", i+1, err)
		}
		connections = append(connections, c)
		if err := c.subscribe(fmt.Sprintf("bench.idle.%05d %s", i, sidOf(0))); err != nil {
			return nil, fmt.Errorf("connection %d: %w", i+1, err)
		}
		c.in, c.done = nil, 0
	}
	time.Sleep(idleSettle)
	after, err := residentBytes(s.pid)
	if err != nil {
		return nil, err
	}
	return sample{
		residentMemory:     float64(after),
		bytesPerConnection: float64(after-before) / idleConnections,
	}, nil
}
