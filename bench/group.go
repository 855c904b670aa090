//go:build linux

package main

import "fmt"

// group is a set of publishers and the receivers their messages reach.
type group struct {
	publishers []*publisher
	receivers  []*receiver

	// copies is 0 when each receiver gets every message. Otherwise the
	// receivers share the messages: each message is delivered copies times,
	// to any of them.
	copies int

	// window is how many messages may be under way: to the slowest receiver
	// when each gets every message, to all together when they share, to the
	// server when there is none.
	window int64

	sent int64 // messages of all blocks begun, over all publishers
}

// room says whether p may begin a block.
func (g *group) room(p *publisher) bool {
	next := int64(p.messages)
	switch {
	case len(g.receivers) == 0:
		return p.sent-p.acked+next <= g.window
	case g.copies > 0:
		return (g.sent+next)*int64(g.copies)-g.delivered() <= g.window
	}
	return g.sent+next-g.slowest() <= g.window
}

// slowest is the number of messages the slowest receiver has got.
func (g *group) slowest() int64 {
	least := g.receivers[0].received()
	for _, r := range g.receivers[1:] {
		least = min(least, r.received())
	}
	return least
}

// delivered is the number of messages that count: received, or acknowledged
// when there is no receiver.
func (g *group) delivered() int64 {
	total := int64(0)
	if len(g.receivers) == 0 {
		for _, p := range g.publishers {
			total += p.acked
		}
		return total
	}
	for _, r := range g.receivers {
		total += r.received()
	}
	return total
}

// expected is what delivered must come to for all that was sent.
func (g *group) expected() int64 {
	switch {
	case len(g.receivers) == 0:
		return g.sent
	case g.copies > 0:
		return g.sent * int64(g.copies)
	}
	return g.sent * int64(len(g.receivers))
}

// settled says whether the publishers have reached their limits and all that
// they sent has arrived.
func (g *group) settled() bool {
	for _, p := range g.publishers {
		if p.sent < p.limit || p.offset != 0 {
			return false
		}
	}
	return g.delivered() >= g.expected()
}

// checkTotals compares what has been received at the end with what was sent.
func (g *group) checkTotals() error {
	if len(g.receivers) == 0 {
		return nil
	}
	total := int64(0)
	for _, r := range g.receivers {
		counted, err := r.excess()
		if err != nil {
			return err
		}
		counted += r.verified
		if g.copies == 0 && counted != g.sent {
			return fmt.Errorf("a subscriber received %d messages of %d", counted, g.sent)
		}
		total += counted
	}
	if total != g.expected() {
		return fmt.Errorf("%d messages received, expected %d", total, g.expected())
	}
	return nil
}

// close ends the group's connections.
func (g *group) close() {
	for _, p := range g.publishers {
		p.conn.close()
	}
	for _, r := range g.receivers {
		r.conn.close()
	}
}
