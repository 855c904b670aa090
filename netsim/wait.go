package netsim

import "github.com/natsd/natsd/sim/schedule"

// What happens to a connection while nothing gets through: its streams are held, and two clocks run, that of bytes
// not acknowledged (UserTimeout) and that of a peer not heard of (KeepAlive).

// hold keeps the stream until its path is free.
func (s *stream) hold(now schedule.Time) {
	s.link.harm |= HarmSilence
	if !s.dataHeld {
		s.dataHeld = true
		s.path.wait(s.link, s, opRetry)
	}
	s.startGiveUp(now)
}

// holdAck keeps the receiver's news until the path back is free.
func (s *stream) holdAck(now schedule.Time) {
	s.link.harm |= HarmSilence
	if !s.ackHeld {
		s.ackHeld = true
		s.back.wait(s.link, s, opRetryAck)
	}
	s.startGiveUp(now)
}

func (s *stream) unacked() bool { return s.written > s.acked || s.endAsked && !s.endHere }

// startGiveUp starts the clock of UserTimeout.
func (s *stream) startGiveUp(now schedule.Time) {
	if d := s.link.net.cfg.UserTimeout; d > 0 && !s.giveUpDue && s.unacked() {
		s.giveUpDue = true
		s.link.net.queue.At(now+d, s, opGiveUp)
	}
}

func (s *stream) giveUp(now schedule.Time) {
	s.giveUpDue = false
	since, deaf := s.link.deafSince()
	if !deaf || !s.unacked() || !s.sender().sending() || s.sender().host.silent() {
		return
	}
	if rest := since + s.link.net.cfg.UserTimeout - now; rest > 0 {
		s.giveUpDue = true
		s.link.net.queue.At(now+rest, s, opGiveUp)
		return
	}
	s.link.breakEnd(int(s.side), ErrTimeout)
}

// deafSince is the moment from which on something was in the way in one of the directions, if something is.
func (l *link) deafSince() (since schedule.Time, deaf bool) {
	since = l.net.queue.Now()
	if l.void {
		since, deaf = l.voidAt, true
	}
	for i := range l.dirs {
		if p := l.dirs[i].path; p.blocked() {
			since, deaf = min(since, p.blockedSince()), true
		}
	}
	return since, deaf
}

// watch starts both clocks of an end that something has come over: its kernel will ask for a sign of life.
func (c *Conn) watch() {
	if !c.sending() {
		return
	}
	now := c.link.net.queue.Now()
	c.out().startGiveUp(now)
	if d := c.link.net.cfg.KeepAlive; d > 0 && !c.watched {
		c.watched = true
		c.link.net.queue.At(now+d, c.link, opKeepAlive0+uint64(c.side))
	}
}

// keepAlive asks the peer for a sign of life.
func (c *Conn) keepAlive(now schedule.Time) {
	c.watched = false
	if !c.sending() || c.host.silent() {
		return
	}
	since, deaf := c.link.deafSince()
	switch rest := since + c.link.net.cfg.KeepAlive - now; {
	case deaf && rest > 0:
		c.watched = true
		c.link.net.queue.At(now+rest, c.link, opKeepAlive0+uint64(c.side))
	case deaf:
		c.link.breakEnd(int(c.side), ErrTimeout)
	case c.peer().state == stateGone:
		c.link.breakEnd(int(c.side), ErrReset)
	}
}

// reckon lets both ends learn the last that still gets through.
func (c *Conn) reckon() {
	if c.in().path != nil {
		c.in().learn()
		c.out().learn()
	}
}

// reckonPeers does so for the connections between h and the other host.
func (h *Host) reckonPeers(other *Host) {
	for e := h.ends; e != nil; e = e.next {
		if e.peer().host == other {
			e.reckon()
		}
	}
}

// watchPeers watches the ends at h whose peers are at the other host.
func (h *Host) watchPeers(other *Host) {
	for e := h.ends; e != nil; e = e.next {
		if e.peer().host == other {
			e.watch()
		}
	}
}

// sendReset sends the stream's receiver a reset behind what is under way. again: the receiver goes on sending until it
// learns of it, so a reset that is lost follows once more.
func (s *stream) sendReset(again bool) {
	s.resetAgain = s.resetAgain || again
	if s.resetDue || s.link.settled {
		return
	}
	s.resetDue = true
	s.last = max(s.last, s.link.net.queue.Now()+s.path.props.Latency)
	s.link.net.queue.At(s.last, s, opResetTold)
}

func (s *stream) resetArrives() {
	switch {
	case !s.resetDue: // it came earlier, when a stall was ended
	case s.link.void:
		s.resetDue = false
	case !s.path.blocked():
		s.resetDue = false
		s.link.breakEnd(int(1-s.side), ErrReset)
	case s.resetAgain:
		s.path.wait(s.link, s, opResetTold)
	default:
		s.resetDue = false
	}
}
