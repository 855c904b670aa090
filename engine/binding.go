package engine

// bind moves a connection to an account, without its subscriptions.
func (e *Engine) bind(c *conn, a *account) {
	if c.acc == a {
		return
	}
	if e.leave(c); c.joined {
		a.enter(c)
		a.total++
		e.connsChanged(a)
	}
	c.acc = a
	c.memo = nil
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
