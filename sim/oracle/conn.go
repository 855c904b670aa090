package oracle

// Conn is a connection as its client sees it. It belongs to the Oracle that made it.
type Conn struct {
	id    ID
	opts  ConnOptions
	lists int // its place in Oracle.conns

	opened position
	ended  position // the client reads no more; 0: it does
	gone   position // the server has given it up; 0: it has not

	// What it wrote.
	processed position // what it wrote up to here is proven to have been handled
	records   records  // its publishes that are remembered
	lastN     uint64   // of its publishes
	ending    []*sub   // with an UNSUB that is not proven yet, in the order of the UNSUBs
	to        []*pair  // connections that got its messages, or are owed some

	// What it reads.
	pings    fifo[position] // without pong
	fenced   position       // when the last ping that was answered was written
	listens  int            // its place in Oracle.listening; -1: not there
	subs     map[uint64]*sub
	indexed  []*sub   // that the server may believe in
	governed []*sub   // where there are accounts: those, and those that it may have refused
	groups   []*group // that it was ever in, each once
	from     map[*Conn]*pair
	pairs    []*pair
	owed     []*pair // with something due or overtaken
}

// sub is one subscription.
type sub struct {
	conn     *Conn
	sid      uint64
	pattern  string
	group    *group // nil: plain
	written  position
	doubtful bool // it may have been refused

	unsub    position // when an UNSUB without number was written; 0: not
	over     position // when that UNSUB was proven; 0: not
	limits   []limit  // UNSUBs with a number, in order; those that can no longer matter are gone
	leastMax uint64   // of all its UNSUBs with a number; 0: none
	firstMax position // when the first of them was written
	received uint64
	era      int    // in which it was written
	life     []bool // from that era on: whether the server may have it

	in    *index  // that has it
	at    *bucket // where that has it; nil: nowhere
	slot  int     // its place there
	place int     // its place in Conn.indexed
}

// limit is an UNSUB with a number.
type limit struct {
	written position
	max     uint64
}

// certain reports that the server has the subscription when it handles what c writes next, if nothing ends it by then.
func (s *sub) certain(c *Conn) bool {
	return !s.doubtful && s.unsub == 0 && (s.conn == c || s.written <= s.conn.processed)
}

// mayHaveEnded reports that an UNSUB may have been handled before the publish.
func (s *sub) mayHaveEnded(r *record, publisher *Conn) bool {
	if s.conn == publisher {
		return s.unsub != 0 && s.unsub < r.written
	}
	return s.unsub != 0 && (r.proven == 0 || s.unsub < r.proven)
}

// exhausted reports that the subscription may have ended because it got as many messages as its UNSUB said.
func (s *sub) exhausted() bool { return s.leastMax != 0 && s.received >= s.leastMax }

// allowed is how many messages it may get in all, given that UNSUBs written before at have been handled before the
// message was. ok is false if there is no limit.
func (s *sub) allowed(at position) (most uint64, ok bool) {
	for i := len(s.limits) - 1; i >= 0; i-- {
		most = max(most, s.limits[i].max)
		if s.limits[i].written < at {
			return most, true
		}
	}
	return 0, false
}

// prove notes that the server has handled what c wrote up to at.
func (o *Oracle) prove(c *Conn, at position) {
	if at <= c.processed {
		return
	}
	c.processed = at
	when := o.now
	if c.gone != 0 {
		when = min(when, c.gone)
	}
	c.records.prove(at, when)
	for len(c.ending) > 0 && c.ending[0].unsub <= at {
		s := c.ending[0]
		c.ending = c.ending[1:]
		s.over = when
		o.unindex(s)
	}
}

func (o *Oracle) stopListening(c *Conn) {
	last := len(o.listening) - 1
	moved := o.listening[last]
	o.listening[c.listens] = moved
	moved.listens = c.listens
	o.listening[last] = nil
	o.listening = o.listening[:last]
	c.listens = -1
}
