package netsim

import (
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// stream is one direction of a connection. Four offsets cut its bytes into those that the receiver has read, that have
// arrived and wait to be read, that are under way, and that wait to leave:
//
//	read ≤ arrived ≤ departed ≤ written
//
// All bytes from read to written are in one ring: the receiver's kernel buffer holds those up to arrived, the sender's
// the rest. What the sender knows of the receiver (acked ≤ arrived, and edge, up to which the receiver has room) lags
// behind while nothing gets back. The end of the stream travels like a byte behind the last, but needs no room.
type stream struct {
	link  *link
	path  *path // the way of the bytes
	back  *path // the way of what the receiver tells
	buf   ring
	actor decision.Actor

	read, arrived, departed, written uint64
	acked, edge                      uint64

	flight []segment // under way, from head on, oldest first
	head   int
	gen    uint64        // of the arrival event
	last   schedule.Time // when the last segment arrives; no later one comes earlier
	slot   schedule.Time // second of the link's life for which faults have been chosen
	epoch  uint32        // times that segments were lost and are sent again

	side       uint8
	short      bool // Writable is owed
	endAsked   bool // the sender has closed the direction
	endGone    bool // the end has left
	endHere    bool // the end has arrived
	dying      bool // a reset is under way that cuts the stream here
	afterCut   bool // the last segment was cut
	closed     bool // the window was found closed
	inLine     bool // waits for its turn on the path
	ackDue     bool // an acknowledgement is under way
	ackHeld    bool // one waits for the path back
	dataHeld   bool // waits for the path
	resetDue   bool // a reset to the receiver is under way
	resetAgain bool // … and is sent again if it gets lost
	giveUpDue  bool // the clock of UserTimeout runs
}

// segment is a stretch of the stream under way, up to end.
type segment struct {
	end  uint64
	at   schedule.Time
	last bool // the end of the stream comes with it
}

// Fire runs one of the stream's events.
func (s *stream) Fire(now schedule.Time, arg uint64) {
	if s.link.settled {
		return
	}
	switch arg & opMask {
	case opArrive:
		if arg>>opBits == s.gen {
			s.arrive(now)
		}
	case opAck:
		s.ackDue = false
		s.hear(now)
	case opRetryAck:
		s.ackHeld = false
		s.hear(now)
	case opRetry:
		s.dataHeld = false
		s.stir(now)
	case opResetTold:
		s.resetArrives()
	case opGiveUp:
		s.giveUp(now)
	}
}

func (s *stream) sender() *Conn   { return &s.link.ends[s.side] }
func (s *stream) receiver() *Conn { return &s.link.ends[1-s.side] }

// room is how many bytes the send buffer can take.
func (s *stream) room() int { return s.link.net.cfg.SendBuffer - int(s.written-s.acked) }

// take stores b behind what is written.
func (s *stream) take(b []byte) {
	if len(b) == 0 {
		return
	}
	need := int(s.written-s.read) + len(b)
	if s.buf == nil {
		s.buf = s.link.net.pool.get(need)
	} else if need > len(s.buf) {
		s.buf = s.link.net.pool.grow(s.buf, s.read, s.written, need)
	}
	s.buf.put(s.written, b)
	s.written += uint64(len(b))
}

// advance gives up the bytes before to.
func (s *stream) advance(to uint64) {
	s.link.net.bytes -= int(to - s.read)
	s.read = to
	s.spare()
}

// truncate gives up the bytes that have not left.
func (s *stream) truncate() {
	s.link.net.bytes -= int(s.written - s.departed)
	s.written = s.departed
	s.endAsked = s.endGone
	s.short = false
	s.spare()
}

// spare returns the ring of an empty stream.
func (s *stream) spare() {
	if s.read == s.written && s.buf != nil {
		s.link.net.pool.put(s.buf)
		s.buf = nil
	}
}

// release gives up everything: the link is settled.
func (s *stream) release() {
	s.link.net.bytes -= int(s.written - s.read)
	s.read, s.arrived, s.departed = s.written, s.written, s.written
	s.spare()
	s.flight, s.head = nil, 0
}

// wants reports whether the sender waits for news of the receiver.
func (s *stream) wants() bool { return s.short || s.written > s.departed }

// learn tells the sender what the receiver has, unless the path back is blocked. News takes no time here: only a
// sender that waits for it (wants) waits the path's latency too.
func (s *stream) learn() {
	if s.link.void || s.back.blocked() {
		return
	}
	s.acked = s.arrived
	s.edge = s.read + uint64(s.link.net.cfg.RecvBuffer)
}

// acknowledge sends the sender news if it waits for some.
func (s *stream) acknowledge(now schedule.Time) {
	if s.ackDue || !s.wants() || s.link.void {
		return
	}
	s.ackDue = true
	s.link.net.queue.At(now+s.back.props.Latency, s, opAck)
}

// hear is the arrival of such news.
func (s *stream) hear(now schedule.Time) {
	switch {
	case s.link.void || !s.sender().sending():
	case s.back.blocked():
		s.holdAck(now)
	default:
		s.stir(now)
	}
}

// stir moves what can move, then tells the sender's owner if there is room again.
func (s *stream) stir(now schedule.Time) {
	s.pump(now)
	if c := s.sender(); s.short && c.state == stateOpen && s.room()*3 >= s.link.net.cfg.SendBuffer {
		s.short = false
		c.host.sink.Writable(c)
	}
}

// pump sends what the window and the path allow.
func (s *stream) pump(now schedule.Time) {
	s.learn()
	for s.ready(now) {
		if s.path.props.Bandwidth > 0 {
			s.path.join(s)
			break
		}
		s.depart(now)
	}
	s.departEnd(now)
	if s.wants() && !s.link.void && s.back.blocked() {
		s.holdAck(now)
	}
}

// turn sends one segment: the stream's turn on a path of limited bandwidth has come.
func (s *stream) turn(now schedule.Time) {
	s.learn()
	if s.ready(now) {
		s.depart(now)
	}
	s.stir(now)
}

// ready reports whether a segment can leave. If it is the path that forbids it, the stream will be stirred.
func (s *stream) ready(now schedule.Time) bool {
	if s.departed == s.written || s.dying || !s.sender().sending() {
		return false
	}
	if s.departed == s.edge {
		if !s.closed {
			s.closed = true
			s.link.net.counters.ZeroWindows++
		}
		return false
	}
	return s.passable(now)
}

// passable reports whether the path is free. If not, the stream is held until it is.
func (s *stream) passable(now schedule.Time) bool {
	if s.link.void {
		s.startGiveUp(now)
		return false
	}
	if s.path.blocked() {
		s.hold(now)
		return false
	}
	return true
}

// depart sends one segment.
func (s *stream) depart(now schedule.Time) {
	most := min(s.written, s.edge) - s.departed
	if s.path.props.Bandwidth > 0 {
		most = min(most, s.path.turnBytes())
	}
	n := s.cut(most)
	if slot := (now-s.link.born)/second + 1; slot != s.slot {
		s.slot = slot
		n = s.trouble(now, n)
		if n == 0 {
			return
		}
	}
	at := now + s.path.occupy(now, n) + s.path.props.Latency + s.jitter(s.departed, s.epoch)
	if s.afterCut {
		at = max(at, s.last+s.link.net.cfg.CutGap)
	}
	s.afterCut = n < most
	s.closed = false
	s.departed += n
	s.launch(segment{end: s.departed, at: at})
}

// departEnd sends the end of the stream when all bytes have left.
func (s *stream) departEnd(now schedule.Time) {
	if !s.endAsked || s.endGone || s.departed != s.written || s.dying || !s.sender().sending() || !s.passable(now) {
		return
	}
	s.endGone = true
	at := now + s.path.props.Latency + s.jitter(s.departed, s.epoch)
	s.launch(segment{end: s.departed, at: at, last: true})
}

func (s *stream) launch(g segment) {
	g.at = max(g.at, s.last)
	s.last = g.at
	if s.head > 0 && len(s.flight) == cap(s.flight) {
		s.flight = s.flight[:copy(s.flight, s.flight[s.head:])]
		s.head = 0
	}
	s.flight = append(s.flight, g)
	if len(s.flight)-s.head == 1 {
		s.expect()
	}
}

// expect schedules the arrival of the segment at the head.
func (s *stream) expect() {
	s.gen++
	s.link.net.queue.At(s.flight[s.head].at, s, opArrive|s.gen<<opBits)
}

// ground gives up what is under way.
func (s *stream) ground() {
	s.flight, s.head = s.flight[:0], 0
	s.gen++
	s.departed = s.arrived
	s.endGone = s.endHere
	s.afterCut = false
	if s.sender().state == stateGone {
		s.truncate() // nobody is left to send it again
	}
}

// arrive delivers the segments that are due.
func (s *stream) arrive(now schedule.Time) {
	if s.path.blocked() {
		s.ground()
		s.last = now
		s.epoch++
		s.link.net.counters.Retransmits++
		if s.sender().sending() {
			s.hold(now)
		}
		return
	}
	c := s.receiver()
	if c.state == stateUnborn { // the first bytes overtook the acknowledgement that makes the end
		s.link.accept()
		if s.link.settled {
			return
		}
	}
	was := s.arrived
	for s.head < len(s.flight) && s.flight[s.head].at <= now {
		g := &s.flight[s.head]
		s.head++
		s.arrived = g.end
		s.endHere = s.endHere || g.last
		s.link.net.counters.Segments++
	}
	s.link.net.counters.Bytes += s.arrived - was
	if s.head < len(s.flight) {
		s.expect()
	} else {
		s.flight, s.head = s.flight[:0], 0
	}
	if c.state == stateOpen {
		s.acknowledge(now)
		c.notify()
		return
	}
	s.advance(s.arrived)
	if s.refused(s.arrived > was) {
		c.out().sendReset(true)
	} else {
		s.acknowledge(now)
	}
}

// refused decides what a kernel does with a segment for an end that its owner has closed or that it does not know:
// whether it answers with a reset.
func (s *stream) refused(bytes bool) bool {
	c := s.receiver()
	switch {
	case c.state == stateGone:
		return true
	case !bytes: // the end of the stream meets a shut end: as it should be
		return false
	case s.link.net.cfg.HardClose:
		c.drop()
		return true
	}
	// Until the sender has read the end, its bytes are lost in silence, lest the reset overtake what it has not read.
	return s.sender().ended
}

// hasten makes what is under way arrive as if sent now, if that is earlier: stalls are over.
func (s *stream) hasten(now schedule.Time) {
	soon := now
	if s.path != nil {
		soon += s.path.props.Latency
	}
	s.last = min(s.last, soon)
	if s.head < len(s.flight) {
		for i := s.head; i < len(s.flight); i++ {
			s.flight[i].at = min(s.flight[i].at, soon)
		}
		s.expect()
	}
	if s.resetDue && !s.path.blocked() {
		s.link.net.queue.At(soon, s, opResetTold)
	}
}
