package engine

// Where more is sent than can be handled, those who are there share the turns, and each who comes makes the shares smaller. What one
// has sent who has gone again is still to be handled: who comes, sends and goes would have everybody else's share in the end, and all
// memory. So new connections are accepted at the pace at which what waits gets round. The others wait in the system's queue, and take
// nothing here; it is for those who come that the server is slow then, as it is for those who are there.
const (
	// calmRun is how many connections may have input that waits where a turn does TurnWork's default: up to that, and one for each
	// calmShare of a smaller one, others are welcome.
	calmRun   = 64
	calmShare = 256
	admitTurn = 8 // connections accepted in a turn then, if any has
	admitPass = 4 // connections accepted beyond that, each time all that wait have had a share
)

// admission is how many connections were accepted.
type admission struct {
	turn int // in this turn
	pass int // since all that waited had a share
	left int // of those that waited then, and have had none since
}

// Admits reports whether a new connection may be accepted now. A host asks before each Accepted, and leaves those in the system's queue
// for which there is a no; it may ask again in the next turn, which comes at once then.
func (e *Engine) Admits() bool {
	n, a := e.run.len(), &e.admission
	calm := min(max(e.opts.TurnWork/calmShare, 1), calmRun)
	if n == 0 || a.turn < admitTurn && (n <= calm || a.pass < admitPass) {
		return true
	}
	e.mark(MarkAdmitLater)
	return false
}

// admitted counts a connection that was accepted.
func (a *admission) admitted() {
	a.turn++
	a.pass++
}

// served counts one of those that waited, of which so many are left: it has had a share.
func (a *admission) served(waiting int) {
	if a.left--; a.left <= 0 {
		a.left, a.pass = waiting, 0
	}
}
