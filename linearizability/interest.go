package linearizability

import (
	"fmt"
	"math/bits"
)

// Interest records who is subscribed to what at one server, from what clients know, for InterestModel. Its subjects are
// the partitions.
//
// A client's operation on a connection is called when its bytes are handed to the network, and has returned when the
// PONG is read that answers a PING sent after them. What a connection does is done in its order. A probe is a publish
// with a reply subject: it reads the interest, and returns earlier if somebody is seen to have got it, or if it is
// answered 503. Who did not get it is known of those connections that have read the PONG of a PING sent after the probe
// had been carried out.
//
// A connection ends, and with it its subscriptions, at one moment between the last one at which it was known to live and
// the one at which the server is known to have given it up. A server that crashes or stops ends all it has.
//
// A publish is taken to reach its subscribers at one moment. That holds for a server that serves them in one turn.
type Interest struct {
	rec     *Recorder
	conns   []*connection
	subs    []*subscription
	probes  []*probe
	rosters map[string]*roster
}

// Conn, Sub and Probe name what was recorded; zero names nothing.
type (
	// Conn names a connection.
	Conn int
	// Sub names a subscription of a connection.
	Sub int
	// Probe names a publish with a reply subject.
	Probe int
)

// connection is what is known of one.
type connection struct {
	name    string
	client  int
	echo    bool
	over    bool     // the server has given it up
	lived   Time     // the last moment known at which the server had it
	pending []func() // what an answer to its operations means, in order: not yet answered
	fences  []pinged
	shares  []*share
	nextSid int
}

// pinged is a PING that is not answered yet.
type pinged struct {
	at  Time
	ops int // of pending, sent before it and after the PING before
}

// subscription may be to several recorded subjects, by a wildcard.
type subscription struct {
	conn    *connection
	seats   []seat
	leaving bool // UNSUB was sent
}

// seat is a subscription as one subject has it.
type seat struct {
	roster *roster
	bit    uint64
}

// probe is a publish, and what came of it.
type probe struct {
	conn    *connection
	op      Op
	roster  *roster
	reading *reading
	done    Time // known to be carried out; Forever: not
	seats   int  // of the roster, that were taken by then
}

// NewInterest makes a recorder with at most limit operations for each subject.
func NewInterest(limit int) *Interest {
	return &Interest{rec: NewRecorder(limit), rosters: make(map[string]*roster)}
}

// Connect records a new connection of a client, that sends CONNECT with or without echo.
func (r *Interest) Connect(at Time, client int, echo bool) Conn {
	r.rec.advance(at)
	n := 1
	for _, c := range r.conns {
		if c.client == client {
			n++
		}
	}
	r.conns = append(r.conns, &connection{name: fmt.Sprintf("c%d.%d", client, n), client: client, echo: echo, lived: at})
	return Conn(len(r.conns))
}

// Subscribe records a SUB on a connection, in a queue group unless queue is empty. Subjects are those of the history
// that it matches.
func (r *Interest) Subscribe(at Time, conn Conn, queue string, subjects ...string) Sub {
	r.rec.advance(at)
	c := r.conns[conn-1]
	s := &subscription{conn: c}
	r.subs = append(r.subs, s)
	c.nextSid++
	for _, subject := range subjects {
		if r.rec.Full(subject) {
			continue
		}
		l := r.roster(subject)
		bit := l.seat(c, c.nextSid, queue)
		if bit == 0 {
			r.rec.Close(at, subject)
			continue
		}
		s.seats = append(s.seats, seat{l, bit})
		h := l.share(c)
		h.mask |= bit
		if c.over {
			continue // the server will never read it
		}
		if !h.ends {
			h.ends = true
			h.op = r.rec.Call(at, c.client, subject, interestInput{kind: interestEnd, roster: l, share: h})
			c.shares = append(c.shares, h)
		}
		r.answerable(h, r.call(at, interestInput{kind: interestSub, roster: l, share: h, bit: bit}))
	}
	return Sub(len(r.subs))
}

// Unsubscribe records an UNSUB of a subscription; another one for the same subscription means nothing.
func (r *Interest) Unsubscribe(at Time, sub Sub) {
	r.rec.advance(at)
	s := r.subs[sub-1]
	if s.leaving || s.conn.over {
		return
	}
	s.leaving = true
	for _, e := range s.seats {
		in := interestInput{kind: interestUnsub, roster: e.roster, share: e.roster.share(s.conn), bit: e.bit}
		r.answerable(in.share, r.call(at, in))
	}
}

// Probe records a publish with a reply subject, by a connection that is told of no responders.
func (r *Interest) Probe(at Time, conn Conn, subject string) Probe {
	r.rec.advance(at)
	c, l := r.conns[conn-1], r.roster(subject)
	p := &probe{conn: c, roster: l, reading: &reading{}, done: Forever}
	r.probes = append(r.probes, p)
	if !c.over {
		p.op = r.call(at, interestInput{kind: interestProbe, roster: l, share: l.share(c)})
		r.rec.Reads(p.op)
		c.pending = append(c.pending, func() {
			p.done, p.seats = r.rec.now, len(l.seats)
			if p.reading.nobody == unsure {
				p.reading.nobody = no
			}
			r.answer(p.op, l.share(c), p.reading)
		})
	}
	return Probe(len(r.probes))
}

