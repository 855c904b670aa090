package engine

import "github.com/natsd/natsd/engine/assert"

// Start asks the network to listen, unless the engine was stopped already. It must be called inside a turn, once.
func (e *Engine) Start() {
	assert.That(e.turn, "Start outside a turn")
	if e.state >= stateStopping {
		return
	}
	assert.That(e.state == stateNew, "Start: a second time")
	e.state = stateStarting
	e.startTrust()
	e.env.Network.Listen(clientListener, joinHostPort(e.opts.Host, max(e.opts.Port, 0)))
}

// BeginTurn starts a turn: the clock is read, and input that earlier turns left is processed. Every other event comes
// between BeginTurn and EndTurn.
func (e *Engine) BeginTurn() {
	assert.That(!e.turn, "BeginTurn inside a turn")
	e.turn = true
	e.work, e.written, e.fed, e.admission.turn = 0, 0, false, 0
	e.limit = e.opts.TurnWork - e.opts.TurnWork/4
	e.flushAt = e.sendLimit()
	e.now, e.wall = e.env.Clock.Now()
	if e.searches > 0 {
		e.stepSearches()
	}
	if !e.fanouts.empty() {
		e.continueFanouts()
	}
	e.resume()
	e.limit = e.opts.TurnWork
}

// TurnFull reports that enough was done in this turn: the host should end it, and hand over what else it has in the next.
// However much earlier turns left over, a turn is not full before something new was received in it: a backlog slows
// others down but does not keep them out.
func (e *Engine) TurnFull() bool { return e.fed && e.work >= e.opts.TurnWork }

// slice bounds what is done in pieces of at most so much per turn: a smaller TurnWork makes the pieces smaller too.
func (e *Engine) slice(most int) int { return min(most, e.opts.TurnWork) }

// EndTurn ends a turn: those who have more to be done than their share use what is left of it, and each connection that has
// something waiting is written to once.
func (e *Engine) EndTurn() {
	assert.That(e.turn, "EndTurn outside a turn")
	if e.work < e.limit {
		e.resume()
	}
	if e.sweep.on {
		e.stepSweep()
	}
	if len(e.checks.decided) > 0 {
		e.tellDecided()
	}
	e.checks.fade(e.now)
	if !e.remaking.empty() {
		e.stepRemaking()
	}
	if e.moves.on && !e.sweep.on {
		e.endMoves()
	}
	if e.recast.on {
		e.stepRecast(e.slice(recastPerTurn))
	}
	if len(e.reaping) > 0 {
		e.reap()
	}
	if len(e.queries) > 0 {
		e.stepQueries()
	}
	if e.internalDue() {
		e.runInternal()
	}
	e.settleTouched()
	e.lines.trim(&e.pool)
	if e.duck.on && e.state == stateReady && e.active == 0 {
		e.logf(LevelInfo, "", "Lame duck mode: all clients have left")
		e.Stop()
	}
	if e.state == stateStopping && len(e.free) == len(e.conns) && len(e.reaping) == 0 {
		e.state = stateStopped
	}
	if e.complaints.omitted > 0 && e.now >= e.complaints.end {
		e.tellOmitted()
	}
	if e.trust != nil && e.now >= e.trust.missed.end {
		e.tellMissed()
	}
	e.tellRefused(&e.answers)
	e.tellRefused(&e.asked)
	e.tellDropped()
	e.tellGivenUp()
	wake := e.timers.next()
	if !e.run.empty() || !e.fanouts.empty() || e.searches > 0 || len(e.touched) > 0 || len(e.crowd) > 0 || !e.remaking.empty() || len(e.reaping) > 0 || len(e.queries) > 0 || e.sweep.on || e.recast.on || len(e.checks.decided) > 0 || e.internalDue() {
		wake = e.now
	}
	if wake != e.wake || wake == e.now {
		e.wake = wake
		e.env.Clock.Wake(wake)
	}
	e.turn = false
	if e.opts.Check {
		e.Check()
	}
}

// Stopped reports that Stop has been carried out: no connection is left.
func (e *Engine) Stopped() bool { return e.state == stateStopped }

// Identity is the server's name and its id, which stay as they are from New on.
func (e *Engine) Identity() (name, id string) { return e.info.ServerName, e.info.ServerID }

// Addr is where the engine listens; a zero Port before ListenerUp.
func (e *Engine) Addr() Port { return e.listening }

// settleTouched writes to the connections that have something waiting. Those that a turn does not reach are the first in
// the next. Who waits for an answer does not wait behind all receivers of a message to thousands: these have a list, and a
// share of the turn, of their own.
func (e *Engine) settleTouched() {
	most := e.slice(settleTurn)
	left := most - e.settleSome(&e.touched, most)
	e.settleSome(&e.crowd, max(left, most/2, 1))
}

