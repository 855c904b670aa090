package netsim

import (
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// Net is one world of hosts and the connections between them.
type Net struct {
	queue  *schedule.Queue
	source *decision.Source
	cfg    Config
	hosts  []*Host // by index; nil where there is none
	paths  map[route]*path
	inUse  []*path // the same, in the order in which they were made
	pool   pool

	counters  Counters
	links     int // not settled
	dialling  int
	bound     int
	listeners int
	bytes     int // taken, not read
}

// New makes an empty Net.
func New(queue *schedule.Queue, source *decision.Source, config Config) *Net {
	config.setDefaults()
	return &Net{queue: queue, source: source, cfg: config, paths: make(map[route]*path)}
}

// AddHost makes the machine with that index (0 to 2^17-1), which keys its choices and gives its address. It panics if
// there is one already.
func (n *Net) AddHost(index int, sink Sink) *Host {
	if index < 0 || index >= maxHosts {
		panic("netsim: host index out of range")
	}
	if n.Host(index) != nil {
		panic("netsim: host index in use")
	}
	for len(n.hosts) <= index {
		n.hosts = append(n.hosts, nil)
	}
	h := &Host{net: n, index: index, ip: hostIP(index), sink: sink}
	h.boot()
	n.hosts[index] = h
	return h
}

// Host is the machine with that index, nil if there is none.
func (n *Net) Host(index int) *Host {
	if index < 0 || index >= len(n.hosts) {
		return nil
	}
	return n.hosts[index]
}

// Counters returns what happened so far.
func (n *Net) Counters() Counters { return n.counters }

// Residue returns what is still held.
func (n *Net) Residue() Residue {
	return Residue{
		Connections: n.links,
		Dialling:    n.dialling,
		Buffers:     n.pool.out,
		Bytes:       n.bytes,
		Bound:       n.bound,
		Listeners:   n.listeners,
	}
}

// Calm ends everything that is wrong and can be undone: partitions, link properties, stalls, suspensions; and turns the
// fault rates of the config to zero. Jitter and cuts go on. Hosts without power stay so, and connections that vanished
// stay vanished.
func (n *Net) Calm() {
	c := &n.cfg
	c.StallPerMillion, c.ResetPerMillion, c.HalfOpenPerMillion = 0, 0, 0
	c.RefusePerMillion, c.DialHangPerMillion = 0, 0
	for _, p := range n.inUse {
		p.setProps(c.Link)
		p.cut = false
	}
	for _, h := range n.hosts {
		if h == nil {
			continue
		}
		h.suspended = false
		for e := h.ends; e != nil; e = e.next {
			e.out().hasten(n.queue.Now())
			e.in().hasten(n.queue.Now())
		}
	}
	for _, p := range n.inUse {
		p.wake()
	}
}
