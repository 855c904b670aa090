package netsim

import "github.com/natsd/natsd/sim/schedule"

// route names one direction between two hosts.
type route struct{ from, to int }

// path is one direction between two hosts. All streams that take it share its bandwidth, in turns of one segment.
type path struct {
	net      *Net
	from, to *Host
	props    LinkProps
	cut      bool
	cutAt    schedule.Time
	waiters  []waiter      // what a cut or a silent host stopped
	sweepAt  int           // how many of them call for a sweep
	free     schedule.Time // when the last segment has left, under limited bandwidth
	line     []*stream     // those whose turn comes, from head on
	head     int
	due      bool   // an event for the head of the line is scheduled
	dueGen   uint64 // tells it from outdated ones
}

// waiter is an event that a silent path holds back.
type waiter struct {
	link *link
	h    schedule.Handler
	arg  uint64
	at   schedule.Time // since when
}

const (
	turnBytesMin = 1460
	turnBytesMax = 64 << 10
	sweepMin     = 64
	second       = schedule.Time(1e9)
)

// path returns the direction from→to.
func (n *Net) path(from, to *Host) *path {
	r := route{from.index, to.index}
	p := n.paths[r]
	if p == nil {
		p = &path{net: n, from: from, to: to, props: n.cfg.Link}
		n.paths[r] = p
		n.inUse = append(n.inUse, p)
	}
	return p
}

// SetLink sets the properties of the direction from→to.
func (n *Net) SetLink(from, to *Host, p LinkProps) {
	n.counters.LinkChanges++
	n.path(from, to).setProps(p)
}

// Partition cuts both directions between a and b. Streams keep their bytes and move on after Heal.
func (n *Net) Partition(a, b *Host) {
	n.PartitionOneWay(a, b)
	n.PartitionOneWay(b, a)
}

// PartitionOneWay cuts the direction from→to.
func (n *Net) PartitionOneWay(from, to *Host) {
	p := n.path(from, to)
	if p.cut {
		return
	}
	n.counters.Partitions++
	from.reckonPeers(to)
	to.reckonPeers(from)
	p.cut = true
	p.cutAt = n.queue.Now()
	from.watchPeers(to)
	if from != to {
		to.watchPeers(from)
	}
}

// Heal ends the partition between a and b, in both directions.
func (n *Net) Heal(a, b *Host) {
	n.HealOneWay(a, b)
	n.HealOneWay(b, a)
}

// HealOneWay ends the partition from→to.
func (n *Net) HealOneWay(from, to *Host) {
	p := n.path(from, to)
	p.cut = false
	p.wake()
}

func (p *path) setProps(props LinkProps) {
	p.props = props
	if len(p.line) > 0 {
		p.free = p.net.queue.Now()
		p.schedule()
	}
}

// blocked reports whether nothing gets through.
func (p *path) blocked() bool { return p.cut || p.from.silent() || p.to.silent() }

// blockedSince is the moment from which on nothing got through; only for a path that is blocked.
func (p *path) blockedSince() schedule.Time {
	since := p.net.queue.Now()
	if p.cut {
		since = min(since, p.cutAt)
	}
	if p.from.silent() {
		since = min(since, p.from.silentAt)
	}
	if p.to.silent() {
		since = min(since, p.to.silentAt)
	}
	return since
}

// wait holds the event back until the path is no longer blocked.
func (p *path) wait(l *link, h schedule.Handler, arg uint64) {
	if len(p.waiters) >= max(p.sweepAt, sweepMin) {
		p.sweep()
		p.sweepAt = 2 * len(p.waiters)
	}
	p.waiters = append(p.waiters, waiter{l, h, arg, p.net.queue.Now()})
}

// wake schedules what waited, each after a retransmission delay of its own.
func (p *path) wake() {
	if p.blocked() || len(p.waiters) == 0 {
		return
	}
	now := p.net.queue.Now()
	for i := range p.waiters {
		w := &p.waiters[i]
		if !w.link.settled {
			p.net.queue.At(now+w.link.retransmitDelay(now-w.at), w.h, w.arg)
		}
		*w = waiter{}
	}
	p.waiters = p.waiters[:0]
}

// sweep forgets waiters whose links are settled: a client that dials through a long partition again
// and again must not leave more behind than it has open.
func (p *path) sweep() {
	kept := p.waiters[:0]
	for _, w := range p.waiters {
		if !w.link.settled {
			kept = append(kept, w)
		}
	}
	clear(p.waiters[len(kept):])
	p.waiters = kept
}

// join puts the stream in the line for the path's bandwidth.
func (p *path) join(s *stream) {
	if s.inLine {
		return
	}
	s.inLine = true
	p.line = append(p.line, s)
	if !p.due {
		p.schedule()
	}
}

func (p *path) schedule() {
	p.due = true
	p.dueGen++
	p.net.queue.At(p.free, p, p.dueGen)
}

// Fire gives the first stream in the line its turn.
func (p *path) Fire(now schedule.Time, gen uint64) {
	if gen != p.dueGen {
		return
	}
	p.due = false
	if p.head == len(p.line) {
		return
	}
	s := p.line[p.head]
	p.line[p.head] = nil
	p.head++
	if p.head == len(p.line) {
		p.line, p.head = p.line[:0], 0
	} else if p.head > 64 && p.head > len(p.line)/2 {
		n := copy(p.line, p.line[p.head:])
		clear(p.line[n:])
		p.line, p.head = p.line[:n], 0
	}
	s.inLine = false
	if !s.link.settled {
		s.turn(now)
	}
	if p.head < len(p.line) && !p.due {
		p.schedule()
	}
}

// turnBytes is how much one turn may carry: 10 ms worth, within bounds.
func (p *path) turnBytes() uint64 {
	return uint64(min(max(p.props.Bandwidth/100, turnBytesMin), turnBytesMax))
}

// occupy reserves the path for n bytes and returns how long they take to leave.
func (p *path) occupy(now schedule.Time, n uint64) schedule.Time {
	if p.props.Bandwidth <= 0 {
		return 0
	}
	took := schedule.Time(int64(n) * int64(second) / p.props.Bandwidth)
	p.free = max(p.free, now) + took
	return p.free - now
}
