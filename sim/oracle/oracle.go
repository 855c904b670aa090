package oracle

import "fmt"

// position is a place in the history: each call of the interface takes the next one. Zero is before all.
type position uint64

// Oracle judges one server. The zero value is not ready: use New.
type Oracle struct {
	forsaken  bool // some connection is, or was
	now       position
	byID      map[ID]*Conn
	conns     []*Conn // that may still matter: not retired
	listening []*Conn // not ended, with a SUB written: nothing can be forgotten before they are fenced
	index     index
	groups    map[string]*group
	ranks     [spreadMembers + 1]tally // by the size of the group
	leans     leans
	wanting   []want // requests that must be answered 503 if nobody subscribes meanwhile
	matched   matches
	eras      []*era            // none: there is one account, and everybody may do everything
	indexes   map[string]*index // by account
	reached   matches
	offers    []offer
	bindings  map[string]*binding
	bound     []*binding
	asked     map[answer][]*binding // by the request
	clock     Clock
	nextSweep position
	stats     Stats
	failure   *Failure
}

// New makes an oracle.
func New() *Oracle {
	return &Oracle{
		byID:   make(map[ID]*Conn),
		index:  newIndex(),
		groups: make(map[string]*group),
	}
}

// Failure returns the first failure.
func (o *Oracle) Failure() (Failure, bool) {
	if o.failure == nil {
		return Failure{}, false
	}
	return *o.failure, true
}

// Stats returns what was judged so far.
func (o *Oracle) Stats() Stats { return o.stats }

func (o *Oracle) fail(property, format string, args ...any) {
	if o.failure == nil {
		o.failure = &Failure{Property: property, What: fmt.Sprintf(format, args...)}
	}
}

// sweepEvery is how many calls pass at least between two looks at what can be forgotten.
const sweepEvery = 256

// step takes the next position.
func (o *Oracle) step() {
	o.now++
	if o.now >= o.nextSweep {
		o.sweep()
		o.nextSweep = o.now + position(max(sweepEvery, 8*len(o.conns)))
	}
}

// Open tells of a new connection.
func (o *Oracle) Open(id ID, opts ConnOptions) *Conn {
	o.step()
	if o.byID[id] != nil {
		panic("oracle: two connections with the ID of " + id.String())
	}
	c := &Conn{
		id: id, opts: opts, opened: o.now, fenced: o.now, processed: o.now,
		subs: make(map[uint64]*sub), from: make(map[*Conn]*pair), lists: len(o.conns), listens: -1,
	}
	o.byID[id] = c
	o.conns = append(o.conns, c)
	return c
}

// End tells that the client reads nothing more from the connection: it closed it, saw it closed, or crashed.
func (o *Oracle) End(c *Conn) {
	o.step()
	if c.ended != 0 {
		return
	}
	c.ended = o.now
	for _, p := range c.pairs {
		o.judgeOvertaken(p)
		o.stats.Forgiven += uint64(len(p.dues) - p.head)
	}
	c.dropPairs()
	o.drop503(c)
	if c.listens >= 0 {
		o.stopListening(c)
	}
	for _, g := range c.groups {
		g.disturbed(o.now)
	}
	for _, s := range c.indexed {
		if s.group != nil && c.gone == 0 {
			s.group.ghosts++
		}
	}
	if c.gone != 0 {
		o.retireIfDone(c)
	}
}

// Gone tells that the server has given the connection up: it handles and delivers nothing more of what was written and
// queues nothing more. Before or after End.
func (o *Oracle) Gone(c *Conn) {
	o.step()
	o.setGone(c)
}

// Crash tells that the server lost its process: every connection opened so far is gone.
func (o *Oracle) Crash() {
	o.step()
	o.unbind()
	for i := len(o.conns) - 1; i >= 0; i-- { // backwards: retiring moves the last one into the gap
		o.setGone(o.conns[i])
	}
}

func (o *Oracle) setGone(c *Conn) {
	if c.gone != 0 {
		return
	}
	for len(c.indexed) > 0 {
		o.unindex(c.indexed[len(c.indexed)-1])
	}
	for _, g := range c.groups {
		g.disturbed(o.now)
	}
	c.gone = o.now
	if c.ended != 0 {
		o.retireIfDone(c)
	}
}

// Finish tells that the history ends. What needs more of it to be decided is left open.
func (o *Oracle) Finish() {
	o.step()
	for _, c := range o.conns {
		for _, p := range c.pairs {
			o.judgeOvertaken(p)
		}
	}
	o.sweep()
}
