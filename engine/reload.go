package engine

import "slices"

// Reload takes over new options: they are in force when it returns. Where they have something else that can't change while the engine
// runs, nothing changes, and its names in the configuration are returned, as NeedRestart does. Connections whose credentials are no longer right are closed, and
// those for which more waits than may wait from now on: in this turn and the next ones, and each before it does anything or
// gets any message. Only whoever must be held against a hash gets messages until that is done, which takes a job: if it may stay, it
// misses none. What was published before goes where it did, to those who may still get it (underway.go). A turn that is not
// to be long waits while Following. The accounts and users must have been checked.
func (e *Engine) Reload(o Options) (needRestart []string) { return e.ReloadPrepared(Prepare(o)) }

// Prepared is options with all that can be made of them beforehand.
type Prepared struct {
	options Options
	rules   *ruleSet
	users   []userDraft
}

// Prepare does the larger part of a Reload, which takes long where there are thousands of accounts. It shares nothing with an
// engine, and may be called on another thread. What it returns is for one ReloadPrepared, which changes it; until then the options
// must not change.
func Prepare(o Options) *Prepared {
	p := &Prepared{options: o}
	if !o.operatorMode() {
		p.rules = draftRules(o.Accounts, o.SystemAccount)
		for i := range p.rules.accounts {
			a := &p.rules.accounts[i]
			a.bridges = systemBridges(a.Name)
		}
	}
	p.users, _ = draftUsers(&o)
	return p
}

// ReloadPrepared is Reload with options that were prepared.
func (e *Engine) ReloadPrepared(p *Prepared) (needRestart []string) {
	o := p.options
	o.setDefaults()
	if needRestart = e.NeedRestart(o); len(needRestart) > 0 {
		return needRestart
	}
	e.settleUnderway()
	old, users := e.opts, e.users
	if e.trust != nil {
		e.retrust(&o)
	}
	o.SystemAccount, o.Check = old.SystemAccount, old.Check
	o.NatsdVersion, o.GoVersion, o.GitCommit = old.NatsdVersion, old.GoVersion, old.GitCommit
	e.opts = o
	e.noteTraces()
	if e.trust == nil { // else accounts are what their JWTs say
		e.setAccounts(p.rules)
	}
	e.setUsers(p.users)
	e.noteMoves(users)
	info := e.info
	e.info.MaxPayload, e.info.Headers, e.info.AuthRequired = o.MaxPayload, !o.NoHeaders, e.authRequired()
	e.tlsInfoFlags(&e.info)
	e.setInfoAddress()
	e.makeIdentity()
	if e.info.MaxPayload != info.MaxPayload || e.info.Headers != info.Headers || e.info.Host != info.Host || e.info.Port != info.Port {
		e.sweep.info = true
	}
	if old.User != o.User || old.Pass != o.Pass || old.Token != o.Token {
		e.checks.right.clear()
		e.checks.wrong.clear()
	}
	e.sweep.credentials = true
	if len(o.TLS.Pinned) > 0 && !slices.Equal(o.TLS.Pinned, old.TLS.Pinned) {
		e.sweep.pins = true
	}
	e.startSweep()
	return nil
}

// NeedRestart returns, in order, the names in the configuration of what in o can't change while the engine runs. A part of a file is
// never put into force: what stays may be what its other part counts on. Who turns to operators, say, no longer needs the users of
// the file before, without which, and without operators, the server would be open to everybody.
func (e *Engine) NeedRestart(o Options) (names []string) {
	o.setDefaults()
	system := systemName(o.SystemAccount)
	if e.trust != nil && o.SystemAccount.Text == "" {
		system = e.system.name // which the operator names
	}
	for _, c := range []struct {
		name    string
		changed bool
	}{
		{"host", o.Host != e.opts.Host},
		{"port", o.Port != e.opts.Port},
		{"server_name", o.ServerName != e.opts.ServerName},
		{"operator", o.operatorMode() != (e.trust != nil) || e.trust != nil && !sameTrust(o.Operators, e.opts.Operators)},
		{"resolver", o.operatorMode() && e.trust != nil && !sameShelf(&o.Operators.Resolver, &e.opts.Operators.Resolver)},
		{"system_account", o.operatorMode() == (e.trust != nil) && system != e.system.name},
		{"max_closed_clients", o.MaxClosed != e.opts.MaxClosed},
		{"disable_sublist_cache", (o.MatchCache < 0) != (e.opts.MatchCache < 0)},
	} {
		if c.changed {
			names = append(names, c.name)
		}
	}
	return names
}

// reauthenticate holds a connection against credentials that have changed.
func (e *Engine) reauthenticate(c *conn) {
	pending, answer := c.check != nil, false
	if pending { // a CONNECT is being held against the old ones: that answer no longer counts
		answer = c.check.answer
		e.endCheck(c)
	}
	if c.signature != nil || c.login != nil {
		return // held against what is in force when the signature is verified
	}
	if e.trust != nil || e.keepAnswered(c) {
		return
	}
	switch u := e.users.same(c.user); {
	case !e.users.required() && pending:
		e.decide(c, nil, true, answer)
	case !e.users.required():
		c.authed, c.authEnd = true, 0
		e.become(c, nil)
	case !pending && u != nil && (c.connected || e.silent(c) != nil) && !e.delegated(c, u):
		if v := e.unfit(c, u); v != nil {
			e.explain(c, v.why)
			e.violates(c, v.reason)
			return
		}
		e.become(c, u) // it has proved this before
	case pending || c.connected:
		e.authenticate(c, answer)
	case e.silent(c) != nil:
		c.authed, c.authEnd = true, 0
		e.become(c, e.users.noAuth)
	case c.authed && len(c.subs) > 0:
		e.authViolation(c) // it has shown nothing, and what it subscribed to must not reach it meanwhile
		return
	default:
		// Who has time already gets no more, however often there is a reload; for who does not speak the protocol yet it has not begun.
		if (c.authed || c.authEnd == 0) && c.gate&gateOpening == 0 {
			c.authEnd = later(e.now, e.opts.AuthTimeout)
		}
		c.authed = false
	}
	if c.check == nil {
		e.openAuth(c)
	}
}
