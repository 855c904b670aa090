package engine

import "github.com/natsd/natsd/wire"

// lameDuck is the state of lame duck mode: no new connections, clients told, then evicted evenly.
type lameDuck struct {
	on    bool
	left  int     // clients still to evict
	slot  int     // where the search for the next one goes on
	every Instant // between two evictions
}

// Stop closes every connection and stops. Stopped reports when that is done.
func (e *Engine) Stop() {
	if e.state >= stateStopping {
		return
	}
	e.logf(LevelInfo, "", "Initiating Shutdown...")
	if e.state == stateReady && !e.duck.on {
		e.env.Network.StopListening(clientListener)
	}
	e.state = stateStopping
	for _, c := range e.conns {
		if c != nil {
			e.closeConn(c, ReasonShutdown, "")
		}
	}
}

// LameDuck starts lame duck mode: the listener closes, clients are told by INFO to go elsewhere, and after
// LameDuckGrace they are evicted evenly over LameDuckDuration; then the engine stops.
func (e *Engine) LameDuck() {
	if e.duck.on || e.state != stateReady {
		return
	}
	e.logf(LevelInfo, "", "Entering lame duck mode, stop accepting new clients")
	e.duck.on = true
	e.env.Network.StopListening(clientListener)
	if e.active == 0 {
		return // EndTurn stops it
	}
	for _, c := range e.conns {
		if c != nil && c.infoSent {
			e.sendInfo(c, func(*wire.Info) {})
		}
	}
	e.duck.left = e.active
	e.duck.every = max(Instant(e.opts.LameDuckDuration-e.opts.LameDuckGrace)/Instant(e.duck.left), 1)
	e.timers.set(&e.own, e.now+Instant(e.opts.LameDuckGrace))
}

// duckTimer evicts the next client, or stops when none is left.
func (e *Engine) duckTimer() {
	if e.state != stateReady {
		return
	}
	for ; e.duck.slot < len(e.conns); e.duck.slot++ {
		c := e.conns[e.duck.slot]
		if c == nil || c.gate&gateClosed != 0 {
			continue
		}
		e.mark(MarkLameDuckEvict)
		e.closeConn(c, ReasonLameDuck, "")
		e.duck.slot++
		e.timers.set(&e.own, e.now+e.duck.every)
		return
	}
	if e.active > 0 {
		e.duck.slot = 0 // a slot that was used again behind the search
		e.timers.set(&e.own, e.now+e.duck.every)
	}
}
