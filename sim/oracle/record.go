package oracle

import "github.com/natsd/natsd/sim/model"

// record is what is known of one publish.
type record struct {
	n              uint64
	written        position
	begun          position // when it was proven that the server had begun to handle it; 0: not yet
	stages         []stage
	proven         position // when it was proven to have been handled; 0: not yet
	subject, reply string
	received       bool // by somebody
	want503        bool // nobody can get it, so a 503 must come; undone by a SUB that matches
	got503         bool
	groups         []groupDue

	// Where there are accounts:
	era     int  // in which it was written
	spans   bool // nothing of it is certain: a reload came between, or it may be refused
	grant   Grant
	chosen  int            // of choices, from 1; 0: not known yet
	choices []model.Choice // in that era
	answers *binding       // to which it is an answer; nil: none
	link    int            // of the entries of an answer, the first in another account
	unknown bool           // an answer to nobody knows which request
	late    bool           // an answer that no longer crosses
	moved   bool           // a reload overtook it: era is the one after it
	at      int64          // when it was written
}

// stage is an account that a publish came into from another one, by one of its entries, and when that was proven. It is offered to
// subscriptions there when it comes there, which may be later than in the account before.
type stage struct {
	entry int
	begun position
}

// groupDue is what one queue group owes of one publish.
type groupDue struct {
	group  *group
	entry  int     // of the ways into accounts
	could  uint64  // by which entries that member may have got it
	sure   *sub    // a member that is certain of the message; nil: none
	by     *sub    // the member that got it; nil: none yet
	spread *spread // counts who gets it; nil: not counted
}

// records are the publishes of a connection, oldest first, numbers rising.
type records struct {
	fifo[record]
	unproven int // index of the first that is not proven
}

func (q *records) add(n uint64, at position) *record {
	r := q.push()
	*r = record{n: n, written: at, groups: r.groups[:0], stages: r.stages[:0]}
	return r
}

// find returns the record of publish n, or nil.
func (q *records) find(n uint64) *record {
	if q.size == 0 {
		return nil
	}
	// Numbers usually have no gaps.
	if d := n - q.at(0).n; d < uint64(q.size) {
		if r := q.at(int(d)); r.n == n {
			return r
		}
	}
	lo, hi := 0, q.size
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if q.at(m).n < n {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < q.size && q.at(lo).n == n {
		return q.at(lo)
	}
	return nil
}

// prove notes that what was written up to at had been handled when the history was at when.
func (q *records) prove(at, when position) {
	for q.unproven < q.size {
		r := q.at(q.unproven)
		if r.written > at {
			return
		}
		r.proven = when
		q.unproven++
	}
}

func (q *records) forget() {
	q.pop()
	if q.unproven > 0 {
		q.unproven--
	}
}

// begins notes that a publish has come to a subscription.
func (r *record) begins(f *fit, now position) {
	if r.begun == 0 {
		r.begun = now // in the account in which it was published, which comes first
	}
	if entry, certain := f.single(); certain && entry > 0 && r.reached(entry) == 0 {
		r.stages = append(r.stages, stage{entry, now})
	}
}

// reached is when it was proven that the publish had come to one of its entries.
func (r *record) reached(entry int) position {
	if entry == 0 {
		return r.begun
	}
	for _, s := range r.stages {
		if s.entry == entry {
			return s.begun
		}
	}
	return 0
}

// begunBy is the position by which the server had begun with the publish or never would, where it came from; 0: not known. Who
// subscribes later does not get it.
func (c *Conn) begunBy(r *record, f *fit) position {
	entry, certain := f.single()
	if begun := r.reached(entry); certain && begun != 0 && (r.proven == 0 || begun < r.proven) {
		return begun
	}
	return c.doneBy(r)
}

// doneBy is the position by which the publish was handled or never will be; 0: not known.
func (c *Conn) doneBy(r *record) position {
	if r.proven != 0 {
		return r.proven
	}
	return c.gone
}
