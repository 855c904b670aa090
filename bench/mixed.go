//go:build linux

package main

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

// mixed puts different loads on the server at once: small messages to one and
// to ten receivers, large ones, a queue group, publishing without a subscriber,
// requests one at a time, and clients that come, subscribe and go. Messages are
// those of the flows. It reads how long the turns of the engine were where the
// server tells it.
func mixed(s *server, o options) (sample, error) {
	groups, err := mixedGroups(s.at(), o)
	if err != nil {
		return nil, err
	}
	var stop atomic.Bool
	visitors := make(chan error, 1)
	go func() { visitors <- visit(s.at(), &stop) }()
	measured, err := measureFlow(s, o, groups)
	stop.Store(true)
	if visitorErr := <-visitors; err == nil && visitorErr != nil {
		err = fmt.Errorf("visitors: %w", visitorErr)
	}
	if err != nil {
		return nil, err
	}
	turns, err := s.turns()
	if err != nil {
		// The load itself was measured; the target will say that this was not.
		fmt.Fprintln(os.Stderr, "longest turn:", err)
	}
	maps.Copy(measured, turns)
	if len(turns) == 0 {
		return measured, nil
	}
	still, err := stillness(o.warmUp + o.duration)
	maps.Copy(measured, still)
	return measured, err
}

// mixedGroups connects the flows of the mixed load, which share the window.
func mixedGroups(to endpoint, o options) ([]*group, error) {
	builders := []func(options) (*group, error){
		func(o options) (*group, error) {
			return fanGroup(to, o, "bench.mixed.one", "bench.mixed.one", 1, 1, smallPayloadBytes)
		},
		func(o options) (*group, error) {
			return fanGroup(to, o, "bench.mixed.ten", "bench.mixed.ten", 1, 10, smallPayloadBytes)
		},
		func(o options) (*group, error) {
			return fanGroup(to, o, "bench.mixed.large", "bench.mixed.large", 1, 1, largePayloadBytes)
		},
		func(o options) (*group, error) { return queueGroup(to, o, "bench.mixed.queue", 5, smallPayloadBytes) },
		func(o options) (*group, error) { return publishOnlyGroup(to, o, 16) },
	}
	o.windowBytes /= int64(len(builders))
	var groups []*group
	for _, build := range builders {
		g, err := build(o)
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}

const (
	visitorSubscriptions = 100
	visitorPause         = 2 * time.Millisecond
)

// visit makes one request, then lets one client come and go, until told to
// stop. It has a thread of its own.
func visit(to endpoint, stop *atomic.Bool) error {
	runtime.LockOSThread()
	x, err := newExchange(to, "bench.mixed.request", smallPayloadBytes)
	if err != nil {
		return err
	}
	defer x.close()
	var subscriptions []string
	for i := range visitorSubscriptions {
		shape := [...]string{"bench.visitor.%d %s", "bench.visitor.*.%d %s", "bench.visitor.%d.> %s"}[i%3]
		subscriptions = append(subscriptions, fmt.Sprintf(shape, i, sidOf(i)))
	}
	for !stop.Load() {
		if _, err := x.once(); err != nil {
			return err
		}
		c, err := dial(to, "visitor")
		if err != nil {
			return err
		}
		err = c.subscribe(subscriptions...)
		c.close()
		if err != nil {
			return err
		}
		time.Sleep(visitorPause)
	}
	return nil
}
