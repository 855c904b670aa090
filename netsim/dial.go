package netsim

import (
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// A dial takes three legs, as in TCP: the request reaches the host (syn), its answer the dialler (synAck, Connected),
// whose acknowledgement the host (Accepted). Each is lost on a blocked path and sent again when that is over.

// jitterOfSyn sets the request's jitter apart from that of the first segment, which has the same place in the stream.
const jitterOfSyn = 1 << 31

// Dial connects to addr ("ip:port"). Connected or DialFailed follows.
func (h *Host) Dial(addr string) *Conn {
	n := h.net
	if h.dials >= 1<<dialBits {
		panic("netsim: a host has dialled too often for its dials to have keys")
	}
	l := newLink(h, uint64(h.index)<<dialBits|h.dials)
	h.dials++
	n.counters.Dials++
	c := &l.ends[dialler]
	name, port, ok := splitAddr(addr)
	c.port = h.localPort()
	h.enlist(c)
	if !ok || port <= 0 || c.port == 0 {
		n.queue.After(0, l, opRefused|1<<opBits)
		return c
	}
	h.ports[c.port] = c
	to := n.lookup(h, name)
	l.target = port
	l.toLocal = isLoopback(name) || isAny(name)
	if to == nil { // nobody is there to refuse
		l.lead(h)
		l.void = true
		l.expire()
		return c
	}
	l.lead(to)
	s := &l.dirs[dialler]
	if r := n.cfg.DialHangPerMillion; r > 0 && n.source.Chance(decision.Key{Kind: decision.NetDialHang, Actor: s.actor}, r) {
		n.counters.DialHangs++
		l.expire()
		return c
	}
	at := n.queue.Now() + s.path.props.Latency + s.jitter(0, jitterOfSyn)
	s.last = at
	n.queue.At(at, l, opSyn)
	return c
}

// localPort finds a free port for a dial, 0 if there is none.
func (h *Host) localPort() int {
	for range h.net.cfg.Ports {
		port := firstPort + h.nextPort%h.net.cfg.Ports
		h.nextPort++
		if h.ports[port] == nil {
			return port
		}
	}
	return 0
}

// held makes the event wait if the path is blocked.
func (l *link) held(p *path, op uint64) bool {
	if l.void {
		return true
	}
	if !p.blocked() {
		return false
	}
	p.wait(l, l, op)
	l.expire()
	return true
}

// expire starts the clock of a dial that may never be answered.
func (l *link) expire() {
	d := l.net.cfg.DialTimeout
	if d <= 0 || l.patience || l.ends[dialler].state != stateDialing {
		return
	}
	l.patience = true
	l.net.queue.At(l.born+d, l, opDialTimeout)
}

func (l *link) dialTimeout() {
	if l.ends[dialler].state == stateDialing {
		l.failDial(ErrTimeout)
	}
}

func (l *link) failDial(err error) {
	c := &l.ends[dialler]
	c.drop()
	l.settle()
	c.host.sink.DialFailed(c, err)
}

func (l *link) syn(now schedule.Time) {
	s := &l.dirs[dialler]
	if l.held(s.path, opSyn) {
		return
	}
	n := l.net
	from, to := l.ends[dialler].host, l.ends[acceptor].host
	on := to.listenerOn(l.target)
	refuse := n.cfg.RefusePerMillion > 0 &&
		n.source.Chance(decision.Key{Kind: decision.NetRefuse, Actor: s.actor}, n.cfg.RefusePerMillion)
	if refuse {
		n.counters.Refusals++
	}
	if on == nil || on.local && from != to || refuse {
		n.queue.At(now+s.back.props.Latency, l, opRefused)
		return
	}
	l.listener = on
	l.ends[acceptor].port = l.target
	n.queue.At(now+s.back.props.Latency, l, opSynAck)
	// A connection from the same address and port is one whose peer has forgotten it.
	if old := to.peers[tuple{from, l.ends[dialler].port, l.target}]; old != nil {
		old.link.breakEnd(acceptor, ErrReset)
	}
}

func (l *link) refused() {
	c := &l.ends[dialler]
	if c.state != stateDialing {
		return
	}
	if l.dirs[dialler].path == nil { // an address that cannot be dialled
		l.failDial(ErrAddr)
		return
	}
	if !l.held(l.dirs[dialler].back, opRefused) {
		l.failDial(ErrRefused)
	}
}

func (l *link) synAck(now schedule.Time) {
	c, s := &l.ends[dialler], &l.dirs[dialler]
	if c.state != stateDialing || l.held(s.back, opSynAck) {
		return
	}
	c.state = stateOpen
	l.connected = true
	l.net.dialling--
	s.last = max(s.last, now+s.path.props.Latency)
	l.net.queue.At(s.last, l, opAccept)
	c.host.sink.Connected(c)
}

func (l *link) acceptArrives() {
	if !l.held(l.dirs[dialler].path, opAccept) {
		l.accept()
	}
}

// accept makes the acceptor's end, if the dialler's acknowledgement or its first bytes find the listener still there.
func (l *link) accept() {
	c := &l.ends[acceptor]
	if c.state != stateUnborn {
		return
	}
	s := &l.dirs[acceptor]
	if l.listener.closed {
		c.state = stateGone
		s.sendReset(true)
		l.settle()
		return
	}
	from := &l.ends[dialler]
	c.state = stateOpen
	c.host.enlist(c)
	c.host.peers[tuple{from.host, from.port, c.port}] = c
	l.net.counters.Accepts++
	ip := from.host.ip
	if l.toLocal {
		ip = loopbackIP
	}
	c.host.sink.Accepted(c, l.listener.id, engine.ConnInfo{IP: ip, Port: from.port})
}
