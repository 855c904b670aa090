package engine

import (
	"math"
	"slices"
)

// A message that takes several turns may be under way when a reload comes. It was published before: it goes to none whom only
// the new configuration brings it to. Those whom it reaches in its own account are settled when it begins, and passed over where
// they may no longer get it. But whom it reaches in another account is looked up when it comes there.

// settleUnderway has nothing under way of which it is not settled yet whom it reaches: what goes on to other accounts is carried through,
// and what waits to know whom it reaches learns that. And it has each connection's subscriptions in one account; and, where
// anything is under way, those connections follow an earlier reload that have not: a reload that takes that one back must not have
// them get what was published in between. With many messages, or where one reload comes soon after another, it takes longer than a
// turn should.
func (e *Engine) settleUnderway() {
	e.finishRemaking()
	if len(e.recast.waiting) > 0 || len(e.moves.before) >= movesMost || len(e.fanouts) > 0 && e.sweep.on || slices.ContainsFunc(e.fanouts, (*fanout).crosses) {
		e.followAll()
	}
	e.fanouts = slices.DeleteFunc(e.fanouts, func(f *fanout) bool {
		if f.next == notYet {
			f.to, f.next = e.findOut(&f.msg), 0
		}
		if !f.crosses() {
			return false
		}
		e.mark(MarkFanoutSettled)
		if !e.advance(f, math.MaxInt) {
			panic("engine: a message waits though all have followed")
		}
		e.keepFanout(f)
		return true
	})
}

// followAll has everybody follow the earlier reloads.
func (e *Engine) followAll() {
	for e.sweep.on {
		e.stepSweep()
	}
	e.finishRemaking()
	e.recastAll()
	e.endMoves()
}

// finishRemaking has all subscriptions follow their connections.
func (e *Engine) finishRemaking() {
	for _, c := range e.remaking {
		e.remakeAll(c)
	}
	e.remaking = nil
}

// crosses reports whether a message goes on to other accounts, or may do so.
func (f *fanout) crosses() bool {
	m := &f.msg
	if m.crossed < len(m.cross) {
		return true
	}
	plain := f.to.Plain
	return slices.ContainsFunc(plain[min(max(f.next, 0), len(plain)):], func(s *subscription) bool { return s.flags&subService != 0 })
}
