package engine

import (
	"strings"

	"github.com/natsd/natsd/monitor"
)

// Bounds of what is remembered of closed connections.
const (
	// closedMax is how many are remembered where nothing is said, as in nats-server.
	closedMax = 10000
	// closedTextMax bounds the bytes of each text that a client chose.
	closedTextMax = 256
	// closedSubs is how many subscriptions of one connection are remembered, and closedSubsMax of all: of the connections
	// closed longest ago they are forgotten first.
	closedSubs    = 256
	closedSubsMax = 100_000
)

// closedRing holds the connections closed last.
type closedRing struct {
	most  int // that are remembered
	ring  []monitor.Conn
	count uint64 // of all that there were
	subs  int    // that are remembered
	bare  uint64 // those before have no subscriptions any more
}

func (r *closedRing) add(i monitor.Conn) {
	if r.most <= 0 {
		r.count++
		return
	}
	for _, s := range []*string{&i.Name, &i.Lang, &i.Version, &i.User} {
		shorten(s)
	}
	if len(r.ring) < r.most {
		r.ring = append(r.ring, i)
	} else {
		at := r.nth(r.count)
		r.subs -= at.Subs.Len()
		*at = i
	}
	r.count++
	r.subs += i.Subs.Len()
	for r.bare = max(r.bare, r.count-uint64(len(r.ring))); r.subs > closedSubsMax; r.bare++ {
		old := r.nth(r.bare)
		r.subs -= old.Subs.Len()
		old.Subs = monitor.Pages[monitor.Sub]{}
	}
}

// nth is the nth of all that there were, from 0 on; it must be one of those remembered.
func (r *closedRing) nth(n uint64) *monitor.Conn { return &r.ring[n%uint64(r.most)] }

func shorten(s *string) {
	if len(*s) > closedTextMax {
		*s = strings.Clone((*s)[:closedTextMax])
	}
}

// remember notes a connection that is being closed.
func (e *Engine) remember(c *conn, reason CloseReason) {
	i := e.connInfo(c)
	i.Stop, i.Reason = int64(e.wall), string(reason)
	i.JWT, i.Tags = "", nil // they may be long
	for _, s := range c.subs[:min(len(c.subs), closedSubs)] {
		sub := s.info()
		for _, text := range []*string{&sub.Subject, &sub.Queue, &sub.SID} {
			shorten(text)
		}
		i.Subs.Add(sub)
		e.work++
	}
	e.closed.add(i)
}
