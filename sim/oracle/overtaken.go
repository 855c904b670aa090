package oracle

// What a reload overtakes is handled by what is in force after it, whatever was when it was written: who must get it is found
// anew.

// Overtaken tells that the reload told last came before the server had been given the publishes of the connection from number n
// on, or the ends of them: it judges them by what is in force since.
func (o *Oracle) Overtaken(c *Conn, n uint64) {
	if c.gone != 0 {
		return
	}
	for _, p := range c.to {
		p.disown(n)
	}
	v := len(o.eras) - 1
	for i := c.records.unproven; i < c.records.len(); i++ {
		r := c.records.at(i)
		if r.n < n {
			continue
		}
		r.era, r.moved, r.chosen = v, true, 0
		r.choices = o.choices(c, r, v)
		o.oweAnew(c, r)
	}
}

// oweAnew notes which plain subscriptions must get an overtaken publish. Queue groups and those who ask are owed nothing.
func (o *Oracle) oweAnew(c *Conn, r *record) {
	r.renewed = len(r.choices) == 1 && r.choices[0].Weight == 100 && r.grant == ByLists && r.answers == nil
	if !r.renewed {
		return
	}
	o.offers = o.offers[:0]
	for j := range r.choices[0].Entries {
		o.offer(c, r, 0, j, true)
	}
	for _, x := range o.offers {
		to := x.sub.conn
		if to == c && x.sub.written > r.written {
			continue
		}
		pairOf(c, to).owe(r.n, x.sub)
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

// unsureOfPlain reports that nothing is required of a publish for plain subscriptions.
func (o *Oracle) unsureOfPlain(r *record) bool { return !r.renewed && o.unsure(r) }
