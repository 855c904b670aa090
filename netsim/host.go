package netsim

import (
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/schedule"
)

// Host is a machine with an address. As engine.Network it serves the connections bound to ConnIDs.
type Host struct {
	net       *Net
	index     int
	ip        string
	sink      Sink
	listeners []*listener
	bound     []*Conn // by ConnID slot
	ends      *Conn   // the connection ends its kernel has, oldest first
	lastEnd   *Conn
	dials     uint64 // that it ever made
	nextPort  int
	nextAny   int           // where the search for a free listening port starts
	ports     map[int]*Conn // local ports of its dials
	peers     map[tuple]*Conn
	lives     uint64 // processes that were here before
	off       bool   // without power
	suspended bool
	silentAt  schedule.Time // since when it is either
}

// tuple names a connection at the host that accepted it.
type tuple struct {
	remote     *Host
	remotePort int
	localPort  int
}

var _ engine.Network = (*Host)(nil)

// boot gives the host the kernel of a machine that has just started.
func (h *Host) boot() {
	h.nextPort = 0
	h.nextAny = 0
	h.ports = make(map[int]*Conn)
	h.peers = make(map[tuple]*Conn)
}

// Index is the index given to AddHost.
func (h *Host) Index() int { return h.index }

// IP is the host's address.
func (h *Host) IP() string { return h.ip }

// SetSink replaces the sink: for a process that starts anew.
func (h *Host) SetSink(s Sink) { h.sink = s }

func (h *Host) silent() bool { return h.off || h.suspended }

// Conn is the connection bound to id, nil if there is none (any more).
func (h *Host) Conn(id engine.ConnID) *Conn {
	slot := int(id.Slot())
	if slot >= len(h.bound) {
		return nil
	}
	c := h.bound[slot]
	if c == nil || c.id != id {
		return nil
	}
	return c
}

// Send implements engine.Network.
func (h *Host) Send(id engine.ConnID, bufs [][]byte) int {
	if c := h.Conn(id); c != nil {
		return c.Send(bufs)
	}
	return 0
}

// PauseReading implements engine.Network.
func (h *Host) PauseReading(id engine.ConnID) {
	if c := h.Conn(id); c != nil {
		c.Pause()
	}
}

// ResumeReading implements engine.Network.
func (h *Host) ResumeReading(id engine.ConnID) {
	if c := h.Conn(id); c != nil {
		c.Unpause()
	}
}

// CloseWrite implements engine.Network.
func (h *Host) CloseWrite(id engine.ConnID) {
	if c := h.Conn(id); c != nil {
		c.CloseWrite()
	}
}

// Close implements engine.Network.
func (h *Host) Close(id engine.ConnID) {
	if c := h.Conn(id); c != nil {
		c.Close()
	}
}

func (h *Host) bind(c *Conn) {
	slot := int(c.id.Slot())
	for len(h.bound) <= slot {
		h.bound = append(h.bound, nil)
	}
	if old := h.bound[slot]; old != nil {
		h.unbind(old)
	}
	h.bound[slot] = c
	c.isBound = true
	h.net.bound++
}

func (h *Host) unbind(c *Conn) {
	if !c.isBound {
		return
	}
	c.isBound = false
	h.bound[c.id.Slot()] = nil
	h.net.bound--
}

// enlist puts the end into the kernel's list.
func (h *Host) enlist(c *Conn) {
	c.prev = h.lastEnd
	if h.lastEnd != nil {
		h.lastEnd.next = c
	} else {
		h.ends = c
	}
	h.lastEnd = c
	c.listed = true
}

// delist takes the end out of the list and frees its port. The end keeps its next, so that a walk over the list may
// delist as it goes.
func (h *Host) delist(c *Conn) {
	if !c.listed {
		return
	}
	c.listed = false
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		h.ends = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		h.lastEnd = c.prev
	}
	if c.side == dialler {
		if h.ports[c.port] == c {
			delete(h.ports, c.port)
		}
		return
	}
	t := tuple{c.peer().host, c.peer().port, c.port}
	if h.peers[t] == c {
		delete(h.peers, t)
	}
}
