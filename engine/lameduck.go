package engine

import "time"

// lameDuck is the state of lame duck mode: no new connections, clients told, then evicted evenly.
type lameDuck struct {
	on    bool
	slot  int     // where the search for the next client to evict goes on
	next  Instant // when it is evicted
	every Instant // between two evictions
}

// duckEveryMost is the longest time between two evictions: few clients don't keep a server from its end for minutes. It is nats-server's.
const duckEveryMost = Instant(time.Second)

// Stop closes every connection and stops. From now on none does anything or gets any message; to close them takes some
// turns where there are many. Stopped reports when that is done.
func (e *Engine) Stop() {
	if e.state >= stateStopping {
		return
	}
	e.logf(LevelInfo, "", "Initiating Shutdown...")
	e.sayEnd("SHUTDOWN")
	if e.state == stateReady && !e.duck.on {
		e.env.Network.StopListening(clientListener)
	}
	e.state = stateStopping
	e.timers.remove(&e.own)
	e.startSweep()
}

// LameDuck starts lame duck mode: the listener closes, clients are told by INFO to go elsewhere, and after
// LameDuckGrace they are evicted evenly over what is left of LameDuckDuration, or one a second where there are fewer; then the engine
// stops. An engine that does
// not listen yet stops at once.
func (e *Engine) LameDuck() {
	if e.state < stateReady {
		e.Stop()
	}
	if e.duck.on || e.state != stateReady {
		return
	}
	e.logf(LevelInfo, "", "Entering lame duck mode, stop accepting new clients")
	e.sayEnd("LAMEDUCK")
	e.duck.on = true
	e.env.Network.StopListening(clientListener)
	if e.active == 0 {
		return // EndTurn stops it
	}
	e.sweep.info = true
	e.startSweep()
	grace := max(e.opts.LameDuckGrace, 0)
	e.duck.every = min(max(Instant(e.opts.LameDuckDuration-grace)/Instant(e.active), 1), duckEveryMost)
	e.duck.next = later(e.now, grace)
	e.timers.set(&e.own, e.duck.next)
}

// duckTimer evicts the next client. The moments of all are fixed from the beginning, so that turns that come late don't
// add up.
func (e *Engine) duckTimer() {
	for range e.conns {
		if e.duck.slot >= len(e.conns) {
			e.duck.slot = 0 // there may be a slot that was used again behind the search
		}
		c := e.conns[e.duck.slot]
		e.duck.slot++
		if c == nil || c.gate&gateClosed != 0 {
			continue
		}
		if c.epoch != e.epoch {
			e.visitFirst(c) // told before it goes
		}
		e.mark(MarkLameDuckEvict)
		e.closeConn(c, ReasonLameDuck, "")
		e.duck.next += e.duck.every
		e.timers.set(&e.own, e.duck.next)
		return
	}
}