// Delivered records that a probe was read by a subscriber.
func (r *Interest) Delivered(at Time, probe Probe, sub Sub) {
	r.rec.advance(at)
	p, s := r.probes[probe-1], r.subs[sub-1]
	bit := uint64(0)
	for _, e := range s.seats {
		if e.roster == p.roster {
			bit = e.bit
		}
	}
	if bit == 0 && r.rec.Full(p.roster.subject) {
		return // a subscription that is not recorded
	}
	d := p.reading
	if p.pastAt(s.conn) {
		d.late |= bit
	}
	d.stray = d.stray || bit == 0 // a subscription that does not match
	d.twice |= d.got & bit
	d.got |= bit
	r.rec.Return(p.op, at, d)
}

// Nobody records that a probe was answered 503.
func (r *Interest) Nobody(at Time, probe Probe) {
	r.rec.advance(at)
	p := r.probes[probe-1]
	p.reading.nobody = yes
	r.rec.Return(p.op, at, p.reading)
}

// Ping records a PING by the client.
func (r *Interest) Ping(at Time, conn Conn) {
	r.rec.advance(at)
	c := r.conns[conn-1]
	before := 0
	for _, f := range c.fences {
		before += f.ops
	}
	c.fences = append(c.fences, pinged{at: at, ops: len(c.pending) - before})
}

// Pong records that the client has read the answer to its oldest PING without one.
func (r *Interest) Pong(at Time, conn Conn) {
	r.rec.advance(at)
	c := r.conns[conn-1]
	if len(c.fences) == 0 {
		panic("linearizability: a PONG that nobody asked for")
	}
	f := c.fences[0]
	c.fences = c.fences[1:]
	for _, answered := range c.pending[:f.ops] {
		answered()
	}
	c.pending = c.pending[f.ops:]
	c.lived = f.at
	for _, h := range c.shares {
		r.rec.Postpone(h.op, f.at)
	}
}

// End records that the server has given up the connection, whatever the client knows. What the server had sent may still
// be read.
func (r *Interest) End(at Time, conn Conn) {
	r.rec.advance(at)
	c := r.conns[conn-1]
	if c.over {
		return
	}
	c.over = true
	for i := range r.rec.ops {
		if o := &r.rec.ops[i]; o.pending && o.op.Input.(interestInput).share.conn == c {
			r.rec.Bound(Op(i+1), at)
		}
	}
	for _, h := range c.shares {
		r.rec.Return(h.op, at, done{})
	}
}

// History is what was recorded so far.
func (r *Interest) History() History {
	for _, p := range r.probes {
		p.reading.missed = 0
		for _, s := range p.roster.seats[:p.seats] {
			if p.pastAt(s.conn) && p.reading.got&s.bit == 0 {
				p.reading.missed |= s.bit
			}
		}
	}
	return r.rec.History()
}

// call records what a connection does, after what it did before.
func (r *Interest) call(at Time, in interestInput) Op {
	o := r.rec.Call(at, in.share.conn.client, in.roster.subject, in)
	r.rec.After(o, in.share.last)
	in.share.last = o
	return o
}

// answerable makes the next PONG answer the operation.
func (r *Interest) answerable(h *share, o Op) {
	if o != 0 {
		h.conn.pending = append(h.conn.pending, func() { r.answer(o, h, done{}) })
	}
}

// answer records that an operation was answered, so the connection had not ended before.
func (r *Interest) answer(o Op, h *share, output any) {
	r.rec.Return(o, r.rec.now, output)
	r.rec.After(h.op, o)
}

func (r *Interest) roster(subject string) *roster {
	l := r.rosters[subject]
	if l == nil {
		l = &roster{subject: subject}
		r.rosters[subject] = l
	}
	return l
}

// pastAt reports whether everything that the probe made the connection read has been read: it was carried out before
// the last PING that was answered there. The prober itself knows that earlier than others.
func (p *probe) pastAt(c *connection) bool {
	return p.done <= c.lived || p.done < Forever && p.conn == c
}

// roster is everyone who was ever subscribed to one subject, a bit for each.
type roster struct {
	subject string
	seats   []seated
	plain   uint64
	groups  []group
	shares  []*share
}

type seated struct {
	conn  *connection
	bit   uint64
	name  string
	queue string
}

type group struct {
	queue string
	mask  uint64
}

// share is what one connection has of a roster.
type share struct {
	conn *connection
	mask uint64
	ends bool // its end is recorded
	op   Op   // the end
	last Op   // what it did last
}

const seatsMax = 64

// seat takes a bit for a subscription; 0: none is left.
func (l *roster) seat(c *connection, sid int, queue string) uint64 {
	if len(l.seats) == seatsMax {
		return 0
	}
	bit := uint64(1) << len(l.seats)
	s := seated{conn: c, bit: bit, name: fmt.Sprintf("%s/%d", c.name, sid), queue: queue}
	if queue != "" {
		s.name += "(" + queue + ")"
	}
	l.seats = append(l.seats, s)
	if queue == "" {
		l.plain |= bit
		return bit
	}
	for i := range l.groups {
		if l.groups[i].queue == queue {
			l.groups[i].mask |= bit
			return bit
		}
	}
	l.groups = append(l.groups, group{queue, bit})
	return bit
}

func (l *roster) share(c *connection) *share {
	for _, h := range l.shares {
		if h.conn == c {
			return h
		}
	}
	h := &share{conn: c}
	l.shares = append(l.shares, h)
	return h
}

// names lists the subscriptions of a mask.
func (l *roster) names(mask uint64) string {
	text := ""
	for m := mask; m != 0; m &= m - 1 {
		if text != "" {
			text += " "
		}
		text += l.seats[bits.TrailingZeros64(m)].name
	}
	return "{" + text + "}"
}
