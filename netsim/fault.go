package netsim

import (
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// Choices about one stream are keyed by the place in it (the offset of a segment's first byte, with the number of times
// that it had to be sent again as purpose) or by the second of the connection's life, never by how many came before.

// Purposes of the choices that make up one fault.
const (
	ofWhether = iota
	ofWhat
	ofHow
)

// jitter chooses the extra delay of the segment at that offset.
func (s *stream) jitter(offset uint64, purpose uint32) schedule.Time {
	most := s.path.props.Jitter
	if most <= 0 {
		return 0
	}
	k := decision.Key{Kind: decision.NetLatency, Purpose: purpose, Actor: s.actor, N: offset}
	return schedule.Time(s.link.net.source.Range(k, 0, int64(most)))
}

// cut chooses how many of the n bytes that could leave now leave in one segment.
func (s *stream) cut(n uint64) uint64 {
	net := s.link.net
	rate := net.cfg.CutPerMillion
	if rate == 0 || n < 2 {
		return n
	}
	k := decision.Key{Kind: decision.NetSegment, Purpose: s.epoch << 1, Actor: s.actor, N: s.departed}
	if !net.source.Chance(k, rate) {
		return n
	}
	most := n - 1
	if m := net.cfg.CutMax; m > 0 {
		most = min(most, uint64(m))
	}
	k.Purpose |= 1
	net.counters.Cuts++
	return 1 + net.source.Below(k, most)
}

// trouble chooses the faults of the second that begins for the stream with a segment of n bytes, and returns how many
// of them leave.
func (s *stream) trouble(now schedule.Time, n uint64) uint64 {
	net := s.link.net
	cfg, source := &net.cfg, net.source
	k := decision.Key{Actor: s.actor, N: uint64(s.slot)}
	if cfg.HalfOpenPerMillion > 0 {
		k.Kind, k.Purpose = decision.NetHalfOpen, ofWhether
		if source.Chance(k, cfg.HalfOpenPerMillion) {
			s.halfOpen(now, k)
			return 0
		}
	}
	if cfg.ResetPerMillion > 0 {
		k.Kind, k.Purpose = decision.NetReset, ofWhether
		if source.Chance(k, cfg.ResetPerMillion) {
			n = s.startReset(now, k, n)
		}
	}
	if cfg.StallPerMillion > 0 {
		k.Kind, k.Purpose = decision.NetStall, ofWhether
		if source.Chance(k, cfg.StallPerMillion) {
			k.Purpose = ofWhat
			net.counters.Stalls++
			s.link.harm |= HarmStall
			s.last = max(s.last, now+schedule.Time(source.Range(k, int64(cfg.StallMin), int64(cfg.StallMax))))
		}
	}
	return n
}

func (s *stream) halfOpen(now schedule.Time, k decision.Key) {
	net := s.link.net
	net.counters.HalfOpens++
	s.link.vanish()
	s.startGiveUp(now)
	if net.cfg.HalfOpenMax <= 0 {
		return
	}
	k.Purpose = ofWhat
	if net.source.Below(k, 2) == 1 {
		k.Purpose = ofHow
		net.queue.At(now+schedule.Time(net.source.Range(k, 0, int64(net.cfg.HalfOpenMax))), s.link, opVoidReset)
	}
}

// What a reset does, as the count of opReset: the stream that it strikes, and whether only its receiver learns of it.
const (
	strikeSide         = 1
	strikeReceiverOnly = 2
)

// startReset chooses how much of the segment of n bytes still arrives and who learns of the reset that follows.
func (s *stream) startReset(now schedule.Time, k decision.Key, n uint64) uint64 {
	net := s.link.net
	net.counters.Resets++
	s.link.harm |= HarmReset
	k.Purpose = ofWhat
	n = net.source.Below(k, n+1)
	k.Purpose = ofHow
	what := uint64(s.side)
	if net.source.Below(k, 2) == 1 {
		what |= strikeReceiverOnly
	}
	s.dying = true
	at := max(s.last, now+s.path.props.Latency+s.path.props.Jitter) + net.cfg.CutGap
	net.queue.At(at, s.link, opReset|what<<opBits)
	return n
}

// strike is the reset.
func (l *link) strike(what uint64) {
	s := &l.dirs[what&strikeSide]
	s.dying = false
	l.breakEnd(int(1-s.side), ErrReset)
	if what&strikeReceiverOnly == 0 {
		l.breakEnd(int(s.side), ErrReset)
		return
	}
	if !l.settled {
		s.sender().watch()
		s.pump(l.net.queue.Now())
	}
}

// vanish makes the link a void.
func (l *link) vanish() {
	if l.void {
		return
	}
	l.ends[dialler].reckon()
	l.void = true
	l.harm |= HarmVoid
	l.voidAt = l.net.queue.Now()
	if c := &l.ends[acceptor]; c.state == stateUnborn {
		c.state = stateGone
	}
	for i := range l.dirs {
		l.dirs[i].ground()
		l.ends[i].watch()
	}
	l.settle()
}
