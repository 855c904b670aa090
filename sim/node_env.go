package sim

import (
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// A node is its engine's clock, job runner, entropy and log.

var _ engine.Clock = (*node)(nil)
var _ engine.Jobs = (*node)(nil)
var _ engine.Rand = (*node)(nil)
var _ engine.Log = (*node)(nil)

// Now implements engine.Clock.
func (n *node) Now() (engine.Instant, engine.WallTime) { return n.clock.read(n.w.queue.Now()) }

// Wake implements engine.Clock.
func (n *node) Wake(at engine.Instant) {
	n.effect(EffectWake, 0, int64(at))
	n.wakeAt = at
	n.aim()
}

// aim makes the clock look when the wake-up may be due. Of several moments asked for the earliest is kept: what comes
// too early looks again.
func (n *node) aim() {
	if n.eng == nil || n.wakeAt == engine.Never {
		return
	}
	t := max(n.clock.when(n.wakeAt), n.w.queue.Now())
	if t < n.wakeDue {
		n.wakeDue = t
		n.after(nodeWake, 0, t-n.w.queue.Now())
	}
}

// woken is the moment at which a wake-up may be due.
func (n *node) woken(now schedule.Time) {
	if now != n.wakeDue {
		return // an earlier one was asked for since, and came
	}
	n.wakeDue = farAway
	if at, _ := n.clock.read(now); n.wakeAt == engine.Never || at < n.wakeAt {
		n.aim()
		return
	}
	n.wakeAt = engine.Never
	if !n.timerDue {
		n.timerDue = true
		n.tell(ready{kind: readyTimer})
	}
}

// retime is called after each change of the clock.
func (n *node) retime() {
	n.wakeDue = farAway
	n.aim()
}

// Submit implements engine.Jobs.
func (n *node) Submit(id engine.JobID, run func()) {
	n.effect(EffectSubmit, 0, int64(id))
	n.jobs[id] = run
	n.working++
	// A server that is slow all along runs its jobs as fast as others: auth_timeout is drawn for those.
	k := decision.Key{Kind: decision.SimJob, Actor: n.actor, Purpose: uint32(n.life), N: uint64(id)}
	long := schedule.Time(n.w.source.Range(k, jobMin, jobMax)) * schedule.Time(n.slow/n.w.cfg.slow)
	if n.slow > n.w.cfg.slow {
		n.sick(n.w.queue.Now() + long) // which it takes even if the server recovers meanwhile
	}
	n.after(nodeJob, uint64(id), long)
}

const jobMin, jobMax = 1_000_000, 80_000_000 // 1 to 80 ms, as a bcrypt check takes

func (n *node) jobEnds(id engine.JobID) {
	run := n.jobs[id]
	delete(n.jobs, id)
	run()
	n.tell(ready{kind: readyJob, n: uint64(id)})
}

// Uint64 implements engine.Rand.
func (n *node) Uint64() uint64 { return n.rng.Uint64() }

// Log implements engine.Log.
func (n *node) Log(level engine.Level, subject, text string) {
	n.w.engineEvents++
	n.w.trace.said(n.index, EffectLog, 0, int64(level), subject+" "+text)
	n.heard(level, subject, text)
}

func (n *node) effect(kind EventKind, conn engine.ConnID, v int64) {
	n.w.engineEvents++
	n.w.trace.event(n.index, kind, conn, v)
}
