package engine

// bind moves a connection to an account, with the subscriptions that it has.
func (e *Engine) bind(c *conn, a *account) {
	if c.acc == a {
		return
	}
	for _, s := range c.subs {
		if s.flags&subShadowed != 0 {
			e.takeShadows(s)
		}
		subj, queue := s.handle.Subject(), s.handle.Queue()
		e.remove(c.acc, s)
		if err := e.insert(a, []byte(subj), []byte(queue), s); err != nil {
			panic("engine: a subject that was subscribed to: " + subj)
		}
	}
	c.acc.leave(c)
	c.acc = a
	if c.joined {
		a.conns++
		a.total++
	}
	c.memo = nil
	if len(a.def.streams) > 0 {
		for _, s := range c.subs {
			e.castShadows(s)
		}
	}
}

// join enters a connection that may do something into its account's books.
func (c *conn) join() {
	if c.joined {
		return
	}
	c.joined = true
	c.acc.conns++
	c.acc.total++
}

// leave takes a connection out of its account's books.
func (a *account) leave(c *conn) {
	if c.joined {
		a.conns--
	}
}
