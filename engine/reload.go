package engine

import "github.com/natsd/natsd/wire"

// Reload takes over new options in this turn. What can't change while the engine runs keeps its value; its names in the
// configuration are returned, in order.
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
	e.opts = o
	info := e.info
	e.info.MaxPayload, e.info.Headers, e.info.AuthRequired = o.MaxPayload, !o.NoHeaders, e.authRequired()
	e.setInfoAddress()
	changed := e.info.MaxPayload != info.MaxPayload || e.info.Headers != info.Headers || e.info.Host != info.Host || e.info.Port != info.Port
	for _, c := range e.conns {
		if c == nil || c.gate&gateClosed != 0 {
			continue
		}
		if old.User != o.User || old.Pass != o.Pass || old.Token != o.Token {
			e.reauthenticate(c)
		}
		if changed && c.infoSent {
			e.sendInfo(c, func(*wire.Info) {})
		}
		if c.out.pending > o.MaxPending {
			e.slowConsumer(c, ReasonSlowPending)
			continue
		}
		if c.gate&gateClosed == 0 {
			e.arm(c)
		}
	}
	return needRestart
}

// reauthenticate holds a connection against credentials that have changed.
func (e *Engine) reauthenticate(c *conn) {
	switch {
	case !e.authRequired():
		c.authed, c.authEnd = true, 0
	case c.connected:
		e.authenticate(c, false)
	default:
		c.authed = false
		c.authEnd = e.now + Instant(e.opts.AuthTimeout)
	}
}
