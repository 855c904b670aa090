package oracle

// Oracle judges one server. The zero value is not ready: use New.
type Oracle struct{}

// Conn is a connection as its client sees it.
type Conn struct{}

// New makes an oracle.
func New() *Oracle { return &Oracle{} }

// Open tells of a new connection.
func (o *Oracle) Open(id ID, opts ConnOptions) *Conn { return &Conn{} }

// End tells that the client reads nothing more from the connection: it closed it, saw it closed, or crashed.
func (o *Oracle) End(c *Conn) {}

// Gone tells that the server has given the connection up: it handles nothing more of what was written and queues
// nothing more. Before or after End.
func (o *Oracle) Gone(c *Conn) {}

// Crash tells that the server lost its process: every connection opened so far is gone.
func (o *Oracle) Crash() {}

// Subscribe tells that a SUB is written. queue is empty for a plain subscription.
func (o *Oracle) Subscribe(c *Conn, sid uint64, pattern, queue string) {}

// Doubt tells that the server may have refused the SUB: nothing is required of the subscription any more.
func (o *Oracle) Doubt(c *Conn, sid uint64) {}

// Unsubscribe tells that an UNSUB is written; max 0: without a number.
func (o *Oracle) Unsubscribe(c *Conn, sid, max uint64) {}

// Publish tells that a PUB or HPUB is written. n is greater than that of the connection's publish before. Requests that
// wait for their answer at the same time have different replies.
func (o *Oracle) Publish(c *Conn, n uint64, subj, reply string) {}

// Ping tells that a PING is written.
func (o *Oracle) Ping(c *Conn) {}

// Pong tells that a PONG was read.
func (o *Oracle) Pong(c *Conn) {}

// Receive tells that a message was read that is no answer of the server.
func (o *Oracle) Receive(c *Conn, m *Message) {}

// NoResponders tells that a 503 was read on sid for the request that this connection published as n.
func (o *Oracle) NoResponders(c *Conn, sid, n uint64) {}

// Finish tells that the history ends. Properties that need more to be decided are left open.
func (o *Oracle) Finish() {}

// Failure returns the first failure.
func (o *Oracle) Failure() (Failure, bool) { return Failure{}, false }

// Stats returns what was judged so far.
func (o *Oracle) Stats() Stats { return Stats{} }
