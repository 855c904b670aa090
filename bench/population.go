//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// This file connects the publishers and receivers of each kind of load.

// receiverWindowBytesMax keeps what a server may have to hold for one receiver
// far below the 64 MiB at which nats-server drops it.
const receiverWindowBytesMax = 8 << 20

// wakeBytesMax is the most that a receiver lets arrive before it is told.
const wakeBytesMax = 256 << 10

// publishOnlyGroup connects a publisher without receivers.
func publishOnlyGroup(to endpoint, o options, payloadBytes int) (*group, error) {
	g := &group{}
	plan := blockPlan{
		subject: constant("bench.pub"), payloadBytes: payloadBytes,
		blockBytes: publishBlockBytes, blocks: 1, ping: true,
	}
	if err := g.addPublisher(to, plan); err != nil {
		return nil, err
	}
	g.window = o.windowBytes / int64(len(g.publishers[0].blocks[0])) * int64(g.publishers[0].messages)
	return g, nil
}

// fanGroup connects publishers on one subject and receivers of all of it, by a
// subscription to the pattern.
func fanGroup(to endpoint, o options, subject, pattern string, publishers, receivers, payloadBytes int) (*group, error) {
	g := &group{}
	for range receivers {
		if err := g.addReceiver(to, subject, payloadBytes, pattern+" "+sidOf(0)); err != nil {
			return nil, err
		}
	}
	for i := range publishers {
		plan := blockPlan{
			publisher: i, subject: constant(subject), payloadBytes: payloadBytes,
			blockBytes: blockBytesFor(payloadBytes), blocks: 1,
		}
		if err := g.addPublisher(to, plan); err != nil {
			return nil, err
		}
	}
	g.setWindow(min(o.windowBytes/int64(receivers), receiverWindowBytesMax))
	return g, nil
}

// queueGroup connects a publisher and the members of a queue group.
func queueGroup(to endpoint, o options, subject string, members, payloadBytes int) (*group, error) {
	g := &group{copies: 1}
	for range members {
		if err := g.addReceiver(to, subject, payloadBytes, subject+" workers "+sidOf(0)); err != nil {
			return nil, err
		}
	}
	plan := blockPlan{
		subject: constant(subject), payloadBytes: payloadBytes,
		blockBytes: blockBytesFor(payloadBytes), blocks: 1,
	}
	if err := g.addPublisher(to, plan); err != nil {
		return nil, err
	}
	g.setWindow(min(o.windowBytes, receiverWindowBytesMax))
	return g, nil
}

// wildcardGroup spreads subscriptions over the holders: bench.wNNNNN.x for even
// numbers and bench.wNNNNN.* for odd ones. One more receiver subscribes to
// bench.*.x, which makes the count complete. The published subjects are all the
// bench.wNNNNN.x in a random order, so that each message is delivered twice: to
// that receiver and to one holder.
func wildcardGroup(to endpoint, o options, subscriptions, holders, payloadBytes int) (*group, error) {
	g := &group{copies: 2}
	numbers := subscriptions - 1
	lists := make([][]string, holders)
	for n := range numbers {
		last := "x"
		if n%2 == 1 {
			last = "*"
		}
		holder := n % holders
		lists[holder] = append(lists[holder], fmt.Sprintf("bench.w%05d.%s %s", n, last, sidOf(n)))
	}
	lists = append(lists, []string{"bench.*.x " + sidOf(numbers)})
	for _, list := range lists {
		if err := g.addReceiver(to, "bench.w00000.x", payloadBytes, list...); err != nil {
			return nil, err
		}
	}
	order := rand.New(rand.NewPCG(1, 2)).Perm(numbers)
	plan := blockPlan{
		subject:      func(i int) string { return fmt.Sprintf("bench.w%05d.x", order[i%numbers]) },
		payloadBytes: payloadBytes,
		blockBytes:   blockBytesFor(payloadBytes),
	}
	plan.blocks = numbers * len(plan.message(nil, 0)) / plan.blockBytes
	if err := g.addPublisher(to, plan); err != nil {
		return nil, err
	}
	g.setWindow(min(o.windowBytes, receiverWindowBytesMax))
	return g, nil
}

// addPublisher connects a publisher that writes the blocks of the plan.
func (g *group) addPublisher(to endpoint, plan blockPlan) error {
	c, err := dial(to, "publisher")
	if err != nil {
		return err
	}
	p := &publisher{conn: c, group: g, limit: math.MaxInt64}
	p.blocks, p.messages = plan.build()
	g.publishers = append(g.publishers, p)
	return nil
}

// addReceiver connects a receiver with the given subscriptions, on all of which
// it gets messages as long as one on the given subject.
func (g *group) addReceiver(to endpoint, subject string, payloadBytes int, subscriptions ...string) error {
	c, err := dial(to, "subscriber")
	if err != nil {
		return err
	}
	if err := c.subscribe(subscriptions...); err != nil {
		return err
	}
	g.receivers = append(g.receivers, &receiver{
		conn:         c,
		messageBytes: deliveredBytes(subject, sidOf(0), payloadBytes),
		payloadBytes: payloadBytes,
		last:         map[int]int{},
	})
	return nil
}

// setWindow lets so many bytes of messages be under way, and in any case two
// blocks of each publisher.
func (g *group) setWindow(bytes int64) {
	g.window = bytes / int64(g.receivers[0].messageBytes)
	blocks := 2 * int64(len(g.publishers)*g.publishers[0].messages) * int64(max(g.copies, 1))
	g.window = max(g.window, blocks)
	// Receivers that were not told of their last bytes must not use up the
	// window between them, or the flow would stop.
	window := g.window * int64(g.receivers[0].messageBytes)
	if g.copies > 0 {
		window /= int64(len(g.receivers))
	}
	for _, r := range g.receivers {
		r.wakeBytes = int(min(wakeBytesMax, window/4))
	}
}

// blockBytesFor is how much of messages of a size a publisher writes at once.
func blockBytesFor(payloadBytes int) int {
	if payloadBytes >= largePayloadBytes {
		return largeBlockBytes
	}
	return deliverBlockBytes
}

// constant is the subject of a publisher that has only one.
func constant(subject string) func(int) string {
	return func(int) string { return subject }
}
