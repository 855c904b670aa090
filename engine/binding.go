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
	if e.leave(c); c.joined {
		a.enter(c)
		a.total++
		e.connsChanged(a)
	}
	c.acc = a
	c.memo = nil
	if len(a.def.streams) > 0 {
		for _, s := range c.subs {
			e.castShadows(s)
		}
	}
}

// join enters a connection that has done something into its account's books.
func (e *Engine) join(c *conn) {
	if c.joined {
		return
	}
	c.joined = true
	c.acc.enter(c)
	c.acc.total++
	e.connsChanged(c.acc)
}

// leave takes it out of them.
func (e *Engine) leave(c *conn) {
	if c.joined {
		c.acc.quit(c)
		e.connsChanged(c.acc)
	}
}
