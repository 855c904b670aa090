package engine

// Reload takes over new options: they are in force when it returns. What can't change while the engine runs keeps its value;
// its names in the configuration are returned, in order. Connections whose credentials are no longer right are closed, and
// those for which more waits than may wait from now on: in this turn and the next ones, and each before it does anything or
// gets any message.
func (e *Engine) Reload(o Options) (needRestart []string) {
	o.setDefaults()
	old := e.opts
	keep := func(changed bool, name string) {
		if changed {
			needRestart = append(needRestart, name)
		}
	}
	keep(o.Host != old.Host, "host")
	keep(o.Port != old.Port, "port")
	keep(o.ServerName != old.ServerName, "server_name")
	o.Host, o.Port, o.ServerName, o.MatchCache, o.Check = old.Host, old.Port, old.ServerName, old.MatchCache, old.Check
	o.NatsdVersion, o.GoVersion, o.GitCommit = old.NatsdVersion, old.GoVersion, old.GitCommit
	e.opts = o
	info := e.info
	e.info.MaxPayload, e.info.Headers, e.info.AuthRequired = o.MaxPayload, !o.NoHeaders, e.authRequired()
	e.tlsInfoFlags(&e.info)
	e.setInfoAddress()
	if e.info.MaxPayload != info.MaxPayload || e.info.Headers != info.Headers || e.info.Host != info.Host || e.info.Port != info.Port {
		e.sweep.info = true
	}
	if old.User != o.User || old.Pass != o.Pass || old.Token != o.Token {
		e.sweep.credentials = true
		e.checks.right.clear()
		e.checks.wrong.clear()
	}
	e.startSweep()
	return needRestart
}

// reauthenticate holds a connection against credentials that have changed.
func (e *Engine) reauthenticate(c *conn) {
	pending, answer := c.check != nil, false
	if pending { // a CONNECT is being held against the old ones: that answer no longer counts
		answer = c.check.answer
		e.endCheck(c)
	}
	switch {
	case !e.authRequired() && pending:
		e.decide(c, true, answer)
	case !e.authRequired():
		c.authed, c.authEnd = true, 0
	case pending || c.connected:
		e.authenticate(c, answer)
	default:
		c.authed = false
		c.authEnd = later(e.now, e.opts.AuthTimeout)
	}
	if c.check == nil {
		e.open(c, gateAuth)
	}
}
