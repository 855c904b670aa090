package host

import (
	"slices"

	"github.com/natsd/natsd/engine"
)

// Connections that have something to be read go round: what each has sent is read a buffer at a time, and who has more waits until
// all others have had theirs. Where thousands send without pause a round takes long. Who sends little does not wait for it: until it has
// had a buffer's worth in the round it is read from first, with others like it. So each gets the same of a round at most, and who
// has not had it does not wait behind those who have. Those who have only just come, and those who go, have a line of their own: whoever
// makes and closes any number of connections makes them wait for each other.

// readLeast is what a read counts for at least: what it costs besides the bytes.
const readLeast = 512

// line is a list of connections that wait to be read from, by their slots, in order of arrival.
type line struct {
	slots, spare []uint32
}

// ready are the connections that may have something.
type ready struct {
	first   line // those that have not had their share of the round
	round   line // those that have
	passing line // those that were never read from, or whose peer ends the connection
	turns   uint
	no      uint32 // of the round
	left    int    // of the round: as many at the head of its line are still to be read from
}

func (r *ready) empty() bool {
	return len(r.first.slots) == 0 && len(r.round.slots) == 0 && len(r.passing.slots) == 0
}

// list puts the connection on the list of those to be looked at.
func (p *epoll) list(slot uint32, c *sock) {
	if c.listed {
		return
	}
	c.listed, c.since = true, p.now
	l := &p.ready.first
	switch {
	case !c.known || c.short:
		l = &p.ready.passing
	case c.round == p.ready.no && int(c.had) >= len(p.buf):
		l = &p.ready.round
	}
	l.slots = append(l.slots, slot)
}

// unlist takes a slot out of the line that it stands in.
func (p *epoll) unlist(slot uint32) {
	r := &p.ready
	for _, l := range [...]*line{&r.first, &r.round, &r.passing} {
		if i := slices.Index(l.slots, slot); i >= 0 {
			if l.slots = slices.Delete(l.slots, i, i+1); l == &r.round && i < r.left {
				r.left--
			}
			return
		}
	}
}

// count counts what was read from a connection, which is known from then on.
func (p *epoll) count(c *sock, n int) {
	if c.known = true; c.round != p.ready.no {
		c.round, c.had = p.ready.no, 0
	}
	c.had += uint32(max(n, readLeast))
}

// readReady reads from the connections on the lists, up to so many bytes, and returns how many it was. Each is read from once in a turn.
func (p *epoll) readReady(e *engine.Engine, most int) int {
	r := &p.ready
	first, round, passing := r.first.take(), r.round.take(), r.passing.take()
	n, _ := p.readLine(e, &r.first, first, most)
	if r.turns++; r.turns%2 == 0 { // either may fill a turn
		n += p.readRound(e, round, most-n)
		more, _ := p.readLine(e, &r.passing, passing, most-n)
		return n + more
	}
	more, _ := p.readLine(e, &r.passing, passing, most-n)
	n += more
	return n + p.readRound(e, round, most-n)
}

// readRound goes on with the round.
func (p *epoll) readRound(e *engine.Engine, waiting []uint32, most int) int {
	r := &p.ready
	n, looked := p.readLine(e, &r.round, waiting, most)
	if r.left -= looked; r.left <= 0 {
		r.no++
		r.left = len(r.round.slots)
	}
	return n
}

// take takes out those who wait, until readLine puts back who is not reached.
func (l *line) take() []uint32 {
	waiting := l.slots
	l.slots, l.spare = l.spare[:0], waiting
	return waiting
}

// readLine reads from connections that were taken from a list. It returns how many bytes that were, and how many connections it looked at.
func (p *epoll) readLine(e *engine.Engine, l *line, waiting []uint32, most int) (n, looked int) {
	for looked = range waiting {
		if n >= most || e.TurnFull() {
			// Those not reached go first in the next turn, before those that were read and have more: nobody starves.
			rest := waiting[:copy(waiting, waiting[looked:])]
			l.slots, l.spare = append(rest, l.slots...), l.slots
			return n, looked
		}
		c := &p.socks[waiting[looked]]
		c.listed = false
		if c.id != 0 {
			n += p.read(e, c)
		}
	}
	return n, len(waiting)
}