// settleSome writes to the first connections of a list: at most so many, and none after writeLimit bytes. It returns to how
// many.
func (e *Engine) settleSome(list *[]*conn, most int) (settled int) {
	l, bytes := *list, e.writeLimit()
	e.written = 0 // what was written before must not keep these from theirs
	i := 0
	for ; i < len(l) && settled < most && (i == 0 || e.written < bytes); i++ {
		c := l[i]
		c.touched = false
		if !c.gone {
			settled++
			e.settle(c)
		}
	}
	l = *list // settle may have added to it
	n := copy(l, l[i:])
	clear(l[n:])
	*list = l[:n]
	return settled
}

// ListenerUp tells that a listener is open, and the port it got. If the engine was stopped meanwhile, it is closed again.
func (e *Engine) ListenerUp(l ListenerID, port int) {
	if e.state >= stateStopping {
		e.env.Network.StopListening(l)
		return
	}
	assert.That(e.state == stateStarting, "ListenerUp: nothing was asked for")
	e.listening = Port{Host: e.opts.Host, Port: port}
	e.setInfoAddress()
	e.logf(LevelInfo, "", "Listening for client connections on "+joinHostPort(e.opts.Host, port))
	e.logTLS()
	e.state = stateReady
	e.logf(LevelInfo, "", "Server is ready")
}

// ListenerFailed tells that a listener could not be opened. The engine stops: a server that can't be reached is no server.
func (e *Engine) ListenerFailed(l ListenerID, why string) {
	if e.state >= stateStopping {
		return
	}
	e.logf(LevelFatal, "", "Error listening on "+joinHostPort(e.opts.Host, max(e.opts.Port, 0))+": "+why)
	e.state = stateStopped
}

// Accepted tells of a new connection, for which there is room by Admits, and returns the id by which all else about it is told. Zero: the engine does not
// want it, because there are too many or it is in lame duck mode: the host closes it. (Calls for an id that the host does not
// know yet are to be ignored.)
func (e *Engine) Accepted(l ListenerID, info ConnInfo) ConnID {
	if e.crowded() {
		e.mark(MarkMaxConns)
		return 0
	}
	if e.duck.on {
		return 0 // the host had accepted it before it stopped listening
	}
	c := e.newConn(info)
	e.admission.admitted()
	e.totals.connections++
	e.greet(c)
	if c.gone {
		return 0
	}
	return c.id
}

// Received hands over bytes that arrived. They are borrowed until it returns.
func (e *Engine) Received(id ConnID, data []byte) {
	e.fed = true
	c := e.lookup(id)
	if c == nil {
		return
	}
	if c.epoch != e.epoch {
		e.visitFirst(c)
	}
	if c.gate&gateClosed != 0 {
		return
	}
	if c.opening != 0 {
		if data = e.openingReceived(c, data); len(data) == 0 {
			return
		}
	}
	if c.gate != 0 || len(c.stash) > 0 {
		e.keep(c, data, nil) // read before the pause took effect
		return
	}
	e.input(c, data, nil)
}

// Writable tells that the network takes bytes again, after a Send that it took in part.
func (e *Engine) Writable(id ConnID) {
	c := e.lookup(id)
	if c == nil {
		return
	}
	c.blocked = false
	if !c.touched && c.out.pending > muchWaits {
		c.touched = true
		e.crowd = append(e.crowd, c) // it may take long: who waits for an answer goes first
		return
	}
	e.touch(c)
}

// EOF tells that the peer ended its sending side. What waits for it is still written.
func (e *Engine) EOF(id ConnID) {
	c := e.lookup(id)
	if c == nil || c.sawEOF {
		return
	}
	if c.opening != 0 && e.openingEOF(c) {
		return
	}
	c.sawEOF = true
	e.touch(c)
	if c.out.pending > 0 {
		e.mark(MarkEOFWithOutput)
	}
	if c.gate == 0 && len(c.stash) == 0 {
		e.closeConn(c, ReasonClientClosed, "")
	} // else: when what it sent has been processed
}

// Closed tells that the connection is gone. why, a word or two, is for the log; empty: the peer closed it.
func (e *Engine) Closed(id ConnID, why string) {
	c := e.lookup(id)
	if c == nil {
		return
	}
	reason := ReasonClientClosed
	if c.opening == tlsHandshake {
		e.tlsFailed(c, why)
	}
	if why != "" {
		reason = ReasonReadError
		if e.debugs(c) && c.gate&gateClosed == 0 {
			e.logf(e.debugLevel(), c.subject(), "Client connection broke: "+why)
		}
	}
	e.detach(c, reason)
	e.forget(c)
}

// TimerDue tells that the moment asked for by Wake has come.
func (e *Engine) TimerDue() {
	e.wake = Never
	for n := 0; n < e.slice(timersTurn) && e.timers.next() <= e.now; n++ {
		t := e.timers.heap[0]
		e.timers.remove(t)
		switch {
		case t.c != nil:
			e.connTimer(t.c)
		case t.of != nil:
			e.repliesDue(t.of)
		case t.acc != nil:
			e.connsChanged(t.acc)
		case t.who != nil:
			t.who.due(e)
		case t == &e.sys.statsz:
			e.statszDue()
		default:
			e.duckTimer()
		}
	}
}
