package netsim

import (
	"errors"

	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// The sides of a connection. dirs[side] is what that side sends.
const (
	dialler  = 0
	acceptor = 1
)

// link is a connection: two ends and the two streams between them. It is settled when neither end needs it any more;
// events that come later find that and do nothing.
type link struct {
	net        *Net
	key        uint64 // the dialling host and which of its dials: stable when others dial more or less
	ends       [2]Conn
	dirs       [2]stream
	born       schedule.Time
	voidAt     schedule.Time
	target     int // the port that was dialled
	toLocal    bool
	listener   *listener
	connected  bool // the dialler has been told
	void       bool // nothing gets through, and nobody is told
	settled    bool
	patience   bool // a dial time-out is scheduled
	retransmit uint64
	harm       Harm
}

// state is what one end of a connection is, for its owner and its kernel.
type state uint8

const (
	stateUnborn  state = iota // not accepted yet
	stateDialing              // not connected yet
	stateOpen
	stateShut // closed by its owner; the kernel still sends what it took, then the end
	stateGone // nothing is known of the connection here
)

// What the events of a link and of its streams are. The rest of the argument counts, to tell outdated ones.
const (
	opSyn uint64 = iota // link: the dial reaches the host
	opSynAck
	opAccept
	opRefused
	opDialTimeout
	opReset      // link: the fault NetReset strikes; the count is what it does
	opVoidReset  // link: a middlebox that forgot the connection resets it
	opKeepAlive0 // link: the dialler's kernel asks for a sign of life
	opKeepAlive1
	opReadable0 // link: something may be readable at the dialler's end
	opReadable1
	opArrive    // stream: segments arrive
	opAck       // stream: the sender learns what arrived and what was read
	opRetry     // stream: the sender sends again what was lost
	opRetryAck  // stream: the receiver tells again what it has
	opResetTold // stream: a reset reaches the receiver
	opGiveUp    // stream: bytes have been unacknowledged for long
	opBits      = 8
	opMask      = 1<<opBits - 1
)

const dialBits = 22 // dials of one host that have keys of their own

func newLink(h *Host, key uint64) *link {
	l := &link{net: h.net, key: key, born: h.net.queue.Now()}
	l.ends[dialler] = Conn{link: l, side: dialler, host: h, state: stateDialing}
	l.ends[acceptor] = Conn{link: l, side: acceptor, state: stateUnborn}
	l.dirs[dialler] = stream{link: l, side: dialler, actor: decision.Of(decision.Link, key<<1)}
	l.dirs[acceptor] = stream{link: l, side: acceptor, actor: decision.Of(decision.Link, key<<1|1)}
	l.net.links++
	l.net.dialling++
	return l
}

// lead fixes where the link leads.
func (l *link) lead(to *Host) {
	from := l.ends[dialler].host
	l.ends[acceptor].host = to
	there, back := l.net.path(from, to), l.net.path(to, from)
	l.dirs[dialler].path, l.dirs[dialler].back = there, back
	l.dirs[acceptor].path, l.dirs[acceptor].back = back, there
	for i := range l.dirs {
		l.dirs[i].edge = uint64(l.net.cfg.RecvBuffer)
	}
}

// Fire runs one of the link's events.
func (l *link) Fire(now schedule.Time, arg uint64) {
	if l.settled {
		return
	}
	switch arg & opMask {
	case opSyn:
		l.syn(now)
	case opSynAck:
		l.synAck(now)
	case opAccept:
		l.acceptArrives()
	case opRefused:
		l.refused()
	case opDialTimeout:
		l.dialTimeout()
	case opReset:
		l.strike(arg >> opBits)
	case opVoidReset:
		l.breakEnd(dialler, ErrReset)
		l.breakEnd(acceptor, ErrReset)
	case opKeepAlive0:
		l.ends[dialler].keepAlive(now)
	case opKeepAlive1:
		l.ends[acceptor].keepAlive(now)
	case opReadable0:
		l.ends[dialler].stirred()
	case opReadable1:
		l.ends[acceptor].stirred()
	}
}

// breakEnd takes the connection away from one end, whose owner is told if it still has it.
func (l *link) breakEnd(side int, err error) {
	c := &l.ends[side]
	was := c.state
	if was == stateGone || l.settled {
		return
	}
	if was == stateDialing {
		l.failDial(err)
		return
	}
	c.drop()
	l.settle()
	if was != stateOpen {
		return
	}
	if errors.Is(err, ErrTimeout) {
		l.net.counters.TimeoutsTold++
	} else {
		l.net.counters.ResetsTold++
	}
	c.host.sink.Closed(c, err)
}

// settle lets go of everything once neither end has an owner. An end that has not been accepted yet still gets what
// the dialler sent, so it counts as owned.
func (l *link) settle() {
	if l.settled || l.ends[dialler].owned() || l.ends[acceptor].owned() ||
		l.ends[acceptor].state == stateUnborn && l.connected && l.ends[dialler].state == stateShut {
		return
	}
	l.settled = true
	l.net.links--
	for i := range l.ends {
		l.dirs[i].release()
		if h := l.ends[i].host; h != nil {
			h.delist(&l.ends[i])
		}
	}
}

// retransmitDelay chooses how long after the end of an outage the link moves again.
func (l *link) retransmitDelay(outage schedule.Time) schedule.Time {
	most := min(l.net.cfg.RetransmitMax, outage)
	if most <= 0 {
		return 0
	}
	l.retransmit++
	k := decision.Key{Kind: decision.NetRetransmit, Actor: l.dirs[dialler].actor, N: l.retransmit}
	return schedule.Time(l.net.source.Range(k, 0, int64(most)))
}
