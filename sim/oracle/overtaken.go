package oracle

// Overtaken tells that the reload told last came before the server had been given the publishes of the connection from number n
// on, or the ends of them: they are judged by what is in force since, as if they were written now.
func (o *Oracle) Overtaken(c *Conn, n uint64) {
	if c.gone != 0 || c.ended != 0 {
		return
	}
	for _, p := range c.to {
		p.disown(n)
	}
	for i := c.records.unproven; i < c.records.len(); i++ {
		r := c.records.at(i)
		if r.n < n {
			continue
		}
		r.era, r.moved, r.chosen = len(o.eras)-1, true, 0
		r.choices = o.choices(c, r, r.era)
		if r.answers != nil || r.unknown || r.begun != 0 {
			continue // what else came of the request may have been handled before
		}
		r.spans, r.groups = false, r.groups[:0]
		o.offerAll(c, r)
	}
}

// disown takes back what is owed of the publishes from number n on.
func (p *pair) disown(n uint64) {
	last := len(p.dues)
	for last > p.head && p.dues[last-1].n >= n {
		last--
	}
	clear(p.dues[last:])
	if p.dues = p.dues[:last]; last == p.head {
		p.dues, p.head = p.dues[:0], 0
	}
}
