package oracle

// Waiting tells visit of every message that is certain to wait somewhere on its way to the connection: the server has
// handled it, the connection must get it, and has not read it. The publisher's connection and its number name it. A message
// for two subscriptions waits twice.
func (o *Oracle) Waiting(c *Conn, visit func(from ID, n uint64)) {
	if c.ended != 0 || c.gone != 0 {
		return
	}
	for _, p := range c.owed {
		for _, d := range p.dues[p.head:] {
			if d.sub == nil {
				continue // delivered
			}
			if r := p.by.records.find(d.n); r != nil && r.proven != 0 && !o.excused(p, r, d.sub) {
				visit(p.by.id, d.n)
			}
		}
	}
}
