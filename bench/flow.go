//go:build linux

package main

import (
	"errors"
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// flow drives the publishers and receivers of a scenario through one epoll,
// from one thread.
type flow struct {
	epoll   int
	groups  []*group
	sources []source // what the data of an epoll event indexes
	events  [256]unix.EpollEvent
	replies int // receivers that have yet to see the PONG of finish
}

// source is one registered connection; exactly one field is set.
type source struct {
	publisher *publisher
	receiver  *receiver
}

// stallLimit is how long a flow may wait without moving a byte before it counts
// as stuck.
const stallLimit = 15 * time.Second

var errStalled = errors.New("no progress: messages are missing")

// newFlow takes over the connections of the groups and makes them non-blocking.
func newFlow(groups []*group) (*flow, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	f := &flow{epoll: epoll, groups: groups}
	for _, g := range groups {
		for _, p := range g.publishers {
			// Edge-triggered: no epoll_ctl each time a socket fills up.
			if err := f.add(p.conn, source{publisher: p}, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLET); err != nil {
				return nil, err
			}
		}
		for _, r := range g.receivers {
			if err := f.add(r.conn, source{receiver: r}, unix.EPOLLIN); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

func (f *flow) add(c *conn, s source, events uint32) error {
	if err := unix.SetNonblock(c.fd, true); err != nil {
		return fmt.Errorf("non-blocking: %w", err)
	}
	e := unix.EpollEvent{Events: events, Fd: int32(len(f.sources))}
	if err := unix.EpollCtl(f.epoll, unix.EPOLL_CTL_ADD, c.fd, &e); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	f.sources = append(f.sources, s)
	return nil
}

// close ends every connection.
func (f *flow) close() {
	for _, g := range f.groups {
		g.close()
	}
	// Nothing is left to go wrong with an epoll that is given up.
	_ = unix.Close(f.epoll)
}

// delivered is the number of messages counted so far, over all groups.
func (f *flow) delivered() int64 {
	total := int64(0)
	for _, g := range f.groups {
		total += g.delivered()
	}
	return total
}

// verify publishes one block from each publisher and compares all that arrives,
// byte for byte.
func (f *flow) verify() error {
	for _, g := range f.groups {
		for _, r := range g.receivers {
			if err := r.enter(modeVerify); err != nil {
				return err
			}
		}
		for _, p := range g.publishers {
			p.limit = p.sent + int64(p.messages)
		}
	}
	if err := f.drain(); err != nil {
		return err
	}
	for _, g := range f.groups {
		for _, r := range g.receivers {
			if len(r.conn.in) != r.conn.done {
				return fmt.Errorf("%w: %d bytes too many", errFrame, len(r.conn.in)-r.conn.done)
			}
			if err := r.enter(modeCount); err != nil {
				return err
			}
		}
		for _, p := range g.publishers {
			p.limit = math.MaxInt64
		}
	}
	return nil
}

// runFor keeps the load up for so long, and in any case until a message has been
// counted.
func (f *flow) runFor(d time.Duration) error {
	deadline, before := time.Now().Add(d), f.delivered()
	return f.run(func() bool { return !time.Now().Before(deadline) && f.delivered() > before })
}

// drain runs until all that the publishers may send has been sent and received.
func (f *flow) drain() error {
	return f.run(func() bool {
		for _, g := range f.groups {
			if !g.settled() {
				return false
			}
		}
		return true
	})
}

// finish stops the publishers, receives the rest and checks the totals.
func (f *flow) finish() error {
	for _, g := range f.groups {
		for _, p := range g.publishers {
			p.limit = p.sent
		}
		for _, r := range g.receivers {
			if err := r.enter(modeDrain); err != nil {
				return err
			}
		}
	}
	if err := f.drain(); err != nil {
		return err
	}
	for _, g := range f.groups {
		for _, r := range g.receivers {
			f.replies++
			if err := r.enter(modeTail); err != nil {
				return err
			}
			if err := r.conn.write([]byte("PING\r\n")); err != nil {
				return err
			}
		}
	}
	if err := f.run(func() bool { return f.replies == 0 }); err != nil {
		return err
	}
	for _, g := range f.groups {
		if err := g.checkTotals(); err != nil {
			return err
		}
	}
	return nil
}

// run handles events until done says so; done is asked after each round.
func (f *flow) run(done func() bool) error {
	quietSince := time.Time{}
	for {
		more, moved, err := f.pump()
		if err != nil {
			return err
		}
		if done() {
			return nil
		}
		timeoutMs := waitTimeoutMs
		if more {
			timeoutMs = 0
		}
		n, err := waitNow(f.epoll, f.events[:], timeoutMs)
		if err != nil {
			return err
		}
		for _, e := range f.events[:n] {
			if err := f.handle(f.sources[e.Fd], e.Events); err != nil {
				return err
			}
		}
		switch {
		case n > 0 || moved:
			quietSince = time.Time{}
		case quietSince.IsZero():
			quietSince = time.Now()
		case time.Since(quietSince) > stallLimit:
			return fmt.Errorf("%w: %s", errStalled, f.state())
		}
	}
}

// state describes where the groups are, for an error message.
func (f *flow) state() string {
	text := ""
	for i, g := range f.groups {
		text += fmt.Sprintf("group %d: sent %d, received %d of %d;", i, g.sent, g.delivered(), g.expected())
		for j, p := range g.publishers {
			text += fmt.Sprintf(" publisher %d: socket full %t, %d of %d bytes of its block;", j, p.full, p.offset, len(p.blocks[p.block]))
		}
	}
	return text
}

// pump lets each publisher write once. More says that one of them could go on
// at once, moved that a byte was written.
func (f *flow) pump() (more, moved bool, err error) {
	for _, g := range f.groups {
		for _, p := range g.publishers {
			wrote, err := p.write()
			if err != nil {
				return false, false, err
			}
			moved = moved || wrote
			more = more || wrote && !p.full
		}
	}
	return more, moved, nil
}

// handle carries out what an event asks for.
func (f *flow) handle(s source, events uint32) error {
	if s.publisher != nil {
		if events&unix.EPOLLOUT != 0 {
			s.publisher.full = s.publisher.conn.secure != nil && !s.publisher.conn.secure.flush()
		}
		if events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
			return s.publisher.read()
		}
		return nil
	}
	ended, err := s.receiver.read()
	if ended {
		f.replies--
	}
	return err
}
