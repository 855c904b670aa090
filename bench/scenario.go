//go:build linux

package main

import "fmt"

// scenario is one load to measure a server under.
type scenario struct {
	name      string // short, for -scenario and JSON
	title     string // for the table
	plain     bool   // the sink can serve it: no wildcards, no queue groups
	encrypted bool   // clients use TLS
	monitored bool   // the server runs with its monitoring on
	rules     string // configuration
	itself    bool   // the server with the rules is compared with itself without, not with the peer
	run       func(s *server, o options) (sample, error)
}

// Sizes of the scenarios.
const (
	smallPayloadBytes = 128
	largePayloadBytes = 64 << 10

	// publishBlockBytes is for loads without a subscriber, where each block
	// costs the server a PONG; the larger it is, the less that weighs.
	publishBlockBytes = 256 << 10
	// deliverBlockBytes is for loads whose messages are delivered.
	deliverBlockBytes = 64 << 10
	// largeBlockBytes is for large messages.
	largeBlockBytes = 256 << 10

	wildcardSubscriptions = 100_000
	wildcardHolders       = 10
)

// scenarios lists them in the order of the table.
func scenarios() []scenario {
	return []scenario{
		{name: "pub-16", title: "publish, no subscriber, 16 B", plain: true, run: publishOnly(16)},
		{name: "pub-128", title: "publish, no subscriber, 128 B", plain: true, run: publishOnly(128)},
		{name: "1-1-128", title: "1 publisher → 1 subscriber, 128 B", plain: true, run: fan(1, 1, smallPayloadBytes)},
		{name: "1-10-128", title: "1 → 10, 128 B", plain: true, run: fan(1, 10, smallPayloadBytes)},
		{name: "1-100-128", title: "1 → 100, 128 B", plain: true, run: fan(1, 100, smallPayloadBytes)},
		{name: "10-1-128", title: "10 publishers → 1, 128 B", plain: true, run: fan(10, 1, smallPayloadBytes)},
		{name: "pairs-4-128", title: "4 pairs, 128 B", plain: true, run: pairs(4, smallPayloadBytes)},
		{name: "queue-10-128", title: "queue group of 10, 128 B", run: queue(10, smallPayloadBytes)},
		{name: "wildcard-100k-128", title: "wildcard among 100,000 subscriptions, 128 B", run: wildcard},
		{name: "1-1-64k", title: "1 → 1, 64 KiB", plain: true, run: fan(1, 1, largePayloadBytes)},
		{name: "1-10-64k", title: "1 → 10, 64 KiB", plain: true, run: fan(1, 10, largePayloadBytes)},
		{name: "request-reply", title: "request/reply, one at a time, 128 B", run: requestReply},
		{name: "idle-10k", title: "10,000 idle connections, one subscription each", run: idle},
		{name: "tls-pub-128", title: "TLS: publish, no subscriber, 128 B", encrypted: true, run: publishOnly(128)},
		{name: "tls-1-1-128", title: "TLS: 1 → 1, 128 B", encrypted: true, run: fan(1, 1, smallPayloadBytes)},
		{name: "tls-1-10-128", title: "TLS: 1 → 10, 128 B", encrypted: true, run: fan(1, 10, smallPayloadBytes)},
		{name: "tls-1-1-64k", title: "TLS: 1 → 1, 64 KiB", encrypted: true, run: fan(1, 1, largePayloadBytes)},
		{name: "rules-permissions", title: "1 → 1, 128 B: users with permissions", rules: withPermissions, itself: true, run: fan(1, 1, smallPayloadBytes)},
		{name: "rules-filter", title: "1 → 1, 128 B: a subscription that a denial overlaps", rules: withDenial, itself: true, run: fanOf("bench.>", 1, 1, smallPayloadBytes)},
		{name: "rules-import", title: "1 → 1, 128 B: across a stream import", rules: withImport, itself: true, run: fan(1, 1, smallPayloadBytes)},
		{name: "rules-import-10", title: "1 → 10, 128 B: across a stream import", rules: withImport, itself: true, run: fan(1, 10, smallPayloadBytes)},
		{name: "login-flood", title: "request/reply beside 2,000 logins a second with wrong passwords", rules: withHashes, run: besideLogins},
		{name: "mixed", title: "mixed load", monitored: true, run: mixed},
	}
}

// publishOnly has one publisher and nobody who listens.
func publishOnly(payloadBytes int) func(*server, options) (sample, error) {
	return func(s *server, o options) (sample, error) {
		g, err := publishOnlyGroup(s.at(), o, payloadBytes)
		if err != nil {
			return nil, err
		}
		return measureFlow(s, o, []*group{g})
	}
}

// fan has publishers on one subject and receivers that each get all of it.
func fan(publishers, receivers, payloadBytes int) func(*server, options) (sample, error) {
	return fanOf("bench.fan", publishers, receivers, payloadBytes)
}

// fanOf is fan with receivers that subscribe to a pattern.
func fanOf(pattern string, publishers, receivers, payloadBytes int) func(*server, options) (sample, error) {
	return func(s *server, o options) (sample, error) {
		g, err := fanGroup(s.at(), o, "bench.fan", pattern, publishers, receivers, payloadBytes)
		if err != nil {
			return nil, err
		}
		return measureFlow(s, o, []*group{g})
	}
}

// pairs has several publishers with one receiver each.
func pairs(count, payloadBytes int) func(*server, options) (sample, error) {
	return func(s *server, o options) (sample, error) {
		o.windowBytes /= int64(count)
		var groups []*group
		for i := range count {
			subject := fmt.Sprintf("bench.pair.%d", i)
			g, err := fanGroup(s.at(), o, subject, subject, 1, 1, payloadBytes)
			if err != nil {
				return nil, err
			}
			groups = append(groups, g)
		}
		return measureFlow(s, o, groups)
	}
}

// queue has one publisher and the members of a queue group, each on a
// connection of its own.
func queue(members, payloadBytes int) func(*server, options) (sample, error) {
	return func(s *server, o options) (sample, error) {
		g, err := queueGroup(s.at(), o, "bench.queue", members, payloadBytes)
		if err != nil {
			return nil, err
		}
		return measureFlow(s, o, []*group{g})
	}
}

// wildcard publishes on changing subjects among 100,000 subscriptions.
func wildcard(s *server, o options) (sample, error) {
	g, err := wildcardGroup(s.at(), o, wildcardSubscriptions, wildcardHolders, smallPayloadBytes)
	if err != nil {
		return nil, err
	}
	return measureFlow(s, o, []*group{g})
}
